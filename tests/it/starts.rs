//! Rounds that lie apart, each in a start of its own, and the waits between them.

use std::time::Duration;

use powerband_core::control::Control;
use powerband_core::domain::event::{Activity, RunEvent};
use powerband_core::domain::outcome::Outcome;
use powerband_core::domain::point::Point;
use powerband_core::domain::request::RunRequest;
use powerband_core::domain::session::Completion;
use powerband_core::domain::spacing::Spacing;

use crate::control::{Running, is_round, outcomes, request, started};
use crate::support::Home;

fn apart(between_ms: u64) -> Spacing {
    Spacing {
        between_ms,
        span_ms: 0,
    }
}

fn is_waiting(event: &RunEvent) -> bool {
    matches!(
        event,
        RunEvent::Turned {
            activity: Activity::Waiting { .. }
        }
    )
}

#[test]
fn each_round_is_a_start_of_its_own_and_lies_apart_from_the_others() {
    const APART_MS: u64 = 400;
    let request = RunRequest {
        spacing: Some(apart(APART_MS)),
        ..request(&["fake", "rten,threads=1"], 3)
    };
    let (session, events) = Running::begin(&request, &Control::default()).end();
    assert_eq!(outcomes(&session), vec![Outcome::Finished; 4]);
    for case in &session.cases {
        let starts: Vec<Option<u32>> = case.rounds.iter().map(|round| round.start).collect();
        assert_eq!(starts, [0, 1, 2].map(Some), "{case:?}");
        for pair in case.rounds.windows(2) {
            let apart_ns = pair[1].started_ns - pair[0].started_ns;
            assert!(apart_ns >= APART_MS * 1_000_000, "{apart_ns}");
        }
        let later = case.rounds.iter().map(|round| round.warm_up.is_some());
        assert!(later.eq([false, true, true]), "{case:?}");
    }
    for setup in 0..2 {
        assert_eq!(
            started(&events, setup),
            3,
            "one start a round, for both points"
        );
    }
    // What the first start reported stands.
    let first = |setup: usize| {
        let mut reports = events.iter().filter_map(|event| match event {
            RunEvent::SetupReady { setup: own, report } if *own == setup => Some(report),
            _ => None,
        });
        reports.next().cloned()
    };
    assert_eq!(session.reports, [first(0), first(1)]);
    for case in &session.cases {
        let mut openings = events.iter().filter_map(|event| match event {
            RunEvent::CaseOpened { case: own, opening } if *own == case.key() => Some(opening),
            _ => None,
        });
        assert_eq!(case.opening.as_ref(), openings.next());
        assert_eq!(openings.count(), 2, "opened again in each start");
    }
    // Smaller batch sizes are opened on the way in the first start alone.
    let round_of = |wanted: &dyn Fn(&RunEvent) -> bool| events.iter().position(wanted);
    let second_round = |event: &RunEvent| matches!(event, RunEvent::RoundStarted { round: 1, .. });
    let second = round_of(&second_round).expect("a second round");
    let smaller = |event: &RunEvent| {
        matches!(
            event,
            RunEvent::Turned {
                activity: Activity::OpeningSmaller { .. }
            }
        )
    };
    assert!(!events[second..].iter().any(smaller));
}

#[test]
fn a_wait_between_rounds_is_said_and_ends_when_the_user_asks() {
    let far_apart = RunRequest {
        spacing: Some(apart(300_000)),
        points: Some(vec![Point::of_batch(1)]),
        ..request(&["fake"], 2)
    };
    let deeds: [fn(&Control); 2] = [Control::cancel, |control| {
        control.skip(powerband_core::domain::case::CaseKey {
            setup: 0,
            point: Point::of_batch(1),
        });
    }];
    for (deed, completion) in deeds
        .into_iter()
        .zip([Completion::Cancelled, Completion::Complete])
    {
        let running = Running::begin(&far_apart, &Control::default());
        running.until("it waits", is_waiting);
        deed(&running.control);
        let (session, rest) = running.end();
        assert_eq!(outcomes(&session), [Outcome::Cancelled]);
        assert_eq!(session.completion, completion);
        assert!(!rest.iter().any(is_round));
    }
    let running = Running::begin(&far_apart, &Control::default());
    running.until("it waits", is_waiting);
    running.control.pause();
    running.until("it rests", |event| *event == RunEvent::Paused);
    running.control.resume();
    running.until("it waits again", is_waiting);
    running.control.cancel();
    running.end();
}

#[test]
fn fewer_starts_are_made_where_they_are_expensive_and_that_is_said() {
    let home = Home::new();
    let program = env!("CARGO_BIN_EXE_powerband");
    let slow = home.script("slow", &format!("sleep 0.6; exec {program} worker"));
    let setup = format!("fake,worker={}", slow.display());
    let request = RunRequest {
        spacing: Some(apart(50)),
        points: Some(vec![Point::of_batch(1)]),
        ..request(&[&setup], 5)
    };
    let (session, events) = Running::begin(&request, &Control::default()).end();
    assert_eq!(outcomes(&session), [Outcome::Finished]);
    let said: Vec<&String> = session
        .warnings
        .iter()
        .filter(|text| text.contains("starts take"))
        .collect();
    assert_eq!(said.len(), 1, "{:?}", session.warnings);
    assert!(said[0].starts_with(&session.setup_label(0)), "{said:?}");
    assert!(
        said[0].ends_with("so there are 3 starts for 5 rounds."),
        "{said:?}"
    );
    let starts = session.cases[0].rounds.iter().map(|round| round.start);
    assert!(starts.eq([0, 0, 1, 1, 2].map(Some)));
    assert_eq!(started(&events, 0), 3);
}

#[test]
fn rounds_follow_one_another_where_the_user_says_so() {
    let home = Home::new();
    let bench = |rest: &[&str]| {
        let begun = [
            "bench",
            "resnet18@cifar",
            "--setup",
            "fake",
            "--batch",
            "1",
            "--preset",
            "quick",
            "--json",
        ];
        home.run(&[&begun[..], rest].concat())
    };
    let made_up = bench(&[]);
    assert_eq!(made_up.json()["plan"]["measure"]["rounds"], 5);
    let begun = std::time::Instant::now();
    let apart = bench(&["--spacing", "300ms", "--rounds", "3"]);
    assert!(begun.elapsed() >= Duration::from_millis(600));
    assert_eq!(
        apart.json()["plan"]["measure"]["spacing"]["between_ms"],
        300,
        "{apart:?}"
    );
    bench(&["--spacing", "soon"]).fails_saying(&["soon", "5s", "0s for none"]);
}
