//! The room for words on a chart: words stand inside the chart and over no other words.

use super::PlotSurface;
use super::words::{OVER_SIDE, PlacedLabel};
use crate::chart::area::Area;

/// The space for labels on a chart, and the labels that were placed in it.
pub(super) struct LabelSpace {
    /// Labels stay inside this area.
    frame: Area,
    /// The labels placed so far.
    taken: Vec<PlacedLabel>,
}

impl LabelSpace {
    /// All of a chart, with the little that words may reach over its side.
    pub(super) fn new(plot: &dyn PlotSurface) -> Self {
        Self {
            frame: frame(plot),
            taken: Vec::new(),
        }
    }

    /// Whether there is room for words where they stand.
    pub(super) fn is_free(&self, words: &PlacedLabel) -> bool {
        self.frame.contains_area(words.area)
            && !self.taken.iter().any(|one| one.area.overlaps(words.area))
    }

    /// Places a label if its area is free, and returns whether it was.
    pub(super) fn try_place(&mut self, words: PlacedLabel) -> bool {
        let is_free = self.is_free(&words);
        if is_free {
            self.taken.push(words);
        }
        is_free
    }

    /// The areas of the words that stand.
    pub(super) fn areas(&self) -> Vec<Area> {
        self.taken.iter().map(|words| words.area).collect()
    }

    /// Whether no words stand yet.
    pub(super) fn is_empty(&self) -> bool {
        self.taken.is_empty()
    }

    /// The words that stand.
    pub(super) fn into_words(self) -> Vec<PlacedLabel> {
        self.taken
    }
}

/// Where words may stand.
pub(super) fn frame(plot: &dyn PlotSurface) -> Area {
    plot.inner().expanded(OVER_SIDE)
}
