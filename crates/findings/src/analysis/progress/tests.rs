//! How far runs are, at their beginning, in their middle and near their end.

use std::collections::BTreeSet;

use super::*;
use crate::analysis::plan_estimate;
use crate::analysis::testing::{add_round, end_case, failed, session};
use powerband_core::domain::case::{CaseOpening, Round, WarmUp};
use powerband_core::domain::event::TimedEvent;
use powerband_core::domain::experiment::Experiments;
use powerband_core::domain::outcome::{Outcome, Phase};
use powerband_core::domain::plan::{AccuracyCheck, MeasureRule, PresetName};
use powerband_core::domain::point::Point;
use powerband_core::domain::setup_report::SetupReport;

const SECOND: u64 = 1_000_000_000;

fn progress_at(session: &Session, now_ns: u64) -> RunProgress {
    Meter::default().read(session, now_ns)
}

/// Two cases of three rounds: the first has two of a second each, the second is warm.
fn half_way() -> Session {
    let mut session = session(&["ort:cpu"], &[1, 2]);
    add_round(&mut session, 0, 1, 0, &[SECOND]);
    add_round(&mut session, 0, 1, 1, &[SECOND]);
    session.cases[1].opening = Some(CaseOpening::default());
    session.cases[1].warm_up = Some(WarmUp::default());
    session
}

#[test]
fn a_run_that_has_not_begun_takes_what_its_plan_asks_for() {
    let progress = progress_at(&session(&["ort:cpu"], &[1, 2]), 0);
    assert_eq!((progress.done_visits, progress.planned_visits), (0, 6));
    assert_eq!(progress.current, None);
    assert_eq!(progress.time_text(), "0 % of the time");
    // A start, and two cases with a first run, a warm-up of half a second to ten, and three rounds of a third of
    // a second to five thirds that are woken up.
    let between = |low: f64, high: f64| (low * high).sqrt();
    let rounds = 3.0 * (between(1.0 / 3.0, 5.0 / 3.0) + 0.15);
    let expected = 1.0 + 2.0 * (0.3 + between(0.5, 10.0) + rounds);
    let remaining = progress.remaining_s.unwrap();
    assert!((remaining - expected).abs() < 1e-6, "{remaining}");
}

#[test]
fn what_is_left_follows_from_what_was_measured() {
    let progress = progress_at(&half_way(), 2 * SECOND);
    assert_eq!((progress.done_visits, progress.planned_visits), (2, 6));
    assert_eq!(
        progress.current,
        Some(CaseKey {
            setup: 0,
            point: Point::of_batch(2)
        })
    );
    // A round of the first case and three of the second, each with its wake-up.
    let remaining = progress.remaining_s.unwrap();
    assert!((remaining - 4.6).abs() < 1e-6, "{remaining}");
    assert!((progress.share - 2.0 / 6.6).abs() < 1e-6);
    let measuring = |now_ns| {
        let mut meter = Meter::default();
        let case = progress.current.unwrap();
        meter.follow(&RunEvent::RoundStarted { case, round: 0 }, 2 * SECOND);
        meter.read(&half_way(), now_ns).remaining_s.unwrap()
    };
    let later = measuring(2 * SECOND + SECOND / 2);
    assert!((later - 4.1).abs() < 1e-6, "{later}");
    // A round that takes longer than expected uses up the time of no other.
    let much_later = measuring(1_000 * SECOND);
    assert!((much_later - 3.45).abs() < 1e-6, "{much_later}");
}

#[test]
fn warming_up_counts_for_cases_that_are_cold() {
    let mut session = half_way();
    session.cases[1].opening = None;
    session.cases[1].warm_up = None;
    session.cases[0].opening = Some(CaseOpening::default());
    session.cases[0].warm_up = Some(WarmUp {
        spent_ns: 7 * SECOND,
        ..WarmUp::default()
    });
    let progress = progress_at(&session, 2 * SECOND);
    let remaining = progress.remaining_s.unwrap();
    assert!((remaining - 11.6).abs() < 1e-6, "{remaining}");
    assert!((progress.share - 2.0 / 13.6).abs() < 1e-6);
}

#[test]
fn what_could_not_run_is_not_counted_as_measured() {
    let mut session = session(&["ort:cpu"], &[1, 2, 4, 8]);
    assert_eq!(
        Tally::from_session(&session).to_string(),
        "0 of 4 cases measured"
    );
    end_case(&mut session, 0, 1, Outcome::Finished);
    end_case(&mut session, 0, 2, failed());
    end_case(&mut session, 0, 4, Outcome::Cancelled);
    assert_eq!(
        Tally::from_session(&session).to_string(),
        "1 of 4 cases measured, 1 could not run, 1 skipped"
    );
    for case in &mut session.cases {
        case.outcome = Outcome::Finished;
    }
    assert_eq!(
        Tally::from_session(&session).to_string(),
        "4 cases measured"
    );
}

#[test]
fn cases_that_are_over_take_no_more_time() {
    let mut session = half_way();
    end_case(&mut session, 0, 2, failed());
    let progress = progress_at(&session, 2 * SECOND);
    assert_eq!((progress.planned_visits, progress.done_cases), (3, 1));
    assert!((progress.remaining_s.unwrap() - 1.15).abs() < 1e-6);
    end_case(&mut session, 0, 1, Outcome::Finished);
    session.completion = Completion::Complete;
    let over = progress_at(&session, 9 * SECOND);
    assert_eq!((over.share, over.remaining_s), (1.0, Some(0.0)));
}

/// One case of the standard preset, with so many rounds of samples that scatter by a share.
fn scattered(rounds: u32, scatter: f64) -> Session {
    let mut session = session(&["ort:cpu"], &[1]);
    session.plan.measure = MeasureRule::from_preset(PresetName::Standard);
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
    let progress = progress_at(&session, 5 * SECOND);
    assert!(progress.added_visits > 0, "{progress:?}");
    assert_eq!(progress.planned_visits, 5 + progress.added_visits);
    assert!(progress.rounds_text().contains("of them added"));
    assert!(progress.remaining_s.is_some_and(|left| left > 1.0));
    assert!(progress.percent() < 100);
}

#[test]
fn a_run_whose_rounds_are_all_measured_is_not_over() {
    let mut session = scattered(5, 0.0);
    session.plan.judging = Some(AccuracyCheck {
        inputs: AccuracyCheck::USUAL,
        samples: None,
    });
    let progress = progress_at(&session, 9 * SECOND);
    assert_eq!((progress.percent(), progress.remaining_s), (99, None));
    let words = remaining_text(progress.remaining_s, progress.note.as_deref());
    assert_eq!(
        words.as_deref(),
        Some("all rounds are measured; outputs are compared")
    );
    session.completion = Completion::Complete;
    assert_eq!(progress_at(&session, 9 * SECOND).percent(), 100);
}

#[test]
fn a_session_that_gets_more_rounds_counts_those_alone() {
    let mut session = scattered(5, 0.02).reopened("2030-01-02T03:04:05Z");
    let mut meter = Meter::default().adding(3, 5 * SECOND);
    let progress = meter.read(&session, 5 * SECOND);
    assert_eq!(progress.rounds_text(), "0 of 3 more rounds");
    assert_eq!(progress.percent(), 0);
    add_round(&mut session, 0, 1, 5, &[SECOND / 5; 4]);
    let progress = meter.read(&session, 6 * SECOND);
    assert_eq!(progress.rounds_text(), "1 of 3 more rounds");
    let left_s = progress.remaining_s.unwrap();
    assert!((progress.share - 1.0 / (1.0 + left_s)).abs() < 1e-9);
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
            let case = session
                .cases
                .iter_mut()
                .find(|case| case.point.batch() == batch);
            let last_round = case.unwrap().rounds.last_mut().unwrap();
            last_round.started_ns = (at - takes) * SECOND;
        }
    }
    assert!(seconds_at_zero <= 1, "{seconds_at_zero}");
}

/// Numbers between 0 and 1, the same for the same seed.
struct ProgressRng(u64);

impl ProgressRng {
    fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) as f64 / (1_u64 << 31) as f64
    }
}

/// A run in progress: its session, its clock, and what was read of its progress.
struct SimulatedRun {
    session: Session,
    meter: Meter,
    at_ns: u64,
    /// Seconds since the beginning, with what was read then.
    read: Vec<(f64, RunProgress)>,
    /// How many times as long everything takes from the second round on.
    slows_by: f64,
    slowness: f64,
}

impl SimulatedRun {
    fn new(setups: &[&str], batches: &[usize]) -> Self {
        Self {
            session: session(setups, batches),
            meter: Meter::default(),
            at_ns: 0,
            read: Vec::new(),
            slows_by: 1.0,
            slowness: 1.0,
        }
    }

    fn apply_event(&mut self, event: RunEvent) {
        self.meter.follow(&event, self.at_ns);
        let at_ns = self.at_ns;
        self.session.apply(TimedEvent { at_ns, event });
        self.record_progress();
    }

    fn record_progress(&mut self) {
        let progress = self.meter.read(&self.session, self.at_ns);
        self.read.push((self.at_ns as f64 / 1e9, progress));
    }

    /// Time passes, and the window looks four times a second.
    fn pass(&mut self, ns: u64) {
        let end_ns = self.at_ns + (ns as f64 * self.slowness) as u64;
        while self.at_ns + SECOND / 4 < end_ns {
            self.at_ns += SECOND / 4;
            self.record_progress();
        }
        self.at_ns = end_ns;
    }

    fn visit(&mut self, case: CaseKey, round: u32, dice: &mut ProgressRng) {
        let seconds = |seconds: f64| (seconds * 1e9) as u64;
        let is_started = self.session.reports[case.setup].is_some();
        let is_open = self
            .session
            .case(case)
            .is_some_and(|case| case.opening.is_some());
        let begins = Some(match (is_started, is_open) {
            (false, _) => Phase::Start,
            (true, false) => Phase::Open,
            (true, true) => Phase::Measure,
        });
        self.apply_event(RunEvent::VisitBegan { case, begins });
        if self.session.reports[case.setup].is_none() {
            let load_ns = seconds(0.4 + 4.0 * dice.next());
            self.pass(load_ns);
            let report = SetupReport {
                load_ns,
                ..SetupReport::default()
            };
            self.apply_event(RunEvent::SetupReady {
                setup: case.setup,
                report,
            });
        }
        if self
            .session
            .case(case)
            .is_some_and(|case| case.opening.is_none())
        {
            let first_run_ns = seconds(0.2 + dice.next());
            self.pass(first_run_ns);
            let opening = CaseOpening {
                first_run_ns,
                ..CaseOpening::default()
            };
            self.apply_event(RunEvent::CaseOpened { case, opening });
            let spent_ns = seconds(0.5 + dice.next());
            self.pass(spent_ns);
            let warm_up = WarmUp {
                spent_ns,
                runs: 40,
                ..WarmUp::default()
            };
            self.apply_event(RunEvent::WarmedUp { case, warm_up });
        }
        self.apply_event(RunEvent::RoundStarted { case, round });
        let started_ns = self.at_ns;
        self.pass(seconds(
            (0.3 + 0.1 * case.point.batch() as f64) * (0.9 + 0.2 * dice.next()),
        ));
        let spent_ns = self.at_ns - started_ns;
        let round = Round {
            round,
            started_ns,
            spent_ns,
            samples_ns: vec![spent_ns / 10; 10],
            ..Round::default()
        };
        self.apply_event(RunEvent::RoundFinished { case, round });
    }

    /// Every round of every case; some cases of the second setup fail in the middle.
    fn run(mut self, seed: u64) -> Self {
        let mut dice = ProgressRng(seed);
        for round in 0..3 {
            self.slowness = if round > 0 { self.slows_by } else { 1.0 };
            for case in self.session.plan.cases() {
                let is_over = |case: &Case| case.outcome.is_final();
                if self.session.case(case).is_some_and(is_over) {
                    continue;
                }
                let fails = round == 1 && case.setup == 1 && dice.next() < 0.3;
                if fails {
                    let outcome = failed();
                    self.apply_event(RunEvent::CaseEnded { case, outcome });
                } else {
                    self.visit(case, round, &mut dice);
                }
            }
        }
        for case in self.session.plan.cases() {
            let outcome = Outcome::Finished;
            if self
                .session
                .case(case)
                .is_some_and(|case| !case.outcome.is_final())
            {
                self.apply_event(RunEvent::CaseEnded { case, outcome });
            }
        }
        let last = self.read.len();
        self.apply_event(RunEvent::Ended { cancelled: false });
        let end = &self.read[last].1;
        assert_eq!((end.percent(), end.remaining_s), (100, Some(0.0)));
        self.read.truncate(last);
        self
    }
}

#[test]
fn the_end_comes_once_and_the_estimate_gets_better() {
    let mut errors = [Vec::new(), Vec::new()];
    for seed in 1..=60 {
        let run = SimulatedRun::new(&["ort:cpu", "tract:cpu"], &[1, 2, 4, 8]).run(seed);
        let all_s = run.at_ns as f64 / 1e9;
        let mut before = 0.0;
        for (at_s, progress) in &run.read {
            assert!(
                progress.percent() < 100,
                "seed {seed}, {at_s} s: {progress:?}"
            );
            before = progress.share;
            let Some(left_s) = progress.remaining_s else {
                assert!(
                    progress.note.is_some(),
                    "seed {seed}, {at_s} s: {progress:?}"
                );
                continue;
            };
            assert!(left_s >= 0.0, "seed {seed}, {at_s} s: {progress:?}");
            let third = (3.0 * at_s / all_s) as usize;
            if third != 1 {
                errors[usize::from(third > 1)].push((left_s - (all_s - at_s)).abs());
            }
        }
        // Openings and warm-ups count: before the first round is over, time has passed.
        let first = run
            .read
            .iter()
            .find(|(_, progress)| progress.done_visits > 0);
        assert!(
            first.is_some_and(|(_, progress)| progress.share > 0.01),
            "seed {seed}"
        );
        assert!(before > 0.9, "seed {seed}: {before}");
    }
    let [early, late] = errors.map(|errors| errors.iter().sum::<f64>() / errors.len() as f64);
    assert!(
        late < early / 2.0,
        "off by {early} s early and {late} s late"
    );
    assert!(late < 2.0, "off by {late} s late");
}

/// The share of the time and the remaining time as they stand beside each other, on machines that slow down on the
/// way as on others.
#[test]
fn the_share_and_the_remaining_time_never_contradict_each_other() {
    let (mut n_grown, mut n_fallen) = (0, 0);
    for seed in 1..=60 {
        let mut run = SimulatedRun::new(&["ort:cpu", "tract:cpu"], &[1, 2, 4, 8]);
        run.slows_by = [1.0, 2.0, 3.0][seed as usize % 3];
        let mut before: Option<RunProgress> = None;
        for (at_s, progress) in run.run(seed).read {
            let told = format!("seed {seed}, {at_s} s: {progress:?} after {before:?}");
            if let Some(left_s) = progress.remaining_s {
                let share = (at_s / (at_s + left_s)).min(MOST_SHARE);
                assert!((progress.share - share).abs() < 1e-9, "{told}");
            }
            if let Some(before) = &before {
                let has_grown = progress.remaining_s > before.remaining_s;
                let has_fallen = progress.share < before.share;
                assert!(
                    !(has_grown || has_fallen) || progress.note.is_some(),
                    "{told}"
                );
                n_grown += u32::from(has_grown && before.remaining_s.is_some());
                n_fallen += u32::from(has_fallen);
            }
            before = Some(progress);
        }
    }
    assert!(n_grown > 20 && n_fallen > 20, "{n_grown}, {n_fallen}");
}

#[test]
fn a_run_begins_with_the_estimate_of_its_plan() {
    let plan = session(&["ort:cpu", "tract:cpu"], &[1, 4]).plan;
    let run = SimulatedRun::new(&["ort:cpu", "tract:cpu"], &[1, 4]).run(7);
    let mut past = PastDurations::default();
    for known in [false, true] {
        if known {
            past.add_session(&run.session);
        }
        let estimate = plan_estimate::plan_estimate(&plan, &BTreeSet::new(), &past);
        assert_eq!(estimate.known, if known { 4 } else { 0 });
        let fresh = session(&["ort:cpu", "tract:cpu"], &[1, 4]);
        let progress = Meter::new(past.clone()).read(&fresh, 0);
        let left_s = progress.remaining_s.unwrap();
        let range = estimate.low_s - 1e-9..=estimate.high_s;
        assert!(range.contains(&left_s), "{left_s} of {estimate:?}");
    }
}

#[test]
fn turns_of_experiments_are_counted_against_their_time() {
    let mut session = half_way();
    session.plan.experiments = Some(Experiments {
        setup: 0,
        point: Point::of_batch(1),
        tried: Vec::new(),
        untried: Vec::new(),
        budget_s: Some(20),
    });
    let began = session.cases[0].rounds[0].started_ns;
    let early = progress_at(&session, began + 2 * SECOND);
    assert_eq!(early.rounds_text(), "2 turns");
    assert!(early.remaining_s.unwrap() <= 18.0);
    // All planned turns are made, and more of them until the time is spent.
    for case in &mut session.cases {
        case.outcome = Outcome::Finished;
    }
    let late = progress_at(&session, began + 15 * SECOND);
    assert!((late.remaining_s.unwrap() - 5.0).abs() < 0.1, "{late:?}");
    assert!((late.share - 0.75).abs() < 0.05, "{late:?}");
}
