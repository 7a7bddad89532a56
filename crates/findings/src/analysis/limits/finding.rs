//! A finding: what limits a part of the time, and what could be gained there at most.

use serde::Serialize;

use super::bound::{Basis, Bound};
use powerband_core::base::humanize;

/// A finding. Each number in its sentence comes with the line that it is measured against.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LimitFinding {
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
    /// Whether it says what the time of the whole case goes to.
    #[serde(skip)]
    pub is_whole: bool,
}

impl LimitFinding {
    /// What could be gained at most: `at most 1.29 × here, 1.07 × over all`; empty where that is not known.
    pub fn speed_up_text(&self) -> String {
        let ratio = humanize::ratio;
        match (self.at_most_here, self.at_most_overall) {
            (Some(here), Some(overall)) => {
                format!("at most {} here, {} over all", ratio(here), ratio(overall))
            }
            (Some(here), None) => format!("at most {} here", ratio(here)),
            (None, Some(overall)) => format!("at most {} over all", ratio(overall)),
            (None, None) => String::new(),
        }
    }

    /// The sentence with what could be gained, how it is known, and the line that it is measured against.
    pub fn full_text(&self) -> String {
        let known = [
            self.speed_up_text(),
            self.basis.title().to_owned(),
            self.line.clone(),
        ];
        let known: Vec<String> = known.into_iter().filter(|part| !part.is_empty()).collect();
        format!("{} ({})", self.sentence, known.join("; "))
    }
}

/// Worst first: by what can be gained over the whole run, then by what can be gained there.
pub fn sort_worst_first(findings: &mut [LimitFinding]) {
    let key = |finding: &LimitFinding| {
        let overall = finding.at_most_overall.unwrap_or(0.0);
        (overall, finding.at_most_here.unwrap_or(0.0))
    };
    findings.sort_by(|a, b| {
        let (a, b) = (key(a), key(b));
        b.0.total_cmp(&a.0).then(b.1.total_cmp(&a.1))
    });
}
