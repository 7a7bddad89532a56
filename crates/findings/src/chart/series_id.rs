//! What a series is known by.

/// Which series: an opaque number that the maker of the chart chose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SeriesId(pub u64);

impl SeriesId {
    /// The series of a chart that has only one.
    pub const ONLY: Self = Self(0);
}
