//! Loops over bytes that the system's own library has: `memcpy` and `memset`.

#![expect(unsafe_code, reason = "they take bare addresses")]

use super::BytesCode;
use super::block::FILLING;
use powerband_core::domain::roofs::Access;

/// All of them.
pub(super) const BYTES: &[BytesCode] = &[
    BytesCode {
        name: "memcpy",
        access: Access::Copy,
        bypasses_caches: false,
        is_available: || true,
        run: copy,
    },
    BytesCode {
        name: "memset",
        access: Access::Write,
        bypasses_caches: false,
        is_available: || true,
        run: write,
    },
];

unsafe fn copy(from: *const u8, to: *mut u8, bytes: usize) {
    // SAFETY: the caller has two ranges of so many bytes that are apart.
    unsafe { std::ptr::copy_nonoverlapping(from, to, bytes) }
}

unsafe fn write(_from: *const u8, to: *mut u8, bytes: usize) {
    // Nothing reads what is written, so the compiler must not see that.
    // SAFETY: the caller owns that many bytes from there.
    unsafe { std::hint::black_box(to).write_bytes(FILLING, bytes) }
}
