//! Roofs of bandwidth: for each level and access, the best loop with so many threads.

use std::io;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::caches;
use super::together::{self, BRIEF, FULL};
use crate::roofs::code::block::{Block, STEP};
use crate::roofs::code::{self, BytesCode};
use powerband_core::base::humanize;
use powerband_core::domain::roofs::{Access, Level, MemoryRoof};

/// Every level and access, in the order in which they are measured.
pub(super) const KINDS: [(Level, Access); 9] = [
    (Level::Memory, Access::Copy),
    (Level::Memory, Access::Read),
    (Level::Memory, Access::Write),
    (Level::L3, Access::Copy),
    (Level::L3, Access::Read),
    (Level::L3, Access::Write),
    (Level::L2, Access::Copy),
    (Level::L2, Access::Read),
    (Level::L2, Access::Write),
];

/// How much is gone through at least, of all threads together, so that it lies in memory.
const LEAST: u64 = 256 << 20;
/// How many times the last cache that is at least.
const CACHES: u64 = 4;
/// What part of the memory that is available may be taken for it.
const PART: u64 = 4;

/// What a step is called: `memory copy, 2 threads`.
pub(super) fn title(level: Level, access: Access, threads: usize) -> String {
    format!("{level} {access}, {}", self::threads(threads))
}

/// `2 threads`.
pub(super) fn threads(count: usize) -> String {
    humanize::of_many(count as u64, "thread")
}

/// Two blocks for each thread, near it, between which bytes are moved.
pub(super) struct Blocks {
    pairs: Vec<Mutex<(Block, Block)>>,
    /// Bytes of one block.
    bytes: u64,
}

/// How much is gone through, and whether that is less than it should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Footprint {
    bytes: u64,
    is_short: bool,
}

/// From the size of the last cache and the memory that is available.
fn footprint(last_cache: Option<u64>, available: Option<u64>) -> Footprint {
    let wanted = LEAST.max(CACHES * last_cache.unwrap_or(0));
    // There are two blocks of this size.
    let most = available.map_or(u64::MAX, |bytes| bytes / PART / 2);
    Footprint {
        bytes: wanted.min(most),
        is_short: most < wanted,
    }
}

impl Blocks {
    /// For a thread on each of these cores; with a note where they are smaller than they should be.
    pub(super) fn new(
        root: &Path,
        cores: &[usize],
        available: Option<u64>,
    ) -> io::Result<(Self, Option<String>)> {
        let last = caches::last(root, cores);
        let footprint = footprint(last.map(|(_, bytes)| bytes), available);
        let share = footprint.bytes / cores.len().max(1) as u64;
        let share = (share as usize).next_multiple_of(STEP);
        let pairs = together::each(cores, |_| {
            Some(Mutex::new((Block::new(share)?, Block::new(share)?)))
        })?;
        let pairs: Option<Vec<_>> = pairs.into_iter().collect();
        let pairs = pairs.ok_or_else(|| io::Error::from(io::ErrorKind::OutOfMemory))?;
        let short = || {
            let size = humanize::bytes(footprint.bytes);
            let threads = threads(cores.len());
            format!(
                "Memory was measured on {size} with {threads}, less than {CACHES} times the last cache, because more memory is not available."
            )
        };
        let blocks = Self {
            pairs,
            bytes: share as u64,
        };
        Ok((blocks, footprint.is_short.then(short)))
    }

    fn of(&self, index: usize) -> MutexGuard<'_, (Block, Block)> {
        self.pairs[index]
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// The best loop for this level and access; nothing where this machine has no such level.
    pub(super) fn roof(
        &self,
        root: &Path,
        cores: &[usize],
        level: Level,
        access: Access,
    ) -> io::Result<Option<MemoryRoof>> {
        let share = match level {
            Level::L2 => caches::share(root, cores, 2),
            Level::L3 => caches::share(root, cores, 3),
            // A copy goes through both blocks.
            Level::Memory if access == Access::Copy => Some(2 * self.bytes),
            Level::Memory => Some(self.bytes),
        };
        let Some(share) = share else {
            return Ok(None);
        };
        let of_block = if access == Access::Copy {
            share / 2
        } else {
            share
        };
        let bytes = (of_block.min(self.bytes) as usize / STEP).max(1) * STEP;
        let moved = if access == Access::Copy { 2 } else { 1 };
        let of_a_pass = (moved * bytes * cores.len()) as f64;
        let timed = |code: &BytesCode, timing| {
            together::timed(cores, timing, |index| {
                let mut pair = self.of(index);
                move |passes| {
                    let (from, to) = &mut *pair;
                    for _ in 0..passes {
                        code.run(from, to, bytes);
                    }
                }
            })
        };
        let mut best: Option<(&BytesCode, f64)> = None;
        for code in code::bytes_codes(access) {
            if code.bypasses_caches && level != Level::Memory {
                continue;
            }
            let rate = timed(code, BRIEF)?.best(of_a_pass);
            if best.is_none_or(|(_, highest)| rate > highest) {
                best = Some((code, rate));
            }
        }
        let Some((code, _)) = best else {
            return Ok(None);
        };
        Ok(Some(MemoryRoof {
            level,
            access,
            threads: cores.len(),
            working_set_bytes: of_a_pass as u64,
            code: code.name.to_owned(),
            per_s: timed(code, FULL)?.rate(of_a_pass),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_measured_beyond_the_caches_or_as_far_as_there_is_memory() {
        let of = |cache, available| {
            let found = footprint(cache, available);
            (found.bytes, found.is_short)
        };
        assert_eq!(of(None, None), (LEAST, false));
        assert_eq!(of(Some(32 << 20), Some(16 << 30)), (LEAST, false));
        assert_eq!(of(Some(256 << 20), Some(16 << 30)), (1 << 30, false));
        assert_eq!(of(Some(256 << 20), Some(4 << 30)), (512 << 20, true));
    }

    #[test]
    fn a_copy_counts_what_is_read_and_what_is_written() {
        let root = Path::new("/");
        let cores = crate::roofs::processor::cores::in_order(root);
        let (blocks, note) = Blocks::new(root, &cores[..1], Some(64 << 20)).unwrap();
        assert!(note.unwrap().contains("on 8.00 MiB with 1 thread,"));
        assert_eq!(blocks.bytes, 8 << 20);
        let of = |access| {
            let roof = blocks.roof(root, &cores[..1], Level::Memory, access);
            roof.unwrap().unwrap()
        };
        let (copy, read) = (of(Access::Copy), of(Access::Read));
        assert_eq!(copy.working_set_bytes, 16 << 20);
        assert_eq!(read.working_set_bytes, 8 << 20);
        assert!(copy.per_s.value > 0.0 && read.per_s.value > 0.0);
    }
}
