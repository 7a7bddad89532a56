//! What an answer rests on and what changes brought, as they are shown and written.

use serde::Serialize;

use super::hypotheses::{CaseLimit, ObservationKind};

/// An observation in words.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EvidenceLine {
    pub kind: ObservationKind,
    pub sentence: String,
    /// How many times as long something took, where that was seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub times: Option<SeenTimes>,
    /// How long a node takes, where that was seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<SeenNode>,
    /// Shares of the time, where these were seen.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shares: Vec<SeenShare>,
    /// The limits that it speaks for.
    pub speaks_for: Vec<CaseLimit>,
    /// The limits that it speaks against.
    pub speaks_against: Vec<CaseLimit>,
}

/// How many times as long something took, with the ends of the 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SeenTimes {
    pub ratio: f64,
    pub low: f64,
    pub high: f64,
}

/// How long a node takes on average, beside what starting one costs on this machine, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SeenNode {
    pub ns: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_ns: Option<f64>,
}

/// A share of the time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SeenShare {
    /// The limit that it goes to at least; nothing for the time in which threads work.
    pub limit: Option<CaseLimit>,
    pub share: f64,
}

/// What a change brought.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Suggestion {
    pub change: &'static str,
    pub title: &'static str,
    /// Time without the change over time with it.
    pub speed_up: f64,
    pub ci95: Option<(f64, f64)>,
    /// What it brings, in words.
    pub sentence: String,
}
