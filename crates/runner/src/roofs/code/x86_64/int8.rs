//! Products of 8-bit integers that are summed in 32 bits.

#![expect(unsafe_code, reason = "written in assembly")]

use super::{Operands, multiply_add_loop};
use crate::roofs::code::ComputeCode;
use powerband_core::domain::work::NumberFormat;

/// The loops. Sums a pass × numbers a register × 2 operations.
pub(super) static ALL: &[ComputeCode] = &[
    ComputeCode {
        name: "AVX2",
        numbers: NumberFormat::Int8,
        vector_bits: 256,
        operations: 6 * 32 * 2,
        is_available: || is_x86_feature_detected!("avx2"),
        run: avx2,
    },
    ComputeCode {
        name: "AVX-VNNI",
        numbers: NumberFormat::Int8,
        vector_bits: 256,
        operations: 12 * 32 * 2,
        is_available: || is_x86_feature_detected!("avxvnni"),
        run: avx_vnni,
    },
    ComputeCode {
        name: "AVX-512 VNNI",
        numbers: NumberFormat::Int8,
        vector_bits: 512,
        operations: 24 * 64 * 2,
        is_available: || is_x86_feature_detected!("avx512vnni"),
        run: avx512_vnni,
    },
];

static BYTES: Operands<u8, 64> = Operands([3; 64], [5; 64]);
static ONES: Operands<i16, 32> = Operands([1; 32], [1; 32]);

multiply_add_loop!(avx_vnni, "avx2,avxvnni", "vmovaps", "{{vex}} vpdpbusd", BYTES, "ymm12", "ymm13",
    ["ymm0" "ymm1" "ymm2" "ymm3" "ymm4" "ymm5" "ymm6" "ymm7" "ymm8" "ymm9" "ymm10" "ymm11"]);
multiply_add_loop!(avx512_vnni, "avx512f,avx512vnni", "vmovaps", "vpdpbusd", BYTES, "zmm30", "zmm31",
    ["zmm0" "zmm1" "zmm2" "zmm3" "zmm4" "zmm5" "zmm6" "zmm7" "zmm8" "zmm9" "zmm10" "zmm11"
     "zmm12" "zmm13" "zmm14" "zmm15" "zmm16" "zmm17" "zmm18" "zmm19" "zmm20" "zmm21" "zmm22" "zmm23"]);

macro_rules! three_steps {
    ($([$product:tt $sum:tt])*) => {
        /// Three instructions in place of one: products in pairs, pairs of pairs, and their sum.
        #[target_feature(enable = "avx2")]
        unsafe fn avx2(passes: u64) {
            // SAFETY: it reads the operands, and changes no register that is not named. The caller has made sure
            // of the instructions, and that there is a pass.
            unsafe {
                std::arch::asm!(
                    "vmovaps ymm12, [{operands}]",
                    "vmovaps ymm13, [{operands} + 64]",
                    "vmovaps ymm14, [{ones}]",
                    $(concat!("vmovaps ", $sum, ", ymm14"),)*
                    "2:",
                    $(
                        concat!("vpmaddubsw ", $product, ", ymm12, ymm13"),
                        concat!("vpmaddwd ", $product, ", ", $product, ", ymm14"),
                        concat!("vpaddd ", $sum, ", ", $sum, ", ", $product),
                    )*
                    "dec {passes}",
                    "jnz 2b",
                    operands = in(reg) &raw const BYTES,
                    ones = in(reg) &raw const ONES,
                    passes = inout(reg) passes => _,
                    $(out($product) _, out($sum) _,)*
                    out("ymm12") _,
                    out("ymm13") _,
                    out("ymm14") _,
                    options(nostack, readonly),
                );
            }
        }
    };
}
three_steps!(["ymm0" "ymm6"] ["ymm1" "ymm7"] ["ymm2" "ymm8"] ["ymm3" "ymm9"] ["ymm4" "ymm10"] ["ymm5" "ymm11"]);
