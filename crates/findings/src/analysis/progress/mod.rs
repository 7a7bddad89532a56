//! The progress of a run and its remaining time.

mod pace;

use std::collections::BTreeMap;
use std::fmt;

use self::pace::{Pace, RemainingWork, VisitProgress, round_times, rounds_of_run};
use super::countdown::{Countdown, LEAST_S, RemainingTime};
use super::past_durations::PastDurations;
use powerband_core::base::humanize;
use powerband_core::domain::case::{Case, CaseKey};
use powerband_core::domain::event::RunEvent;
use powerband_core::domain::outcome::{Outcome, SKIPPED};
use powerband_core::domain::plan::MOST_ROUNDS_FACTOR;
use powerband_core::domain::session::{Completion, Session};
use powerband_core::stats::bootstrap;
use powerband_core::stats::summary::median;

/// The largest share of the time that is shown before the end.
const MOST_SHARE: f64 = 0.99;

/// The progress of a run. A visit is one round of one case.
#[derive(Clone, Debug, PartialEq)]
pub struct RunProgress {
    /// Visits that were made.
    pub done_visits: u64,
    /// Visits at the end of the run, as far as is known.
    pub planned_visits: u64,
    /// Those of them that are beyond the plan, because intervals are not narrow enough yet.
    pub added_visits: u64,
    /// Whether all of them are more rounds of a session that has rounds already.
    pub are_more: bool,
    /// Whether they are turns of experiments, which go on until effects are settled or their time is spent.
    pub are_turns: bool,
    /// The time that has passed as a share of it and the remaining time, which are the ones that stand beside it.
    /// It falls where the remaining time grows, for which `note` has the reason, and is 1 only where everything is
    /// over.
    pub share: f64,
    /// Whether everything is over.
    pub is_over: bool,
    /// Cases that are over, measured or failed.
    pub done_cases: usize,
    /// Cases in all.
    pub cases: usize,
    /// Seconds that are still to come, never below zero; not known once all rounds are measured.
    pub remaining_s: Option<f64>,
    /// Why that has grown, or is not known.
    pub note: Option<String>,
    /// The case that is being warmed up or visited for the first time. In later rounds it is
    /// only in the event `RoundStarted`.
    pub current: Option<CaseKey>,
}

impl RunProgress {
    /// The share of the time in whole percent; 100 only where everything is over.
    pub fn percent(&self) -> u8 {
        // What is a whole number but for the last bit of a float stays it.
        (self.share * 100.0 + 1e-9).floor().clamp(0.0, 100.0) as u8
    }

    /// `27 % of the time`: the rounds, which take unequal times, are counted beside it.
    pub fn time_text(&self) -> String {
        format!("{} % of the time", self.percent())
    }

    /// `4 of 42 rounds, 6 of them added`, or `2 of 5 more rounds`; `42 turns` of experiments, whose number is open.
    pub fn rounds_text(&self) -> String {
        if self.are_turns {
            return humanize::pluralised(self.done_visits, "turn");
        }
        let round = if self.are_more { "more round" } else { "round" };
        let rounds = humanize::pluralised(self.planned_visits, round);
        let added = match self.added_visits {
            0 => String::new(),
            added => format!(", {} of them added", humanize::count(added)),
        };
        format!("{} of {rounds}{added}", humanize::count(self.done_visits))
    }
}

/// The time that is left in words: `about 20 s left (2 rounds added)`, or why there is none.
pub fn remaining_text(remaining_s: Option<f64>, note: Option<&str>) -> Option<String> {
    match (remaining_s, note) {
        (Some(left), None) => Some(format!("about {} left", humanize::clock_time(left))),
        (Some(left), Some(note)) => {
            let left = humanize::clock_time(left);
            Some(format!("about {left} left ({note})"))
        }
        (None, note) => note.map(str::to_owned),
    }
}

/// Follows the progress of a run from its beginning to its end.
#[derive(Clone, Debug, Default)]
pub struct Meter {
    /// Rounds that a session gets beyond those that it has; nothing for a new session.
    more_rounds: Option<u32>,
    /// When the run began on the session's clock, which goes on over several runs.
    began_ns: u64,
    /// What the steps of its plan took before.
    past: PastDurations,
    /// How wide the interval of a case is, with the number of rounds that it had then.
    widths: BTreeMap<CaseKey, (usize, f64)>,
    countdown: Countdown,
    /// What was done for rounds that are still to come.
    visit: VisitProgress,
}

impl Meter {
    /// For a run of a new session, where the steps of its plan took so long before.
    pub fn new(past: PastDurations) -> Self {
        Self {
            past,
            ..Self::default()
        }
    }

    /// The same for a run that adds so many rounds to a session that was measured for so long.
    #[must_use]
    pub fn adding(self, rounds: u32, elapsed_ns: u64) -> Self {
        Self {
            more_rounds: Some(rounds),
            began_ns: elapsed_ns,
            ..self
        }
    }

    /// The run rests; its time does not go on.
    pub fn pause(&mut self) {
        self.countdown.pause();
    }

    /// Takes one event in: which step of which visit goes on, and since when.
    pub fn follow(&mut self, event: &RunEvent, at_ns: u64) {
        self.visit.follow(event, at_ns);
    }

    /// How far the run has come at a moment, in nanoseconds since it began.
    pub fn read(&mut self, session: &Session, now_ns: u64) -> RunProgress {
        let planned = self.planned_rounds(session);
        let visits: BTreeMap<CaseKey, Visits> = session
            .cases
            .iter()
            .map(|case| (case.key(), self.visits(session, case, planned)))
            .collect();
        let sum = |count: fn(&Visits) -> u64| visits.values().map(count).sum::<u64>();
        let (done_visits, planned_visits) = (sum(|v| v.done), sum(|v| v.done + v.left));
        let done_cases = session.cases.iter().filter(|c| c.outcome.is_final());
        let is_over = session.completion != Completion::Interrupted;
        let estimate = (!is_over && planned_visits > 0).then(|| {
            let pace = Pace::new(session, &self.past);
            let left = pace.remaining_work(session, &visits, planned, &self.visit, now_ns);
            within_budget(session, left, now_ns)
        });
        let left = self.remaining_time(session, estimate.as_ref(), planned_visits, now_ns);
        let elapsed_s = now_ns.saturating_sub(self.began_ns) as f64 / 1e9;
        let share = match &estimate {
            None => 0.0,
            Some(estimate) if estimate.is_measured => MOST_SHARE,
            Some(_) => elapsed_s / (elapsed_s + left.seconds.unwrap_or(LEAST_S)),
        };
        RunProgress {
            done_visits,
            planned_visits,
            added_visits: sum(|v| (v.done + v.left).saturating_sub(v.planned)),
            are_more: self.more_rounds.is_some(),
            are_turns: budget_ns(session).is_some(),
            share: if is_over { 1.0 } else { share.min(MOST_SHARE) },
            is_over,
            done_cases: done_cases.count(),
            cases: session.cases.len(),
            remaining_s: if is_over { Some(0.0) } else { left.seconds },
            note: left.note.filter(|_| !is_over),
            current: session
                .cases
                .iter()
                .find(|case| {
                    !case.outcome.is_final() && case.opening.is_some() && case.rounds.is_empty()
                })
                .map(Case::key),
        }
    }

    fn remaining_time(
        &mut self,
        session: &Session,
        estimate: Option<&RemainingWork>,
        planned_visits: u64,
        now_ns: u64,
    ) -> RemainingTime {
        match estimate {
            None => RemainingTime {
                seconds: None,
                note: None,
            },
            Some(estimate) if estimate.is_measured => {
                self.countdown.pause();
                RemainingTime {
                    seconds: None,
                    note: Some(final_step_text(session).to_owned()),
                }
            }
            Some(estimate) => self
                .countdown
                .show(estimate.ns / 1e9, planned_visits, now_ns),
        }
    }

    fn planned_rounds(&self, session: &Session) -> u64 {
        u64::from(self.more_rounds.unwrap_or(session.plan.measure.rounds))
    }

    fn visits(&mut self, session: &Session, case: &Case, planned: u64) -> Visits {
        let done = rounds_of_run(session, case).count() as u64;
        if case.outcome.is_final() {
            return Visits {
                done,
                left: 0,
                planned: done,
            };
        }
        let left = match planned.saturating_sub(done) {
            0 if self.more_rounds.is_none() => self.rounds_to_add(session, case),
            left => left,
        };
        Visits {
            done,
            left,
            planned,
        }
    }

    /// Rounds beyond the plan until the interval of a case is narrow enough, as wide as it is now: it
    /// narrows by the root of their number. Their time and their number are limited.
    fn rounds_to_add(&mut self, session: &Session, case: &Case) -> u64 {
        let rule = &session.plan.measure;
        let Some(target) = rule.target_ci95_rel.filter(|target| *target > 0.0) else {
            return 0;
        };
        let done = case.rounds.len();
        let width = self.width(case);
        if width <= target {
            return 0;
        }
        let wanted = (done as f64 * ((width / target).powi(2) - 1.0))
            .ceil()
            .max(1.0);
        let most = (rule.rounds * MOST_ROUNDS_FACTOR) as usize;
        let round_ns = median(&round_times(case)).unwrap_or_default().max(1.0);
        let room_ns = (rule.max_time_ms * 1_000_000).saturating_sub(case.spent_ns());
        let by_time = (room_ns as f64 / round_ns).ceil();
        wanted.min(by_time).min(most.saturating_sub(done) as f64) as u64
    }

    /// Half the interval of a case as a share of its median; computed once for each round.
    fn width(&mut self, case: &Case) -> f64 {
        let done = case.rounds.len();
        let known = self.widths.get(&case.key());
        if let Some((_, width)) = known.filter(|(rounds, _)| *rounds == done) {
            return *width;
        }
        let width = bootstrap::width_for_stopping(&super::case_rows::round_times(case));
        self.widths.insert(case.key(), (done, width));
        width
    }
}

/// The time that experiments have, in nanoseconds.
fn budget_ns(session: &Session) -> Option<u64> {
    let experiments = session.plan.experiments.as_ref()?;
    Some(experiments.budget_s? * 1_000_000_000)
}

/// What is left at most where experiments have a time: more turns are made until it is spent.
fn within_budget(session: &Session, left: RemainingWork, now_ns: u64) -> RemainingWork {
    let Some(budget_ns) = budget_ns(session) else {
        return left;
    };
    let cases = session.cases.iter();
    let rounds = cases.flat_map(|case| rounds_of_run(session, case));
    let began_ns = rounds.map(|round| round.started_ns).min();
    let spent_ns = began_ns.map_or(0, |began_ns| now_ns.saturating_sub(began_ns));
    let most_ns = budget_ns.saturating_sub(spent_ns) as f64;
    if left.is_measured && most_ns > 0.0 {
        return RemainingWork {
            ns: most_ns,
            is_measured: false,
        };
    }
    RemainingWork {
        ns: left.ns.min(most_ns),
        ..left
    }
}

/// The visits of a case in this run.
#[derive(Clone, Copy, Debug)]
struct Visits {
    done: u64,
    left: u64,
    planned: u64,
}

/// The step of the run after its last round.
fn final_step_text(session: &Session) -> &'static str {
    let plan = &session.plan;
    match (plan.judging.is_some(), plan.profiling.is_some()) {
        (true, true) => "all rounds are measured; outputs are compared and profiles taken",
        (true, false) => "all rounds are measured; outputs are compared",
        (false, true) => "all rounds are measured; profiles are taken",
        (false, false) => "all rounds are measured",
    }
}

/// How the cases of a session ended, or are still to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tally {
    /// Measured as planned.
    pub measured: usize,
    /// Failed, for reasons other than the user's request.
    pub failed: usize,
    /// Ended by the user's request.
    pub skipped: usize,
    /// All of them, those that are still to end as well.
    pub cases: usize,
}

impl Tally {
    pub fn from_session(session: &Session) -> Self {
        let count = |is_so: fn(&Outcome) -> bool| {
            let cases = session.cases.iter();
            cases.filter(|case| is_so(&case.outcome)).count()
        };
        Self {
            measured: count(|outcome| *outcome == Outcome::Finished),
            failed: count(Outcome::is_trouble),
            skipped: count(|outcome| *outcome == Outcome::Cancelled),
            cases: session.cases.len(),
        }
    }
}

/// `6 of 12 cases measured, 6 could not run`.
impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cases = humanize::pluralised(self.cases as u64, "case");
        if self.measured == self.cases {
            return write!(f, "{cases} measured");
        }
        write!(f, "{} of {cases} measured", self.measured)?;
        if self.failed > 0 {
            write!(f, ", {} could not run", self.failed)?;
        }
        if self.skipped > 0 {
            write!(f, ", {} {SKIPPED}", self.skipped)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
