//! What the steps of a run have taken so far, and what those that are left will take by that: starts of workers,
//! first runs, warm-ups and rounds. What this run has not seen takes as long as the estimate of its plan says.

use std::collections::BTreeMap;

use super::Visits;
use crate::analysis::past_durations::PastDurations;
use crate::analysis::step_times::{Machine, StepTimes, round_of_runs_s};
use powerband_core::domain::case::{Case, CaseKey, Round};
use powerband_core::domain::session::Session;
use powerband_core::domain::setup_report::SetupReport;
use powerband_core::stats::summary::median;

/// Nanoseconds of a second.
const S: f64 = 1e9;
/// Rounds of a case that say how long its next one takes: a machine that slowed down is believed at once.
const NEWEST: usize = 3;
/// A machine is not taken to be further from what it was than this.
const SLOWEST: f64 = 5.0;

/// What is left of a run, in nanoseconds.
pub(super) struct Left {
    pub(super) ns: f64,
    /// Whether no round is left.
    pub(super) is_measured: bool,
}

/// What things have taken so far, in nanoseconds.
pub(super) struct Pace<'a> {
    steps: StepTimes<'a>,
    /// How many times as long as before this run's steps take.
    slowness: f64,
    /// A round of any case, and of each setup's cases where there is one.
    round: Option<f64>,
    round_of_setup: Vec<Option<f64>>,
    /// The first run, likewise.
    first_run: Option<f64>,
    first_run_of_setup: Vec<Option<f64>>,
    /// The warm-up, likewise.
    warm_up: Option<f64>,
    warm_up_of_setup: Vec<Option<f64>>,
    /// The start of a worker with the loading of the model.
    start: Option<f64>,
    /// From the end of a round to the start of the next, where nothing had to be warmed up.
    between: f64,
    /// When the last round ended.
    last_end: f64,
}

impl<'a> Pace<'a> {
    pub(super) fn new(session: &'a Session, past: &'a PastDurations) -> Self {
        let by_setup = |times: fn(&Case) -> Vec<f64>| {
            let setups = 0..session.plan.setups.len();
            setups
                .map(|setup| middle(session, Some(setup), times))
                .collect()
        };
        let starts: Vec<f64> = session.reports.iter().flatten().map(start_time).collect();
        let steps = StepTimes::new(&session.plan, past);
        Self {
            slowness: slowness(session, &steps),
            steps,
            round: middle(session, None, newest_round_times),
            round_of_setup: by_setup(newest_round_times),
            first_run: middle(session, None, first_run_time),
            first_run_of_setup: by_setup(first_run_time),
            warm_up: middle(session, None, warm_up_time),
            warm_up_of_setup: by_setup(warm_up_time),
            start: median(&starts),
            between: between_rounds(session),
            last_end: ends(session).fold(0, u64::max) as f64,
        }
    }

    /// What is left. A step is the visited case, and since when its step goes on.
    pub(super) fn left(
        &self,
        session: &Session,
        visits: &BTreeMap<CaseKey, Visits>,
        step: Option<(CaseKey, u64)>,
        now_ns: u64,
    ) -> Left {
        let left_of = |case: &Case| visits.get(&case.key()).map_or(0, |visits| visits.left);
        let cases = session.cases.iter();
        let of_cases: f64 = cases
            .map(|case| self.remaining_of_case(session, case, left_of(case)))
            .sum();
        let setups = 0..session.plan.setups.len();
        let to_start = setups.filter(|setup| {
            let mut own = session.cases.iter().filter(|case| case.setup == *setup);
            !is_started(session, *setup) && own.any(|case| left_of(case) > 0)
        });
        let of_starts: f64 = to_start.map(|setup| self.start_of(setup)).sum();
        let total = of_cases + of_starts;
        // What has passed of the step that goes on was spent on it alone: a slow start or a rest must not use
        // up the time of all others.
        let (since, expected) = match step {
            Some((case, since_ns)) => (since_ns as f64, self.step(session, case)),
            None => (self.last_end, self.first_visit(session)),
        };
        let passed = (now_ns as f64 - since).clamp(0.0, expected.min(total));
        Left {
            ns: total - passed,
            is_measured: visits.values().all(|visits| visits.left == 0),
        }
    }

    /// What the visit takes that is next where no step is known to go on.
    fn first_visit(&self, session: &Session) -> f64 {
        let open = session.cases.iter().find(|case| !case.outcome.is_final());
        open.map_or(0.0, |case| {
            self.round_of(case, session) + self.opening_left(session, case)
        })
    }

    /// What the step of a visit takes that goes on.
    fn step(&self, session: &Session, key: CaseKey) -> f64 {
        let Some(case) = session.case(key).filter(|case| !case.outcome.is_final()) else {
            return 0.0;
        };
        if !is_started(session, key.setup) {
            return self.start_of(key.setup);
        }
        match (self.opening_left(session, case), &case.opening) {
            (left, None) if left > 0.0 => self.first_run_of(case),
            (left, _) if left > 0.0 => left,
            _ => self.round_of(case, session),
        }
    }

    /// What something takes that this run has not seen of the case: as before on this machine, at the pace of
    /// today; or as this run has seen it of other cases; or as the plan's rules say.
    fn unseen(
        &self,
        case: CaseKey,
        of_setup: &[Option<f64>],
        any: Option<f64>,
        step_s: fn(&StepTimes<'a>, CaseKey, Machine) -> f64,
    ) -> f64 {
        let planned = step_s(&self.steps, case, Machine::Usual) * S;
        if self.steps.took(case).is_some() {
            return planned * self.slowness;
        }
        let of_setup = of_setup.get(case.setup).copied().flatten();
        of_setup.or(any).unwrap_or(planned)
    }

    fn start_of(&self, setup: usize) -> f64 {
        let planned = self.steps.start_s(setup, Machine::Usual) * S;
        self.start.unwrap_or(planned)
    }

    fn first_run_of(&self, case: &Case) -> f64 {
        let (of_setup, any) = (&self.first_run_of_setup, self.first_run);
        self.unseen(case.key(), of_setup, any, StepTimes::opening_s)
    }

    fn warm_up_of(&self, case: &Case) -> f64 {
        let (of_setup, any) = (&self.warm_up_of_setup, self.warm_up);
        self.unseen(case.key(), of_setup, any, StepTimes::warm_up_s)
    }

    /// A round of a case, with what comes between two rounds.
    fn round_of(&self, case: &Case, session: &Session) -> f64 {
        if let Some(own) = median(&newest_round_times(case)) {
            return own + self.between;
        }
        // A case that is warm says how long its runs take, before a round of it is over.
        if let Some(run_ns) = warm_run_ns(case) {
            return round_of_runs_s(&session.plan, run_ns / S) * S;
        }
        let with_wake_up = |round: f64| round + self.between;
        let of_setup = self.round_of_setup.iter();
        let of_setup: Vec<_> = of_setup.map(|round| round.map(with_wake_up)).collect();
        let any = self.round.map(with_wake_up);
        self.unseen(case.key(), &of_setup, any, StepTimes::round_s)
    }

    fn opening_left(&self, session: &Session, case: &Case) -> f64 {
        if case.warm_up.is_some() || rounds_of_run(session, case).next().is_some() {
            return 0.0;
        }
        let warm_up = self.warm_up_of(case);
        if case.opening.is_some() {
            return warm_up;
        }
        warm_up + self.first_run_of(case)
    }

    fn remaining_of_case(&self, session: &Session, case: &Case, left: u64) -> f64 {
        if left == 0 {
            return 0.0;
        }
        left as f64 * self.round_of(case, session) + self.opening_left(session, case)
    }
}

/// How many times as long as before the newest runs of this session take, where they were seen before.
fn slowness(session: &Session, steps: &StepTimes<'_>) -> f64 {
    let ratio = |case: &Case| {
        let before = steps.took(case.key())?.run_ns;
        let newest = case.rounds.last().map(|round| {
            let samples = round.samples_ns.iter();
            median(&samples.map(|&ns| ns as f64).collect::<Vec<_>>())
        });
        let now = newest.unwrap_or_else(|| warm_run_ns(case))?;
        Some(now / before).filter(|ratio| ratio.is_finite())
    };
    let ratios: Vec<f64> = session.cases.iter().filter_map(ratio).collect();
    let ratio = median(&ratios).unwrap_or(1.0);
    ratio.clamp(1.0 / SLOWEST, SLOWEST)
}

/// How long a run took in the warm-up of a case.
fn warm_run_ns(case: &Case) -> Option<f64> {
    let warm_up = case.warm_up.as_ref().filter(|warm_up| warm_up.runs > 0)?;
    Some(warm_up.spent_ns as f64 / warm_up.runs as f64)
}

/// Whether a worker of a setup has loaded the model.
fn is_started(session: &Session, setup: usize) -> bool {
    let is_reported = session.reports.get(setup).is_some_and(Option::is_some);
    let mut own = session.cases.iter().filter(|case| case.setup == setup);
    is_reported || own.any(|case| case.opening.is_some() || !case.rounds.is_empty())
}

fn start_time(report: &SetupReport) -> f64 {
    (report.start_ns + report.load_ns) as f64
}

/// The rounds of a case that this run measures: those of earlier runs were there already.
pub(super) fn rounds_of_run<'a>(
    session: &Session,
    case: &'a Case,
) -> impl Iterator<Item = &'a Round> {
    let first = session.sittings.last().map_or(0, |last| last.first_round);
    case.rounds.iter().filter(move |round| round.round >= first)
}

/// The median of something over all cases, or over those of one setup.
fn middle(session: &Session, setup: Option<usize>, times: fn(&Case) -> Vec<f64>) -> Option<f64> {
    let cases = session.cases.iter();
    let found: Vec<f64> = cases
        .filter(|case| setup.is_none_or(|setup| case.setup == setup))
        .flat_map(times)
        .collect();
    median(&found)
}

pub(super) fn round_times(case: &Case) -> Vec<f64> {
    let rounds = case.rounds.iter();
    rounds.map(|round| round.spent_ns as f64).collect()
}

fn newest_round_times(case: &Case) -> Vec<f64> {
    let times = round_times(case);
    let older = times.len().saturating_sub(NEWEST);
    times.into_iter().skip(older).collect()
}

fn first_run_time(case: &Case) -> Vec<f64> {
    let opening = case.opening.iter();
    opening
        .map(|opening| (opening.open_ns + opening.first_run_ns) as f64)
        .collect()
}

fn warm_up_time(case: &Case) -> Vec<f64> {
    let warm_up = case.warm_up.iter();
    warm_up.map(|warm_up| warm_up.spent_ns as f64).collect()
}

fn ends(session: &Session) -> impl Iterator<Item = u64> + '_ {
    let rounds = session.cases.iter().flat_map(|case| &case.rounds);
    rounds.map(|round| round.started_ns + round.spent_ns)
}

/// The median time between rounds, of those that are not the first of their case.
fn between_rounds(session: &Session) -> f64 {
    let mut visits: Vec<(u64, u64, bool)> = session
        .cases
        .iter()
        .flat_map(|case| case.rounds.iter().enumerate())
        .map(|(index, round)| {
            (
                round.started_ns,
                round.started_ns + round.spent_ns,
                index == 0,
            )
        })
        .collect();
    visits.sort_unstable();
    let gaps: Vec<f64> = visits
        .windows(2)
        .filter(|pair| !pair[1].2)
        .map(|pair| pair[1].0.saturating_sub(pair[0].1) as f64)
        .collect();
    median(&gaps).unwrap_or_default()
}
