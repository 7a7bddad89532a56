//! The state of a run and of each of its cases in words, and which cases a filter lists.

pub use super::case_filter::CaseFilter;
use super::{LiveRun, Stage};
use powerband_core::base::humanize;
use powerband_core::domain::case::{Case, CaseKey};
use powerband_core::domain::event::{Activity, RunEvent};
use powerband_core::domain::outcome::{Outcome, Phase, SKIPPED};
use powerband_core::domain::queue::QueueState;
use powerband_core::domain::visit::{RunStep, RunStepKind};
use powerband_core::schedule::warm_up::visit_warm_up;
use powerband_findings::tables::cell::Tone;

/// What a run does with a case now, in a word or two.
fn doing_words(doing: &RunStepKind) -> &'static str {
    match doing {
        RunStepKind::Phase(Phase::Start) | RunStepKind::Activity(Activity::Examining { .. }) => {
            "starting"
        }
        RunStepKind::Phase(Phase::Load) => "loading",
        RunStepKind::Phase(Phase::Open)
        | RunStepKind::Activity(Activity::OpeningSmaller { .. }) => "opening",
        RunStepKind::Phase(Phase::WarmUp) => "warming up",
        RunStepKind::Phase(Phase::Measure)
        | RunStepKind::Round(_)
        | RunStepKind::Activity(Activity::Elsewhere { .. }) => "measuring",
        RunStepKind::Activity(Activity::ComputingReference | Activity::Comparing { .. }) => {
            "comparing outputs"
        }
        RunStepKind::Activity(Activity::Profiling { .. }) => "profiling",
        RunStepKind::Activity(Activity::Connecting { .. }) => "connecting",
        RunStepKind::Activity(Activity::Queued { .. }) => "queued",
        RunStepKind::Activity(Activity::Waiting { .. }) => "waiting",
        RunStepKind::Activity(Activity::Sending { .. }) => "sending files",
    }
}

impl LiveRun {
    /// What the run does now: `warming up`.
    pub fn state_words(&self) -> &'static str {
        match &self.stage {
            Stage::Preparing => "preparing",
            Stage::Paused => "paused",
            Stage::Stopping => "stopping",
            Stage::Saved(_) | Stage::NotSaved(_) => "done",
            Stage::Refused(_) => "refused",
            Stage::Measuring => match &self.doing {
                Some(doing) => doing_words(doing),
                None if self.has_measured() => "between two cases",
                None => "starting",
            },
        }
    }

    /// The current activity, with its limit where it is known.
    pub(super) fn activity_text(&self, RunStep { case, doing }: &RunStep) -> String {
        if let (RunStepKind::Round(_), Some(case)) = (doing, case) {
            return self.round_words(*case);
        }
        match (doing, &self.session) {
            (RunStepKind::Phase(Phase::WarmUp), Some(session)) => {
                let known = case.and_then(|case| session.case(case));
                let is_first = known.is_none_or(|case| case.warm_up.is_none());
                let most_ms = visit_warm_up(&session.plan, is_first).0.max_time_ms;
                let most = humanize::clock_time(most_ms as f64 / 1e3);
                format!("{doing}, for {most} at most")
            }
            _ => doing.to_string(),
        }
    }

    /// The same with the setup that it is about, where it belongs to no round.
    pub(super) fn with_setup(&self, doing: &RunStepKind, words: String) -> String {
        match (doing.setup(), &self.session) {
            (Some(setup), Some(session)) => format!("{}, {words}", session.setup_label(setup)),
            _ => words,
        }
    }

    /// Whether any case has a round.
    pub fn has_measured(&self) -> bool {
        let session = self.session.as_ref();
        session.is_some_and(|session| session.cases.iter().any(|case| !case.rounds.is_empty()))
    }

    /// The case that is active.
    pub fn current_case(&self) -> Option<CaseKey> {
        self.current.as_ref().map(|(case, _)| *case)
    }

    /// Whether the run works on a case: the one that it visits, or a smaller one that it opens first.
    fn is_active(&self, case: CaseKey) -> bool {
        let opened_first = match self.doing {
            Some(RunStepKind::Activity(Activity::OpeningSmaller { case })) => Some(case),
            _ => None,
        };
        let visited = self.visited_at_once.get(&case.setup);
        [self.current_case(), opened_first, visited.copied()].contains(&Some(case))
    }

    /// Whether a case was left out and is not taken back.
    pub fn is_skipped(&self, case: &Case) -> bool {
        let key = case.key();
        match case.outcome {
            Outcome::Pending => self.skipped.contains(&key),
            Outcome::Cancelled => !self.taken_back.contains(&key),
            _ => false,
        }
    }

    /// Whether a case can be left out.
    pub fn can_skip(&self, case: &Case) -> bool {
        let is_to_come = !case.outcome.is_final() && !self.is_skipped(case);
        is_to_come && self.stage.is_going_on()
    }

    /// Whether a case that was left out can be taken back: the run still measures rounds.
    pub fn can_take_back(&self, case: &Case) -> bool {
        let measures = matches!(self.stage, Stage::Measuring | Stage::Paused);
        let waits = matches!(
            self.doing,
            Some(RunStepKind::Activity(Activity::Waiting { .. }))
        );
        measures && (self.aside.is_none() || waits) && self.is_skipped(case)
    }

    /// The state of a case in words, and their colour.
    pub(super) fn state(&self, case: &Case) -> (String, Tone) {
        let key = case.key();
        let (words, tone) = match &case.outcome {
            Outcome::Pending | Outcome::Cancelled if self.is_skipped(case) => {
                (SKIPPED, Tone::Plain)
            }
            Outcome::Pending if self.is_active(key) => match (&self.stage, &self.doing) {
                (Stage::Paused, _) => ("paused", Tone::Open),
                // The run's current step is that of the machine that reported last.
                _ if !self.visited_at_once.is_empty() => ("measuring", Tone::Open),
                (_, Some(doing)) => (doing_words(doing), Tone::Open),
                (_, None) => ("measuring", Tone::Open),
            },
            Outcome::Pending if self.queued.contains(&case.setup) => ("queued", Tone::Open),
            Outcome::Pending | Outcome::Cancelled => ("waiting", Tone::Plain),
            Outcome::Finished => ("finished", Tone::Good),
            cut if cut.is_cut_short() => (cut.name(), Tone::Plain),
            other => return (other.short_cause(), Tone::Bad),
        };
        (words.to_owned(), tone)
    }

    /// Whether a case belongs to those that a filter lists.
    fn is_listed(&self, case: &Case, filter: CaseFilter) -> bool {
        match filter {
            CaseFilter::All => true,
            CaseFilter::Failed => case.outcome.is_trouble(),
            CaseFilter::Finished => case.outcome == Outcome::Finished,
            CaseFilter::Skipped => self.is_skipped(case),
            CaseFilter::Waiting => {
                let is_open = matches!(case.outcome, Outcome::Pending | Outcome::Cancelled);
                is_open && !self.is_skipped(case) && !self.is_active(case.key())
            }
        }
    }

    /// The cases that a filter lists, by their places in the session.
    pub(super) fn places(&self, filter: CaseFilter) -> Vec<usize> {
        let cases = self.session.iter().flat_map(|session| &session.cases);
        let listed = cases
            .enumerate()
            .filter(|(_, case)| self.is_listed(case, filter));
        listed.map(|(place, _)| place).collect()
    }

    /// How many cases a filter lists.
    pub fn count(&self, filter: CaseFilter) -> usize {
        let cases = self.session.iter().flat_map(|session| &session.cases);
        cases.filter(|case| self.is_listed(case, filter)).count()
    }

    /// The case of a row of the table.
    pub fn case_of_row(&self, row: usize) -> Option<&Case> {
        let place = self.listed.get(row)?;
        self.session.as_ref()?.cases.get(*place)
    }

    /// The row of a case, where the filter lists it.
    pub fn row_of_case(&self, key: CaseKey) -> Option<usize> {
        let cases = &self.session.as_ref()?.cases;
        let is_it = |place: &usize| cases.get(*place).is_some_and(|case| case.key() == key);
        self.listed.iter().position(is_it)
    }

    /// What a scheduler says of the node that setups wait for.
    pub(super) fn queue_words(&self, setups: &[usize], state: &QueueState) -> String {
        let session = self.session.as_ref();
        let label = session.zip(setups.first());
        let label = label.map_or_else(String::new, |(session, setup)| {
            format!("{}, ", session.setup_label(*setup))
        });
        format!("{label}queued: {state}")
    }

    /// Follows which setups wait in a scheduler's queue.
    pub(super) fn follow_queue(&mut self, event: &RunEvent) {
        match event {
            RunEvent::Queued { setups, state } => {
                self.queued.extend(setups);
                self.aside = Some(self.queue_words(setups, state));
            }
            RunEvent::Reached { machine } => {
                self.queued.retain(|setup| !machine.setups.contains(setup));
            }
            RunEvent::Ended { .. } => self.queued.clear(),
            _ => {}
        }
    }

    /// The notice about a worker that died or ran out of memory, with its setup and how it ended.
    pub(super) fn death_words(&self, event: &RunEvent) -> Option<String> {
        if let RunEvent::WorkerDied { text, .. } = event {
            return Some(text.clone());
        }
        let RunEvent::CaseEnded { case, outcome } = event else {
            return None;
        };
        let session = self.session.as_ref()?;
        let label = session.setup_label(case.setup);
        match outcome {
            // The model did not even load: all cases of the setup ended, and one notice says so.
            Outcome::Crashed {
                phase: Phase::Start | Phase::Load,
                ..
            } => Some(format!("{label}: {}", outcome.sentence()?)),
            Outcome::Crashed { .. } => {
                Some(format!("{label}, {}: {}", case.point, outcome.sentence()?))
            }
            // Larger batch sizes run out of memory too; the first of a setup is said.
            Outcome::OutOfMemory { .. } => {
                let mut own = session.cases.iter().filter(|own| own.setup == case.setup);
                let is_known = own.any(|own| matches!(own.outcome, Outcome::OutOfMemory { .. }));
                let sentence = outcome.sentence().filter(|_| !is_known)?;
                Some(format!("{label}, {}: {sentence}", case.point))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use powerband_core::control::Control;
    use powerband_core::domain::case::{CaseOpening, Round, WarmUp};
    use powerband_core::domain::event::TimedEvent;
    use powerband_core::domain::point::Point;
    use powerband_core::domain::setup_report::SetupReport;
    use powerband_findings::analysis::testing;

    const CASE: CaseKey = CaseKey {
        setup: 0,
        point: Point::of_batch(2),
    };
    const SMALLER: CaseKey = CaseKey {
        setup: 0,
        point: Point::of_batch(1),
    };

    fn measuring() -> LiveRun {
        let mut run = LiveRun::new("test".to_owned(), Control::default());
        run.session = Some(Arc::new(testing::session(&["ort:cpu"], &[1, 2])));
        run.stage = Stage::Measuring;
        run
    }

    #[test]
    fn cases_wait_in_the_queue_of_a_scheduler_until_their_node_answers() {
        let mut run = measuring();
        let queued = RunEvent::Queued {
            setups: vec![0],
            state: QueueState {
                reason: "Resources".to_owned(),
                ..QueueState::default()
            },
        };
        let turned = RunEvent::Turned {
            activity: Activity::Queued { setup: 0 },
        };
        after(&mut run, turned);
        assert_eq!(after(&mut run, queued), ["queued", "queued", "queued"]);
        let aside = run.aside.clone().unwrap();
        assert!(aside.contains("no node is free"), "{aside}");
        let machine = Box::new(powerband_core::domain::machine::RemoteMachine {
            setups: vec![0],
            ..Default::default()
        });
        let [first, second, _] = after(&mut run, RunEvent::Reached { machine });
        assert_eq!([first, second], ["waiting", "waiting"]);
    }

    /// The states of both cases and of the run after an event.
    fn after(run: &mut LiveRun, event: RunEvent) -> [String; 3] {
        run.apply_event(TimedEvent { at_ns: 0, event }, None);
        let session = run.session.clone().unwrap();
        let [one, two] = [0, 1].map(|place| run.state(&session.cases[place]).0);
        [one, two, run.state_words().to_owned()]
    }

    #[test]
    fn each_step_of_a_visit_is_a_state_of_its_case_and_of_the_run() {
        let mut run = measuring();
        assert_eq!(run.state_words(), "starting");
        let smaller = Activity::OpeningSmaller { case: SMALLER };
        let opened = |case| RunEvent::CaseOpened {
            case,
            opening: CaseOpening::default(),
        };
        let begins = Some(Phase::Start);
        let steps = [
            (
                RunEvent::VisitBegan { case: CASE, begins },
                ["waiting", "starting", "starting"],
            ),
            (
                RunEvent::WorkerStarted { setup: 0, pid: 7 },
                ["waiting", "loading", "loading"],
            ),
            (
                RunEvent::SetupReady {
                    setup: 0,
                    report: SetupReport::default(),
                },
                ["waiting", "opening", "opening"],
            ),
            (
                RunEvent::Turned { activity: smaller },
                ["opening", "opening", "opening"],
            ),
            (opened(SMALLER), ["waiting", "opening", "opening"]),
            (opened(CASE), ["waiting", "warming up", "warming up"]),
            (
                RunEvent::WarmedUp {
                    case: CASE,
                    warm_up: WarmUp::default(),
                },
                ["waiting", "warming up", "warming up"],
            ),
            (
                RunEvent::RoundStarted {
                    case: CASE,
                    round: 0,
                },
                ["waiting", "measuring", "measuring"],
            ),
            (
                RunEvent::RoundFinished {
                    case: CASE,
                    round: Round::default(),
                },
                ["waiting", "measuring", "between two cases"],
            ),
            (
                RunEvent::VisitBegan {
                    case: SMALLER,
                    begins: Some(Phase::WarmUp),
                },
                ["warming up", "waiting", "warming up"],
            ),
            (
                RunEvent::CaseEnded {
                    case: SMALLER,
                    outcome: Outcome::Finished,
                },
                ["finished", "waiting", "between two cases"],
            ),
        ];
        for (event, expected) in steps {
            let words = format!("{event:?}");
            assert_eq!(after(&mut run, event), expected, "{words}");
        }
    }

    #[test]
    fn a_case_is_skipped_until_it_is_taken_back() {
        let mut run = measuring();
        run.skipped.push(CASE);
        let ended = RunEvent::CaseEnded {
            case: CASE,
            outcome: Outcome::Cancelled,
        };
        assert_eq!(after(&mut run, ended)[1], "skipped");
        let counts = |run: &LiveRun| CaseFilter::ALL.map(|filter| run.count(filter));
        assert_eq!(counts(&run), [2, 0, 0, 1, 1]);
        run.skipped.clear();
        run.taken_back.push(CASE);
        assert_eq!(counts(&run), [2, 0, 0, 2, 0]);
        assert_eq!(
            after(&mut run, RunEvent::TakenBack { case: CASE })[1],
            "waiting"
        );
        assert!(run.taken_back.is_empty());
        assert_eq!(counts(&run), [2, 0, 0, 2, 0]);
    }

    #[test]
    fn one_notice_says_that_a_model_does_not_load_or_a_setup_runs_out_of_memory() {
        let mut run = measuring();
        let mut said = |case, outcome: &Outcome| {
            let outcome = outcome.clone();
            let event = RunEvent::CaseEnded { case, outcome };
            let words = run.death_words(&event);
            after(&mut run, event);
            words
        };
        let crashed = Outcome::Crashed {
            phase: Phase::Load,
            how: "signal 9 (SIGKILL)".to_owned(),
            stderr: String::new(),
        };
        let first = said(CASE, &crashed).unwrap();
        assert!(
            first.starts_with("ort:cpu: the worker was killed by signal 9 (SIGKILL)"),
            "{first}"
        );
        assert_eq!(said(SMALLER, &crashed), Some(first));
        let memory = Outcome::OutOfMemory {
            reason: "no room".to_owned(),
        };
        assert!(
            said(SMALLER, &memory).is_some_and(|words| words.contains("batch 1: out of memory"))
        );
        assert_eq!(said(CASE, &memory), None);
        assert_eq!(said(CASE, &Outcome::Cancelled), None);
    }
}
