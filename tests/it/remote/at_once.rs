//! Machines that are measured at the same time. Each is a name space of this one with a boot of its own: what tells one
//! machine from another.

use std::path::Path;
use std::process::Stdio;

use powerband_core::control::Control;
use powerband_core::domain::case::CaseKey;
use powerband_core::domain::event::RunEvent;
use powerband_core::domain::outcome::Outcome;
use powerband_core::domain::plan::WorkerLifetime;
use powerband_core::domain::point::Point;
use powerband_core::domain::request::RunRequest;
use powerband_core::domain::session::{Completion, Session};
use powerband_store::session_file;

use super::bench::bench;
use super::server::program;
use crate::amd;
use crate::control::{self, Running};
use crate::support::{Home, ProgramRun};
use crate::worker_failures::signal;

/// Takes as long as it says.
const SLOW: &str = "fake,fixed=2000,sleep=yes";

/// A setup on so many machines; nothing where no name space can be made.
fn setups_on_machines(home: &Home, machines: usize, setup: &str) -> Option<Vec<String>> {
    setups_in_name_spaces(home, (0..machines).collect(), "--mount", setup)
}

/// A setup in name spaces on machines of these numbers.
fn setups_in_name_spaces(
    home: &Home,
    machines: Vec<usize>,
    spaces: &str,
    setup: &str,
) -> Option<Vec<String>> {
    if !amd::may_unshare() {
        return None;
    }
    let setups = machines.into_iter().enumerate().map(|(place, number)| {
        let boot = home.write(&format!("boot-{number}"), format!("0000-{number}\n"));
        let boot = boot.display();
        let node = home.script(
            &format!("node-{place}"),
            &format!(
                "exec unshare {spaces} /bin/sh -c 'mount --bind {boot} /proc/sys/kernel/random/boot_id && exec \"$@\"' node \"$@\""
            ),
        );
        format!(
            "{setup},via={},remote_program={}",
            node.display(),
            program()
        )
    });
    Some(setups.collect())
}

/// Measures setups, and gives the session.
fn measured(home: &Home, setups: &[String], more: &[&str]) -> Session {
    let out = home.path("a.ron");
    let mut args = bench("4", setups.iter().map(String::as_str));
    args.extend(["--out", "a.ron", "--force"]);
    args.extend(more);
    let run = home.run(&args);
    assert_eq!(run.status, Some(0), "{run:#?}");
    read(&out)
}

fn read(path: &Path) -> Session {
    session_file::read(path).expect("a session").session
}

/// The most rounds that were measured at one moment.
fn most_at_once(session: &Session) -> usize {
    let rounds = session.cases.iter().flat_map(|case| &case.rounds);
    let spans: Vec<(u64, u64)> = rounds
        .map(|round| (round.started_ns, round.started_ns + round.spent_ns))
        .collect();
    let within = |at: u64| {
        spans
            .iter()
            .filter(move |(from, to)| (*from..*to).contains(&at))
    };
    let begins = spans.iter().map(|(from, _)| within(*from).count());
    begins.max().unwrap_or_default()
}

#[test]
fn machines_are_measured_at_the_same_time_and_setups_of_one_take_turns() {
    let home = Home::new();
    let Some(mut setups) = setups_on_machines(&home, 3, SLOW) else {
        return;
    };
    let in_turns = measured(&home, &setups, &[]);
    assert_eq!(most_at_once(&in_turns), 1);
    let all = measured(&home, &setups, &["--at-once", "8"]);
    assert!(all.cases.iter().all(|case| case.rounds.len() == 4));
    assert_eq!(all.plan.keeping, WorkerLifetime::MachinesAtOnce(8));
    assert_eq!(most_at_once(&all), 3);
    assert!(all.completion == Completion::Complete && all.machines.len() == 3);
    // A second setup of the first machine waits for the other, and the limit holds.
    setups.push(setups[0].replace("fixed=2000", "fixed=1000"));
    let two = measured(&home, &setups, &["--at-once", "2"]);
    assert_eq!(most_at_once(&two), 2);
    let first = [0, 3].map(|setup| two.machine_of(setup).map(|machine| &machine.name));
    assert_eq!(first[0], first[1]);
    let of_first = Session {
        cases: two
            .cases
            .iter()
            .filter(|case| [0, 3].contains(&case.setup))
            .cloned()
            .collect(),
        ..two
    };
    assert_eq!(of_first.cases.len(), 2);
    assert_eq!(most_at_once(&of_first), 1);
}

#[test]
fn readings_profiles_and_more_rounds_follow_machines_that_were_measured_at_once() {
    let home = Home::new();
    let Some(setups) = setups_on_machines(&home, 2, "rten,threads=1") else {
        return;
    };
    let more = ["--at-once", "2", "--telemetry", "20", "--profile"];
    let session = measured(&home, &setups, &more);
    for setup in 0..2 {
        let machine = session.machine_of(setup).expect("a machine");
        let tracks = session.telemetry.tracks.iter();
        let own = tracks.filter(|track| track.device.machine.as_deref() == Some(&machine.name));
        let longest = own.map(|track| track.times_ns.len()).max();
        assert!(longest > Some(5), "setup {setup}: {longest:?}");
    }
    assert_eq!(session.profiles.len(), 2, "{:?}", session.warnings);
    let again = home.run(&["bench", "--more", "a.ron", "--rounds", "2"]);
    assert_eq!(again.status, Some(0), "{again:#?}");
    let session = read(&home.path("a.ron"));
    assert!(session.cases.iter().all(|case| case.rounds.len() == 6));
    assert_eq!(most_at_once(&session), 2);
}

#[test]
fn containers_of_one_machine_take_turns() {
    let home = Home::new();
    // Processes of one are not seen in the other, as in containers.
    let spaces = "--mount --pid --fork --mount-proc";
    let Some(setups) = setups_in_name_spaces(&home, vec![1, 1], spaces, SLOW) else {
        return;
    };
    let session = measured(&home, &setups, &["--at-once", "2"]);
    assert_eq!(session.machines.len(), 2);
    assert_eq!(most_at_once(&session), 1);
}

#[test]
fn machines_rest_and_leave_cases_out_at_the_same_time() {
    let home = Home::new();
    let Some(setups) = setups_on_machines(&home, 2, SLOW) else {
        return;
    };
    let setups: Vec<&str> = setups.iter().map(String::as_str).collect();
    let request = RunRequest {
        keeping: WorkerLifetime::MachinesAtOnce(2),
        ..control::request(&setups, 40)
    };
    let control = Control::default();
    let running = Running::begin(&request, &control);
    let is_round = |event: &RunEvent| matches!(event, RunEvent::RoundFinished { .. });
    running.until("a round is over", is_round);
    control.pause();
    running.until("the run rests", |event| *event == RunEvent::Paused);
    // Every machine is paused by then, so no round ends before the run is resumed.
    control.resume();
    running.until("it is resumed, before any round ends", |event| {
        assert!(!is_round(event), "{event:?}");
        *event == RunEvent::Resumed
    });
    let left_out = [0, 1].map(|setup| CaseKey {
        setup,
        point: Point::of_batch(2),
    });
    control.skip(left_out[0]);
    control.skip_now(left_out[1]);
    running.until(
        "both are left out",
        |event| matches!(event, RunEvent::CaseEnded { case, .. } if *case == left_out[1]),
    );
    assert!(control.take_back(left_out[1]));
    running.until("it is wanted again", |event| {
        *event == RunEvent::TakenBack { case: left_out[1] }
    });
    control.cancel();
    let (session, events) = running.end();
    let is_pause = |event: &&RunEvent| matches!(event, RunEvent::Paused | RunEvent::Resumed);
    assert_eq!(
        events.iter().filter(is_pause).count(),
        0,
        "one pause and its end are reported"
    );
    let outcome = |case| session.case(case).map(|case| case.outcome.clone());
    assert_eq!(outcome(left_out[0]), Some(Outcome::Cancelled));
    assert!(session.cases.iter().any(|case| !case.rounds.is_empty()));
}

#[test]
fn a_run_of_several_machines_that_is_stopped_keeps_what_each_measured() {
    let home = Home::new();
    let Some(setups) = setups_on_machines(&home, 3, SLOW) else {
        return;
    };
    let mut args = bench("200", setups.iter().map(String::as_str));
    args.extend(["--out", "a.ron", "--at-once", "2"]);
    let mut command = home.command(&args);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().expect("the program starts");
    home.until_measured(3);
    signal(&child, rustix::process::Signal::INT);
    let run = ProgramRun::from_output(&child.wait_with_output().expect("an end"));
    assert_eq!(run.status, Some(2), "{run:#?}");
    let session = read(&home.path("a.ron"));
    assert_eq!(session.completion, Completion::Cancelled);
    let rounds: Vec<usize> = session.cases.iter().map(|case| case.rounds.len()).collect();
    assert!(rounds.iter().sum::<usize>() >= 3 && rounds.iter().all(|rounds| *rounds < 200));
}
