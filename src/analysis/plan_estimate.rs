//! How long a plan will take, before anything of it has run.

use std::collections::BTreeSet;

use crate::domain::plan::{Plan, WAKE_UP_MS};

/// Starting a worker and loading the model, in seconds: at the quickest and, for networks of the
/// usual sizes, at the slowest. What an engine compiles or tunes can take longer.
const START_S: (f64, f64) = (0.2, 10.0);

/// How much work a plan is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Setups × batch sizes.
    pub cases: usize,
    /// Seconds where everything settles at once and is measured no longer than it must be.
    pub low_s: f64,
    /// Seconds where every case uses up its time.
    pub high_s: f64,
}

/// How long the plan will take.
pub fn estimate(plan: &Plan) -> Estimate {
    estimate_without(plan, &BTreeSet::new())
}

/// How long the plan will take where some setups, by their places, cannot run.
pub fn estimate_without(plan: &Plan, refused: &BTreeSet<usize>) -> Estimate {
    let runs = |setup: usize| !refused.contains(&setup);
    let cases = plan.cases();
    let cases = cases.iter().filter(|case| runs(case.setup)).count();
    let seconds = |milliseconds: u64| milliseconds as f64 / 1e3;
    let (measure, warm_up) = (&plan.measure, &plan.warm_up);
    let wake_ups = u64::from(measure.rounds) * WAKE_UP_MS;
    let least =
        seconds(warm_up.min_time_ms + wake_ups + measure.min_time_ms.min(measure.max_time_ms));
    let most =
        seconds(warm_up.max_time_ms.max(warm_up.min_time_ms) + wake_ups + measure.max_time_ms);
    let starts = if cases == 0 {
        0.0
    } else {
        (0..plan.setups.len()).filter(|&setup| runs(setup)).count() as f64
    };
    Estimate {
        cases,
        low_s: cases as f64 * least + starts * START_S.0,
        high_s: cases as f64 * most.max(least) + starts * START_S.1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing::plan;

    #[test]
    fn every_case_counts_and_every_setup_starts() {
        let found = estimate(&plan(&["ort:cpu", "tract:cpu"], &[1, 2, 4]));
        assert_eq!(found.cases, 6);
        // Quick: half a second of warm-up and one second of measuring; or thirty and five. Three visits.
        let wake_ups = 6.0 * 0.45;
        assert!((found.low_s - 9.4 - wake_ups).abs() < 1e-9, "{found:?}");
        assert!((found.high_s - 230.0 - wake_ups).abs() < 1e-9, "{found:?}");
        let with_another = plan(&["ort:cpu", "ort:cuda", "tract:cpu"], &[1, 2, 4]);
        assert_eq!(estimate_without(&with_another, &[1].into()), found);
        let nothing = estimate(&plan(&["ort:cpu"], &[]));
        assert_eq!((nothing.cases, nothing.high_s), (0, 0.0));
    }
}
