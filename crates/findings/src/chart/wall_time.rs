//! The wall time of a run as one bar whose parts add up to it.

use super::colours::Fill;
use powerband_core::base::humanize;

/// A part of the bar.
#[derive(Clone, Debug, PartialEq)]
pub struct WallBarPart {
    /// What it is.
    pub name: String,
    /// What that means.
    pub help: String,
    /// Its time in nanoseconds.
    pub ns: f64,
    /// Its share of the whole, from 0 to 1.
    pub share: f64,
    /// Its colour.
    pub fill: Fill,
}

impl WallBarPart {
    /// Its time and share: `12.3 ms`, `84.2 %`.
    pub fn numbers(&self) -> (String, String) {
        let time = humanize::duration_ns(self.ns);
        (time, humanize::percent(self.share))
    }

    /// Its name, time and share: `computing: 12.3 ms, 84.2 %`.
    pub fn summary_text(&self) -> String {
        let (time, share) = self.numbers();
        format!("{}: {time}, {share}", self.name)
    }
}

/// The wall time of a run as a bar of parts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WallBar {
    /// What it is called.
    pub title: String,
    /// The whole in nanoseconds.
    pub wall_ns: f64,
    /// Its parts from left to right; those without time are left out of the bar.
    pub parts: Vec<WallBarPart>,
}

impl WallBar {
    /// Whether there is nothing to see.
    pub fn is_empty(&self) -> bool {
        self.parts.iter().all(|part| part.ns <= 0.0)
    }

    /// How much of the whole its parts are together; 1 where they add up.
    pub fn covered(&self) -> f64 {
        let sum: f64 = self.parts.iter().map(|part| part.ns).sum();
        sum / self.wall_ns.max(1e-9)
    }
}
