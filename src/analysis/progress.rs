//! How far a run has come, and how long it will still take.

use std::fmt;

use crate::base::humanize;
use crate::domain::case::{Case, CaseKey};
use crate::domain::outcome::Outcome;
use crate::domain::session::{Completion, Session};
use crate::stats::summary::median;

/// How far a run has come. A visit is one round of one case.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// Visits that were made.
    pub done_visits: u64,
    /// Visits that will have been made in the end, as far as can be told: rounds that are added until
    /// an interval is narrow enough only count once they are made.
    pub planned_visits: u64,
    /// Share of the time that has passed, by the estimate that also tells what is still to come.
    pub share: f64,
    /// Cases that are over, well or badly.
    pub done_cases: usize,
    /// Cases in all.
    pub cases: usize,
    /// Seconds that are still to come; not known before the first round is over.
    pub remaining_s: Option<f64>,
    /// The case that is being warmed up or visited for the first time. In later rounds a session does
    /// not tell; whoever sees the events knows it from `RoundStarted`.
    pub current: Option<CaseKey>,
}

/// How far the run has come at a moment, in nanoseconds since it began.
pub fn of(session: &Session, now_ns: u64) -> Progress {
    let planned_rounds = u64::from(session.plan.measure.rounds);
    let done = |case: &Case| case.rounds.len() as u64;
    let planned = |case: &Case| {
        if case.outcome.is_final() {
            done(case)
        } else {
            done(case).max(planned_rounds)
        }
    };
    let done_visits: u64 = session.cases.iter().map(done).sum();
    let planned_visits: u64 = session.cases.iter().map(planned).sum();
    let done_cases = session
        .cases
        .iter()
        .filter(|case| case.outcome.is_final())
        .count();
    let is_over = session.completion != Completion::Interrupted;
    let pace = Pace::of(session).filter(|_| !is_over);
    let times = pace.map(|pace| pace.times(session, now_ns));
    Progress {
        done_visits,
        planned_visits,
        share: times
            .as_ref()
            .map_or_else(|| f64::from(u8::from(is_over)), Times::share),
        done_cases,
        cases: session.cases.len(),
        remaining_s: if is_over {
            Some(0.0)
        } else {
            times.map(|times| times.left_ns / 1e9)
        },
        current: session
            .cases
            .iter()
            .find(|case| {
                !case.outcome.is_final() && case.opening.is_some() && case.rounds.is_empty()
            })
            .map(Case::key),
    }
}

/// How the cases of a session ended, or are still to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tally {
    /// Measured as planned.
    pub measured: usize,
    /// Ended badly, for reasons other than the user's wish.
    pub failed: usize,
    /// Ended by the user's wish.
    pub left_out: usize,
    /// All of them, those that are still to end as well.
    pub cases: usize,
}

impl Tally {
    /// Of a session.
    pub fn of(session: &Session) -> Self {
        let count = |is_so: fn(&Outcome) -> bool| {
            let cases = session.cases.iter();
            cases.filter(|case| is_so(&case.outcome)).count()
        };
        Self {
            measured: count(|outcome| *outcome == Outcome::Finished),
            failed: count(Outcome::is_trouble),
            left_out: count(|outcome| *outcome == Outcome::Cancelled),
            cases: session.cases.len(),
        }
    }
}

/// `6 of 12 cases measured, 6 could not run`.
impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cases = humanize::of_many(self.cases as u64, "case");
        if self.measured == self.cases {
            return write!(f, "{cases} measured");
        }
        write!(f, "{} of {cases} measured", self.measured)?;
        if self.failed > 0 {
            write!(f, ", {} could not run", self.failed)?;
        }
        if self.left_out > 0 {
            write!(f, ", {} left out", self.left_out)?;
        }
        Ok(())
    }
}

/// What was spent on visits, and what will be, in nanoseconds.
struct Times {
    done_ns: f64,
    left_ns: f64,
}

impl Times {
    fn share(&self) -> f64 {
        let all = self.done_ns + self.left_ns;
        if all > 0.0 { self.done_ns / all } else { 0.0 }
    }
}

/// What things have taken so far, in nanoseconds.
struct Pace {
    /// A round of any case, and of each setup's cases where there is one.
    round: f64,
    round_of_setup: Vec<Option<f64>>,
    /// The first run and the warm-up, likewise.
    opening: f64,
    opening_of_setup: Vec<Option<f64>>,
    /// From the end of a round to the start of the next, where nothing had to be warmed up.
    between: f64,
    /// When the last round ended.
    last_end: f64,
}

impl Pace {
    /// Nothing before the first round is over.
    fn of(session: &Session) -> Option<Self> {
        let setups = 0..session.plan.setups.len();
        let rounds = |setup: Option<usize>| middle(session, setup, round_times);
        let openings = |setup: Option<usize>| middle(session, setup, opening_time);
        Some(Self {
            round: rounds(None)?,
            round_of_setup: setups.clone().map(|setup| rounds(Some(setup))).collect(),
            opening: openings(None).unwrap_or_default(),
            opening_of_setup: setups.map(|setup| openings(Some(setup))).collect(),
            between: between_rounds(session),
            last_end: ends(session).fold(0, u64::max) as f64,
        })
    }

    fn times(&self, session: &Session, now_ns: u64) -> Times {
        let open = session.cases.iter().filter(|case| !case.outcome.is_final());
        let total: f64 = open.map(|case| self.remaining_of_case(session, case)).sum();
        let cases = session.cases.iter();
        let done: f64 = cases.map(|case| self.done_of_case(case)).sum();
        // What has passed since the last round ended was spent on one of these, but a rest or a
        // slow start must not use up the time of all others.
        let one_visit = self.round + self.between + self.opening;
        let passed = (now_ns as f64 - self.last_end).clamp(0.0, one_visit.min(total));
        Times {
            done_ns: done + passed,
            left_ns: total - passed,
        }
    }

    /// What a case has taken; rests are no part of it.
    fn done_of_case(&self, case: &Case) -> f64 {
        let rounds = round_times(case);
        let between = rounds.len() as f64 * self.between;
        rounds.iter().chain(&opening_time(case)).sum::<f64>() + between
    }

    fn remaining_of_case(&self, session: &Session, case: &Case) -> f64 {
        let planned = session.plan.measure.rounds as usize;
        let rounds = planned.saturating_sub(case.rounds.len()) as f64;
        let pick = |of_setup: &[Option<f64>], any: f64| {
            of_setup.get(case.setup).copied().flatten().unwrap_or(any)
        };
        let own = median(&round_times(case));
        let round = own.unwrap_or_else(|| pick(&self.round_of_setup, self.round));
        let opening = if case.warm_up.is_some() || !case.rounds.is_empty() {
            0.0
        } else {
            pick(&self.opening_of_setup, self.opening)
        };
        rounds * (round + self.between) + opening
    }
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

fn round_times(case: &Case) -> Vec<f64> {
    case.rounds
        .iter()
        .map(|round| round.spent_ns as f64)
        .collect()
}

fn opening_time(case: &Case) -> Vec<f64> {
    let Some((opening, warm_up)) = case.opening.as_ref().zip(case.warm_up.as_ref()) else {
        return Vec::new();
    };
    vec![(opening.open_ns + opening.first_run_ns + warm_up.spent_ns) as f64]
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing::{add_round, end, failed, session};
    use crate::domain::case::{Opening, WarmUp};

    const SECOND: u64 = 1_000_000_000;

    /// Two cases of three rounds: the first has two of a second each, the second is warm.
    fn half_way() -> Session {
        let mut session = session(&["ort:cpu"], &[1, 2]);
        add_round(&mut session, 0, 1, 0, &[SECOND]);
        add_round(&mut session, 0, 1, 1, &[SECOND]);
        session.cases[1].opening = Some(Opening::default());
        session.cases[1].warm_up = Some(WarmUp::default());
        session
    }

    #[test]
    fn a_run_that_has_not_begun_knows_no_time() {
        let progress = of(&session(&["ort:cpu"], &[1, 2]), 5);
        assert_eq!((progress.done_visits, progress.planned_visits), (0, 6));
        assert_eq!((progress.share, progress.remaining_s), (0.0, None));
        assert_eq!(progress.current, None);
    }

    #[test]
    fn what_is_left_follows_from_what_was_measured() {
        let progress = of(&half_way(), 2 * SECOND);
        assert_eq!((progress.done_visits, progress.planned_visits), (2, 6));
        assert_eq!(progress.current, Some(CaseKey { setup: 0, batch: 2 }));
        let remaining = progress.remaining_s.unwrap();
        assert!((remaining - 4.0).abs() < 1e-9, "{remaining}");
        assert!((progress.share - 2.0 / 6.0).abs() < 1e-9);
        let later = of(&half_way(), 2 * SECOND + SECOND / 2)
            .remaining_s
            .unwrap();
        assert!((later - 3.5).abs() < 1e-9, "{later}");
        let paused = of(&half_way(), 1_000 * SECOND).remaining_s.unwrap();
        assert!((paused - 3.0).abs() < 1e-9, "{paused}");
    }

    #[test]
    fn warming_up_counts_for_cases_that_are_cold() {
        let mut session = half_way();
        session.cases[1].opening = None;
        session.cases[1].warm_up = None;
        session.cases[0].opening = Some(Opening::default());
        session.cases[0].warm_up = Some(WarmUp {
            spent_ns: 7 * SECOND,
            ..WarmUp::default()
        });
        let progress = of(&session, 2 * SECOND);
        let remaining = progress.remaining_s.unwrap();
        assert!((remaining - 11.0).abs() < 1e-9, "{remaining}");
        // Seven seconds of warming up and two of measuring are over: of the time, and not of the visits.
        assert!((progress.share - 9.0 / 20.0).abs() < 1e-9);
    }

    #[test]
    fn what_could_not_run_is_not_counted_as_measured() {
        let mut session = session(&["ort:cpu"], &[1, 2, 4, 8]);
        assert_eq!(Tally::of(&session).to_string(), "0 of 4 cases measured");
        end(&mut session, 0, 1, Outcome::Finished);
        end(&mut session, 0, 2, failed());
        end(&mut session, 0, 4, Outcome::Cancelled);
        assert_eq!(
            Tally::of(&session).to_string(),
            "1 of 4 cases measured, 1 could not run, 1 left out"
        );
        for case in &mut session.cases {
            case.outcome = Outcome::Finished;
        }
        assert_eq!(Tally::of(&session).to_string(), "4 cases measured");
    }

    #[test]
    fn cases_that_are_over_take_no_more_time() {
        let mut session = half_way();
        end(&mut session, 0, 2, failed());
        let progress = of(&session, 2 * SECOND);
        assert_eq!((progress.planned_visits, progress.done_cases), (3, 1));
        assert!((progress.remaining_s.unwrap() - 1.0).abs() < 1e-9);
        end(&mut session, 0, 1, Outcome::Finished);
        session.completion = Completion::Complete;
        let over = of(&session, 9 * SECOND);
        assert_eq!((over.share, over.remaining_s), (1.0, Some(0.0)));
    }
}
