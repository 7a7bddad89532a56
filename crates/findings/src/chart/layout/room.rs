//! The room for words on a chart: words stand inside the chart and over no other words.

use super::Plot;
use super::words::{OVER_SIDE, Words};
use crate::chart::area::Area;

/// The room that is left on a chart.
pub(super) struct Room {
    /// Words may be here.
    frame: Area,
    /// And not over these.
    taken: Vec<Words>,
}

impl Room {
    /// All of a chart, with the little that words may reach over its side.
    pub(super) fn new(plot: &dyn Plot) -> Self {
        Self {
            frame: frame(plot),
            taken: Vec::new(),
        }
    }

    /// Whether there is room for words where they stand.
    pub(super) fn is_free(&self, words: &Words) -> bool {
        self.frame.holds(words.area) && !self.taken.iter().any(|one| one.area.touches(words.area))
    }

    /// Puts words where they stand, if there is room; the answer is whether there was.
    pub(super) fn put(&mut self, words: Words) -> bool {
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
    pub(super) fn into_words(self) -> Vec<Words> {
        self.taken
    }
}

/// Where words may stand.
pub(super) fn frame(plot: &dyn Plot) -> Area {
    plot.inner().grown(OVER_SIDE)
}
