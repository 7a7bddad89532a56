//! Loops for aarch64: NEON, which all have.

#![expect(unsafe_code, reason = "written in assembly")]

use super::{BytesCode, ComputeCode};
use powerband_core::domain::roofs::Access;
use powerband_core::domain::work::Numbers;

/// Loops of arithmetic: 24 sums of 4 numbers, multiplied and added.
pub(super) static COMPUTE: &[ComputeCode] = &[ComputeCode {
    name: "NEON",
    numbers: Numbers::F32,
    vector_bits: 128,
    operations: 24 * 4 * 2,
    is_available: || true,
    run: multiply_add,
}];

/// Loops over bytes; copying and writing are the system's.
pub(super) static BYTES: &[BytesCode] = &[BytesCode {
    name: "NEON",
    access: Access::Read,
    bypasses_caches: false,
    is_available: || true,
    run: read,
}];

macro_rules! multiply_add_loop {
    ([$($number:literal $sum:tt)*]) => {
        unsafe fn multiply_add(passes: u64) {
            // SAFETY: it touches no memory, and changes no register that is not named; the caller has made sure
            // that there is a pass.
            unsafe {
                std::arch::asm!(
                    "fmov v30.4s, #1.0",
                    "fmov v31.4s, #0.125",
                    $(concat!("fmov v", $number, ".4s, #1.0"),)*
                    "2:",
                    $(concat!("fmla v", $number, ".4s, v30.4s, v31.4s"),)*
                    "subs {passes}, {passes}, #1",
                    "b.ne 2b",
                    passes = inout(reg) passes => _,
                    $(out($sum) _,)*
                    out("v30") _,
                    out("v31") _,
                    options(nostack, nomem),
                );
            }
        }
    };
}
multiply_add_loop!([0 "v0" 1 "v1" 2 "v2" 3 "v3" 4 "v4" 5 "v5" 6 "v6" 7 "v7" 8 "v8" 9 "v9" 10 "v10" 11 "v11"
    12 "v12" 13 "v13" 14 "v14" 15 "v15" 16 "v16" 17 "v17" 18 "v18" 19 "v19" 20 "v20" 21 "v21" 22 "v22" 23 "v23"]);

unsafe fn read(from: *const u8, _to: *mut u8, bytes: usize) {
    // SAFETY: it reads so many bytes from there, a multiple of what a pass reads, and changes no register that is
    // not named.
    unsafe {
        std::arch::asm!(
            "2:",
            "ldp q0, q1, [{from}]",
            "ldp q2, q3, [{from}, #32]",
            "ldp q4, q5, [{from}, #64]",
            "ldp q6, q7, [{from}, #96]",
            "add {from}, {from}, #128",
            "cmp {from}, {end}",
            "b.lo 2b",
            from = inout(reg) from => _,
            end = in(reg) from.wrapping_add(bytes),
            out("v0") _, out("v1") _, out("v2") _, out("v3") _,
            out("v4") _, out("v5") _, out("v6") _, out("v7") _,
            options(nostack, readonly),
        );
    }
}

/// Makes 16 additions a block, each of a register that the one before has written, of one cycle each.
pub(super) fn additions(blocks: u64) {
    if blocks == 0 {
        return;
    }
    // SAFETY: it touches no memory, and changes no register that is not named.
    unsafe {
        std::arch::asm!(
            "2:",
            "add {sum}, {sum}, {other}",
            "add {sum}, {sum}, {other}",
            "add {sum}, {sum}, {other}",
            "add {sum}, {sum}, {other}",
            "add {sum}, {sum}, {other}",
            "add {sum}, {sum}, {other}",
            "add {sum}, {sum}, {other}",
            "add {sum}, {sum}, {other}",
            "add {sum}, {sum}, {other}",
            "add {sum}, {sum}, {other}",
            "add {sum}, {sum}, {other}",
            "add {sum}, {sum}, {other}",
            "add {sum}, {sum}, {other}",
            "add {sum}, {sum}, {other}",
            "add {sum}, {sum}, {other}",
            "add {sum}, {sum}, {other}",
            "subs {blocks}, {blocks}, #1",
            "b.ne 2b",
            sum = inout(reg) 1_u64 => _,
            other = in(reg) 3_u64,
            blocks = inout(reg) blocks => _,
            options(nostack, nomem),
        );
    }
}
