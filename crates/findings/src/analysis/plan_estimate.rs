//! The estimate: how long a plan will take, before it runs.

use std::collections::BTreeSet;
use std::fmt;

use super::past_durations::{PastDurations, Seen, Took};
use powerband_core::base::humanize;
use powerband_core::domain::case::CaseKey;
use powerband_core::domain::plan::{Plan, WAKE_UP_MS};
use powerband_core::domain::setup::Setup;

/// Starting a worker and loading the model, in seconds: at the quickest and, for networks of the
/// usual sizes, at the slowest. What an engine compiles or tunes can take longer.
const START_S: (f64, f64) = (0.2, 10.0);
/// What options call those that compile for minutes: modes of PyTorch, providers of ONNX Runtime.
const COMPILERS: [&str; 3] = ["compile", "tensorrt", "migraphx"];
/// No two runs take the same time, and a machine may be slower today.
const SLACK: f64 = 1.25;
/// Ends that lie closer together than this are shown as one.
const CLOSE: f64 = 1.5;

/// How much work a plan is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Setups × batch sizes.
    pub cases: usize,
    /// How many of them were measured here before, or other batch sizes of their setups.
    pub known: usize,
    /// Seconds where everything settles at once and is measured no longer than it must be.
    pub low_s: f64,
    /// Seconds where every case that is not known uses up its time.
    pub high_s: f64,
    /// Cases that are not known and are compiled before their first run, for as long as that takes.
    pub compiled: usize,
}

impl Estimate {
    /// The estimate and what it does not include.
    pub fn sentence(&self) -> String {
        let compiled = humanize::of_many(self.compiled as u64, "case");
        let are = if self.compiled == 1 { "is" } else { "are" };
        match self.compiled {
            0 => format!("Takes {self}."),
            _ => format!(
                "Takes {self}; {compiled} {are} compiled first, which can take minutes more each."
            ),
        }
    }
}

/// `1 min 5 s to 3 min`, or `about 2 min`.
impl fmt::Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&range_text(self.low_s, self.high_s))
    }
}

/// How much work a case is. The first case of a setup begins with its worker.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CaseEstimate {
    /// Which.
    pub case: CaseKey,
    /// Whether it was measured here before, or another batch size of its setup.
    pub is_known: bool,
    /// Seconds where everything settles at once and is measured no longer than it must be.
    pub low_s: f64,
    /// Seconds where it uses up its time.
    pub high_s: f64,
    /// Whether it is not known and is compiled first, for as long as that takes.
    pub is_compiled: bool,
}

impl CaseEstimate {
    fn add(&mut self, (low_s, high_s): (f64, f64)) {
        self.low_s += low_s;
        self.high_s += high_s;
    }
}

/// `4 s to 2 min`, or `about 9 s`.
impl fmt::Display for CaseEstimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&range_text(self.low_s, self.high_s))
    }
}

fn range_text(low_s: f64, high_s: f64) -> String {
    let time = humanize::clock_time;
    if high_s <= low_s * CLOSE {
        return format!("about {}", time(f64::midpoint(low_s, high_s)));
    }
    format!("{} to {}", time(low_s), time(high_s))
}

/// How long the plan will take where some setups, by their places, cannot run.
pub fn estimate(plan: &Plan, refused: &BTreeSet<usize>, experience: &PastDurations) -> Estimate {
    let cases = case_estimates(plan, refused, experience);
    let count =
        |is_one: fn(&CaseEstimate) -> bool| cases.iter().filter(|case| is_one(case)).count();
    Estimate {
        cases: cases.len(),
        known: count(|case| case.is_known),
        low_s: cases.iter().map(|case| case.low_s).sum(),
        high_s: cases.iter().map(|case| case.high_s).sum(),
        compiled: count(|case| case.is_compiled),
    }
}

/// How long each case of the plan will take, without the cases of setups that cannot run.
pub fn case_estimates(
    plan: &Plan,
    refused: &BTreeSet<usize>,
    experience: &PastDurations,
) -> Vec<CaseEstimate> {
    let seen = experience.of_plan(plan);
    let mut started = BTreeSet::new();
    let cases = plan.cases().into_iter();
    cases
        .filter(|case| !refused.contains(&case.setup))
        .map(|case| {
            let seen = seen.get(case.setup).copied().flatten();
            let took = seen.and_then(|seen| seen.at(case.point));
            let spec = plan.setups.get(case.setup);
            let mut estimate = CaseEstimate {
                case,
                is_known: took.is_some(),
                low_s: 0.0,
                high_s: 0.0,
                is_compiled: took.is_none() && spec.is_some_and(compiles),
            };
            if started.insert(case.setup) {
                estimate.add(seen.map_or(START_S, start));
            }
            estimate.add(took.map_or_else(|| unknown(plan), |took| known(plan, took)));
            estimate
        })
        .collect()
}

/// Whether a setup compiles its network for each batch size, by its options.
fn compiles(setup: &Setup) -> bool {
    let words = setup.options.values().flat_map(|value| value.split('+'));
    words.into_iter().any(|word| COMPILERS.contains(&word))
}

/// Starting the worker and loading the model, as often before.
fn start(seen: &Seen) -> (f64, f64) {
    let load_s = seen.load_ns / 1e9;
    (load_s, (load_s + START_S.0) * SLACK)
}

fn seconds(milliseconds: u64) -> f64 {
    milliseconds as f64 / 1e3
}

/// The least and the most seconds of a case of which nothing is known.
fn unknown(plan: &Plan) -> (f64, f64) {
    let (measure, warm_up) = (&plan.measure, &plan.warm_up);
    let wake_ups = u64::from(measure.rounds) * WAKE_UP_MS;
    let least =
        seconds(warm_up.min_time_ms + wake_ups + measure.min_time_ms.min(measure.max_time_ms));
    let most =
        seconds(warm_up.max_time_ms.max(warm_up.min_time_ms) + wake_ups + measure.max_time_ms);
    (least, most.max(least))
}

/// The same of a case that takes as much as it did.
fn known(plan: &Plan, took: Took) -> (f64, f64) {
    let measure = &plan.measure;
    let apart_s = plan.load.offered_per_s().map_or(0.0, |per_s| 1.0 / per_s);
    let run_s = (took.run_ns / 1e9).max(apart_s);
    let rounds = f64::from(measure.rounds);
    // Each round wakes the setup up by a run at least, and measures one at least.
    let wake_ups = rounds * seconds(WAKE_UP_MS).max(run_s);
    let samples = |number: u64| number as f64 * run_s;
    let wanted = samples(measure.min_samples).max(seconds(measure.min_time_ms));
    let most = seconds(measure.max_time_ms).min(samples(measure.max_samples));
    let most = most.max(rounds * run_s);
    let least = wanted.min(most);
    // Rounds are added until the interval is narrow enough, or the time is used up.
    let longest = if measure.target_ci95_rel.is_some() {
        most
    } else {
        least
    };
    let before = took.opening_ns / 1e9 + wake_ups;
    (before + least, (before + longest) * SLACK)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing::{measure, plan, session};
    use powerband_core::domain::case::{Opening, WarmUp};

    fn of(plan: &Plan) -> Estimate {
        estimate(plan, &BTreeSet::new(), &PastDurations::default())
    }

    #[test]
    fn every_case_counts_and_every_setup_starts() {
        let found = of(&plan(&["ort:cpu", "tract:cpu"], &[1, 2, 4]));
        assert_eq!((found.cases, found.known), (6, 0));
        // Quick: half a second of warm-up and one second of measuring; or thirty and five. Three rounds.
        let wake_ups = 6.0 * 0.45;
        assert!((found.low_s - 9.4 - wake_ups).abs() < 1e-9, "{found:?}");
        assert!((found.high_s - 230.0 - wake_ups).abs() < 1e-9, "{found:?}");
        assert_eq!(found.to_string(), "12 s to 3 min 53 s");
        let with_another = plan(&["ort:cpu", "ort:cuda", "tract:cpu"], &[1, 2, 4]);
        let without = estimate(&with_another, &[1].into(), &PastDurations::default());
        assert_eq!(without, found);
        let nothing = of(&plan(&["ort:cpu"], &[]));
        assert_eq!((nothing.cases, nothing.high_s), (0, 0.0));
    }

    #[test]
    fn what_is_compiled_first_is_said() {
        let setups = [
            "torch",
            "torch,mode=channels-last+compile",
            "ort,provider=tensorrt",
        ];
        let found = of(&plan(&setups, &[1, 2]));
        assert_eq!(found.compiled, 4);
        let words = found.sentence();
        assert!(words.starts_with("Takes 12 s to "), "{words}");
        assert!(words.ends_with("4 cases are compiled first, which can take minutes more each."));
        assert_eq!(of(&plan(&["torch"], &[1])).compiled, 0);
    }

    #[test]
    fn what_was_measured_before_takes_as_long_again() {
        let mut session = session(&["ort:cpu"], &[1]);
        measure(&mut session, 0, 1, &[&[50_000_000; 10]]);
        session.cases[0].opening = Some(Opening::default());
        session.cases[0].warm_up = Some(WarmUp {
            spent_ns: 1_000_000_000,
            ..WarmUp::default()
        });
        let mut experience = PastDurations::default();
        experience.learn(&session);
        let found = estimate(&session.plan, &BTreeSet::new(), &experience);
        assert_eq!(found.known, 1);
        // A second of warm-up, thirty samples of 50 ms, three wake-ups.
        let expected = 1.0 + 1.5 + 3.0 * 0.15;
        assert!((found.low_s - expected).abs() < 1e-9, "{found:?}");
        assert!(found.to_string() == "about 3 s", "{found}");
    }
}
