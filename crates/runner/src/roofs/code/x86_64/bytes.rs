//! Loops over bytes: reading, copying and writing, with stores through the caches and past them.

#![expect(unsafe_code, reason = "written in assembly")]

use crate::roofs::code::BytesCode;
use crate::roofs::code::block::FILLING;
use powerband_core::domain::roofs::Access;

/// What is written.
#[repr(C, align(64))]
struct Fillings([u8; 64]);
static FILLINGS: Fillings = Fillings([FILLING; 64]);

/// All of them.
pub(in crate::roofs::code) static BYTES: &[BytesCode] = &[
    BytesCode {
        name: "SSE",
        access: Access::Read,
        bypasses_caches: false,
        is_available: || true,
        run: read_sse,
    },
    BytesCode {
        name: "AVX",
        access: Access::Read,
        bypasses_caches: false,
        is_available: || is_x86_feature_detected!("avx"),
        run: read_avx,
    },
    BytesCode {
        name: "AVX-512",
        access: Access::Read,
        bypasses_caches: false,
        is_available: || is_x86_feature_detected!("avx512f"),
        run: read_avx512,
    },
    BytesCode {
        name: "AVX",
        access: Access::Copy,
        bypasses_caches: false,
        is_available: || is_x86_feature_detected!("avx"),
        run: copy_avx,
    },
    BytesCode {
        name: "AVX-512",
        access: Access::Copy,
        bypasses_caches: false,
        is_available: || is_x86_feature_detected!("avx512f"),
        run: copy_avx512,
    },
    BytesCode {
        name: "SSE, non-temporal",
        access: Access::Copy,
        bypasses_caches: true,
        is_available: || true,
        run: copy_past_sse,
    },
    BytesCode {
        name: "AVX, non-temporal",
        access: Access::Copy,
        bypasses_caches: true,
        is_available: || is_x86_feature_detected!("avx"),
        run: copy_past_avx,
    },
    BytesCode {
        name: "AVX-512, non-temporal",
        access: Access::Copy,
        bypasses_caches: true,
        is_available: || is_x86_feature_detected!("avx512f"),
        run: copy_past_avx512,
    },
    BytesCode {
        name: "AVX",
        access: Access::Write,
        bypasses_caches: false,
        is_available: || is_x86_feature_detected!("avx"),
        run: write_avx,
    },
    BytesCode {
        name: "AVX-512",
        access: Access::Write,
        bypasses_caches: false,
        is_available: || is_x86_feature_detected!("avx512f"),
        run: write_avx512,
    },
    BytesCode {
        name: "SSE, non-temporal",
        access: Access::Write,
        bypasses_caches: true,
        is_available: || true,
        run: write_past_sse,
    },
    BytesCode {
        name: "AVX, non-temporal",
        access: Access::Write,
        bypasses_caches: true,
        is_available: || is_x86_feature_detected!("avx"),
        run: write_past_avx,
    },
    BytesCode {
        name: "AVX-512, non-temporal",
        access: Access::Write,
        bypasses_caches: true,
        is_available: || is_x86_feature_detected!("avx512f"),
        run: write_past_avx512,
    },
];

/// Eight registers at once, one after the other.
macro_rules! read_loop {
    ($name:ident, $feature:literal, $load:literal, $width:literal, [$($register:tt $place:literal)*]) => {
        #[target_feature(enable = $feature)]
        unsafe fn $name(from: *const u8, _to: *mut u8, bytes: usize) {
            // SAFETY: it reads so many bytes from there, a multiple of what a pass reads, and changes no register
            // that is not named. The caller has made sure of the instructions.
            unsafe {
                std::arch::asm!(
                    "2:",
                    $(concat!($load, " ", $register, ", [{from} + ", $width, "*", $place, "]"),)*
                    concat!("add {from}, 8*", $width),
                    "cmp {from}, {end}",
                    "jb 2b",
                    from = inout(reg) from => _,
                    end = in(reg) from.wrapping_add(bytes),
                    $(out($register) _,)*
                    options(nostack, readonly),
                );
            }
        }
    };
}

macro_rules! copy_loop {
    ($name:ident, $feature:literal, $load:literal, $store:literal, $width:literal,
     [$($register:tt $place:literal)*]) => {
        #[target_feature(enable = $feature)]
        unsafe fn $name(from: *const u8, to: *mut u8, bytes: usize) {
            // SAFETY: it reads so many bytes from there and writes them to the other place, a multiple of what a
            // pass copies, and changes no register that is not named. The caller has made sure of the instructions.
            unsafe {
                std::arch::asm!(
                    "2:",
                    $(concat!($load, " ", $register, ", [{from} + ", $width, "*", $place, "]"),)*
                    $(concat!($store, " [{to} + ", $width, "*", $place, "], ", $register),)*
                    concat!("add {from}, 8*", $width),
                    concat!("add {to}, 8*", $width),
                    "cmp {from}, {end}",
                    "jb 2b",
                    "sfence",
                    from = inout(reg) from => _,
                    to = inout(reg) to => _,
                    end = in(reg) from.wrapping_add(bytes),
                    $(out($register) _,)*
                    options(nostack),
                );
            }
        }
    };
}

macro_rules! write_loop {
    ($name:ident, $feature:literal, $load:literal, $store:literal, $width:literal, $register:tt) => {
        #[target_feature(enable = $feature)]
        unsafe fn $name(_from: *const u8, to: *mut u8, bytes: usize) {
            // SAFETY: it writes so many bytes there, a multiple of what a pass writes, and changes no register that
            // is not named. The caller has made sure of the instructions.
            unsafe {
                std::arch::asm!(
                    concat!($load, " ", $register, ", [{filling}]"),
                    "2:",
                    concat!($store, " [{to} + ", $width, "*0], ", $register),
                    concat!($store, " [{to} + ", $width, "*1], ", $register),
                    concat!($store, " [{to} + ", $width, "*2], ", $register),
                    concat!($store, " [{to} + ", $width, "*3], ", $register),
                    concat!($store, " [{to} + ", $width, "*4], ", $register),
                    concat!($store, " [{to} + ", $width, "*5], ", $register),
                    concat!($store, " [{to} + ", $width, "*6], ", $register),
                    concat!($store, " [{to} + ", $width, "*7], ", $register),
                    concat!("add {to}, 8*", $width),
                    "cmp {to}, {end}",
                    "jb 2b",
                    "sfence",
                    to = inout(reg) to => _,
                    end = in(reg) to.wrapping_add(bytes),
                    filling = in(reg) &raw const FILLINGS,
                    out($register) _,
                    options(nostack),
                );
            }
        }
    };
}

read_loop!(read_sse, "sse2", "movaps", 16,
    ["xmm0" 0 "xmm1" 1 "xmm2" 2 "xmm3" 3 "xmm4" 4 "xmm5" 5 "xmm6" 6 "xmm7" 7]);
read_loop!(read_avx, "avx", "vmovaps", 32,
    ["ymm0" 0 "ymm1" 1 "ymm2" 2 "ymm3" 3 "ymm4" 4 "ymm5" 5 "ymm6" 6 "ymm7" 7]);
read_loop!(read_avx512, "avx512f", "vmovaps", 64,
    ["zmm0" 0 "zmm1" 1 "zmm2" 2 "zmm3" 3 "zmm4" 4 "zmm5" 5 "zmm6" 6 "zmm7" 7]);

copy_loop!(copy_avx, "avx", "vmovaps", "vmovaps", 32,
    ["ymm0" 0 "ymm1" 1 "ymm2" 2 "ymm3" 3 "ymm4" 4 "ymm5" 5 "ymm6" 6 "ymm7" 7]);
copy_loop!(copy_avx512, "avx512f", "vmovaps", "vmovaps", 64,
    ["zmm0" 0 "zmm1" 1 "zmm2" 2 "zmm3" 3 "zmm4" 4 "zmm5" 5 "zmm6" 6 "zmm7" 7]);
copy_loop!(copy_past_sse, "sse2", "movaps", "movntps", 16,
    ["xmm0" 0 "xmm1" 1 "xmm2" 2 "xmm3" 3 "xmm4" 4 "xmm5" 5 "xmm6" 6 "xmm7" 7]);
copy_loop!(copy_past_avx, "avx", "vmovaps", "vmovntps", 32,
    ["ymm0" 0 "ymm1" 1 "ymm2" 2 "ymm3" 3 "ymm4" 4 "ymm5" 5 "ymm6" 6 "ymm7" 7]);
copy_loop!(copy_past_avx512, "avx512f", "vmovaps", "vmovntps", 64,
    ["zmm0" 0 "zmm1" 1 "zmm2" 2 "zmm3" 3 "zmm4" 4 "zmm5" 5 "zmm6" 6 "zmm7" 7]);

write_loop!(write_avx, "avx", "vmovaps", "vmovaps", 32, "ymm0");
write_loop!(write_avx512, "avx512f", "vmovaps", "vmovaps", 64, "zmm0");
write_loop!(write_past_sse, "sse2", "movaps", "movntps", 16, "xmm0");
write_loop!(write_past_avx, "avx", "vmovaps", "vmovntps", 32, "ymm0");
write_loop!(
    write_past_avx512,
    "avx512f",
    "vmovaps",
    "vmovntps",
    64,
    "zmm0"
);
