//! Products of tiles: AMX, where the processor has it and the system lets this process use it.

#![expect(unsafe_code, reason = "written in assembly, and the system is asked")]

use std::arch::x86_64::{__cpuid, __cpuid_count};

use crate::roofs::code::ComputeCode;
use powerband_core::domain::work::NumberFormat;

/// The loops: six products a pass, each of 16 × 16 sums of 64 bytes.
pub(super) static ALL: &[ComputeCode] = &[
    ComputeCode {
        name: "AMX",
        numbers: NumberFormat::Bf16,
        vector_bits: 512,
        operations: 6 * 16 * 16 * 32 * 2,
        is_available: || has_features(BF16),
        run: bf16,
    },
    ComputeCode {
        name: "AMX",
        numbers: NumberFormat::Int8,
        vector_bits: 512,
        operations: 6 * 16 * 16 * 64 * 2,
        is_available: || has_features(INT8),
        run: int8,
    },
];

// Bits of EDX of CPUID's leaf 7 (Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2A, CPUID).
const BF16: u32 = 1 << 22;
const TILE: u32 = 1 << 24;
const INT8: u32 = 1 << 25;
/// `ARCH_REQ_XCOMP_PERM` and the number of the tiles' data (Linux, Documentation/arch/x86/xstate.rst).
#[cfg(target_os = "linux")]
const REQUEST: (libc::c_long, libc::c_long) = (0x1023, 18);

fn has_features(numbers: u32) -> bool {
    features() & numbers != 0 && is_permitted()
}

/// Whether the processor has tiles that this process may not use.
pub(super) fn is_refused() -> bool {
    features() & (BF16 | INT8) != 0 && !is_permitted()
}

/// What the processor has; nothing without tiles.
fn features() -> u32 {
    // AVX-512 comes with every AMX, and says that the system saves wide registers.
    if !is_x86_feature_detected!("avx512f") || __cpuid(0).eax < 7 {
        return 0;
    }
    let features = __cpuid_count(7, 0).edx;
    if features & TILE == 0 { 0 } else { features }
}

/// Whether the system lets this process use tiles, asked once.
#[cfg(target_os = "linux")]
fn is_permitted() -> bool {
    static PERMITTED: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
    *PERMITTED.get_or_init(|| {
        // SAFETY: the call takes two numbers and changes what registers this process may use.
        unsafe { libc::syscall(libc::SYS_arch_prctl, REQUEST.0, REQUEST.1) == 0 }
    })
}

#[cfg(not(target_os = "linux"))]
fn is_permitted() -> bool {
    false
}

/// Eight tiles of 16 rows of 64 bytes: palette 1, then bytes a row from byte 16 and rows from byte 48.
#[repr(C, align(64))]
struct Configuration([u8; 64]);

static CONFIGURATION: Configuration = {
    let mut bytes = [0; 64];
    bytes[0] = 1;
    let mut tile = 0;
    while tile < 8 {
        bytes[16 + 2 * tile] = 64;
        bytes[48 + tile] = 16;
        tile += 1;
    }
    Configuration(bytes)
};

#[repr(C, align(64))]
struct Tile([u16; 512]);

/// 1.0 as the upper half of a 32-bit float; as bytes, numbers that are not zero.
static ONES: Tile = Tile([0x3F80; 512]);

macro_rules! tile_loop {
    ($name:ident, $instruction:literal) => {
        unsafe fn $name(passes: u64) {
            // SAFETY: it reads the configuration and the operands, and leaves the tiles as they were: not in use.
            // The caller has made sure of the instructions, and that there is a pass.
            unsafe {
                std::arch::asm!(
                    "ldtilecfg [{configuration}]",
                    "tileloadd tmm6, [{operands} + {stride}*1]",
                    "tileloadd tmm7, [{operands} + {stride}*1]",
                    "tilezero tmm0",
                    "tilezero tmm1",
                    "tilezero tmm2",
                    "tilezero tmm3",
                    "tilezero tmm4",
                    "tilezero tmm5",
                    "2:",
                    concat!($instruction, " tmm0, tmm6, tmm7"),
                    concat!($instruction, " tmm1, tmm6, tmm7"),
                    concat!($instruction, " tmm2, tmm6, tmm7"),
                    concat!($instruction, " tmm3, tmm6, tmm7"),
                    concat!($instruction, " tmm4, tmm6, tmm7"),
                    concat!($instruction, " tmm5, tmm6, tmm7"),
                    "dec {passes}",
                    "jnz 2b",
                    "tilerelease",
                    configuration = in(reg) &raw const CONFIGURATION,
                    operands = in(reg) &raw const ONES,
                    stride = in(reg) 64_u64,
                    passes = inout(reg) passes => _,
                    options(nostack, readonly),
                );
            }
        }
    };
}
tile_loop!(bf16, "tdpbf16ps");
tile_loop!(int8, "tdpbusd");
