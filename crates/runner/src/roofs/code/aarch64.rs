//! Loops for aarch64: NEON, which all have.

#![expect(unsafe_code, reason = "written in assembly")]

use std::arch::is_aarch64_feature_detected;

use super::{BytesCode, ComputeCode};
use powerband_core::domain::roofs::Access;
use powerband_core::domain::work::Numbers;

/// Loops of arithmetic: 24 sums a pass × operations of an instruction.
pub(super) static COMPUTE: &[ComputeCode] = &[
    ComputeCode {
        name: "NEON",
        numbers: Numbers::F32,
        vector_bits: 128,
        operations: 24 * 4 * 2,
        is_available: || true,
        run: f32,
    },
    ComputeCode {
        name: "NEON",
        numbers: Numbers::F64,
        vector_bits: 128,
        operations: 24 * 2 * 2,
        is_available: || true,
        run: f64,
    },
    ComputeCode {
        name: "NEON FP16",
        numbers: Numbers::F16,
        vector_bits: 128,
        operations: 24 * 8 * 2,
        is_available: || is_aarch64_feature_detected!("fp16"),
        run: f16,
    },
    ComputeCode {
        name: "NEON BFDOT",
        numbers: Numbers::Bf16,
        vector_bits: 128,
        operations: 24 * 4 * 2 * 2,
        is_available: || is_aarch64_feature_detected!("bf16"),
        run: bf16_dot,
    },
    ComputeCode {
        name: "NEON BFMMLA",
        numbers: Numbers::Bf16,
        vector_bits: 128,
        operations: 24 * 4 * 4 * 2,
        is_available: || is_aarch64_feature_detected!("bf16"),
        run: bf16_product,
    },
    ComputeCode {
        name: "NEON SDOT",
        numbers: Numbers::Int8,
        vector_bits: 128,
        operations: 24 * 4 * 4 * 2,
        is_available: || is_aarch64_feature_detected!("dotprod"),
        run: int8_dot,
    },
    ComputeCode {
        name: "NEON SMMLA",
        numbers: Numbers::Int8,
        vector_bits: 128,
        operations: 24 * 4 * 8 * 2,
        is_available: || is_aarch64_feature_detected!("i8mm"),
        run: int8_product,
    },
];

/// Loops over bytes; copying and writing are the system's.
pub(super) static BYTES: &[BytesCode] = &[BytesCode {
    name: "NEON",
    access: Access::Read,
    bypasses_caches: false,
    is_available: || true,
    run: read,
}];

/// A loop of one instruction on 24 sums, each of which waits only for itself.
macro_rules! multiply_add_loop {
    ($name:ident, $feature:literal, $instruction:literal, $sums:literal, $factors:literal) => {
        multiply_add_loop!(@ $name, $feature, $instruction, $sums, $factors,
            [0 "v0" 1 "v1" 2 "v2" 3 "v3" 4 "v4" 5 "v5" 6 "v6" 7 "v7" 8 "v8" 9 "v9" 10 "v10" 11 "v11"
             12 "v12" 13 "v13" 14 "v14" 15 "v15" 16 "v16" 17 "v17" 18 "v18" 19 "v19" 20 "v20" 21 "v21"
             22 "v22" 23 "v23"]);
    };
    (@ $name:ident, $feature:literal, $instruction:literal, $sums:literal, $factors:literal,
     [$($number:literal $sum:tt)*]) => {
        #[target_feature(enable = $feature)]
        unsafe fn $name(passes: u64) {
            // SAFETY: it touches no memory, and changes no register that is not named. The caller has made sure of
            // the instructions, and that there is a pass.
            unsafe {
                std::arch::asm!(
                    // Numbers that are neither zero nor tiny in any of the types.
                    "movi v30.16b, #0x3c",
                    "movi v31.16b, #0x38",
                    $(concat!("movi v", $number, ".16b, #0x3c"),)*
                    "2:",
                    $(concat!($instruction, " v", $number, $sums, ", v30", $factors, ", v31", $factors),)*
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
multiply_add_loop!(f32, "neon", "fmla", ".4s", ".4s");
multiply_add_loop!(f64, "neon", "fmla", ".2d", ".2d");
multiply_add_loop!(f16, "fp16", "fmla", ".8h", ".8h");
multiply_add_loop!(bf16_dot, "bf16", "bfdot", ".4s", ".8h");
multiply_add_loop!(bf16_product, "bf16", "bfmmla", ".4s", ".8h");
multiply_add_loop!(int8_dot, "dotprod", "sdot", ".4s", ".16b");
multiply_add_loop!(int8_product, "i8mm", "smmla", ".4s", ".16b");

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
