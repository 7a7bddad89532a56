//! Links that are slow, lose packets, are cut in the middle of a line, or fail silently.

use std::fs;
use std::time::{Duration, Instant};

use super::bad_luck::slow_run;
use super::bench::bench;
use super::link::Link;
use super::server::{self, Server, on};
use crate::support::{Home, ProgramRun};

/// Within this a link that went dead is given up on both sides.
const BOUND: Duration = Duration::from_mins(3);

#[test]
fn a_slow_link_that_loses_packets_adds_nothing_to_samples() {
    let Some(mut link) = Link::new() else {
        return;
    };
    let Some(server) = Server::over(&link) else {
        return;
    };
    let home = Home::new();
    let there = on("box", "rten,threads=1");
    // The model goes there first.
    let sent = server.run(&home, &bench("1", [&*there]));
    assert_eq!(sent.status, Some(0), "{sent:#?}");
    link.set(50, 1);
    let run = server.run(&home, &bench("3", [&*there, "rten,threads=1"]));
    assert_eq!(run.status, Some(0), "{run:#?}");
    let document = run.json();
    let finished = |case: usize| document["cases"][case]["outcome"] == "finished";
    assert!(finished(0) && finished(1), "{run:#?}");
    let clock = &document["machines"][0]["clock"];
    let (ahead, round_trip) = (clock["ahead_ns"].as_i64(), clock["round_trip_ns"].as_i64());
    let (ahead, round_trip) = (ahead.expect("an offset"), round_trip.expect("a round trip"));
    assert!(
        round_trip >= 100_000_000,
        "the link is not slow: {round_trip}"
    );
    assert!(ahead.abs() <= round_trip, "{ahead} of {round_trip}");
    let median = |case: usize| {
        let median = document["cases"][case]["latency_ms"]["median"].as_f64();
        median.expect("a median")
    };
    // A round trip is several times as long as a run.
    let ratio = median(0) / median(1);
    assert!((0.5..2.0).contains(&ratio), "{ratio}: {run:#?}");
    server::until_gone("remote worker --setup rten");
}

#[test]
fn a_link_that_goes_dead_is_lost_on_both_sides() {
    let Some(mut link) = Link::new() else {
        return;
    };
    let Some(server) = Server::over(&link) else {
        return;
    };
    let home = Home::new();
    let (child, told) = slow_run(&server, &home, "100771");
    link.set(0, 100);
    let began = Instant::now();
    let rest = server::drained(told);
    let run = ProgramRun::from_output(&child.wait_with_output().expect("it ends"));
    drop(rest);
    assert!(began.elapsed() < BOUND, "{run:#?}");
    let outcomes = run.outcomes();
    assert_eq!(outcomes[0].2, "lost", "{run:#?}");
    assert_eq!(outcomes[1].2, "finished", "{run:#?}");
    let kept = run.json()["cases"][0]["rounds"].as_u64();
    assert!(kept.is_some_and(|rounds| rounds >= 1), "{run:#?}");
    // The server has not noticed; what runs there ends all the same.
    assert!(!server.sessions().is_empty(), "the server has noticed");
    for text in ["fixed=100771", "remote hold"] {
        server::until_gone_within(text, BOUND);
    }
}

#[test]
fn a_line_that_is_cut_in_its_middle_is_no_sample() {
    // The second answer with samples ends after half of its letters, and the connection with it.
    let Some(server) = Server::with("ForceCommand /bin/sh \"$HOME\"/cut") else {
        return;
    };
    let cut = "case \"$SSH_ORIGINAL_COMMAND\" in *remote\\ worker*) ;; *) exec sh -c \"$SSH_ORIGINAL_COMMAND\";; esac\n\
        sh -c \"$SSH_ORIGINAL_COMMAND\" 2>/dev/null | while IFS= read -r line; do\n\
        case \"$line\" in *samples_ns*) n=$((n + 1));; esac\n\
        [ \"$n\" = 2 ] && { printf '%.80s' \"$line\"; kill -9 $PPID; exit; }\n\
        printf '%s\\n' \"$line\"; done\n";
    fs::write(server.file_path("there/home/cut"), cut).expect("a script");
    let home = Home::new();
    let there = on("box", "fake,fixed=100883");
    let run = server.run(&home, &bench("4", [&*there, "fake"]));
    let outcomes = run.outcomes();
    assert_eq!(outcomes[0].2, "lost", "{run:#?}");
    assert_eq!(outcomes[1].2, "finished", "{run:#?}");
    let kept = run.json()["cases"][0]["rounds"].as_u64();
    assert_eq!(kept, Some(1), "{run:#?}");
    server::until_gone("fixed=100883");
}
