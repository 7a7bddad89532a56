//! What the steps of a run have taken so far, and what those that are left will take by that: starts of workers,
//! first runs, warm-ups and rounds. What this run has not seen takes as long as the estimate of its plan says.

use std::collections::BTreeMap;

use super::Visits;
use crate::analysis::past_durations::PastDurations;
use crate::analysis::step_times::{MachineSpeed, NS_PER_S, StepTimes, round_of_runs_s};
use powerband_core::domain::case::{Case, CaseKey, Round};
use powerband_core::domain::event::RunEvent;
use powerband_core::domain::outcome::Phase;
use powerband_core::domain::plan::WAKE_UP_MS;
use powerband_core::domain::session::Session;
use powerband_core::domain::setup_report::SetupReport;
use powerband_core::schedule::forecast::{CaseDurations, Durations, RemainingRounds, forecast};
use powerband_core::stats::summary::median;

/// Rounds of a case that say how long its next one takes: a machine that slowed down is believed at once.
const NEWEST: usize = 3;
/// A machine is not taken to be further from what it was than this.
const SLOWEST: f64 = 5.0;

/// What is left of a run, in nanoseconds.
pub(super) struct RemainingWork {
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
    /// The warm-up in a later start, likewise.
    later_warm_up: Option<f64>,
    later_warm_up_of_setup: Vec<Option<f64>>,
    /// The start of a worker with the loading of the model.
    start: Option<f64>,
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
            later_warm_up: middle(session, None, later_warm_up_times),
            later_warm_up_of_setup: by_setup(later_warm_up_times),
            start: median(&starts),
        }
    }

    /// What is left of so many rounds of each case of this run, where the visit that goes on has come so far.
    pub(super) fn remaining_work(
        &self,
        session: &Session,
        visits: &BTreeMap<CaseKey, Visits>,
        rounds: u64,
        visit: &VisitProgress,
        now_ns: u64,
    ) -> RemainingWork {
        let open = session.cases.iter().filter(|case| !case.outcome.is_final());
        let left_of = |case: &Case| visits.get(&case.key()).map_or(0, |visits| visits.left);
        let mut ahead = RemainingRounds {
            plan: &session.plan,
            rounds: rounds as u32,
            left: BTreeMap::new(),
            since_ns: BTreeMap::new(),
        };
        for case in open {
            ahead.left.insert(case.key(), left_of(case) as u32);
            if let Some(last) = rounds_of_run(session, case).last() {
                let since_ns = now_ns.saturating_sub(last.started_ns);
                ahead.since_ns.insert(case.key(), since_ns);
            }
        }
        let durations = self.durations(session);
        let total = forecast(&ahead, &durations).total_ns() as f64;
        // Machines that are measured at once have a visit each: what is done of them is no part of one sum.
        let done = match session.plan.machines_at_once() {
            Some(_) => 0.0,
            None => visit.done_ns(&ahead, &durations, now_ns).min(total),
        };
        RemainingWork {
            ns: total - done,
            is_measured: visits.values().all(|visits| visits.left == 0),
        }
    }

    /// What the steps of the plan take, as far as this run has seen them.
    fn durations(&self, session: &Session) -> Durations {
        let ns = |ns: f64| ns.max(0.0) as u64;
        let of_case = |case: &Case| CaseDurations {
            open_ns: ns(self.first_run_of(case)),
            warm_up_ns: ns(self.warm_up_of(case)),
            later_warm_up_ns: ns(self.later_warm_up_of(case)),
            round_ns: ns(self.round_of(case, session)),
        };
        let setups = 0..session.plan.setups.len();
        let cases = session.cases.iter();
        Durations {
            start_ns: setups.map(|setup| ns(self.start_of(setup))).collect(),
            cases: cases.map(|case| (case.key(), of_case(case))).collect(),
        }
    }

    /// What something takes that this run has not seen of the case: as before on this machine, at the pace of
    /// today; or as this run has seen it of other cases; or as the plan's rules say.
    fn unseen(
        &self,
        case: CaseKey,
        of_setup: &[Option<f64>],
        any: Option<f64>,
        step_s: fn(&StepTimes<'a>, CaseKey, MachineSpeed) -> f64,
    ) -> f64 {
        let planned = step_s(&self.steps, case, MachineSpeed::Usual) * NS_PER_S;
        if self.steps.past_times(case).is_some() {
            return planned * self.slowness;
        }
        let of_setup = of_setup.get(case.setup).copied().flatten();
        of_setup.or(any).unwrap_or(planned)
    }

    fn start_of(&self, setup: usize) -> f64 {
        let planned = self.steps.start_s(setup, MachineSpeed::Usual) * NS_PER_S;
        self.start.unwrap_or(planned)
    }

    fn first_run_of(&self, case: &Case) -> f64 {
        let own = first_run_time(case).first().copied();
        let (of_setup, any) = (&self.first_run_of_setup, self.first_run);
        own.unwrap_or_else(|| self.unseen(case.key(), of_setup, any, StepTimes::opening_s))
    }

    fn warm_up_of(&self, case: &Case) -> f64 {
        let own = warm_up_time(case).first().copied();
        let (of_setup, any) = (&self.warm_up_of_setup, self.warm_up);
        own.unwrap_or_else(|| self.unseen(case.key(), of_setup, any, StepTimes::warm_up_s))
    }

    fn later_warm_up_of(&self, case: &Case) -> f64 {
        let own = median(&later_warm_up_times(case));
        let (of_setup, any) = (&self.later_warm_up_of_setup, self.later_warm_up);
        own.unwrap_or_else(|| self.unseen(case.key(), of_setup, any, StepTimes::later_warm_up_s))
    }

    /// A round of a case with its wake-up.
    fn round_of(&self, case: &Case, session: &Session) -> f64 {
        let with_wake_up = |round: f64| round + WAKE_UP_MS as f64 * 1e6;
        if let Some(own) = median(&newest_round_times(case)) {
            return with_wake_up(own);
        }
        // A case that is warm says how long its runs take, before a round of it is over.
        if let Some(run_ns) = warm_run_ns(case) {
            return round_of_runs_s(&session.plan, run_ns / NS_PER_S) * NS_PER_S;
        }
        let of_setup = self.round_of_setup.iter();
        let of_setup: Vec<_> = of_setup.map(|round| round.map(with_wake_up)).collect();
        let any = self.round.map(with_wake_up);
        self.unseen(case.key(), &of_setup, any, StepTimes::round_s)
    }
}

/// The visits that have begun and whose rounds are not over: what was done for them is no longer ahead.
#[derive(Clone, Debug, Default)]
pub(super) struct VisitProgress {
    /// Steps that are over, of which the rounds that they prepare are still to come.
    over: Vec<VisitStep>,
    /// The step that goes on, and since when.
    current: Option<(VisitStep, u64)>,
    /// The case that is visited.
    case: Option<CaseKey>,
}

/// A step of a visit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum VisitStep {
    /// The start of a setup's worker.
    Start(usize),
    /// The opening of a case.
    Open(CaseKey),
    /// Its first warm-up, or a later one.
    WarmUp(CaseKey),
    Round(CaseKey),
}

impl VisitProgress {
    /// Takes one event in.
    pub(super) fn follow(&mut self, event: &RunEvent, at_ns: u64) {
        let next = match event {
            RunEvent::VisitBegan { case, begins } => {
                self.case = Some(*case);
                Some(match begins {
                    Some(Phase::Start | Phase::Load) => VisitStep::Start(case.setup),
                    Some(Phase::WarmUp) => VisitStep::WarmUp(*case),
                    Some(Phase::Measure) => VisitStep::Round(*case),
                    _ => VisitStep::Open(*case),
                })
            }
            RunEvent::SetupReady { .. } => {
                self.end_step();
                self.case.map(VisitStep::Open)
            }
            RunEvent::CaseOpened { case, .. } if self.case == Some(*case) => {
                self.end_step();
                Some(VisitStep::WarmUp(*case))
            }
            // A smaller point was opened on the way.
            RunEvent::CaseOpened { case, .. } => {
                self.over.push(VisitStep::Open(*case));
                self.case.map(VisitStep::Open)
            }
            RunEvent::WarmedUp { .. } => {
                self.end_step();
                None
            }
            RunEvent::RoundStarted { case, .. } => Some(VisitStep::Round(*case)),
            RunEvent::RoundFinished { case, .. } | RunEvent::CaseEnded { case, .. } => {
                let of_case = |step: &VisitStep| match step {
                    VisitStep::Start(setup) => *setup == case.setup,
                    VisitStep::Open(key) | VisitStep::WarmUp(key) | VisitStep::Round(key) => {
                        key == case
                    }
                };
                self.over.retain(|step| !of_case(step));
                None
            }
            RunEvent::Turned { .. } | RunEvent::Paused => None,
            _ => return,
        };
        self.current = next.map(|step| (step, at_ns));
    }

    fn end_step(&mut self) {
        self.over.extend(self.current.take().map(|(step, _)| step));
    }

    /// What of it is done at a moment, in nanoseconds. A step that takes longer than expected uses up the time of no
    /// other.
    fn done_ns(&self, ahead: &RemainingRounds<'_>, durations: &Durations, now_ns: u64) -> f64 {
        let takes = |step: &VisitStep| {
            let of_case = |key: &CaseKey| durations.cases.get(key).copied().unwrap_or_default();
            match step {
                VisitStep::Start(setup) => {
                    durations.start_ns.get(*setup).copied().unwrap_or_default()
                }
                VisitStep::Open(key) => of_case(key).open_ns,
                VisitStep::WarmUp(key) if ahead.since_ns.contains_key(key) => {
                    of_case(key).later_warm_up_ns
                }
                VisitStep::WarmUp(key) => of_case(key).warm_up_ns,
                VisitStep::Round(key) => of_case(key).round_ns,
            }
        };
        let over: u64 = self.over.iter().map(takes).sum();
        let current = self
            .current
            .as_ref()
            .map(|(step, since_ns)| now_ns.saturating_sub(*since_ns).min(takes(step)));
        (over + current.unwrap_or_default()) as f64
    }
}

/// How many times as long as before the newest runs of this session take, where they were seen before.
fn slowness(session: &Session, steps: &StepTimes<'_>) -> f64 {
    let ratio = |case: &Case| {
        let before = steps.past_times(case.key())?.run_ns;
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

fn later_warm_up_times(case: &Case) -> Vec<f64> {
    let later = case
        .rounds
        .iter()
        .filter_map(|round| round.warm_up.as_ref());
    later.map(|warm_up| warm_up.spent_ns as f64).collect()
}

fn warm_up_time(case: &Case) -> Vec<f64> {
    let warm_up = case.warm_up.iter();
    warm_up.map(|warm_up| warm_up.spent_ns as f64).collect()
}
