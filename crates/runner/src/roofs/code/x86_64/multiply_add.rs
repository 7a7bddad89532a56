//! Multiply-adds of floating-point numbers.

#![expect(unsafe_code, reason = "written in assembly")]

use super::{Operands, multiply_add_loop};
use crate::roofs::code::ComputeCode;
use powerband_core::domain::work::NumberFormat;

/// The loops. Sums a pass × numbers a register × 2 operations.
pub(super) static ALL: &[ComputeCode] = &[
    ComputeCode {
        name: "SSE",
        numbers: NumberFormat::F32,
        vector_bits: 128,
        operations: 14 * 4,
        is_available: || true,
        run: sse_f32,
    },
    ComputeCode {
        name: "AVX2",
        numbers: NumberFormat::F32,
        vector_bits: 256,
        operations: 12 * 8 * 2,
        is_available: has_fma,
        run: fma_f32,
    },
    ComputeCode {
        name: "AVX-512",
        numbers: NumberFormat::F32,
        vector_bits: 512,
        operations: 24 * 16 * 2,
        is_available: || is_x86_feature_detected!("avx512f"),
        run: avx512_f32,
    },
    ComputeCode {
        name: "AVX2",
        numbers: NumberFormat::F64,
        vector_bits: 256,
        operations: 12 * 4 * 2,
        is_available: has_fma,
        run: fma_f64,
    },
    ComputeCode {
        name: "AVX-512",
        numbers: NumberFormat::F64,
        vector_bits: 512,
        operations: 24 * 8 * 2,
        is_available: || is_x86_feature_detected!("avx512f"),
        run: avx512_f64,
    },
    ComputeCode {
        name: "AVX-512 BF16",
        numbers: NumberFormat::Bf16,
        vector_bits: 256,
        operations: 24 * 16 * 2,
        is_available: || {
            is_x86_feature_detected!("avx512bf16") && is_x86_feature_detected!("avx512vl")
        },
        run: avx512_bf16_narrow,
    },
    ComputeCode {
        name: "AVX-512 BF16",
        numbers: NumberFormat::Bf16,
        vector_bits: 512,
        operations: 24 * 32 * 2,
        is_available: || is_x86_feature_detected!("avx512bf16"),
        run: avx512_bf16,
    },
    ComputeCode {
        name: "AVX-512 FP16",
        numbers: NumberFormat::F16,
        vector_bits: 512,
        operations: 24 * 32 * 2,
        is_available: || is_x86_feature_detected!("avx512fp16"),
        run: avx512_f16,
    },
];

fn has_fma() -> bool {
    is_x86_feature_detected!("fma") && is_x86_feature_detected!("avx2")
}

// With these, sum × x + y stays near one.
static F32: Operands<f32, 16> = Operands([0.999; 16], [0.001; 16]);
static F64: Operands<f64, 8> = Operands([0.999; 8], [0.001; 8]);
/// 1.0 and 2⁻⁷ as the upper halves of 32-bit floats.
static BF16: Operands<u16, 32> = Operands([0x3F80; 32], [0x3C00; 32]);
/// Just below 1.0, and 2⁻¹⁰.
static F16: Operands<u16, 32> = Operands([0x3BFF; 32], [0x1400; 32]);

multiply_add_loop!(fma_f32, "avx2,fma", "vmovaps", "vfmadd213ps", F32, "ymm12", "ymm13",
    ["ymm0" "ymm1" "ymm2" "ymm3" "ymm4" "ymm5" "ymm6" "ymm7" "ymm8" "ymm9" "ymm10" "ymm11"]);
multiply_add_loop!(fma_f64, "avx2,fma", "vmovapd", "vfmadd213pd", F64, "ymm12", "ymm13",
    ["ymm0" "ymm1" "ymm2" "ymm3" "ymm4" "ymm5" "ymm6" "ymm7" "ymm8" "ymm9" "ymm10" "ymm11"]);
multiply_add_loop!(avx512_f32, "avx512f", "vmovaps", "vfmadd213ps", F32, "zmm30", "zmm31",
    ["zmm0" "zmm1" "zmm2" "zmm3" "zmm4" "zmm5" "zmm6" "zmm7" "zmm8" "zmm9" "zmm10" "zmm11"
     "zmm12" "zmm13" "zmm14" "zmm15" "zmm16" "zmm17" "zmm18" "zmm19" "zmm20" "zmm21" "zmm22" "zmm23"]);
multiply_add_loop!(avx512_f64, "avx512f", "vmovapd", "vfmadd213pd", F64, "zmm30", "zmm31",
    ["zmm0" "zmm1" "zmm2" "zmm3" "zmm4" "zmm5" "zmm6" "zmm7" "zmm8" "zmm9" "zmm10" "zmm11"
     "zmm12" "zmm13" "zmm14" "zmm15" "zmm16" "zmm17" "zmm18" "zmm19" "zmm20" "zmm21" "zmm22" "zmm23"]);
multiply_add_loop!(avx512_bf16, "avx512f,avx512bf16", "vmovaps", "vdpbf16ps", BF16, "zmm30", "zmm31",
    ["zmm0" "zmm1" "zmm2" "zmm3" "zmm4" "zmm5" "zmm6" "zmm7" "zmm8" "zmm9" "zmm10" "zmm11"
     "zmm12" "zmm13" "zmm14" "zmm15" "zmm16" "zmm17" "zmm18" "zmm19" "zmm20" "zmm21" "zmm22" "zmm23"]);
multiply_add_loop!(avx512_bf16_narrow, "avx512f,avx512vl,avx512bf16", "vmovaps", "vdpbf16ps", BF16, "ymm30", "ymm31",
    ["ymm0" "ymm1" "ymm2" "ymm3" "ymm4" "ymm5" "ymm6" "ymm7" "ymm8" "ymm9" "ymm10" "ymm11"
     "ymm12" "ymm13" "ymm14" "ymm15" "ymm16" "ymm17" "ymm18" "ymm19" "ymm20" "ymm21" "ymm22" "ymm23"]);
multiply_add_loop!(avx512_f16, "avx512f,avx512fp16", "vmovaps", "vfmadd213ph", F16, "zmm30", "zmm31",
    ["zmm0" "zmm1" "zmm2" "zmm3" "zmm4" "zmm5" "zmm6" "zmm7" "zmm8" "zmm9" "zmm10" "zmm11"
     "zmm12" "zmm13" "zmm14" "zmm15" "zmm16" "zmm17" "zmm18" "zmm19" "zmm20" "zmm21" "zmm22" "zmm23"]);

/// Multiplications and additions apart, seven of each: what there is without fused ones.
unsafe fn sse_f32(passes: u64) {
    // SAFETY: it reads the operands, and changes no register that is not named; every x86-64 has SSE.
    unsafe {
        std::arch::asm!(
            "movaps xmm14, [{operands}]",
            "movaps xmm15, [{operands} + 64]",
            "movaps xmm0, xmm14",
            "movaps xmm1, xmm14",
            "movaps xmm2, xmm14",
            "movaps xmm3, xmm14",
            "movaps xmm4, xmm14",
            "movaps xmm5, xmm14",
            "movaps xmm6, xmm14",
            "movaps xmm7, xmm14",
            "movaps xmm8, xmm14",
            "movaps xmm9, xmm14",
            "movaps xmm10, xmm14",
            "movaps xmm11, xmm14",
            "movaps xmm12, xmm14",
            "movaps xmm13, xmm14",
            // One, so that products stay as they are.
            "divps xmm14, xmm14",
            "2:",
            "mulps xmm0, xmm14",
            "addps xmm7, xmm15",
            "mulps xmm1, xmm14",
            "addps xmm8, xmm15",
            "mulps xmm2, xmm14",
            "addps xmm9, xmm15",
            "mulps xmm3, xmm14",
            "addps xmm10, xmm15",
            "mulps xmm4, xmm14",
            "addps xmm11, xmm15",
            "mulps xmm5, xmm14",
            "addps xmm12, xmm15",
            "mulps xmm6, xmm14",
            "addps xmm13, xmm15",
            "dec {passes}",
            "jnz 2b",
            operands = in(reg) &raw const F32,
            passes = inout(reg) passes => _,
            out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _,
            out("xmm4") _, out("xmm5") _, out("xmm6") _, out("xmm7") _,
            out("xmm8") _, out("xmm9") _, out("xmm10") _, out("xmm11") _,
            out("xmm12") _, out("xmm13") _, out("xmm14") _, out("xmm15") _,
            options(nostack, readonly),
        );
    }
}
