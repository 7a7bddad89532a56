//! How much of a file is read.

/// Limits of how much of a file is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Most bytes that a packed file may unpack to.
    pub unpacked: u64,
    /// Whether all arguments of slices are kept, as timelines show them. Without a timeline, what the sums need is
    /// enough.
    pub keeps_args: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            unpacked: 4_000_000_000,
            keeps_args: true,
        }
    }
}
