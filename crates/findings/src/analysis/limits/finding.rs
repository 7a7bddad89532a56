//! A finding: what limits a part of the time, and what could be gained there at most.

use super::bound::{Basis, Bound};

/// A finding. Each number in its sentence comes with the line that it is measured against.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// What was found.
    pub sentence: String,
    /// How it is known.
    pub basis: Basis,
    /// What limits, where that is found.
    pub bound: Option<Bound>,
    /// How many times faster its part of the time can become at most.
    pub at_most_here: Option<f64>,
    /// How many times faster the whole run then becomes.
    pub at_most_overall: Option<f64>,
    /// The line that it is measured against; empty where there is none.
    pub line: String,
    /// How its numbers are computed.
    pub formula: String,
    /// The nodes that it is about, by their places.
    pub nodes: Vec<usize>,
}
