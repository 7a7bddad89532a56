//! What the rows of the tables of *Curves* are about.

use crate::sessions::Pin;
use powerband_findings::chart::spec::SeriesId;

/// The case that a row of the table is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CaseRef {
    /// Which case.
    pub pin: Pin,
    /// The palette index of its series.
    pub colour: usize,
}

/// The series that a row of another table is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeriesRef {
    /// Which series.
    pub id: SeriesId,
    /// Its palette index.
    pub colour: usize,
    /// Its case, where the row is about one.
    pub pin: Option<Pin>,
}
