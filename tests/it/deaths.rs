//! Workers that are killed at moments when no question is open, or on the way to another case: each death
//! is told with its signal, and where a case was concerned it has its outcome.

use std::path::PathBuf;
use std::sync::OnceLock;
use std::thread;
use std::time::Duration;

use powerband_core::base::paths::Paths;
use powerband_core::control::Control;
use powerband_core::domain::case::CaseKey;
use powerband_core::domain::event::{RunEvent, TimedEvent};
use powerband_core::domain::outcome::{Outcome, Phase};
use powerband_core::domain::plan::PresetName;
use powerband_core::domain::point::Point;
use powerband_core::domain::request::ProgramTrust;
use powerband_core::domain::request::RunRequest;
use powerband_core::domain::session::Session;
use powerband_runner::prepare;
use powerband_runner::run::{self, PreparedRun};
use powerband_runner::schedule;
use powerband_store::installation::Installation;
use powerband_store::settings::Settings;
use rustix::process::{Pid, Signal};
use tempfile::TempDir;

use crate::support::Home;

/// A run, in a home that lives as long as the tests, since a model is looked at before it is loaded.
fn request(setups: &[&str], batches: &[usize], rounds: u32, first: usize) -> PreparedRun {
    static HOME: OnceLock<TempDir> = OnceLock::new();
    let home = HOME.get_or_init(|| tempfile::tempdir().expect("a temporary folder"));
    let setups: Vec<_> = setups
        .iter()
        .map(|spec| spec.parse().expect("a setup"))
        .collect();
    let cases: Vec<CaseKey> = (0..setups.len())
        .flat_map(|setup| {
            batches.iter().map(move |&batch| CaseKey {
                setup,
                point: Point::of_batch(batch),
            })
        })
        .collect();
    let is_first = |seed: &u64| schedule::order(cases.clone(), 0, *seed)[0].point.batch() == first;
    let request = RunRequest {
        programs: ProgramTrust::Typed,
        setups,
        points: Some(batches.iter().copied().map(Point::of_batch).collect()),
        rounds: Some(rounds),
        seed: (0..10_000).find(is_first),
        preset: PresetName::Quick,
        ..RunRequest::new("resnet18@cifar")
    };
    let program = PathBuf::from(env!("CARGO_BIN_EXE_powerband"));
    let place = Installation::new(Paths::under(home.path()), &Settings::default(), program);
    let mut request = prepare::prepare(&place, &request).expect("a request that makes sense");
    request.watch = None;
    request
}

/// The session and everything that happened; the observer may do something about it.
fn carry_out(request: PreparedRun, mut each: impl FnMut(&RunEvent)) -> (Session, Vec<RunEvent>) {
    let mut events = Vec::new();
    let mut observer = |stamped: &TimedEvent, _session: &Session| {
        each(&stamped.event);
        events.push(stamped.event.clone());
    };
    let (session, _) = run::run(request, None, &Control::default(), &mut observer);
    (session, events)
}

fn kill(pid: u32) {
    let pid = Pid::from_raw(pid as i32).expect("a process number");
    rustix::process::kill_process(pid, Signal::KILL).expect("the signal is sent");
    // A death takes a moment to be seen.
    thread::sleep(Duration::from_millis(200));
}

fn outcomes(session: &Session) -> Vec<Outcome> {
    let cases = session.cases.iter();
    cases.map(|case| case.outcome.clone()).collect()
}

fn warning<'a>(session: &'a Session, words: &str) -> &'a str {
    let mut found = session.warnings.iter().filter(|text| text.contains(words));
    let first = found.next();
    assert!(found.next().is_none(), "told twice: {:?}", session.warnings);
    first.unwrap_or_else(|| panic!("no \"{words}\" in {:?}", session.warnings))
}

fn place_of(events: &[RunEvent], is_it: impl Fn(&RunEvent) -> bool) -> usize {
    let found = events.iter().position(is_it);
    found.unwrap_or_else(|| panic!("not in {events:#?}"))
}

#[test]
fn a_worker_that_dies_on_the_way_to_a_case_is_the_outcome_of_the_smaller_one() {
    let request = request(&["fake,at=2,fail=run-kill"], &[1, 2, 4], 2, 4);
    let (session, events) = carry_out(request, |_event| {});
    let found = outcomes(&session);
    assert_eq!(
        (&found[0], &found[2]),
        (&Outcome::Finished, &Outcome::Finished)
    );
    let Outcome::Crashed { phase, how, .. } = &found[1] else {
        panic!("{found:?}");
    };
    assert!(*phase == Phase::Open && how.contains("signal 9"), "{how}");
    let died = place_of(
        &events,
        |event| matches!(event, RunEvent::CaseEnded { case, .. } if case.point.batch() == 2),
    );
    let opened = place_of(
        &events,
        |event| matches!(event, RunEvent::CaseOpened { case, .. } if case.point.batch() == 4),
    );
    assert!(died < opened, "told when it happened: {events:#?}");
    let is_start = |event: &&RunEvent| matches!(event, RunEvent::WorkerStarted { .. });
    assert_eq!(events.iter().filter(is_start).count(), 2);
}

#[test]
fn a_worker_that_dies_between_visits_is_told_and_started_again() {
    let request = request(&["fake", "fake,noise=2"], &[1], 3, 1);
    let mut pid = None;
    let (session, events) = carry_out(request, |event| match event {
        RunEvent::WorkerStarted { setup: 0, pid: own } if pid.is_none() => pid = Some(Some(*own)),
        RunEvent::RoundFinished { case, .. } if case.setup == 0 => {
            if let Some(pid) = pid.as_mut().and_then(Option::take) {
                kill(pid);
            }
        }
        _ => {}
    });
    assert_eq!(outcomes(&session), [Outcome::Finished, Outcome::Finished]);
    assert!(session.cases.iter().all(|case| case.rounds.len() == 3));
    let told = warning(&session, "the worker was killed");
    assert!(
        told.starts_with("fake:cpu: ") || told.starts_with("fake: "),
        "{told}"
    );
    assert!(
        told.contains("waited for its next visit") && told.contains("signal 9"),
        "{told}"
    );
    assert!(told.contains("probably out of memory"), "{told}");
    let is_death = |event: &RunEvent| matches!(event, RunEvent::WorkerDied { setup: 0, .. });
    assert!(events.iter().any(is_death), "{events:#?}");
    let is_start = |event: &&RunEvent| matches!(event, RunEvent::WorkerStarted { setup: 0, .. });
    assert_eq!(events.iter().filter(is_start).count(), 2);
}

#[test]
fn a_worker_that_dies_when_it_is_ended_is_told_with_its_last_words() {
    let home = Home::new();
    let program = env!("CARGO_BIN_EXE_powerband");
    let body = format!("{program} worker; echo farewell >&2; kill -SEGV $$");
    let script = home.script("fragile", &body);
    let setup = format!("fake,worker={}", script.display());
    let (session, _) = carry_out(request(&[&setup], &[1], 1, 1), |_event| {});
    assert_eq!(outcomes(&session), [Outcome::Finished]);
    let told = warning(&session, "the worker died when it was ended");
    assert!(
        told.contains("signal 11") && told.contains("farewell"),
        "{told}"
    );
}

#[test]
fn of_many_smaller_batch_sizes_a_few_are_opened_first() {
    let batches: Vec<usize> = (1..=70).collect();
    let (session, events) = carry_out(request(&["fake"], &batches, 1, 70), |_event| {});
    assert!(outcomes(&session).iter().all(|it| *it == Outcome::Finished));
    let first = place_of(&events, |event| {
        matches!(event, RunEvent::RoundFinished { .. })
    });
    let opened = events[..first].iter().filter_map(|event| match event {
        RunEvent::CaseOpened { case, .. } => Some(case.point.batch()),
        _ => None,
    });
    assert_eq!(opened.collect::<Vec<_>>(), [1, 2, 4, 8, 16, 32, 64, 70]);
    // The memory of each step is that of nothing larger.
    let peak = |batch: usize| session.cases[batch - 1].opening.as_ref()?.peak_bytes;
    let peaks = [1, 2, 4, 8, 16, 32, 64, 70].map(peak);
    assert!(
        peaks.iter().all(Option::is_some) && peaks.is_sorted(),
        "{peaks:?}"
    );
    assert!(
        (1..70_usize)
            .filter(|batch| !batch.is_power_of_two())
            .all(|batch| peak(batch).is_none())
    );
}

#[test]
fn a_case_without_inputs_is_an_outcome_with_its_reason() {
    let mut request = request(&["fake"], &[1, 2], 1, 2);
    request.inputs.remove(&CaseKey {
        setup: 0,
        point: Point::of_batch(1),
    });
    let (session, _) = carry_out(request, |_event| {});
    let found = outcomes(&session);
    assert_eq!(found[1], Outcome::Finished);
    assert!(
        matches!(&found[0], Outcome::Unsupported { reason } if reason.contains("no shapes")),
        "{found:?}"
    );
}
