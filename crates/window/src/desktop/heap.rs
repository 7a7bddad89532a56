//! How the window's process keeps freed memory: it stays for days, and each piece of background work has a thread of
//! its own.
//!
//! The C library gives threads up to eight heaps a core, and each keeps what was freed in it. After 4,000 cases in one
//! window that was 30 MB for 5 MB in use (`scripts/soak`). Workers are processes of their own, and measure with the
//! allocator as it is.

#![cfg_attr(
    target_env = "gnu",
    expect(unsafe_code, reason = "the allocator is set up by a function of C")
)]

/// Limits what the allocator keeps. To be called before the first background thread is started.
pub fn limit() {
    #[cfg(target_env = "gnu")]
    for (setting, value) in [
        // One for the window's thread, one for all others.
        (libc::M_ARENA_MAX, 2),
        // Larger blocks go back to the system at once. Less than what a frame needs would cost page faults in each.
        (libc::M_MMAP_THRESHOLD, 1 << 20),
        (libc::M_TRIM_THRESHOLD, 128 << 10),
    ] {
        // SAFETY: `mallopt` takes two numbers, may be called by any thread, and refuses what it does not know.
        let is_set = unsafe { libc::mallopt(setting, value) };
        debug_assert_eq!(is_set, 1, "a setting of the C library");
    }
}
