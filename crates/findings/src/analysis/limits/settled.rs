//! What is sure enough to be said: one limit, or two that share the time.

use serde::{Serialize, Serializer};

use super::hypotheses::CaseLimit;

/// An answer is given from this certainty on.
const SURE: f64 = 0.9;
/// Of two that share an answer the second has at least so much.
const SHARES: f64 = 0.2;
/// How sure a limit is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LimitWeight {
    pub limit: CaseLimit,
    pub weight: f64,
}

pub(super) fn names_of_limits<S: Serializer>(
    limits: &[CaseLimit],
    to: S,
) -> Result<S::Ok, S::Error> {
    let names = limits.iter().map(|limit| limit.title());
    let names: Vec<&str> = names.collect();
    if names.is_empty() {
        ["unknown"].serialize(to)
    } else {
        names.serialize(to)
    }
}

pub(super) fn limit_weights(weights: &[(CaseLimit, f64)]) -> Vec<LimitWeight> {
    let weights = weights.iter();
    weights
        .map(|&(limit, weight)| LimitWeight { limit, weight })
        .collect()
}

/// The limit that is sure, or the two that share the time, with how sure that is; how sure the likeliest is where none
/// is.
pub(super) fn settled_limits(weights: &[(CaseLimit, f64)]) -> (Vec<CaseLimit>, f64) {
    match weights {
        [(first, weight), ..] if *weight >= SURE => (vec![*first], *weight),
        [(first, one), (second, other), ..] if one + other >= SURE && *other >= SHARES => {
            (vec![*first, *second], one + other)
        }
        [(_, weight), ..] => (Vec::new(), *weight),
        [] => (Vec::new(), 0.0),
    }
}

/// A certainty in words. Nothing is ever wholly sure.
pub fn certainty_text(certainty: f64) -> String {
    let share = (100.0 * certainty).floor().min(99.0);
    format!("{share:.0} % sure")
}
