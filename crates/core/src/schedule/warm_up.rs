//! How long a case is warmed up before a round: until it settles, but not longer than what it is warmed up for.
//!
//! All warm-ups of a case together take at most three times what is measured of it: that of its first start at most
//! twice what is measured in all, each later one at most half as long as its round, which wakes it up besides.

use serde::{Deserialize, Serialize};

use crate::domain::plan::{MeasureRule, Plan, WarmUpRule};

/// The warm-up of the first start, as a multiple of what is measured in all rounds.
const FIRST: u64 = 2;
/// A later warm-up is at most this part of what its round measures.
const LATER: u64 = 2;
/// A later start takes this part of the first one's least time: the device is awake and the files are in memory.
const LATER_PART: u64 = 5;

/// When a warm-up is given up, beside its rule's limit: after so many runs, once they took so long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WarmUpLimit {
    /// Runs.
    pub runs: u64,
    /// Least time, in nanoseconds.
    pub least_ns: u64,
}

/// The rule of the warm-up in the first start of a case or in a later one, and its limit.
pub fn visit_warm_up(plan: &Plan, is_first: bool) -> (WarmUpRule, WarmUpLimit) {
    let (usual, measure) = (&plan.warm_up, &plan.measure);
    let rounds = u64::from(measure.rounds.max(1));
    let share = |of_all: u64| {
        if is_first {
            of_all.saturating_mul(FIRST)
        } else {
            of_all.div_ceil(rounds * LATER)
        }
    };
    let max_time_ms = usual.max_time_ms.min(share(longest_ms(measure)));
    let limit = WarmUpLimit {
        runs: share(measure.min_samples),
        least_ns: share(measure.min_time_ms).saturating_mul(1_000_000),
    };
    let rule = WarmUpRule {
        max_time_ms,
        ..usual.clone()
    };
    if is_first {
        return (rule, limit);
    }
    let rule = WarmUpRule {
        min_runs: usual.min_runs.min(u64::from(usual.windows)),
        min_time_ms: usual.min_time_ms / LATER_PART,
        ..rule
    };
    (rule, limit)
}

/// The most time that a case is measured, in milliseconds.
fn longest_ms(measure: &MeasureRule) -> u64 {
    measure.max_time_ms.max(measure.min_time_ms)
}

/// The longest warm-up of a later start before a round that takes so long, in nanoseconds.
pub fn longest_ns(plan: &Plan, round_ns: u64) -> u64 {
    let (rule, _) = visit_warm_up(plan, false);
    (round_ns / LATER).min(rule.max_time_ms.saturating_mul(1_000_000))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::plan::PresetName;
    use crate::schedule::testing::plan;

    #[test]
    fn warm_ups_take_at_most_three_times_what_is_measured() {
        for preset in PresetName::ALL {
            let plan = plan(preset, &["ort"], &[1]);
            let rounds = u64::from(plan.measure.rounds);
            let (first, later) = (visit_warm_up(&plan, true), visit_warm_up(&plan, false));
            let longest = first.0.max_time_ms + (rounds - 1) * later.0.max_time_ms;
            assert!(longest <= 3 * plan.measure.max_time_ms, "{preset}");
            let least_ns = first.1.least_ns + (rounds - 1) * later.1.least_ns;
            assert!(
                least_ns <= 3 * plan.measure.min_time_ms * 1_000_000,
                "{preset}"
            );
            let runs = first.1.runs + (rounds - 1) * later.1.runs;
            assert!(runs <= 3 * plan.measure.min_samples, "{preset}");
        }
    }

    #[test]
    fn a_later_start_warms_up_sooner_than_the_first() {
        let plan = plan(PresetName::Quick, &["ort"], &[1]);
        let (first, _) = visit_warm_up(&plan, true);
        let (later, _) = visit_warm_up(&plan, false);
        assert_eq!((first.min_runs, first.min_time_ms), (10, 500));
        assert_eq!((later.min_runs, later.min_time_ms), (3, 100));
        assert_eq!(longest_ns(&plan, 200_000_000), 100_000_000);
        assert_eq!(longest_ns(&plan, 9_000_000_000), 500_000_000);
    }
}
