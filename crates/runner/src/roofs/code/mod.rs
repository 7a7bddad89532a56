//! Inner loops that fill a processor's arithmetic, or its memory: what the roofs are measured with.
//!
//! They are written in assembly, so that they are the same in every build and no compiler leaves work out. A loop is
//! only handed out where the processor has its instructions. A folder or file is an instruction set; the roofs try
//! all that there are, because the widest is not always the fastest.

pub(crate) mod block;
mod system;
#[cfg(target_arch = "x86_64")]
mod x86_64;

use block::Block;
use powerband_core::domain::roofs::Access;
use powerband_core::domain::work::NumberFormat;

/// A loop of multiply-adds on registers.
pub(crate) struct ComputeCode {
    /// The instructions: `AVX-512`.
    pub(crate) name: &'static str,
    /// What it computes with.
    pub(crate) numbers: NumberFormat,
    /// Width of a register in bits.
    pub(crate) vector_bits: u32,
    /// Operations of one pass, a multiplication and an addition being two.
    pub(crate) operations: u64,
    is_available: fn() -> bool,
    /// Runs so many passes; only where the instructions are available.
    run: unsafe fn(u64),
}

/// A loop that goes through bytes once.
pub(crate) struct BytesCode {
    /// How: `AVX-512, non-temporal`.
    pub(crate) name: &'static str,
    /// What it does with them.
    pub(crate) access: Access,
    /// Whether it writes past the caches, and so says nothing of them.
    pub(crate) bypasses_caches: bool,
    is_available: fn() -> bool,
    /// From, to, and how many bytes, a multiple of [`block::STEP`]. What it does not need is not touched.
    run: unsafe fn(*const u8, *mut u8, usize),
}

impl ComputeCode {
    /// Runs so many passes.
    #[expect(unsafe_code, reason = "the loops are written in assembly")]
    pub(crate) fn run(&self, passes: u64) {
        if passes > 0 {
            // SAFETY: only `compute_codes` hands codes out, and only those whose instructions are available.
            unsafe { (self.run)(passes) }
        }
    }
}

impl BytesCode {
    /// Goes once through the first so many bytes of the source, the target, or both.
    pub(crate) fn run(&self, from: &Block, to: &mut Block, bytes: usize) {
        self.run_at(from, to, 0, bytes);
    }

    /// The same with bytes that begin further on; whole steps, as far as the blocks go.
    #[expect(unsafe_code, reason = "the loops are written in assembly")]
    pub(crate) fn run_at(&self, from: &Block, to: &mut Block, start: usize, bytes: usize) {
        let start = start / block::STEP * block::STEP;
        let rest = from.bytes().min(to.bytes()).saturating_sub(start);
        let bytes = bytes.min(rest) / block::STEP * block::STEP;
        if bytes > 0 {
            // SAFETY: only `bytes_codes` hands codes out, and only those whose instructions are available; both
            // blocks have so many bytes from there on, a multiple of the step, and are apart.
            unsafe { (self.run)(from.start().add(start), to.start_mut().add(start), bytes) }
        }
    }
}

/// The loops of arithmetic that this processor can run.
pub(crate) fn compute_codes() -> Vec<&'static ComputeCode> {
    #[cfg(target_arch = "x86_64")]
    let all = x86_64::compute();
    #[cfg(not(target_arch = "x86_64"))]
    let all = [].iter();
    all.filter(|code| (code.is_available)()).collect()
}

/// What the processor has and the system does not let this process use, in sentences.
pub(crate) fn refused() -> Vec<String> {
    #[cfg(target_arch = "x86_64")]
    let refused = x86_64::refused();
    #[cfg(not(target_arch = "x86_64"))]
    let refused = Vec::new();
    refused
}

/// The loops over bytes that this processor can run, of every access.
pub(crate) fn bytes_codes() -> Vec<&'static BytesCode> {
    #[cfg(target_arch = "x86_64")]
    let all = x86_64::BYTES.iter();
    #[cfg(not(target_arch = "x86_64"))]
    let all = [].iter();
    all.chain(system::BYTES)
        .filter(|code| (code.is_available)())
        .collect()
}

/// Makes additions each of which waits for the one before, so that each takes a cycle; returns how many there were.
pub(crate) fn additions(blocks: u64) -> u64 {
    #[cfg(target_arch = "x86_64")]
    x86_64::additions(blocks);
    if cfg!(target_arch = "x86_64") {
        16 * blocks
    } else {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "it is assembly")]
    fn every_loop_runs_that_is_handed_out() {
        let codes = compute_codes();
        for code in &codes {
            code.run(3);
            assert!(
                code.operations > 0 && code.vector_bits >= 128,
                "{}",
                code.name
            );
        }
        if cfg!(target_arch = "x86_64") {
            assert!(codes.iter().any(|code| code.numbers == NumberFormat::F32));
        }
    }

    #[test]
    fn loops_over_bytes_copy_all_and_no_more() {
        let mut codes = bytes_codes();
        // Miri knows no assembly.
        codes.retain(|code| !cfg!(miri) || system::BYTES.iter().any(|own| own.name == code.name));
        let of = |access| codes.iter().filter(move |code| code.access == access);
        for code in of(Access::Copy) {
            let mut from = Block::new(3 * block::STEP).unwrap();
            let mut to = Block::new(3 * block::STEP).unwrap();
            from.fill(7);
            to.fill(1);
            code.run(&from, &mut to, usize::MAX);
            assert!(to.as_slice().iter().all(|&byte| byte == 7), "{}", code.name);
        }
        for code in of(Access::Write) {
            let mut from = Block::new(2 * block::STEP).unwrap();
            let mut to = Block::new(2 * block::STEP).unwrap();
            from.fill(7);
            to.fill(1);
            code.run(&from, &mut to, usize::MAX);
            let written = |&byte: &u8| byte == block::FILLING;
            assert!(to.as_slice().iter().all(written), "{}", code.name);
            assert!(
                from.as_slice().iter().all(|&byte| byte == 7),
                "{}",
                code.name
            );
        }
        for code in of(Access::Read) {
            let from = Block::new(block::STEP).unwrap();
            let mut to = Block::new(block::STEP).unwrap();
            to.fill(1);
            code.run(&from, &mut to, usize::MAX);
            assert!(to.as_slice().iter().all(|&byte| byte == 1), "{}", code.name);
        }
    }
}
