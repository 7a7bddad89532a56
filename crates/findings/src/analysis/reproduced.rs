//! Whether a session that was measured again says the same.
//!
//! Two runs at different times differ by what sessions differ by. A case is reproduced where that explains the whole
//! difference, and where it is known closely enough to say so.

use serde::Serialize;

use super::case_pair::CasePair;
use super::verdict::Call;
use powerband_core::base::humanize;

/// An interval that reaches further, as a share, says nothing of a number.
const MOST_UNKNOWN: f64 = 0.5;

/// What came of a case.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Repetition {
    /// The same, as closely as sessions tell: within this share.
    Reproduced(f64),
    Faster,
    Slower,
    /// The two cannot be compared, and why.
    NotComparable(String),
}

impl Repetition {
    /// What came of a pair: the case as it was, and as it was measured again.
    pub fn of_pair(pair: &CasePair) -> Self {
        let reason = || pair.verdict.reason.clone().unwrap_or_default();
        let Some(estimate) = &pair.estimate else {
            return Self::NotComparable(reason());
        };
        match pair.verdict.call {
            Call::Faster => Self::Faster,
            Call::Slower => Self::Slower,
            Call::Same | Call::Inconclusive => {
                let within = (estimate.ln.abs() + estimate.half_width()).exp_m1();
                if within <= MOST_UNKNOWN {
                    Self::Reproduced(within)
                } else {
                    Self::NotComparable(reason())
                }
            }
        }
    }

    /// In words: `reproduced within 8.1 %`.
    pub fn text(&self) -> String {
        match self {
            Self::Reproduced(within) => {
                format!("reproduced within {}", humanize::percent(*within))
            }
            Self::Faster => "faster".to_owned(),
            Self::Slower => "slower".to_owned(),
            Self::NotComparable(reason) => format!("cannot be compared, because {reason}"),
        }
    }
}
