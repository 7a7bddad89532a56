//! How far runs are, at their beginning, in their middle and near their end.

use super::*;
use crate::analysis::testing::{add_round, end, failed, session};
use powerband_core::domain::case::{Opening, WarmUp};
use powerband_core::domain::plan::{Judging, MeasureRule, PresetName};

const SECOND: u64 = 1_000_000_000;

fn of(session: &Session, now_ns: u64) -> Progress {
    Meter::default().read(session, now_ns)
}

/// Two cases of three rounds: the first has two of a second each, the second is warm.
fn half_way() -> Session {
    let mut session = session(&["ort:cpu"], &[1, 2]);
    add_round(&mut session, 0, 1, 0, &[SECOND]);
    add_round(&mut session, 0, 1, 1, &[SECOND]);
    session.cases[1].opening = Some(Opening::default());
    session.cases[1].warm_up = Some(WarmUp::default());
    session
}

#[test]
fn a_run_that_has_not_begun_knows_no_time() {
    let progress = of(&session(&["ort:cpu"], &[1, 2]), 5);
    assert_eq!((progress.done_visits, progress.planned_visits), (0, 6));
    assert_eq!((progress.share, progress.remaining_s), (0.0, None));
    assert_eq!(progress.current, None);
    assert_eq!(progress.time_words(), "estimated after the first round");
}

#[test]
fn what_is_left_follows_from_what_was_measured() {
    let progress = of(&half_way(), 2 * SECOND);
    assert_eq!((progress.done_visits, progress.planned_visits), (2, 6));
    assert_eq!(progress.current, Some(CaseKey { setup: 0, batch: 2 }));
    let remaining = progress.remaining_s.unwrap();
    assert!((remaining - 4.0).abs() < 1e-9, "{remaining}");
    assert!((progress.share - 2.0 / 6.0).abs() < 1e-9);
    let later = of(&half_way(), 2 * SECOND + SECOND / 2)
        .remaining_s
        .unwrap();
    assert!((later - 3.5).abs() < 1e-9, "{later}");
    let paused = of(&half_way(), 1_000 * SECOND).remaining_s.unwrap();
    assert!((paused - 3.0).abs() < 1e-9, "{paused}");
}

#[test]
fn warming_up_counts_for_cases_that_are_cold() {
    let mut session = half_way();
    session.cases[1].opening = None;
    session.cases[1].warm_up = None;
    session.cases[0].opening = Some(Opening::default());
    session.cases[0].warm_up = Some(WarmUp {
        spent_ns: 7 * SECOND,
        ..WarmUp::default()
    });
    let progress = of(&session, 2 * SECOND);
    let remaining = progress.remaining_s.unwrap();
    assert!((remaining - 11.0).abs() < 1e-9, "{remaining}");
    // Seven seconds of warming up and two of measuring are over: of the time, and not of the visits.
    assert!((progress.share - 9.0 / 20.0).abs() < 1e-9);
}

#[test]
fn what_could_not_run_is_not_counted_as_measured() {
    let mut session = session(&["ort:cpu"], &[1, 2, 4, 8]);
    assert_eq!(Tally::of(&session).to_string(), "0 of 4 cases measured");
    end(&mut session, 0, 1, Outcome::Finished);
    end(&mut session, 0, 2, failed());
    end(&mut session, 0, 4, Outcome::Cancelled);
    assert_eq!(
        Tally::of(&session).to_string(),
        "1 of 4 cases measured, 1 could not run, 1 left out"
    );
    for case in &mut session.cases {
        case.outcome = Outcome::Finished;
    }
    assert_eq!(Tally::of(&session).to_string(), "4 cases measured");
}

#[test]
fn cases_that_are_over_take_no_more_time() {
    let mut session = half_way();
    end(&mut session, 0, 2, failed());
    let progress = of(&session, 2 * SECOND);
    assert_eq!((progress.planned_visits, progress.done_cases), (3, 1));
    assert!((progress.remaining_s.unwrap() - 1.0).abs() < 1e-9);
    end(&mut session, 0, 1, Outcome::Finished);
    session.completion = Completion::Complete;
    let over = of(&session, 9 * SECOND);
    assert_eq!((over.share, over.remaining_s), (1.0, Some(0.0)));
}

/// One case of the standard preset, with so many rounds of samples that scatter by a share.
fn scattered(rounds: u32, scatter: f64) -> Session {
    let mut session = session(&["ort:cpu"], &[1]);
    session.plan.measure = MeasureRule::of(PresetName::Standard);
    for round in 0..rounds {
        let off = 1.0 + scatter * f64::from(round % 3);
        let sample = (0.2e9 * off) as u64;
        add_round(&mut session, 0, 1, round, &[sample; 4]);
    }
    session
}

#[test]
fn rounds_that_will_be_added_are_counted_and_said() {
    let session = scattered(5, 0.02);
    let progress = of(&session, 5 * SECOND);
    assert!(progress.added_visits > 0, "{progress:?}");
    assert_eq!(progress.planned_visits, 5 + progress.added_visits);
    assert!(progress.rounds_words().contains("of them added"));
    assert!(progress.remaining_s.is_some_and(|left| left > 1.0));
    assert!(progress.percent() < 100);
}

#[test]
fn a_run_whose_rounds_are_all_measured_is_not_over() {
    let mut session = scattered(5, 0.0);
    session.plan.judging = Some(Judging {
        inputs: Judging::USUAL,
        samples: None,
    });
    let progress = of(&session, 9 * SECOND);
    assert_eq!((progress.percent(), progress.remaining_s), (99, None));
    let words = left_words(progress.remaining_s, progress.note.as_deref());
    assert_eq!(
        words.as_deref(),
        Some("all rounds are measured; outputs are compared")
    );
    session.completion = Completion::Complete;
    assert_eq!(of(&session, 9 * SECOND).percent(), 100);
}

#[test]
fn a_session_that_gets_more_rounds_counts_those_alone() {
    let mut session = scattered(5, 0.02).reopened("2030-01-02T03:04:05Z");
    let mut meter = Meter::new(Some(3));
    let progress = meter.read(&session, 5 * SECOND);
    assert_eq!(progress.rounds_words(), "0 of 3 rounds");
    add_round(&mut session, 0, 1, 5, &[SECOND / 5; 4]);
    let progress = meter.read(&session, 6 * SECOND);
    assert_eq!(progress.rounds_words(), "1 of 3 rounds");
}

/// A run of two cases, one of which takes three times as long as the first made believe.
#[test]
fn the_time_that_is_left_falls_or_says_why_not() {
    let mut session = session(&["ort:cpu"], &[1, 2]);
    let mut meter = Meter::default();
    let (mut last, mut seconds_at_zero) = (f64::INFINITY, 0);
    let mut at = 0;
    for round in 0..3 {
        for (batch, takes) in [(1, 2), (2, 6)] {
            for _ in 0..takes {
                at += 1;
                let progress = meter.read(&session, at * SECOND);
                assert!(progress.percent() < 100, "{progress:?}");
                let Some(left) = progress.remaining_s else {
                    continue;
                };
                seconds_at_zero += u32::from(left < 1.0);
                assert!(left < last || progress.note.is_some(), "{progress:?}");
                last = left;
            }
            add_round(&mut session, 0, batch, round, &[takes * SECOND]);
            let case = session.cases.iter_mut().find(|case| case.batch == batch);
            let last_round = case.unwrap().rounds.last_mut().unwrap();
            last_round.started_ns = (at - takes) * SECOND;
        }
    }
    assert!(seconds_at_zero <= 1, "{seconds_at_zero}");
}
