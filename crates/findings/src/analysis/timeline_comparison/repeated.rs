//! What the work of the drawn step takes in every step of its trace.

use super::step_work::{StepWork, SteppedTrace};
use crate::analysis::alignment;

/// Steps that are looked at, evenly over all of them.
const MOST_STEPS: usize = 100;
/// Longer steps are compared only where they have the same work in the same order.
const MOST_ALIGNED: usize = 5_000;

/// Times of work by step.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct RepeatedWork {
    /// The times of each work of the drawn step in the steps that have it, in nanoseconds.
    pub times: Vec<Vec<f64>>,
}

impl RepeatedWork {
    pub(super) fn read(stepped: &SteppedTrace<'_>) -> Self {
        let drawn = stepped.drawn_work();
        let mut times = vec![Vec::new(); drawn.len()];
        let every = stepped.work.len().div_ceil(MOST_STEPS).max(1);
        let steps = stepped.work.iter().enumerate();
        let looked_at = steps.filter(|(place, _)| place % every == 0 || *place == stepped.drawn);
        for (_, work) in looked_at {
            for (own, other) in same_work(drawn, work) {
                times[own].push(work[other].time_ns as f64);
            }
        }
        Self { times }
    }
}

/// The work of a step that is that of the drawn one.
fn same_work(drawn: &[StepWork], work: &[StepWork]) -> Vec<(usize, usize)> {
    let is_same = |own: usize, other: usize| drawn[own].key.recurs_as(&work[other].key);
    let is_alike = drawn.len() == work.len() && (0..drawn.len()).all(|place| is_same(place, place));
    if is_alike {
        return (0..drawn.len()).map(|place| (place, place)).collect();
    }
    if drawn.len().max(work.len()) > MOST_ALIGNED {
        return Vec::new();
    }
    let score = |own: usize, other: usize| is_same(own, other).then_some(1.0);
    alignment::align((drawn.len(), work.len()), &[], &score)
}
