//! What a series is known by.

/// Which series: an opaque number that the maker of the chart chose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SeriesId(pub u64);

impl SeriesId {
    /// That of a chart with one series.
    pub const ONLY: Self = Self(0);
}
