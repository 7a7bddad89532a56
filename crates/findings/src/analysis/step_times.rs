//! How long the steps of a plan take: the start of a worker, the opening, the warm-ups and a round of a case.
//!
//! What was seen on this machine before says it, else the plan's own rules do. The estimate of a plan and the
//! remaining time of a run both play the plan through with these durations, so that they begin as one number; a run
//! puts what it sees in their place (`progress/pace.rs`).

use super::past_durations::{PastCaseTimes, PastDurations, PastSetupTimes};
use powerband_core::domain::case::CaseKey;
use powerband_core::domain::plan::{MOST_ROUNDS_FACTOR, Plan, WAKE_UP_MS};
use powerband_core::schedule::forecast::{CaseDurations, Durations};
use powerband_core::schedule::warm_up::visit_warm_up;

/// Nanoseconds of a second.
pub(super) const NS_PER_S: f64 = 1e9;
/// Starting a worker and loading the model where none was started yet, in seconds: for networks of the usual
/// sizes. What an engine compiles or tunes can take longer.
const START_S: [f64; 3] = [0.2, 1.0, 10.0];
/// The first run of a case of which nothing is known, in seconds.
const FIRST_RUN_S: [f64; 3] = [0.0, 0.3, 5.0];
/// What takes so long on a machine at rest takes so many times as long on one that other programs begin to use.
const LOADED: f64 = 2.5;

/// How fast the machine is taken to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MachineSpeed {
    /// As fast as it was; everything settles at once and is measured no longer than it must be.
    Quick,
    /// As it usually is.
    Usual,
    /// Used by other programs as well; every case uses up its time.
    Loaded,
}

impl MachineSpeed {
    fn pick(self, [quick, usual, loaded]: [f64; 3]) -> f64 {
        match self {
            Self::Quick => quick,
            Self::Usual => usual,
            Self::Loaded => loaded,
        }
    }

    /// What took so long before.
    fn again(self, seconds: f64) -> f64 {
        seconds * self.pick([1.0, 1.0, LOADED])
    }
}

/// How long the steps of a plan take.
#[derive(Debug)]
pub(super) struct StepTimes<'a> {
    plan: &'a Plan,
    /// What is known of each setup.
    seen: Vec<Option<&'a PastSetupTimes>>,
}

impl<'a> StepTimes<'a> {
    pub(super) fn new(plan: &'a Plan, past: &'a PastDurations) -> Self {
        let seen = past.of_plan(plan);
        Self { plan, seen }
    }

    /// All of them on a machine.
    pub(super) fn durations(&self, machine: MachineSpeed) -> Durations {
        let ns = |seconds: f64| (seconds * NS_PER_S) as u64;
        let case = |case: CaseKey| CaseDurations {
            open_ns: ns(self.opening_s(case, machine)),
            warm_up_ns: ns(self.warm_up_s(case, machine)),
            later_warm_up_ns: ns(self.later_warm_up_s(case, machine)),
            round_ns: ns(self.round_s(case, machine)),
        };
        let setups = 0..self.plan.setups.len();
        let cases = self.plan.cases().into_iter();
        Durations {
            start_ns: setups
                .map(|setup| ns(self.start_s(setup, machine)))
                .collect(),
            cases: cases.map(|key| (key, case(key))).collect(),
        }
    }

    /// What a case took before, or another point of its setup.
    pub(super) fn past_times(&self, case: CaseKey) -> Option<PastCaseTimes> {
        let seen = self.seen.get(case.setup).copied().flatten();
        seen.and_then(|seen| seen.case_times(case.point))
    }

    /// The start of a worker with the loading of the model, in seconds.
    pub(super) fn start_s(&self, setup: usize, machine: MachineSpeed) -> f64 {
        match self.seen.get(setup).copied().flatten() {
            Some(seen) => machine.again(seen.start_ns / NS_PER_S),
            None => machine.pick(START_S),
        }
    }

    /// The opening of a case and its first run, in seconds.
    pub(super) fn opening_s(&self, case: CaseKey, machine: MachineSpeed) -> f64 {
        match self.past_times(case) {
            Some(took) => machine.again(took.opening_ns / NS_PER_S),
            None => machine.pick(FIRST_RUN_S),
        }
    }

    /// The warm-up of a case in its first start, in seconds.
    pub(super) fn warm_up_s(&self, case: CaseKey, machine: MachineSpeed) -> f64 {
        let (least, most) = self.warm_up_limits_s(case, machine, true);
        match (self.past_times(case), machine) {
            // A warm-up that wandered once may do so again.
            (Some(_), MachineSpeed::Loaded) => most,
            (Some(took), _) => (took.warm_up_ns / NS_PER_S).min(most),
            (None, machine) => machine.pick([least, (least * most).sqrt(), most]),
        }
    }

    /// The warm-up of a case in a later start, in seconds.
    pub(super) fn later_warm_up_s(&self, case: CaseKey, machine: MachineSpeed) -> f64 {
        let (least, most) = self.warm_up_limits_s(case, machine, false);
        machine.pick([least, (least * most).sqrt(), most])
    }

    /// The least and the most seconds of a warm-up by the plan's rules.
    fn warm_up_limits_s(&self, case: CaseKey, machine: MachineSpeed, is_first: bool) -> (f64, f64) {
        let (rule, limit) = visit_warm_up(self.plan, is_first);
        let run_s = self
            .past_times(case)
            .map(|took| machine.again(took.run_ns / NS_PER_S));
        let of_runs = |runs: u64| run_s.unwrap_or_default() * runs as f64;
        let least = seconds(rule.min_time_ms).max(of_runs(rule.min_runs));
        let most = seconds(rule.max_time_ms).max(seconds(rule.min_time_ms));
        let given_up = run_s.map_or(most, |_| {
            (limit.least_ns as f64 / NS_PER_S).max(of_runs(limit.runs))
        });
        let most = most.min(given_up).max(run_s.unwrap_or_default());
        (least.min(most), most)
    }

    /// A round of a case with its wake-up, in seconds.
    pub(super) fn round_s(&self, case: CaseKey, machine: MachineSpeed) -> f64 {
        let round = if let Some(took) = self.past_times(case) {
            round_of_runs_s(self.plan, machine.again(took.run_ns / NS_PER_S))
        } else {
            let (least, most) = shares_s(self.plan);
            machine.pick([least, (least * most).sqrt(), most]) + seconds(WAKE_UP_MS)
        };
        if machine != MachineSpeed::Loaded {
            return round;
        }
        // The more rounds a case gets, the shorter they are: its time is limited in all.
        let rounds = f64::from(self.rounds(case, machine));
        let most = seconds(self.plan.measure.max_time_ms) / rounds + seconds(WAKE_UP_MS);
        round.min(most.max(self.round_s(case, MachineSpeed::Quick)))
    }

    /// The most rounds that a case gets: more are added until its interval is narrow enough or its time is used up.
    pub(super) fn rounds(&self, case: CaseKey, machine: MachineSpeed) -> u32 {
        let rule = &self.plan.measure;
        if machine != MachineSpeed::Loaded || rule.target_ci95_rel.is_none() {
            return rule.rounds;
        }
        // Where runs are the shortest, most rounds fit into the time.
        let measured = (self.round_s(case, MachineSpeed::Quick) - seconds(WAKE_UP_MS)).max(1e-3);
        let by_time = (seconds(rule.max_time_ms) / measured).ceil() as u32;
        by_time.clamp(rule.rounds, rule.rounds * MOST_ROUNDS_FACTOR)
    }
}

/// A round of runs that take so long, with its wake-up, in seconds.
pub(super) fn round_of_runs_s(plan: &Plan, run_s: f64) -> f64 {
    let rule = &plan.measure;
    let rounds = u64::from(rule.rounds.max(1));
    let apart_s = plan.load.offered_per_s().map_or(0.0, |per_s| 1.0 / per_s);
    let run_s = run_s.max(apart_s);
    let (least, most) = shares_s(plan);
    let samples = |number: u64| number.div_ceil(rounds) as f64 * run_s;
    let measured = least.max(samples(rule.min_samples));
    let measured = measured.min(most).min(samples(rule.max_samples)).max(run_s);
    measured + seconds(WAKE_UP_MS).max(run_s)
}

/// The least and the most seconds that a round measures by the plan's rule.
fn shares_s(plan: &Plan) -> (f64, f64) {
    let rule = &plan.measure;
    let rounds = f64::from(rule.rounds.max(1));
    let most = seconds(rule.max_time_ms) / rounds;
    (most.min(seconds(rule.min_time_ms) / rounds), most)
}

fn seconds(milliseconds: u64) -> f64 {
    milliseconds as f64 / 1e3
}
