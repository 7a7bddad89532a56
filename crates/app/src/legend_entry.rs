//! One series in the legend of *Curves*.

use powerband_findings::chart::spec::SeriesId;

/// One series in the legend.
#[derive(Clone, Debug, PartialEq)]
pub struct LegendEntry {
    /// Which.
    pub id: SeriesId,
    /// Its name.
    pub name: String,
    /// Its palette index.
    pub colour: usize,
    /// Whether it is drawn.
    pub shown: bool,
    /// Whether it was measured under another load, so that it cannot be drawn beside the others.
    pub is_apart: bool,
    /// Its fixed and per-item time, its knee and its limit, in a sentence.
    pub explained: String,
}
