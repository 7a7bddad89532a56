//! What can go wrong on the way to another machine. Each ends the cases over there with its reason, the others are
//! measured, nothing hangs and nothing is left running.

use std::fs;
use std::io::BufReader;
use std::process::Child;
use std::time::{Duration, Instant};

use super::bench::{begun, bench};
use super::server::{self, Server, on};
use crate::support::{Home, ProgramRun};

/// Outcome and reason of a setup over there, beside one here that must be measured.
fn beside_a_good_one(server: &Server, home: &Home, setup: &str) -> (String, String) {
    let args = bench("2", [setup, "fake"]);
    let run = server.run(home, &args);
    assert!(!run.err.contains("panicked"), "{run:#?}");
    let outcomes = run.outcomes();
    assert_eq!(outcomes[1].2, "finished", "{run:#?}");
    let reason = run.json()["cases"][0]["reason"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    (outcomes[0].2.clone(), reason)
}

#[test]
fn a_machine_that_cannot_be_reached_is_no_sample() {
    let Some(server) = Server::start() else {
        return;
    };
    let home = Home::new();
    for (host, words) in [
        ("no-such-host.invalid", "Could not resolve hostname"),
        ("stranger", "asks for no password"),
        ("unknown", "compare the key"),
    ] {
        let (outcome, reason) = beside_a_good_one(&server, &home, &on(host, "fake"));
        assert_eq!(outcome, "lost", "{host}: {reason}");
        assert!(reason.contains(words) && reason.contains(host), "{reason}");
    }
    server.know("stranger.pub");
    let (outcome, reason) = beside_a_good_one(&server, &home, &on("box", "fake"));
    assert_eq!(outcome, "lost");
    assert!(
        reason.contains("nothing was sent") && reason.contains("ssh-keygen -R"),
        "{reason}"
    );
}

#[test]
fn experiments_on_a_machine_that_does_not_answer_are_an_error_that_names_it() {
    let home = Home::new();
    let run = home.run(&[
        "why",
        "resnet18@cifar",
        "--setup",
        "rten,where=ssh:box.invalid",
    ]);
    run.fails_saying(&["no connection to ssh:box.invalid"]);
}

#[test]
fn a_banner_and_a_noisy_shell_are_passed_over() {
    let Some(server) = Server::with("Banner /etc/hostname") else {
        return;
    };
    let home = Home::new();
    let noise = "echo 'Welcome to box'; head -c 3000 /dev/urandom; echo; echo '{\"protocol\":7}'; printf 'no line break'\n";
    fs::write(server.file_path("there/home/.bashrc"), noise).expect("a .bashrc");
    let (outcome, reason) = beside_a_good_one(&server, &home, &on("box", "fake"));
    assert_eq!(outcome, "finished", "{reason}");
}

#[test]
fn a_login_that_ends_at_once_is_told_with_what_it_said() {
    let Some(server) = Server::with("ForceCommand echo 'This account is closed.'; exit 1") else {
        return;
    };
    let home = Home::new();
    let (outcome, reason) = beside_a_good_one(&server, &home, &on("box", "fake"));
    assert_eq!(outcome, "lost");
    assert!(reason.contains("This account is closed."), "{reason}");
}

#[test]
fn a_worker_that_dies_over_there_is_no_lost_connection() {
    let Some(server) = Server::start() else {
        return;
    };
    let home = Home::new();
    for (fail, words) in [
        ("run-kill", "signal 9"),
        ("run-exit", "exit status 3"),
        ("run-abort", "signal 6"),
    ] {
        let setup = on("box", &format!("fake,fail={fail}"));
        let (outcome, reason) = beside_a_good_one(&server, &home, &setup);
        assert_eq!(outcome, "crashed", "{reason}");
        assert!(reason.contains(words), "{fail}: {reason}");
    }
    let hanging = on("box", "fake,fail=run-hang");
    let args = [
        "bench",
        "resnet18@cifar",
        "--batch",
        "1",
        "--preset",
        "quick",
        "--timeout",
        "4",
        "--json",
        "--setup",
        &hanging,
    ];
    let run = server.run(&home, &args);
    assert_eq!(run.outcomes()[0].2, "timed-out", "{run:#?}");
    server::until_gone("remote worker --setup fake:cpu,fail=run-hang");
}

/// Starts a run whose worker over there is slow, and waits until a round of it was measured.
pub(super) fn slow_run(
    server: &Server,
    home: &Home,
    mark: &str,
) -> (Child, BufReader<std::process::ChildStderr>) {
    let there = on("box", &format!("fake,sleep=yes,fixed={mark}"));
    let args = bench("6", [&*there, "fake"]);
    begun(server, home, &args, |line| {
        line.contains("round") && line.contains("where=")
    })
}

#[test]
fn a_connection_that_is_cut_keeps_what_was_measured() {
    let Some(server) = Server::start() else {
        return;
    };
    let home = Home::new();
    let (child, told) = slow_run(&server, &home, "100123");
    // In the middle of a later round.
    let deadline = Instant::now() + Duration::from_secs(30);
    while server.sessions().is_empty() {
        assert!(Instant::now() < deadline, "no session");
    }
    std::thread::sleep(Duration::from_millis(300));
    server.cut();
    let rest = server::drained(told);
    let run = ProgramRun::from_output(&child.wait_with_output().expect("it ends"));
    drop(rest);
    let outcomes = run.outcomes();
    assert_eq!(outcomes[1].2, "finished", "{run:#?}");
    assert_eq!(outcomes[0].2, "lost", "{run:#?}");
    let case = run.json()["cases"][0].clone();
    assert!(
        case["rounds"].as_u64().is_some_and(|rounds| rounds >= 1),
        "{case:#}"
    );
    let reason = case["reason"].as_str().unwrap_or_default();
    assert!(reason.contains("connection was lost while"), "{reason}");
    server::until_gone("fixed=100123");
}

#[test]
fn nothing_runs_on_after_the_program_is_killed() {
    let Some(server) = Server::start() else {
        return;
    };
    let home = Home::new();
    let (mut child, _told) = slow_run(&server, &home, "100457");
    child.kill().expect("it is killed");
    child.wait().expect("it is gone");
    server::until_gone("fixed=100457");
    let deadline = Instant::now() + Duration::from_secs(30);
    while !server.sessions().is_empty() {
        assert!(
            Instant::now() < deadline,
            "connections stay open: {:?}",
            server.sessions()
        );
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(
        home.journals().len(),
        1,
        "what was measured is in its journal"
    );
}
