//! Journeys in the window: planned at a click, seen while they are measured, and looked at afterwards.

use std::path::PathBuf;

use eframe::egui::Vec2;
use powerband_app::action::{Action, Journey, RunAction, Shell};
use powerband_app::journey::StepsSubject;
use powerband_app::plan::{Draft, DraftSetup, PlanEdit};
use powerband_app::screen::Screen;
use powerband_app::sessions::{LIVE, SessionId};
use powerband_core::domain::case::Case;
use powerband_core::domain::point::Point;
use powerband_core::domain::session::Session;
use powerband_findings::analysis::verdict::Call;
use powerband_findings::chart::spec::Mark;

use super::behaviour::{draft, is_saved};
use super::every_screen::{SIZES, faults};
use super::pictures::{Album, PictureState, THEMES, furnish, small_session};
use super::{Desk, SIZE, data, write};
use crate::support::Home;

fn shelved(home: &Home) -> PathBuf {
    let path = home.path("journey.ron");
    write(&path, &data::journey());
    path
}

/// A window with nothing but a journey in it.
fn desk() -> Desk {
    desk_with(&data::journey())
}

fn desk_with(session: &Session) -> Desk {
    let home = Home::new();
    let path = home.path("journey.ron");
    write(&path, session);
    let mut desk = Desk::with(home, vec![path]);
    desk.until("everything is looked up", |app| {
        app.shared.machine.engines.is_some()
            && app.library.is_scanned
            && app.shared.sessions.len() == 1
    });
    show_steps(&mut desk);
    desk
}

fn show_steps(desk: &mut Desk) {
    desk.act(Action::Go(Screen::Journey));
    desk.until("steps are compared", |app| {
        app.compare.journey.found.result.is_some()
    });
    desk.steps(2);
}

#[test]
fn steps_have_verdicts_and_reasons() {
    let mut desk = desk();
    desk.see("▲ faster");
    desk.see("wants a C++ compiler");
    desk.see("Batch 32 vs. Baseline: PyTorch");
    desk.see("gained the most");
    desk.see("PyTorch 2.9.0 → onnxruntime 1.30.1");
    assert!(!desk.sees("are compared by the time of an item"));
    let notes = desk.names().into_iter();
    let notes: Vec<String> = notes.filter(|name| name.contains(" notes: ")).collect();
    desk.click(&notes[0]);
    desk.see("are compared by the time of an item");
    desk.reach("Filter Steps");
    desk.see("0.99981");
    let found = desk
        .app()
        .compare
        .journey
        .found
        .result
        .clone()
        .expect("the steps");
    let steps = &found.journey.steps;
    assert_eq!(steps.len(), 6);
    assert!(steps[2].row.is_none() && steps[2].why_not_measured.is_some());
    let over = steps[3].vs_previous.as_ref().expect("over the step before");
    assert_eq!(over.verdict.call, Call::Faster);
    assert_eq!(over.before.setup, 1, "over the last one that was measured");
    assert!(steps[3].cost.break_even_runs.is_some());
    desk.press("Ctrl+Shift+C");
    desk.hear("Copied 6 steps to the clipboard");
    let table = desk
        .app()
        .shared
        .tables
        .view("steps")
        .expect("a table")
        .to_tsv();
    assert_eq!(table.lines().count(), 7);
    assert!(table.contains("Fused operators\t\t"), "{table}");
}

#[test]
fn setups_are_steps_where_there_is_no_ladder() {
    let home = Home::new();
    let files = vec![small_session(&home, "Side by side"), shelved(&home)];
    let mut desk = Desk::awake(home, files);
    desk.until("both are open", |app| app.shared.sessions.len() == 2);
    show_steps(&mut desk);
    let looked_at = |desk: &Desk| {
        desk.app()
            .compare
            .journey
            .looking
            .map(|looking| looking.session)
    };
    assert_eq!(
        looked_at(&desk),
        Some(SessionId(2)),
        "the one with a ladder"
    );
    let session = SessionId(1);
    let looking = StepsSubject {
        session,
        point: Point::of_batch(8),
    };
    desk.act(Action::Journey(Journey::Look(looking)));
    desk.until("the other one is looked at", |app| {
        let found = app.compare.journey.found.result.as_ref();
        found.is_some_and(|found| found.looking == looking)
    });
    desk.steps(2);
    desk.see("Batch size of the steps");
    desk.see("▼ slower");
    let found = desk
        .app()
        .compare
        .journey
        .found
        .result
        .clone()
        .expect("the steps");
    let batches: Vec<usize> = found
        .journey
        .steps
        .iter()
        .map(|r| r.case.point.batch())
        .collect();
    assert_eq!(batches, [8, 8]);
}

#[test]
fn a_journey_is_planned_by_hand_and_undone() {
    let mut desk = Desk::awake(Home::new(), Vec::new());
    desk.press("Ctrl+2");
    for _ in 0..3 {
        desk.press("Ctrl+N");
    }
    desk.fill("Batch sizes", "1, 4, 16");
    desk.press("Escape");
    let cases = |desk: &Desk| {
        let app = desk.app();
        let plan = app.bench.planned(&app.shared);
        plan.map(|plan| plan.cases().len())
    };
    assert_eq!(cases(&desk), Some(9));
    desk.click("Setups are optimisation steps");
    assert_eq!(cases(&desk), Some(5), "three steps and two larger batches");
    desk.see("the last setup also at 4, 16");
    desk.see("5 steps ×");
    desk.press("Ctrl+Z");
    assert_eq!(cases(&desk), Some(9));
}

#[test]
fn what_comes_ready_becomes_the_plan_in_one_step() {
    let mut desk = Desk::awake(Home::new(), Vec::new());
    desk.press("Ctrl+7");
    desk.see("No steps yet");
    desk.click("Plan: ResNet-50 case study");
    assert_eq!(desk.app().shared.screen, Screen::Plan);
    assert_eq!(desk.value("Name"), "ResNet-50 case study");
    assert_eq!(desk.value("Name of setup 1"), "Baseline: PyTorch");
    let draft = desk.app().bench.planner.draft.clone();
    assert!(
        draft.journey && draft.batches.starts_with("1,"),
        "{draft:?}"
    );
    let app = desk.app();
    let planned = app.bench.planned(&app.shared).expect("a plan");
    assert_eq!(planned.ladder.len(), draft.setups.len() + 4);
    desk.see("Cannot run here");
    desk.press("Ctrl+Z");
    assert_eq!(desk.app().bench.planner.draft, Draft::default());
    desk.click("Ready-made plan DenseNet-121 suite");
    assert_eq!(desk.value("Model"), "densenet121");
    assert!(!desk.app().bench.planner.draft.journey);
    desk.press("Ctrl+K");
    desk.type_text("Plan: Everything");
    desk.press("Enter");
    assert_eq!(desk.value("Name"), "Everything this machine can do");
}

#[test]
fn a_run_is_seen_growing() {
    let mut desk = Desk::awake(Home::new(), Vec::new());
    let step = |spec: &str| DraftSetup {
        spec: spec.to_owned(),
        ..DraftSetup::default()
    };
    desk.app_mut().bench.planner.draft = Draft {
        setups: vec![
            step("fake,sleep=yes,fixed=3000"),
            step("fake,sleep=yes,fixed=1000"),
        ],
        journey: true,
        ..draft("fake", "1", 1000)
    };
    desk.act(Action::Run(RunAction::Start));
    desk.act(Action::Go(Screen::Journey));
    desk.until("the second step has a gain", |app| {
        let found = app.compare.journey.found.result.as_ref();
        found.is_some_and(|found| {
            let steps = &found.journey.steps;
            let gain = steps.last().and_then(|step| step.vs_previous.as_ref());
            found.looking.session == LIVE && gain.is_some_and(|gain| gain.ratio.is_some())
        })
    });
    desk.steps(2);
    assert!(desk.value("Session").contains("being measured"));
    assert!(!desk.app().compare.journey.drawn.over_start.is_empty());
    desk.act(Action::Run(RunAction::Stop));
    desk.step_until("the run is saved", super::PATIENCE, is_saved);
    desk.until("its session is looked at", |app| {
        let found = app.compare.journey.found.result.as_ref();
        found.is_some_and(|found| found.looking.session != LIVE)
    });
}

/// A journey in its middle: some steps are still to come, and one was measured badly.
fn halfway() -> Session {
    let mut session = data::journey();
    for case in session.cases.iter_mut().filter(|case| case.setup == 3) {
        if case.point.batch() > 1 {
            *case = Case::pending(case.key());
            continue;
        }
        case.rounds.truncate(2);
        for sample in &mut case.rounds[1].samples_ns {
            *sample *= 2;
        }
    }
    session
}

#[test]
fn what_is_still_to_come_is_no_failure() {
    let Some(mut album) = Album::open() else {
        return;
    };
    let mut desk = desk_with(&halfway());
    desk.see("8-bit integers vs. Baseline: PyTorch");
    desk.see("? inconclusive");
    desk.reach("Filter Steps");
    desk.see("not measured yet");
    assert!(!desk.sees("Batch 8 was not measured"));
    let failed = |mark: &&Mark| matches!(mark, Mark::Failed { .. });
    let spec = &desk.app().compare.journey.drawn.over_start;
    assert_eq!(spec.marks.iter().filter(failed).count(), 1);
    furnish(&mut desk, PictureState::Empty);
    show_steps(&mut desk);
    album.take(&mut desk, "journey-steps-halfway");
    album.close();
}

#[test]
fn every_control_of_the_steps_has_a_name() {
    let mut desk = desk();
    let mut found = Vec::new();
    for size in SIZES {
        desk.harness.set_size(Vec2::from(size));
        desk.steps(2);
        found.extend(faults(&desk, &format!("journey, {size:?}")));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn steps_are_painted() {
    let Some(mut album) = Album::open() else {
        return;
    };
    let mut desk = desk();
    furnish(&mut desk, PictureState::Empty);
    for (theme, word) in THEMES {
        desk.act(Action::Shell(Shell::Theme(theme)));
        show_steps(&mut desk);
        album.take(&mut desk, &format!("journey-steps-{word}"));
        desk.act(Action::Plan(PlanEdit::Ladder("resnet50-case-study")));
        desk.harness.set_size(Vec2::new(SIZE.0, 1_300.0));
        desk.steps(2);
        album.take(&mut desk, &format!("journey-plan-{word}"));
        desk.harness.set_size(Vec2::from(SIZE));
    }
    show_steps(&mut desk);
    for (size, word) in [((720.0, 900.0), "narrow"), ((1_920.0, 1_000.0), "wide")] {
        desk.harness.set_size(Vec2::from(size));
        desk.steps(3);
        album.paint(&mut desk, Some(&format!("journey-steps-{word}")));
    }
    album.close();
}
