//! What a user does from the first start on: plan, run, look, compare, save, close and come back.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use eframe::egui::ViewportCommand;
use powerband_app::App;
use powerband_app::action::{Action, Compare, RunAction, Sessions};
use powerband_app::compare::SideChoice;
use powerband_app::plan::{Draft, DraftSetup};
use powerband_app::run::Stage;
use powerband_app::screen::Screen;
use powerband_app::sessions::SessionId;
use powerband_core::domain::outcome::Outcome;
use powerband_core::domain::plan::PresetName;
use powerband_core::domain::session::{Completion, Session};
use powerband_findings::analysis::batch_curve::{Efficiency, Statistic};
use powerband_store::session_file;

use super::bad_luck::scroll;
use super::pictures::small_session;
use super::{Desk, alone};
use crate::support::Home;

/// A plan of made-up timings.
pub(super) fn draft(spec: &str, batches: &str, rounds: u32) -> Draft {
    Draft {
        name: "Made up".to_owned(),
        model: "resnet18@cifar".to_owned(),
        setups: vec![DraftSetup {
            spec: spec.to_owned(),
            ..DraftSetup::default()
        }],
        batches: batches.to_owned(),
        rounds: rounds.to_string(),
        ..Draft::default()
    }
}

/// A run that will not end by itself within a test, with something measured already.
pub(super) fn long_run(desk: &mut Desk) {
    desk.app_mut().bench.planner.draft = draft("fake,sleep=yes,fixed=2000", "1, 2", 1000);
    desk.act(Action::Run(RunAction::Start));
    desk.until("something is measured", |app| {
        let run = app.bench.run.as_ref();
        run.and_then(|run| run.session.as_ref())
            .is_some_and(|session| session.cases.iter().any(|case| !case.rounds.is_empty()))
    });
}

pub(super) fn is_saved(desk: &Desk) -> bool {
    let run = desk.app().bench.run.as_ref();
    run.is_some_and(|run| matches!(run.stage, Stage::Saved(_)))
}

/// The one session of the library.
fn only_session(desk: &Desk) -> Session {
    let files = desk.session_files();
    assert_eq!(files.len(), 1, "{files:?}");
    session_file::read(&files[0]).expect("a session").session
}

fn samples(session: &Session) -> u64 {
    session.cases.iter().map(|case| case.n_samples()).sum()
}

fn open_path(desk: &mut Desk, path: &Path) {
    desk.press("Ctrl+O");
    desk.fill("Path", &path.display().to_string());
    desk.press("Enter");
}

#[test]
fn the_whole_way() {
    let home = Home::new();
    let older = small_session(&home, "Older");
    let mut desk = Desk::awake(home, Vec::new());
    desk.click("Change the plan…");
    assert_eq!(desk.app().shared.screen, Screen::Plan);
    assert_eq!(desk.app().bench.planner.draft.preset, PresetName::Quick);
    plan_by_hand(&mut desk);
    desk.click("Start the run");
    assert_eq!(desk.app().shared.screen, Screen::Run);
    desk.step_until("the run is saved", super::PATIENCE, is_saved);
    desk.hear("First light is done: 6 cases");
    desk.click("Show curves");
    look_at_curves(&mut desk);
    open_path(&mut desk, &older);
    desk.until("two sessions are open", |app| {
        app.shared.sessions.len() == 2
    });
    compare(&mut desk);
    save_and_come_back(&mut desk);
}

fn plan_by_hand(desk: &mut Desk) {
    desk.fill("Model", "resnet18@cifar");
    desk.click("Add a setup");
    desk.fill("Setup 1", "fake,fixed=500,item=100");
    desk.click("Duplicate setup 1");
    desk.fill("Setup 2", "fake,fixed=900,item=200");
    desk.fill("Name of setup 2", "the slow one");
    desk.fill("Batch sizes", "1, 2, 4");
    desk.fill("Rounds", "3");
    desk.fill("Name", "First light");
    assert_eq!(desk.value("Setup 1"), "fake,fixed=500,item=100");
    desk.see("2 setups × 3 batch sizes × 3 rounds");
}

fn look_at_curves(desk: &mut Desk) {
    assert_eq!(desk.app().shared.screen, Screen::Curves);
    assert!(desk.find("Series fake:cpu,fixed=500,item=100").is_some());
    assert!(desk.find("Series the slow one").is_some());
    assert_eq!(desk.column("cases", "batch").len(), 6);
    let finished = desk
        .names()
        .iter()
        .filter(|name| name.starts_with("finished"))
        .count();
    assert!(finished > 0, "{:#?}", desk.names());
    desk.click("Series the slow one");
    assert_eq!(desk.column("cases", "batch").len(), 3, "hidden");
    desk.click("Series the slow one");
    desk.click("Set a latency limit");
    desk.see("Best within");
    assert_eq!(desk.app().curves.drawn.best.len(), 2);
    desk.press("Ctrl+ArrowRight");
    desk.see("Latency distribution");
    desk.click("Unpin");
    assert!(desk.app().curves.pin.is_none());
    desk.fill("Filter Cases", "slow");
    assert_eq!(desk.column("cases", "batch").len(), 3);
    desk.press("Escape");
    desk.click("Sort by Batch");
    let by_batch = ("batch".to_owned(), true);
    assert_eq!(desk.app().shared.tables.sort("cases"), Some(&by_batch));
    desk.fill("Filter Cases", "");
    desk.press("Escape");
}

fn compare(desk: &mut Desk) {
    desk.press("Ctrl+5");
    desk.until("two sides are compared", |app| {
        app.compare.sides.found.result.is_some()
    });
    // The other session is of another network: proposed are the setups of the one that ran.
    let sides = [
        desk.app().compare.sides.before,
        desk.app().compare.sides.after,
    ]
    .map(Option::unwrap);
    assert_eq!(sides[0].session, sides[1].session);
    let older = desk
        .app()
        .shared
        .sessions
        .iter()
        .last()
        .expect("a session")
        .id;
    let first_of = |session| SideChoice {
        session,
        setup: 0,
        point: None,
        whole: false,
        profile: None,
    };
    let after = first_of(sides[0].session);
    desk.act(Action::Compare(Compare::Before(first_of(older))));
    desk.act(Action::Compare(Compare::After(after)));
    desk.until("the sessions are compared", |app| {
        let result = app.compare.sides.found.result.as_ref();
        result.is_some_and(|result| result.2.networks.is_some())
    });
    desk.see("Speed-up over all pairs");
    desk.see("different networks");
    let result = desk
        .app()
        .compare
        .sides
        .found
        .result
        .clone()
        .expect("a comparison");
    assert_eq!(result.2.pairs.len(), 3);
    // Half the time at every batch size, in sessions that did not take turns.
    desk.see("▲ faster");
    desk.see("3 pairs");
    desk.see("not interleaved");
    let (before, after) = (
        desk.app().compare.sides.before,
        desk.app().compare.sides.after,
    );
    desk.click("Swap");
    assert_eq!(
        (
            desk.app().compare.sides.before,
            desk.app().compare.sides.after
        ),
        (after, before)
    );
}

fn save_and_come_back(desk: &mut Desk) {
    let copy = desk.path("a copy.ron");
    desk.press("Ctrl+Shift+S");
    let proposed = PathBuf::from(desk.value("Path"));
    assert!(proposed.is_absolute(), "{}", proposed.display());
    assert!(proposed.ends_with("Older.ron"), "{}", proposed.display());
    desk.fill("Path", &copy.display().to_string());
    desk.click("Save");
    desk.hear("Saved to");
    assert_eq!(
        session_file::read(&copy).expect("a copy").session.name,
        "Older"
    );
    desk.press("Ctrl+Shift+W");
    assert!(desk.app().shared.sessions.is_empty());
    open_path(desk, &copy);
    desk.until("it is open again", |app| app.shared.sessions.len() == 1);
}

#[test]
fn a_run_is_paused_and_skipped_and_stopped() {
    let mut desk = Desk::awake(Home::new(), Vec::new());
    long_run(&mut desk);
    desk.see(" rounds of 2 cases, ");
    desk.click("Pause");
    desk.until("it rests", |app| {
        app.bench.run.as_ref().unwrap().stage == Stage::Paused
    });
    desk.see("Paused.");
    desk.click("Resume");
    desk.until("it goes on", |app| {
        app.bench.run.as_ref().unwrap().stage == Stage::Measuring
    });
    desk.until("a case is measured", |app| {
        app.bench.run.as_ref().unwrap().current.is_some()
    });
    desk.click("Skip this case");
    desk.until("it is left out", |app| {
        let session = app.bench.run.as_ref().unwrap().session.as_ref().unwrap();
        session
            .cases
            .iter()
            .any(|case| case.outcome == Outcome::Cancelled)
    });
    desk.see(" of 2 cases, 1 skipped, ");
    desk.click("Stop");
    desk.step_until("the run is saved", super::PATIENCE, is_saved);
    let session = only_session(&desk);
    assert_eq!(session.completion, Completion::Cancelled);
    assert!(samples(&session) > 0, "what was measured is kept");
    assert!(desk.home.journals().is_empty());
}

#[test]
fn closing_in_mid_run_asks_and_loses_nothing() {
    let mut desk = Desk::awake(Home::new(), Vec::new());
    long_run(&mut desk);
    desk.close_window();
    assert!(desk.has_asked(&ViewportCommand::CancelClose));
    desk.see("A run is in progress");
    desk.press("Escape");
    assert!(!desk.sees("Stop and close"));
    desk.close_window();
    desk.click("Stay");
    assert!(!desk.app().shared.window.closing && desk.app().bench.is_running());
    desk.close_window();
    desk.click("Stop and close");
    desk.step_until("the window closes", super::PATIENCE, |desk| {
        desk.has_asked(&ViewportCommand::Close)
    });
    assert!(samples(&only_session(&desk)) > 0);
    assert!(desk.home.journals().is_empty());
}

#[test]
fn a_run_goes_on_without_its_window() {
    let mut desk = Desk::awake(Home::new(), Vec::new());
    desk.app_mut().bench.planner.draft = draft("fake,sleep=yes,fixed=2000", "1", 3);
    desk.act(Action::Run(RunAction::Start));
    desk.close_window();
    desk.click("Continue without the window");
    assert!(desk.has_asked(&ViewportCommand::Visible(false)));
    desk.step_until("the program ends", super::PATIENCE, |desk| {
        desk.has_asked(&ViewportCommand::Close)
    });
    assert_eq!(only_session(&desk).completion, Completion::Complete);
}

#[test]
fn a_new_run_begins_at_its_top() {
    let mut desk = Desk::awake(Home::new(), Vec::new());
    let batches: Vec<String> = (1..=40).map(|batch| batch.to_string()).collect();
    let plan = draft("fake,sleep=yes,fixed=2000", &batches.join(", "), 1000);
    // The rows below it follow the active case.
    let first = "Sort by Rounds";
    let begin = |desk: &mut Desk| {
        desk.app_mut().bench.planner.draft = plan.clone();
        desk.act(Action::Run(RunAction::Start));
        // What stands above the cases has its height once there is something to say of the run.
        desk.until("a round is measured", |app| {
            let run = app
                .bench
                .run
                .as_ref()
                .filter(|run| run.stage == Stage::Measuring);
            let session = run.and_then(|run| run.session.as_ref());
            session.is_some_and(|session| session.cases.iter().any(|case| !case.rounds.is_empty()))
        });
        desk.steps(3);
    };
    begin(&mut desk);
    let top = desk.get(first).rect().top();
    // The screen itself, and then the table under the pointer.
    for _ in 0..2 {
        scroll(&mut desk, -2_000.0);
    }
    let is_away = desk.find(first).is_none_or(|head| head.rect().top() < top);
    assert!(is_away, "it is scrolled away");
    desk.click("Stop");
    desk.step_until("the run is saved", super::PATIENCE, is_saved);
    begin(&mut desk);
    assert_eq!(desk.get(first).rect().top(), top);
}

#[test]
fn opening_goes_to_what_was_opened_while_a_run_goes_on() {
    let home = Home::new();
    let file = small_session(&home, "Older");
    let mut desk = Desk::awake(home, Vec::new());
    long_run(&mut desk);
    for screen in [Screen::Home, Screen::Library, Screen::Run] {
        desk.act(Action::Go(screen));
        let open = desk.app().shared.sessions.len();
        desk.act(Action::Sessions(Sessions::OpenExample(0)));
        desk.until("an example is open", |app| app.shared.sessions.len() > open);
        assert_eq!(desk.app().shared.screen, Screen::Curves, "from {screen:?}");
    }
    desk.act(Action::Go(Screen::Home));
    desk.act(Action::Sessions(Sessions::Open(vec![file.clone()])));
    desk.until("the session is open", |app| {
        app.shared.sessions.by_path(&file).is_some()
    });
    assert_eq!(desk.app().shared.screen, Screen::Curves);
    // What is open already is gone to as well.
    desk.act(Action::Go(Screen::Home));
    desk.act(Action::Sessions(Sessions::Open(vec![file])));
    assert_eq!(desk.app().shared.screen, Screen::Curves);
    assert!(desk.app().bench.is_running());
}

#[test]
fn an_idle_window_closes_at_once() {
    let mut desk = Desk::awake(Home::new(), Vec::new());
    desk.close_window();
    assert!(!desk.has_asked(&ViewportCommand::CancelClose));
    assert!(!desk.app().shared.window.closing);
}

#[test]
fn the_plan_is_undone_kept_and_used_again() {
    let home = Home::new();
    if !alone(
        &home,
        "ui::behaviour::the_plan_is_undone_kept_and_used_again",
    ) {
        return;
    }
    let mut desk = Desk::awake(home, Vec::new());
    desk.press("Ctrl+2");
    desk.press("Ctrl+N");
    desk.press("Ctrl+N");
    assert_eq!(desk.app().bench.planner.draft.setups.len(), 2);
    desk.press("Ctrl+Z");
    assert_eq!(desk.app().bench.planner.draft.setups.len(), 1);
    desk.press("Ctrl+Shift+Z");
    assert_eq!(desk.app().bench.planner.draft.setups.len(), 2);
    desk.click("Undo");
    desk.fill("Name", "Keeper");
    desk.fill("Batch sizes", "3, 5");
    desk.press("Escape");
    desk.click("Preset: quick");
    desk.press("Ctrl+S");
    desk.hear("The plan is saved as Keeper");
    desk.see("Use plan Keeper");
    let kept = desk.app().bench.planner.draft.clone();
    desk.press("Ctrl+Shift+N");
    assert_eq!(desk.app().bench.planner.draft, Draft::default());
    desk.click("Use plan Keeper");
    assert_eq!(desk.app().bench.planner.draft, kept);
    desk.click("Discard plan Keeper");
    desk.until("it is gone", |app| app.bench.planner.kept.is_empty());
    assert_eq!(
        desk.app().bench.planner.draft,
        kept,
        "the plan itself stays"
    );
}

#[test]
fn a_fault_of_the_plan_is_said_where_it_is() {
    let mut desk = Desk::awake(Home::new(), Vec::new());
    desk.press("Ctrl+2");
    desk.press("Ctrl+N");
    desk.fill("Setup 1", "fake,speed=9");
    assert!(desk.sees("speed"), "{:#?}", desk.names());
    desk.see("Fix the marked fields.");
    desk.fill("Setup 1", "fake");
    desk.fill("Batch sizes", "1, x");
    assert!(desk.sees("\"x\""), "{:#?}", desk.names());
    desk.press("Escape");
    desk.press("Ctrl+Enter");
    assert!(desk.app().bench.run.is_none());
    desk.hear("The plan cannot be run yet");
}

#[test]
fn a_session_is_planned_again() {
    let home = Home::new();
    let file = small_session(&home, "Again");
    let mut desk = Desk::awake(home, vec![file]);
    desk.until("it is open", |app| app.shared.sessions.len() == 1);
    desk.press("Ctrl+K");
    desk.type_text("Reuse the plan of the last session");
    desk.press("Enter");
    assert_eq!(desk.app().shared.screen, Screen::Plan);
    assert_eq!(desk.value("Name"), "Again");
    assert_eq!(desk.value("Setup 1"), "ort:cpu");
    assert_eq!(desk.value("Name of setup 2"), "rten");
    desk.press("Ctrl+Z");
    assert_eq!(desk.app().bench.planner.draft, Draft::default());
}

#[test]
fn the_window_remembers() {
    let home = Home::new();
    let file = small_session(&home, "Remembered");
    let mut desk = Desk::awake(home, vec![file.clone()]);
    desk.until("it is open", |app| app.shared.sessions.len() == 1);
    desk.press("Ctrl+4");
    desk.press("Ctrl+T");
    desk.press("Ctrl+Plus");
    desk.click("Latency: Mean");
    desk.click("Efficiency: of best");
    let limit = desk.app().curves.options.limit_ns;
    assert!(limit.is_some());
    desk.app().remember().unwrap();
    let home = desk.home;
    assert!(
        fs::read_to_string(home.path("home/window.ron"))
            .unwrap()
            .contains("Remembered")
    );
    let mut desk = Desk::awake(home, Vec::new());
    desk.until("it is open again", |app| app.shared.sessions.len() == 1);
    assert_eq!(desk.app().shared.screen, Screen::Curves);
    let options = &desk.app().curves.options;
    assert_eq!(options.limit_ns, limit);
    assert_eq!(
        (options.statistic, options.efficiency),
        (Statistic::Mean, Efficiency::OfBest)
    );
    assert_eq!(desk.app().shared.remembered.zoom_steps, 1);
    let open = desk.app().shared.sessions.iter().next().unwrap();
    assert_eq!(open.path.as_ref(), Some(&file));
}

#[test]
fn files_of_other_tools_come_back_too() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/import");
    let files = [
        "onnxruntime/squeezenet-cpu-ort1.31.json",
        "hyperfine/python-sum.json",
    ];
    let files = files.map(|name| root.join(name)).to_vec();
    let are_open =
        |app: &App| app.shared.sessions.len() == 2 && app.profile.timeline.traces.len() == 1;
    let mut desk = Desk::awake(Home::new(), files.clone());
    desk.until("both are open", are_open);
    desk.press("Ctrl+1");
    desk.app().remember().unwrap();
    let mut desk = Desk::awake(desk.home, Vec::new());
    desk.until("both are open again", are_open);
    assert_eq!(desk.app().shared.screen, Screen::Home, "where it was left");
    // Those that were closed stay away.
    let ids: Vec<SessionId> = desk
        .app()
        .shared
        .sessions
        .iter()
        .map(|open| open.id)
        .collect();
    for id in ids {
        desk.act(Action::Sessions(Sessions::Close(id)));
    }
    assert!(desk.app().to_remember().files.is_empty());
}

#[test]
fn the_time_of_a_plan_is_known_from_the_run_before() {
    let mut desk = Desk::awake(Home::new(), Vec::new());
    desk.app_mut().bench.planner.draft = draft("fake,sleep=yes,fixed=2000", "1, 2", 1);
    desk.press("Ctrl+2");
    desk.steps(2);
    let takes = |desk: &Desk| {
        let app = desk.app();
        let plan = app.bench.planned(&app.shared).expect("a plan");
        app.bench.estimate(&plan, &BTreeSet::new())
    };
    let before = takes(&desk);
    assert_eq!(before.known, 0);
    assert!(desk.sees(&before.to_string()), "{:?}", desk.names());
    desk.act(Action::Run(RunAction::Start));
    desk.step_until("the run is over", super::PATIENCE, is_saved);
    desk.until("it was learned from", |app| {
        let plan = app.bench.planned(&app.shared).expect("a plan");
        app.bench.estimate(&plan, &BTreeSet::new()).known == 2
    });
    let after = takes(&desk);
    assert!(after.high_s < before.high_s / 2.0, "{before:?}, {after:?}");
    let run = desk
        .app()
        .bench
        .run
        .as_ref()
        .and_then(|run| run.session.as_ref());
    let took_s = run.expect("a session").elapsed_ns as f64 / 1e9;
    // As long again, within what a busy machine does to it.
    assert!(took_s > after.low_s / 4.0, "{took_s} s, {after:?}");
    desk.press("Ctrl+2");
    desk.see(&after.to_string());
    // Another network is another matter.
    desk.fill("Model", "resnet34");
    assert_eq!(takes(&desk).known, 0);
}
