//! A block of memory that the loops go through: aligned, on large pages where the system has them.

#![expect(unsafe_code, reason = "memory by itself, for loops in assembly")]

use std::alloc::{Layout, alloc, dealloc};
use std::ptr::NonNull;

/// What a block is a multiple of, in bytes: the most that a loop moves at once.
pub(crate) const STEP: usize = 4096;
/// The size of a large page of x86-64.
const LARGE_PAGE: usize = 2 << 20;
/// What is in a new block: not zeros, which some processors do not carry to memory.
pub(super) const FILLING: u8 = 0x5A;

/// Memory of a multiple of [`STEP`] bytes. What is in it is not known until it was filled.
pub(crate) struct Block {
    start: NonNull<u8>,
    bytes: usize,
    /// What was allocated: large pages as a whole.
    layout: Layout,
}

// SAFETY: it owns its memory alone.
unsafe impl Send for Block {}
// SAFETY: what is shared can only be read.
unsafe impl Sync for Block {}

impl Block {
    /// One of at least so many bytes, filled by this thread, near which the system then puts it; nothing where there is
    /// not so much memory.
    pub(crate) fn new(bytes: usize) -> Option<Self> {
        let bytes = bytes.max(1).checked_next_multiple_of(STEP)?;
        let whole = bytes.checked_next_multiple_of(LARGE_PAGE)?;
        let layout = Layout::from_size_align(whole, LARGE_PAGE).ok()?;
        // SAFETY: the layout is of more than no bytes.
        let start = NonNull::new(unsafe { alloc(layout) })?;
        #[cfg(target_os = "linux")]
        // SAFETY: the range is ours, and advice does not change what is in it. Where there are no large pages it
        // fails, which changes the speed alone.
        #[cfg(not(miri))]
        unsafe {
            libc::madvise(start.as_ptr().cast(), whole, libc::MADV_HUGEPAGE);
        }
        let mut block = Self {
            start,
            bytes,
            layout,
        };
        block.fill(FILLING);
        Some(block)
    }

    /// How many bytes it has.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Writes the same everywhere.
    pub(crate) fn fill(&mut self, byte: u8) {
        // SAFETY: so many bytes are ours.
        unsafe { self.start.as_ptr().write_bytes(byte, self.bytes) }
    }

    pub(super) fn start(&self) -> *const u8 {
        self.start.as_ptr()
    }

    #[expect(
        clippy::needless_pass_by_ref_mut,
        reason = "what is at the address is written through it"
    )]
    pub(super) fn start_mut(&mut self) -> *mut u8 {
        self.start.as_ptr()
    }

    #[cfg(test)]
    pub(super) fn as_slice(&self) -> &[u8] {
        // SAFETY: so many bytes are ours, and `new` has filled them.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.bytes) }
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: it was allocated with this layout.
        unsafe { dealloc(self.start.as_ptr(), self.layout) }
    }
}
