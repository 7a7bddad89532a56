//! What may be asked of a run while it goes on: a rest, and leaving cases out.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use powerband_core::base::paths::Paths;
use powerband_core::control::Control;
use powerband_core::domain::case::CaseKey;
use powerband_core::domain::event::{RunEvent, TimedEvent};
use powerband_core::domain::outcome::{Outcome, Phase};
use powerband_core::domain::plan::{PresetName, WorkerLifetime};
use powerband_core::domain::point::Point;
use powerband_core::domain::recorded_run::RecordedRun;
use powerband_core::domain::request::ProgramTrust;
use powerband_core::domain::request::RunRequest;
use powerband_core::domain::session::{Completion, Session};
use powerband_runner::prepare;
use powerband_runner::record::{self, SessionTarget};
use powerband_store::installation::Installation;
use powerband_store::session_file;
use powerband_store::settings::Settings;

use crate::support::{self, Home};

/// Long enough for a loaded machine, too short for a worker's own time limits.
const PATIENCE: Duration = Duration::from_mins(1);

/// A run that goes on in a thread of its own.
pub(crate) struct Running {
    home: tempfile::TempDir,
    pub(crate) control: Control,
    events: Receiver<TimedEvent>,
    thread: JoinHandle<RecordedRun>,
}

impl Running {
    /// The setups at batch sizes 1 and 2.
    fn start(setups: &[&str], rounds: u32, control: &Control) -> Self {
        Self::start_keeping(setups, rounds, control, WorkerLifetime::Together)
    }

    fn start_keeping(
        setups: &[&str],
        rounds: u32,
        control: &Control,
        keeping: WorkerLifetime,
    ) -> Self {
        let request = RunRequest {
            keeping,
            ..request(setups, rounds)
        };
        Self::begin(&request, control)
    }

    pub(crate) fn begin(request: &RunRequest, control: &Control) -> Self {
        let home = tempfile::tempdir().expect("a temporary folder");
        let paths = Paths::under(home.path());
        let program = PathBuf::from(env!("CARGO_BIN_EXE_powerband"));
        let place = Installation::new(paths.clone(), &Settings::default(), program);
        let request = prepare::prepare(&place, request).expect("a request that makes sense");
        let (sender, events) = sync_channel(10_000);
        let theirs = control.clone();
        let thread = thread::Builder::new()
            .name("run".to_owned())
            .spawn(move || {
                record::record(
                    request,
                    &paths,
                    &SessionTarget::Library,
                    &theirs,
                    &mut |stamped, _session| {
                        sender.send(stamped.clone()).expect("somebody listens");
                    },
                )
            })
            .expect("a thread");
        Self {
            home,
            control: control.clone(),
            events,
            thread,
        }
    }

    /// Waits for an event of this kind.
    pub(crate) fn until(&self, what: &str, is_it: impl Fn(&RunEvent) -> bool) {
        self.hear(what, |event| is_it(event).then_some(()));
    }

    /// Waits for an event that tells what is wanted.
    fn hear<T>(&self, what: &str, told: impl Fn(&RunEvent) -> Option<T>) -> T {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let Ok(stamped) = self.events.recv_timeout(left) else {
                panic!("waited in vain until {what}");
            };
            if let Some(told) = told(&stamped.event) {
                return told;
            }
        }
    }

    /// The session, which must have been saved and leave no journal; and the events that nobody waited for.
    pub(crate) fn end(self) -> (Session, Vec<RunEvent>) {
        let recorded = self.thread.join().expect("the run does not panic");
        let saved = recorded.saved.expect("the session is saved");
        let saved = session_file::read(&saved).expect("a session");
        assert_eq!(saved.session, recorded.session);
        assert_eq!((recorded.diverted, recorded.notes.len()), (None, 0));
        let journals = self.home.path().join("sessions/journals");
        assert_eq!(support::files(&journals).len(), 0);
        let events = self.events.try_iter().map(|stamped| stamped.event);
        (recorded.session, events.collect())
    }
}

/// The setups at batch sizes 1 and 2.
pub(crate) fn request(setups: &[&str], rounds: u32) -> RunRequest {
    RunRequest {
        programs: ProgramTrust::Typed,
        setups: setups
            .iter()
            .map(|spec| spec.parse().expect("a setup"))
            .collect(),
        points: Some([1, 2].map(Point::of_batch).to_vec()),
        rounds: Some(rounds),
        seed: Some(1),
        preset: PresetName::Quick,
        ..RunRequest::new("resnet18@cifar")
    }
}

pub(crate) fn outcomes(session: &Session) -> Vec<Outcome> {
    let cases = session.cases.iter();
    cases.map(|case| case.outcome.clone()).collect()
}

/// About 20 ms a run, so that a round takes a third of a second.
const SLOW: &str = "fake,sleep=yes,fixed=20000";

pub(crate) fn is_round(event: &RunEvent) -> bool {
    matches!(event, RunEvent::RoundFinished { .. })
}

#[test]
fn a_run_rests_until_it_is_told_to_go_on() {
    let running = Running::start(&[SLOW], 3, &Control::default());
    running.until("a round is over", is_round);
    running.control.pause();
    running.until("it rests", |event| *event == RunEvent::Paused);
    let quiet = running.events.recv_timeout(Duration::from_millis(1500));
    assert!(quiet.is_err(), "{quiet:?}");
    assert!(running.control.is_paused() && !running.thread.is_finished());
    running.control.resume();
    running.until("it goes on", |event| *event == RunEvent::Resumed);
    running.until("a round is over", is_round);
    let (session, _) = running.end();
    assert_eq!(outcomes(&session), [Outcome::Finished, Outcome::Finished]);
    assert_eq!(session.completion, Completion::Complete);
    assert!(session.cases.iter().all(|case| case.rounds.len() == 3));
}

#[test]
fn a_run_that_rests_can_be_stopped_and_cases_left_out() {
    let control = Control::default();
    control.pause();
    let running = Running::start(&["fake", "fake,noise=2"], 2, &control);
    running.until("it rests", |event| *event == RunEvent::Paused);
    let left_out = CaseKey {
        setup: 1,
        point: Point::of_batch(2),
    };
    control.skip(left_out);
    running.until("a case is over", |event| {
        matches!(event, RunEvent::CaseEnded { case, outcome: Outcome::Cancelled } if *case == left_out)
    });
    assert!(control.is_paused());
    // As a signal handler does it.
    control.token().cancel();
    let (session, rest) = running.end();
    assert_eq!(outcomes(&session), vec![Outcome::Cancelled; 4]);
    assert_eq!(session.completion, Completion::Cancelled);
    assert_eq!(rest[0], RunEvent::Resumed);
    assert!(!rest.iter().any(is_round));
}

#[test]
fn a_run_with_nothing_left_to_measure_does_not_rest_for_ever() {
    let control = Control::default();
    control.pause();
    let running = Running::start(&["fake"], 2, &control);
    running.until("it rests", |event| *event == RunEvent::Paused);
    for batch in [1, 2] {
        control.skip(CaseKey {
            setup: 0,
            point: Point::of_batch(batch),
        });
    }
    let (session, _) = running.end();
    assert_eq!(outcomes(&session), vec![Outcome::Cancelled; 2]);
}

#[test]
fn a_case_that_is_left_out_keeps_its_rounds() {
    let running = Running::start(&[SLOW], 4, &Control::default());
    let left_out = CaseKey {
        setup: 0,
        point: Point::of_batch(1),
    };
    running.until(
        "its round is over",
        |event| matches!(event, RunEvent::RoundFinished { case, .. } if *case == left_out),
    );
    running.control.skip(left_out);
    let (session, _) = running.end();
    assert_eq!(outcomes(&session), [Outcome::Cancelled, Outcome::Finished]);
    let rounds: Vec<usize> = session.cases.iter().map(|case| case.rounds.len()).collect();
    assert!((1..4).contains(&rounds[0]) && rounds[1] == 4, "{rounds:?}");
}

#[test]
fn a_case_that_is_taken_back_gets_all_its_rounds() {
    let running = Running::start(&[SLOW], 3, &Control::default());
    let left_out = CaseKey {
        setup: 0,
        point: Point::of_batch(1),
    };
    running.until(
        "its round is over",
        |event| matches!(event, RunEvent::RoundFinished { case, .. } if *case == left_out),
    );
    running.control.skip(left_out);
    running.until(
        "it is left out",
        |event| matches!(event, RunEvent::CaseEnded { case, outcome: Outcome::Cancelled } if *case == left_out),
    );
    // It misses a round, or the rounds are over before long.
    let other = CaseKey {
        setup: 0,
        point: Point::of_batch(2),
    };
    running.until(
        "the other case is measured",
        |event| matches!(event, RunEvent::RoundFinished { case, .. } if *case == other),
    );
    assert!(running.control.take_back(left_out));
    running.until(
        "it is open again",
        |event| matches!(event, RunEvent::TakenBack { case } if *case == left_out),
    );
    let control = running.control.clone();
    let (session, rest) = running.end();
    assert_eq!(outcomes(&session), [Outcome::Finished, Outcome::Finished]);
    assert!(
        session.cases.iter().all(|case| case.rounds.len() == 3),
        "{session:?}"
    );
    let again = rest
        .iter()
        .any(|event| matches!(event, RunEvent::CaseOpened { case, .. } if *case == left_out));
    assert!(again, "it was closed, and is opened again");
    assert!(!control.take_back(left_out), "the rounds are over");
}

#[test]
fn a_case_that_hangs_is_left_out_at_once_and_the_rest_is_measured() {
    let setups = ["fake,at=2,fail=run-hang", "fake"];
    let running = Running::start(&setups, 2, &Control::default());
    // The first run of a case comes with its opening, so it hangs before it is opened.
    let hangs = CaseKey {
        setup: 0,
        point: Point::of_batch(2),
    };
    let deadline = Instant::now() + PATIENCE;
    running.until("the worker is ready", |event| {
        matches!(event, RunEvent::SetupReady { setup: 0, .. })
    });
    thread::sleep(Duration::from_millis(500));
    running.control.skip_now(hangs);
    let (session, rest) = running.end();
    assert!(Instant::now() < deadline, "it was not ended at once");
    let mut expected = vec![Outcome::Finished; 4];
    expected[1] = Outcome::Cancelled;
    assert_eq!(outcomes(&session), expected);
    assert_eq!(session.completion, Completion::Complete);
    assert!(session.cases[0].rounds.len() == 2 && session.cases[1].rounds.is_empty());
    let started = rest
        .iter()
        .filter(|event| matches!(event, RunEvent::WorkerStarted { setup: 0, .. }));
    assert_eq!(started.count(), 1, "the other case gets another worker");
}

/// Leaves both cases of the first setup out, asking once for each while its worker hangs.
fn leave_out_hanging(running: &Running, has_process: bool) {
    for _ in [1, 2] {
        let case = running.hear("its visit begins", |event| match event {
            RunEvent::VisitBegan { case, begins } if case.setup == 0 => {
                assert_eq!(*begins, Some(Phase::Start));
                Some(*case)
            }
            _ => None,
        });
        if has_process {
            running.until("its worker is to load the model", |event| {
                matches!(event, RunEvent::WorkerStarted { setup: 0, .. })
            });
        }
        // Asked before it hangs, it would have to end as well; but that is not what is looked at here.
        thread::sleep(Duration::from_millis(300));
        running.control.skip(case);
        let is_it = |ended: &CaseKey| *ended == case;
        let outcome = running.hear("it is over", |event| match event {
            RunEvent::CaseEnded { case, outcome } if is_it(case) => Some(outcome.clone()),
            _ => None,
        });
        assert_eq!(outcome, Outcome::Cancelled);
    }
}

#[test]
fn a_case_whose_worker_never_gets_ready_is_left_out_when_asked_once() {
    let home = Home::new();
    let asleep = home.script("asleep", "sleep 600");
    let asleep = asleep.display().to_string();
    let never_starts = format!("fake,worker={asleep}");
    let cases = [
        ("fake,fail=load-hang", true),
        (never_starts.as_str(), false),
    ];
    for (hanging, has_process) in cases {
        let running = Running::start(&[hanging, "fake"], 2, &Control::default());
        leave_out_hanging(&running, has_process);
        let (session, _) = running.end();
        let expected = [vec![Outcome::Cancelled; 2], vec![Outcome::Finished; 2]];
        assert_eq!(outcomes(&session), expected.concat(), "{hanging}");
        assert_eq!(session.completion, Completion::Complete);
        assert!(session.cases[2..].iter().all(|case| case.rounds.len() == 2));
    }
    assert_eq!(support::processes_with(&asleep), Vec::<String>::new());
}

/// How many workers of a setup were started.
pub(crate) fn started(events: &[RunEvent], setup: usize) -> usize {
    let such = |event: &&RunEvent| matches!(event, RunEvent::WorkerStarted { setup: it, .. } if *it == setup);
    events.iter().filter(such).count()
}

#[test]
fn workers_may_live_one_at_a_time() {
    let setups = ["fake", "fake,noise=2"];
    let running =
        Running::start_keeping(&setups, 3, &Control::default(), WorkerLifetime::OneAtATime);
    let (session, events) = running.end();
    assert_eq!(outcomes(&session), vec![Outcome::Finished; 4]);
    assert!(session.cases.iter().all(|case| case.rounds.len() == 3));
    assert!(
        session
            .warnings
            .iter()
            .all(|warning| !warning.contains("Memory"))
    );
    // The seed decides the order; in three rounds of four visits the setups change hands often.
    let started = started(&events, 0) + started(&events, 1);
    assert!(started > 4, "{started}");
    for setup in 0..2 {
        let own = session.cases.iter().filter(|case| case.setup == setup);
        let rounds = own.flat_map(|case| &case.rounds);
        let starts: BTreeSet<u32> = rounds.filter_map(|round| round.start).collect();
        let expected = 0..self::started(&events, setup) as u32;
        assert_eq!(starts, expected.collect(), "each round tells its start");
    }
    // A worker that is started again loads, opens and warms up again.
    let warmed = events
        .iter()
        .filter(|event| matches!(event, RunEvent::WarmedUp { .. }));
    assert!(warmed.count() > 4);
}

#[test]
fn a_case_that_runs_out_of_memory_beside_others_is_tried_alone() {
    let setups = ["fake", "fake,fail=open-memory,at=2"];
    let running = Running::start(&setups, 2, &Control::default());
    let (session, events) = running.end();
    let outcomes = outcomes(&session);
    assert!(
        matches!(outcomes[3], Outcome::OutOfMemory { .. }),
        "{outcomes:?}"
    );
    assert_eq!(&outcomes[..3], vec![Outcome::Finished; 3]);
    let said = session
        .warnings
        .iter()
        .filter(|warning| warning.contains("Memory does not allow"));
    let company = started(&events, 1) > 1;
    // Where it was the first to be started it was alone anyway.
    assert_eq!(said.count(), usize::from(company), "{:?}", session.warnings);
}
