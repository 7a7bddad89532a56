//! What is suspicious about a case, each with its evidence and what to do about it.
//!
//! A flag never changes a number. The rules are those of the measuring method; the ones that need
//! the hardware's word (contended, throttled) come with telemetry.

use crate::base::humanize;
use crate::domain::case::Case;
use crate::stats::percentiles::ELIGIBLE;
use crate::stats::summary::{Summary, median};

/// Something suspicious about a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flag {
    /// Its name, the same everywhere.
    pub name: &'static str,
    /// What was seen.
    pub evidence: String,
    /// What to do about it.
    pub advice: &'static str,
}

/// Beyond this share of the median, an interquartile range is noise worth telling.
const NOISY: f64 = 0.025;
/// Beyond this change from the first to the last third, the case drifted.
const DRIFT: f64 = 0.02;
/// A first run this many times the median is told.
const SLOW_FIRST_RUN: f64 = 3.0;

/// Every flag that the case has earned.
pub fn of(case: &Case, summary: &Summary) -> Vec<Flag> {
    [
        unsettled(case),
        noisy(summary),
        drift(case),
        slow_first_run(case, summary),
        too_few_samples(summary),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn unsettled(case: &Case) -> Option<Flag> {
    let warm_up = case.warm_up.as_ref().filter(|warm_up| !warm_up.settled)?;
    Some(Flag {
        name: "unsettled",
        evidence: format!(
            "the run times had not settled after {} runs and {}",
            humanize::count(warm_up.runs),
            humanize::duration_ns(warm_up.spent_ns as f64)
        ),
        advice: "close other programs, and compare this case with care",
    })
}

fn noisy(summary: &Summary) -> Option<Flag> {
    let spread = summary.relative_iqr().filter(|spread| *spread > NOISY)?;
    Some(Flag {
        name: "noisy",
        evidence: format!(
            "the middle half of the samples spreads over {:.1} % of the median",
            spread * 100.0
        ),
        advice: "close other programs; lock the clocks; or give more rounds",
    })
}

fn drift(case: &Case) -> Option<Flag> {
    let samples: Vec<f64> = case.samples_ns().map(|ns| ns as f64).collect();
    let third = samples.len() / 3;
    if third < 5 {
        return None;
    }
    let first = median(&samples[..third]).filter(|first| *first > 0.0)?;
    let last = median(&samples[samples.len() - third..])?;
    let change = last / first - 1.0;
    (change.abs() > DRIFT).then(|| Flag {
        name: "drift",
        evidence: format!(
            "the last third of the samples took {:+.1} % of the time of the first third",
            change * 100.0
        ),
        advice: "let the machine cool down or settle, then measure again with more rounds",
    })
}

fn slow_first_run(case: &Case, summary: &Summary) -> Option<Flag> {
    let first = case.opening.as_ref()?.first_run_ns as f64;
    (summary.median > 0.0 && first > SLOW_FIRST_RUN * summary.median).then(|| Flag {
        name: "slow-first-run",
        evidence: format!(
            "the first run took {}, {:.1} times the median; it is not among the samples",
            humanize::duration_ns(first),
            first / summary.median
        ),
        advice: "nothing, unless the first answer matters to you",
    })
}

fn too_few_samples(summary: &Summary) -> Option<Flag> {
    let (_, needed) = ELIGIBLE[0];
    (summary.n < needed).then(|| Flag {
        name: "too-few-samples",
        evidence: format!("{} samples; percentiles need {needed} and more", summary.n),
        advice: "measure longer: a more careful preset, or more rounds",
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::case::{CaseKey, Opening, Round, WarmUp};

    fn flags(samples_ns: &[u64], change: impl FnOnce(&mut Case)) -> Vec<&'static str> {
        let mut case = Case::pending(CaseKey { setup: 0, batch: 1 });
        case.rounds.push(Round {
            round: 0,
            started_ns: 0,
            spent_ns: 1,
            samples_ns: samples_ns.to_vec(),
        });
        change(&mut case);
        let summary = Summary::of(samples_ns.iter().map(|&ns| ns as f64)).unwrap();
        of(&case, &summary).iter().map(|flag| flag.name).collect()
    }

    #[test]
    fn a_good_case_has_none() {
        assert!(flags(&[1_000; 100], |_| ()).is_empty());
    }

    #[test]
    fn each_fault_has_its_flag() {
        let rising: Vec<u64> = (0..100).map(|i| 10_000 + i * 4).collect();
        let spread: Vec<u64> = (0..100).map(|i| 10_000 + (i % 10) * 100).collect();
        assert_eq!(flags(&rising, |_| ()), ["drift"]);
        assert_eq!(flags(&spread, |_| ()), ["noisy"]);
        assert_eq!(flags(&[1_000; 63], |_| ()), ["too-few-samples"]);
        let warm_up = WarmUp {
            runs: 9,
            spent_ns: 9,
            settled: false,
        };
        assert_eq!(
            flags(&[1_000; 100], |case| case.warm_up = Some(warm_up)),
            ["unsettled"]
        );
        let opening = Opening {
            first_run_ns: 4_000,
            ..Opening::default()
        };
        assert_eq!(
            flags(&[1_000; 100], |case| case.opening = Some(opening)),
            ["slow-first-run"]
        );
    }
}
