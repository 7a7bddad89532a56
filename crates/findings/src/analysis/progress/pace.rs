//! What the steps of a run have taken so far, and what those that are left will take by that: starts of workers,
//! first runs, warm-ups and rounds. Before anything is measured, the plan's own rules say how long each takes.

use std::collections::BTreeMap;

use super::Visits;
use powerband_core::domain::case::{Case, CaseKey, Round};
use powerband_core::domain::plan::WAKE_UP_MS;
use powerband_core::domain::session::Session;
use powerband_core::domain::setup_report::SetupReport;
use powerband_core::stats::summary::median;

/// Starting a worker and loading the model, where none was started yet, in nanoseconds.
const START_NS: f64 = 1e9;
/// The first run of a case, where none is known, in nanoseconds.
const FIRST_RUN_NS: f64 = 0.3e9;
/// Nanoseconds of a millisecond.
const MS: f64 = 1e6;

/// What was spent on visits, and what will be, in nanoseconds.
pub(super) struct Times {
    done_ns: f64,
    pub(super) left_ns: f64,
    /// Whether no round is left.
    pub(super) is_measured: bool,
}

impl Times {
    pub(super) fn share(&self) -> f64 {
        let all = self.done_ns + self.left_ns;
        if all > 0.0 { self.done_ns / all } else { 0.0 }
    }
}

/// What things have taken so far, in nanoseconds.
pub(super) struct Pace {
    /// A round of any case, and of each setup's cases where there is one.
    round: f64,
    round_of_setup: Vec<Option<f64>>,
    /// The first run, likewise.
    first_run: f64,
    first_run_of_setup: Vec<Option<f64>>,
    /// The warm-up, likewise.
    warm_up: f64,
    warm_up_of_setup: Vec<Option<f64>>,
    /// The start of a worker with the loading of the model.
    start: f64,
    /// From the end of a round to the start of the next, where nothing had to be warmed up.
    between: f64,
    /// When the last round ended.
    last_end: f64,
}

impl Pace {
    pub(super) fn of(session: &Session) -> Self {
        let by_setup = |times: fn(&Case) -> Vec<f64>| {
            let setups = 0..session.plan.setups.len();
            setups
                .map(|setup| middle(session, Some(setup), times))
                .collect()
        };
        let starts: Vec<f64> = session.reports.iter().flatten().map(start_time).collect();
        let plan = &session.plan;
        Self {
            round: middle(session, None, round_times).unwrap_or_else(|| least_round(session, None)),
            round_of_setup: by_setup(round_times),
            first_run: middle(session, None, first_run_time).unwrap_or(FIRST_RUN_NS),
            first_run_of_setup: by_setup(first_run_time),
            warm_up: middle(session, None, warm_up_time)
                .unwrap_or(plan.warm_up.min_time_ms as f64 * MS),
            warm_up_of_setup: by_setup(warm_up_time),
            start: median(&starts).unwrap_or(START_NS),
            between: between_rounds(session),
            last_end: ends(session).fold(0, u64::max) as f64,
        }
    }

    /// What was spent and what is left. A step is the visited case, and since when its step goes on.
    pub(super) fn times(
        &self,
        session: &Session,
        visits: &BTreeMap<CaseKey, Visits>,
        step: Option<(CaseKey, u64)>,
        now_ns: u64,
    ) -> Times {
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
        let total = of_cases + to_start.count() as f64 * self.start;
        let cases = session.cases.iter();
        let starts = session.reports.iter().flatten().map(start_time);
        let done: f64 = cases.map(|case| self.done_of_case(session, case)).sum();
        let done = done + starts.sum::<f64>();
        // What has passed of the step that goes on was spent on it alone: a slow start or a rest must not use
        // up the time of all others.
        let (since, expected) = match step {
            Some((case, since_ns)) => (since_ns as f64, self.step(session, case)),
            None => (
                self.last_end,
                self.round + self.between + self.first_run + self.warm_up,
            ),
        };
        let passed = (now_ns as f64 - since).clamp(0.0, expected.min(total));
        Times {
            done_ns: done + passed,
            left_ns: total - passed,
            is_measured: visits.values().all(|visits| visits.left == 0),
        }
    }

    /// What the step of a visit takes that goes on.
    fn step(&self, session: &Session, key: CaseKey) -> f64 {
        let Some(case) = session.case(key).filter(|case| !case.outcome.is_final()) else {
            return 0.0;
        };
        if !is_started(session, key.setup) {
            return self.start;
        }
        match (self.opening_left(session, case), &case.opening) {
            (left, None) if left > 0.0 => pick(&self.first_run_of_setup, key.setup, self.first_run),
            (left, _) if left > 0.0 => left,
            _ => self.round_of(session, case) + self.between,
        }
    }

    /// What a case has taken; rests are no part of it.
    fn done_of_case(&self, session: &Session, case: &Case) -> f64 {
        let rounds = rounds_of_run(session, case).map(|round| round.spent_ns as f64 + self.between);
        rounds
            .chain(first_run_time(case))
            .chain(warm_up_time(case))
            .sum()
    }

    fn round_of(&self, session: &Session, case: &Case) -> f64 {
        let own = median(&round_times(case));
        let of_setup = self.round_of_setup.get(case.setup).copied().flatten();
        // A case that is warm says how long its runs take, before a round of it is over.
        let is_warm = case
            .warm_up
            .as_ref()
            .is_some_and(|warm_up| warm_up.runs > 0);
        let warm = || is_warm.then(|| least_round(session, Some(case)));
        own.or_else(warm).or(of_setup).unwrap_or(self.round)
    }

    fn opening_left(&self, session: &Session, case: &Case) -> f64 {
        if case.warm_up.is_some() || rounds_of_run(session, case).next().is_some() {
            return 0.0;
        }
        let warm_up = pick(&self.warm_up_of_setup, case.setup, self.warm_up);
        if case.opening.is_some() {
            return warm_up;
        }
        warm_up + pick(&self.first_run_of_setup, case.setup, self.first_run)
    }

    fn remaining_of_case(&self, session: &Session, case: &Case, left: u64) -> f64 {
        if left == 0 {
            return 0.0;
        }
        let round = self.round_of(session, case);
        left as f64 * (round + self.between) + self.opening_left(session, case)
    }
}

fn pick(of_setup: &[Option<f64>], setup: usize, any: f64) -> f64 {
    of_setup.get(setup).copied().flatten().unwrap_or(any)
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

/// How long a round takes by the plan's rule and the runs of a warm-up, with its wake-up.
fn least_round(session: &Session, case: Option<&Case>) -> f64 {
    let rule = &session.plan.measure;
    let rounds = f64::from(rule.rounds.max(1));
    let run_ns = case.and_then(|case| case.warm_up.as_ref()).map(|warm| {
        let runs = warm.runs.max(1) as f64;
        warm.spent_ns as f64 / runs
    });
    let by_samples = run_ns.unwrap_or(0.0) * (rule.min_samples as f64 / rounds).ceil();
    let least = (rule.min_time_ms as f64 * MS / rounds).max(by_samples);
    let most = (rule.max_time_ms as f64 * MS / rounds).max(run_ns.unwrap_or(0.0));
    least.min(most) + (WAKE_UP_MS as f64 * MS).max(run_ns.unwrap_or(0.0))
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
