//! The visit that is going on, step by step, for whoever watches a run.

use std::fmt;

use crate::domain::case::CaseKey;
use crate::domain::event::RunEvent;
use crate::domain::outcome::Phase;

/// A case, and what is done with it from now on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Which case.
    pub case: CaseKey,
    /// What is done with it.
    pub phase: Phase,
    /// The round that is measured, from 0.
    pub round: Option<u32>,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.phase, self.round) {
            (_, Some(round)) => write!(f, "round {}", round + 1),
            (Phase::Measure, None) => f.write_str("waking up"),
            (phase, None) => write!(f, "{phase}"),
        }
    }
}

/// Follows the visits of a run through its events.
#[derive(Clone, Copy, Debug, Default)]
pub struct Visits {
    /// The case whose visit has begun and is not over.
    visited: Option<CaseKey>,
}

impl Visits {
    /// Takes one event in; the next step, where it begins one.
    pub fn follow(&mut self, event: &RunEvent) -> Option<Step> {
        let (case, phase, round) = match event {
            RunEvent::VisitBegan { case, begins } => {
                self.visited = Some(*case);
                (*case, begins.unwrap_or(Phase::Start), None)
            }
            RunEvent::WorkerStarted { setup, .. } => (self.visited_of(*setup)?, Phase::Load, None),
            RunEvent::SetupReady { setup, .. } => (self.visited_of(*setup)?, Phase::Open, None),
            // Smaller batch sizes are opened on the way.
            RunEvent::CaseOpened { case, .. } if self.visited == Some(*case) => {
                (*case, Phase::WarmUp, None)
            }
            RunEvent::RoundStarted { case, round } => (*case, Phase::Measure, Some(*round)),
            RunEvent::RoundFinished { .. } | RunEvent::CaseEnded { .. } => {
                self.visited = None;
                return None;
            }
            _ => return None,
        };
        Some(Step { case, phase, round })
    }

    /// The case that is visited, where it is one of the setup: workers are started between visits too,
    /// for comparing outputs.
    fn visited_of(&self, setup: usize) -> Option<CaseKey> {
        self.visited.filter(|case| case.setup == setup)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::case::{Opening, Round};
    use crate::domain::event::SetupReport;

    const CASE: CaseKey = CaseKey { setup: 1, batch: 4 };

    fn started(setup: usize) -> RunEvent {
        RunEvent::WorkerStarted { setup, pid: 7 }
    }

    fn opened(case: CaseKey) -> RunEvent {
        let opening = Opening::default();
        RunEvent::CaseOpened { case, opening }
    }

    #[test]
    fn a_visit_is_told_from_the_start_of_its_worker_on() {
        let mut visits = Visits::default();
        let mut words = |event: RunEvent| visits.follow(&event).map(|step| step.to_string());
        let begins = Some(Phase::Start);
        let report = SetupReport::default();
        let smaller = CaseKey { batch: 1, ..CASE };
        let told = [
            words(RunEvent::VisitBegan { case: CASE, begins }),
            words(started(1)),
            words(RunEvent::SetupReady { setup: 1, report }),
            words(opened(smaller)),
            words(opened(CASE)),
            words(RunEvent::RoundStarted {
                case: CASE,
                round: 2,
            }),
        ];
        let expected = [
            Some("starting"),
            Some("loading the model"),
            Some("running for the first time"),
            None,
            Some("warming up"),
            Some("round 3"),
        ];
        assert_eq!(told.each_ref().map(Option::as_deref), expected);
    }

    #[test]
    fn workers_that_no_visit_waits_for_tell_nothing() {
        let mut visits = Visits::default();
        let begins = Some(Phase::Measure);
        let step = visits.follow(&RunEvent::VisitBegan { case: CASE, begins });
        assert_eq!(step.unwrap().to_string(), "waking up");
        assert_eq!(visits.follow(&started(0)), None);
        let round = Round::default();
        visits.follow(&RunEvent::RoundFinished { case: CASE, round });
        assert_eq!(visits.follow(&started(1)), None);
    }
}
