//! What a run does, step by step, as its observers see it: the visit that is going on, and what comes
//! between and after visits.

use std::fmt;

use crate::base::humanize;
use crate::domain::case::CaseKey;
use crate::domain::event::{Activity, RunEvent};
use crate::domain::outcome::Phase;

/// What a run does from now on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunStep {
    /// The case whose visit it belongs to; nothing outside visits.
    pub case: Option<CaseKey>,
    /// What is done.
    pub doing: RunStepKind,
}

/// What is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunStepKind {
    /// A phase of a visit.
    Phase(Phase),
    /// A round is measured, counted from 0.
    Round(u32),
    /// An activity outside phases and rounds.
    Activity(Activity),
}

impl RunStepKind {
    /// The setup that it is about, where that is another one than its case's or there is no case.
    pub fn setup(&self) -> Option<usize> {
        match self {
            Self::Activity(
                Activity::Examining { setup }
                | Activity::Comparing { setup }
                | Activity::Connecting { setup }
                | Activity::Elsewhere { setup, .. }
                | Activity::Queued { setup }
                | Activity::Sending { setup, .. },
            ) => Some(*setup),
            Self::Activity(Activity::OpeningSmaller { case } | Activity::Profiling { case }) => {
                Some(case.setup)
            }
            Self::Activity(Activity::ComputingReference | Activity::Waiting { .. })
            | Self::Phase(_)
            | Self::Round(_) => None,
        }
    }
}

impl fmt::Display for RunStepKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Round(round) => write!(f, "round {}", round + 1),
            Self::Phase(Phase::Measure) => f.write_str("waking up"),
            Self::Phase(phase) => write!(f, "{phase}"),
            Self::Activity(activity) => match activity {
                Activity::Examining { .. } => f.write_str("examining the graph"),
                Activity::OpeningSmaller { case } => {
                    write!(f, "opening {} on the way", case.point)
                }
                Activity::Waiting { .. } => f.write_str("waiting, so that rounds lie apart"),
                Activity::ComputingReference => f.write_str("computing the reference's outputs"),
                Activity::Comparing { .. } => f.write_str("comparing outputs"),
                Activity::Connecting { .. } => f.write_str("connecting to its machine"),
                Activity::Elsewhere { said, .. } => f.write_str(said),
                Activity::Queued { .. } => f.write_str("waiting for a node of the scheduler"),
                Activity::Sending {
                    what,
                    done_bytes,
                    total_bytes,
                    ..
                } => write!(
                    f,
                    "sending {what}, {} of {}",
                    humanize::bytes(*done_bytes),
                    humanize::bytes(*total_bytes)
                ),
                Activity::Profiling { case } => write!(f, "profiling {}", case.point),
            },
        }
    }
}

/// Derives the current step of a run from its events.
#[derive(Clone, Copy, Debug, Default)]
pub struct StepFollower {
    /// The case whose visit has begun and is not over.
    visited: Option<CaseKey>,
}

impl StepFollower {
    /// Takes one event in; the next step, where it begins one.
    pub fn follow(&mut self, event: &RunEvent) -> Option<RunStep> {
        let (case, doing) = match event {
            RunEvent::VisitBegan { case, begins } => {
                self.visited = Some(*case);
                (
                    Some(*case),
                    RunStepKind::Phase(begins.unwrap_or(Phase::Start)),
                )
            }
            RunEvent::WorkerStarted { setup, .. } => (
                Some(self.visited_of(*setup)?),
                RunStepKind::Phase(Phase::Load),
            ),
            RunEvent::SetupReady { setup, .. } => (
                Some(self.visited_of(*setup)?),
                RunStepKind::Phase(Phase::Open),
            ),
            RunEvent::Examined { setup, .. } => (
                Some(self.visited_of(*setup)?),
                RunStepKind::Phase(Phase::Start),
            ),
            RunEvent::Turned { activity } => {
                (self.visited, RunStepKind::Activity(activity.clone()))
            }
            RunEvent::CaseOpened { case, .. } if self.visited == Some(*case) => {
                (Some(*case), RunStepKind::Phase(Phase::WarmUp))
            }
            // A smaller batch size was opened on the way.
            RunEvent::CaseOpened { case, .. } => (
                Some(self.visited_of(case.setup)?),
                RunStepKind::Phase(Phase::Open),
            ),
            RunEvent::RoundStarted { case, round } => (Some(*case), RunStepKind::Round(*round)),
            RunEvent::RoundFinished { .. } => {
                self.visited = None;
                return None;
            }
            // That of a smaller batch size does not end the visit.
            RunEvent::CaseEnded { case, .. } => {
                self.visited = self.visited.filter(|visited| visited != case);
                return None;
            }
            _ => return None,
        };
        Some(RunStep { case, doing })
    }

    /// Whether an event ends what was done, so that nothing is waited for until the next step.
    pub fn is_pause(event: &RunEvent) -> bool {
        matches!(
            event,
            RunEvent::RoundFinished { .. }
                | RunEvent::CaseEnded { .. }
                | RunEvent::Judged { .. }
                | RunEvent::Profiled { .. }
                | RunEvent::Paused
                | RunEvent::Ended { .. }
        )
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
    use crate::domain::case::{CaseOpening, Round};
    use crate::domain::point::Point;
    use crate::domain::setup_report::SetupReport;

    const CASE: CaseKey = CaseKey {
        setup: 1,
        point: Point::of_batch(4),
    };

    fn started(setup: usize) -> RunEvent {
        RunEvent::WorkerStarted { setup, pid: 7 }
    }

    fn opened(case: CaseKey) -> RunEvent {
        let opening = CaseOpening::default();
        RunEvent::CaseOpened { case, opening }
    }

    #[test]
    fn a_visit_is_told_from_the_start_of_its_worker_on() {
        let mut visits = StepFollower::default();
        let mut words = |event: RunEvent| visits.follow(&event).map(|step| step.doing.to_string());
        let begins = Some(Phase::Start);
        let report = SetupReport::default();
        let smaller = CaseKey {
            point: Point::of_batch(1),
            ..CASE
        };
        let told = [
            words(RunEvent::VisitBegan { case: CASE, begins }),
            words(started(1)),
            words(RunEvent::SetupReady { setup: 1, report }),
            words(RunEvent::Turned {
                activity: Activity::OpeningSmaller { case: smaller },
            }),
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
            Some("opening batch 1 on the way"),
            Some("running for the first time"),
            Some("warming up"),
            Some("round 3"),
        ];
        assert_eq!(told.each_ref().map(Option::as_deref), expected);
    }

    #[test]
    fn workers_that_no_visit_waits_for_tell_nothing() {
        let mut visits = StepFollower::default();
        let begins = Some(Phase::Measure);
        let step = visits.follow(&RunEvent::VisitBegan { case: CASE, begins });
        assert_eq!(step.unwrap().doing.to_string(), "waking up");
        assert_eq!(visits.follow(&started(0)), None);
        let round = Round::default();
        visits.follow(&RunEvent::RoundFinished { case: CASE, round });
        assert_eq!(visits.follow(&started(1)), None);
    }
}
