//! The rounds of a run: whose turn it is, which of them begin with new starts, how far they lie apart, and what the
//! user asks for meanwhile.

use std::collections::BTreeSet;
use std::time::Duration;

use super::{ActiveRun, Rounds};
use crate::schedule;
use powerband_core::base::{clock, humanize};
use powerband_core::domain::case::{Case, CaseKey};
use powerband_core::domain::event::{Activity, RunEvent};
use powerband_core::domain::outcome::{Outcome, Phase};
use powerband_core::domain::plan::WAKE_UP_MS;
use powerband_core::schedule::starts::{self, StartCost};
use powerband_core::schedule::turns;

/// Fewer rounds say nothing of how rounds differ.
const FEWEST_ROUNDS: u32 = 2;
/// A shorter wait is not worth a word.
const WORTH_TELLING_NS: u64 = 100_000_000;

impl ActiveRun<'_, '_> {
    pub(super) fn measure_rounds(&mut self) {
        let measure = self.request.beginning.plan.measure.clone();
        let seed = self.request.beginning.plan.seed;
        let rounds = self.rounds;
        let Rounds {
            first,
            planned,
            may_add,
        } = rounds;
        let mut last_ns = 0;
        for round in first.. {
            let began_ns = self.now_ns();
            self.end_what_does_not_fit();
            // A case that was left out for a while gets the rounds that it missed after the others.
            let missed = |case: &Case| {
                let own = case.rounds.iter().filter(|own| own.round >= first);
                self.taken_back.contains(&case.key()) && (own.count() as u32) < rounds.count()
            };
            let is_in_time = self.is_in_time(round, last_ns);
            let wants = |case: &Case| match &self.request.settling {
                Some(settling) => {
                    let is_open = || (settling.is_open)(&self.session, case.key());
                    is_in_time && (round < planned || missed(case) || is_open())
                }
                None => {
                    round < planned
                        || missed(case)
                        || (may_add && schedule::wants_round(case, &measure, round))
                }
            };
            let wanting: Vec<CaseKey> = self
                .session
                .cases
                .iter()
                .filter(|case| !case.outcome.is_final() && wants(case))
                .map(|case| case.key())
                .collect();
            if wanting.is_empty() {
                if self.control.ends_rounds() {
                    return;
                }
                self.take_back();
            }
            self.end_workers_before(round, &wanting);
            let mut ahead = turns::by_point(schedule::order(wanting, round, seed));
            while let Some(turn) = self.next_turn(&mut ahead) {
                self.take_turn(&turn, round);
                if self.control.is_cancelled() {
                    return;
                }
            }
            // A case that is not wanted any more must not be asked whether it wants a round.
            self.leave_out();
            self.take_back();
            last_ns = self.now_ns() - began_ns;
        }
    }

    /// Whether a round that takes as long as the last one ends within the time for settling comparisons; the first ones
    /// are measured anyway.
    fn is_in_time(&self, round: u32, last_ns: u64) -> bool {
        let Some(settling) = &self.request.settling else {
            return true;
        };
        let end = Duration::from_nanos(self.now_ns().saturating_add(last_ns));
        round < FEWEST_ROUNDS || end <= settling.budget
    }

    /// Waits for the next turn of a round and takes it out.
    fn next_turn(&mut self, ahead: &mut Vec<Vec<CaseKey>>) -> Option<Vec<CaseKey>> {
        let due = ahead.iter().map(|turn| self.turn_due_ns(turn));
        let (place, due_ns) = turns::next_turn(due, self.now_ns())?;
        let turn = ahead.remove(place);
        self.wait_until(due_ns, &turn);
        Some(turn)
    }

    /// Measures the cases of one point. Where they have to be started, all of them are made ready first, so that
    /// they are measured one right after the other.
    fn take_turn(&mut self, turn: &[CaseKey], round: u32) {
        let side_by_side = !self.alone || turn.len() == 1;
        if self.gap_ns().is_some() && side_by_side {
            for &case in turn {
                self.apply_requests();
                if self.control.is_cancelled() {
                    return;
                }
                if self.first_phase(case) != Phase::Measure {
                    self.visit(case, None);
                }
            }
        }
        for &case in turn {
            self.apply_requests();
            self.wait_until(self.due_ns(case), &[case]);
            if self.control.is_cancelled() {
                return;
            }
            self.visit(case, Some(round));
        }
    }

    /// From the beginning of one round of a case to that of its next; nothing where they follow one another.
    pub(super) fn gap_ns(&self) -> Option<u64> {
        let measure = &self.request.beginning.plan.measure;
        measure.gap_ns(self.rounds.count())
    }

    pub(super) fn now_ns(&self) -> u64 {
        clock::monotonic_ns().saturating_sub(self.began_ns)
    }

    /// When the next visit to a case may begin, by its last round in this run; its first sample follows once it has
    /// woken up.
    fn due_ns(&self, case: CaseKey) -> u64 {
        let Some(gap_ns) = self.gap_ns() else {
            return 0;
        };
        let last = self.session.case(case).and_then(|case| case.rounds.last());
        let last = last.filter(|last| last.round >= self.rounds.first);
        last.map_or(0, |last| {
            let due_ns = last.started_ns.saturating_add(gap_ns);
            due_ns.saturating_sub(WAKE_UP_MS * 1_000_000)
        })
    }

    /// When a turn has to begin, so that its cases are ready when they are due.
    fn turn_due_ns(&self, turn: &[CaseKey]) -> u64 {
        if self.gap_ns().is_none() {
            return 0;
        }
        let due_ns = turn.iter().map(|case| self.due_ns(*case)).max();
        let mut to_start = BTreeSet::new();
        let mut preparing_ns = 0;
        for &case in turn {
            let phase = self.first_phase(case);
            if phase == Phase::Start && to_start.insert(case.setup) {
                preparing_ns += self.session.start_ns(case.setup);
            }
            let own = self.session.case(case).filter(|_| phase != Phase::Measure);
            preparing_ns += own.map_or(0, |own| {
                starts::preparing_ns(&self.request.beginning.plan, own)
            });
        }
        due_ns.unwrap_or_default().saturating_sub(preparing_ns)
    }

    /// Waits until a moment, unless the run is stopped or none of these cases is wanted any more.
    fn wait_until(&mut self, until_ns: u64, cases: &[CaseKey]) {
        let mut is_told = false;
        loop {
            let left_ns = until_ns.saturating_sub(self.now_ns());
            let is_over = cases.iter().all(|case| self.is_over(*case));
            if left_ns == 0 || is_over || self.control.is_cancelled() {
                return;
            }
            if !is_told && left_ns > WORTH_TELLING_NS {
                is_told = true;
                let activity = Activity::Waiting { until_ns };
                self.tell(RunEvent::Turned { activity });
            }
            self.control.wait(Duration::from_nanos(left_ns));
            self.poll_devices();
            is_told &= !self.wants_rest();
            self.apply_requests();
        }
    }

    /// Ends the workers of setups whose next round begins with a new start.
    fn end_workers_before(&mut self, round: u32, wanting: &[CaseKey]) {
        let Rounds { first, .. } = self.rounds;
        let living: Vec<usize> = self.workers.keys().copied().collect();
        for setup in living {
            let is_wanted = wanting.iter().any(|case| case.setup == setup);
            if is_wanted && round > first {
                let starts = self.starts_to_make(setup);
                let spec = self.request.beginning.plan.setups.get(setup);
                // What is looked at after each round needs a draw of its own in each.
                let is_added = self.request.settling.is_some()
                    && round >= self.rounds.planned
                    && spec.is_some_and(|spec| starts::why_one_start(spec).is_none());
                if is_added || starts::begins(round - first, self.rounds.count(), starts) {
                    self.forget_worker(setup);
                }
            }
        }
    }

    /// Over how many starts the rounds of a setup are spread. Where these are fewer than the rounds, that is said.
    fn starts_to_make(&mut self, setup: usize) -> u32 {
        if let Some(starts) = self.planned_starts.get(&setup) {
            return *starts;
        }
        let plan = &self.request.beginning.plan;
        let rounds = self.rounds.count();
        let Some(cost) = StartCost::measured(&self.session, setup) else {
            return 1;
        };
        let why_one = plan.setups.get(setup).and_then(starts::why_one_start);
        let starts = match why_one {
            Some(_) => 1,
            None => starts::starts(&plan.measure, rounds, cost, self.setups_in_turns()),
        };
        self.planned_starts.insert(setup, starts);
        if self.gap_ns().is_some() && starts < rounds {
            let label = self.session.setup_label(setup);
            let text = match why_one {
                Some(why) => format!("{label}: {why}, so all of them come from one start."),
                None => format!(
                    "{label}: starts take {} each, so there {} for {}.",
                    humanize::duration_ns(cost.start_ns as f64),
                    are_starts(starts),
                    humanize::pluralised(u64::from(rounds), "round")
                ),
            };
            self.tell(RunEvent::Warned { text });
        }
        starts
    }

    /// Applies requests of the user since the last visit: skipped and restored cases, pause.
    pub(super) fn apply_requests(&mut self) {
        self.notice_deaths();
        self.leave_out();
        self.take_back();
        if !self.wants_rest() {
            return;
        }
        self.tell(RunEvent::Paused);
        while self.wants_rest() {
            self.control.rest();
            self.poll_devices();
            self.leave_out();
            self.take_back();
        }
        self.tell(RunEvent::Resumed);
    }

    /// A run that is stopped, or that has nothing left to measure, does not rest first.
    fn wants_rest(&self) -> bool {
        let cases = &self.session.cases;
        self.control.is_paused()
            && !self.control.is_cancelled()
            && cases.iter().any(|case| !case.outcome.is_final())
    }

    /// Ends the cases that the user does not want any more.
    fn leave_out(&mut self) {
        for case in self.control.take_unwanted() {
            if self.is_over(case) {
                continue;
            }
            self.close(case);
            let outcome = self.outcome_if_stopped(case);
            self.tell(RunEvent::CaseEnded { case, outcome });
        }
    }

    /// Opens the cases again that the user wants back.
    pub(super) fn take_back(&mut self) {
        for case in self.control.take_wanted_again() {
            let outcome = self.session.case(case).map(|case| &case.outcome);
            if outcome == Some(&Outcome::Cancelled) {
                self.taken_back.insert(case);
                self.tell(RunEvent::TakenBack { case });
            }
        }
    }

    /// Whether nothing is left to be done for a case, or the plan does not have it.
    pub(super) fn is_over(&self, case: CaseKey) -> bool {
        self.session
            .case(case)
            .is_none_or(|case| case.outcome.is_final())
    }

    /// The outcome of a case that goes no further: measured in full, or not.
    pub(super) fn outcome_if_stopped(&self, case: CaseKey) -> Outcome {
        let planned = self.request.beginning.plan.measure.rounds as usize;
        let case = self.session.case(case);
        if case.is_some_and(|case| case.rounds.len() >= planned) {
            return Outcome::Finished;
        }
        let waits = case.and_then(|case| self.queued.get(&case.setup));
        waits.map_or(Outcome::Cancelled, |reason| Outcome::Queued {
            reason: reason.clone(),
        })
    }
}

/// `is 1 start`, `are 2 starts`.
fn are_starts(starts: u32) -> String {
    let verb = if starts == 1 { "is" } else { "are" };
    format!(
        "{verb} {}",
        humanize::pluralised(u64::from(starts), "start")
    )
}
