//! How long the steps of a plan take: the start of a worker, the opening, the warm-up and a round of a case.
//!
//! What was seen on this machine before says it, else the plan's own rules do. The estimate of a plan and the
//! remaining time of a run both add these up, so that they begin as one number; a run puts what it sees in their
//! place (`progress/pace.rs`).

use super::past_durations::{PastDurations, Seen, Took};
use powerband_core::domain::case::CaseKey;
use powerband_core::domain::plan::{MOST_ROUNDS_FACTOR, Plan, WAKE_UP_MS};

/// Starting a worker and loading the model where none was started yet, in seconds: for networks of the usual
/// sizes. What an engine compiles or tunes can take longer.
const START_S: [f64; 3] = [0.2, 1.0, 10.0];
/// The first run of a case of which nothing is known, in seconds.
const FIRST_RUN_S: [f64; 3] = [0.0, 0.3, 5.0];
/// What takes so long on a machine at rest takes so many times as long on one that other programs begin to use.
const LOADED: f64 = 2.5;

/// How fast the machine is taken to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Machine {
    /// As fast as it was; everything settles at once and is measured no longer than it must be.
    Quick,
    /// As it usually is.
    Usual,
    /// Used by other programs as well; every case uses up its time.
    Loaded,
}

impl Machine {
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
    seen: Vec<Option<&'a Seen>>,
}

impl<'a> StepTimes<'a> {
    pub(super) fn new(plan: &'a Plan, past: &'a PastDurations) -> Self {
        let seen = past.of_plan(plan);
        Self { plan, seen }
    }

    /// What a case took before, or another point of its setup.
    pub(super) fn took(&self, case: CaseKey) -> Option<Took> {
        let seen = self.seen.get(case.setup).copied().flatten();
        seen.and_then(|seen| seen.at(case.point))
    }

    /// The start of a worker with the loading of the model, in seconds.
    pub(super) fn start_s(&self, setup: usize, machine: Machine) -> f64 {
        match self.seen.get(setup).copied().flatten() {
            Some(seen) => machine.again(seen.start_ns / 1e9),
            None => machine.pick(START_S),
        }
    }

    /// The opening of a case and its first run, in seconds.
    pub(super) fn opening_s(&self, case: CaseKey, machine: Machine) -> f64 {
        match self.took(case) {
            Some(took) => machine.again(took.opening_ns / 1e9),
            None => machine.pick(FIRST_RUN_S),
        }
    }

    /// The warm-up of a case, in seconds.
    pub(super) fn warm_up_s(&self, case: CaseKey, machine: Machine) -> f64 {
        let rule = &self.plan.warm_up;
        let least = seconds(rule.min_time_ms);
        let most = seconds(rule.max_time_ms).max(least);
        match (self.took(case), machine) {
            // A warm-up that wandered once may do so again.
            (Some(_), Machine::Loaded) => most,
            (Some(took), _) => (took.warm_up_ns / 1e9).min(most),
            (None, machine) => machine.pick([least, (least * most).sqrt(), most]),
        }
    }

    /// A round of a case with its wake-up, in seconds.
    pub(super) fn round_s(&self, case: CaseKey, machine: Machine) -> f64 {
        let round = match self.took(case) {
            Some(took) => round_of_runs_s(self.plan, machine.again(took.run_ns / 1e9)),
            None => {
                let (least, most) = shares_s(self.plan);
                machine.pick([least, (least * most).sqrt(), most]) + seconds(WAKE_UP_MS)
            }
        };
        if machine != Machine::Loaded {
            return round;
        }
        // The more rounds a case gets, the shorter they are: its time is limited in all.
        let rounds = self.rounds(case, machine);
        let most = seconds(self.plan.measure.max_time_ms) / rounds + seconds(WAKE_UP_MS);
        round.min(most.max(self.round_s(case, Machine::Quick)))
    }

    /// The most rounds that a case gets: more are added until its interval is narrow enough or its time is used up.
    pub(super) fn rounds(&self, case: CaseKey, machine: Machine) -> f64 {
        let rule = &self.plan.measure;
        let planned = f64::from(rule.rounds);
        if machine != Machine::Loaded || rule.target_ci95_rel.is_none() {
            return planned;
        }
        // Where runs are the shortest, most rounds fit into the time.
        let measured = (self.round_s(case, Machine::Quick) - seconds(WAKE_UP_MS)).max(1e-3);
        let by_time = (seconds(rule.max_time_ms) / measured).ceil();
        by_time.clamp(planned, planned * f64::from(MOST_ROUNDS_FACTOR))
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
