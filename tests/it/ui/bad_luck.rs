//! Broken files, folders that go away, workers that hang, a full disk, and more than anybody has.

use std::fs;
use std::time::{Duration, Instant};

use eframe::egui::{
    Event, Modifiers, MouseWheelSource, MouseWheelUnit, TouchPhase, ViewportCommand, vec2,
};
use egui_kittest::kittest::NodeT as _;
use powerband_app::App;
use powerband_app::action::{Action, RunAction};
use powerband_app::compare::SideChoice;
use powerband_app::plan::DraftSetup;
use powerband_app::run::Stage;
use powerband_app::screen::Screen;
use powerband_app::shell::settings::SavedState;
use powerband_store::session_file;

use super::behaviour::{draft, is_saved, long_run};
use super::data::{SessionSpec, Speed, speed};
use super::hanging::is_at;
use super::{Desk, PATIENCE, shelve};
use crate::support::{self, Home, Mount};

const TRACT: &[Speed] = &[speed("tract:cpu", "", 900.0, 9_800.0)];

fn made(
    name: &'static str,
    speeds: &'static [Speed],
    batches: &'static [usize],
) -> SessionSpec<'static> {
    SessionSpec {
        name,
        created: "2026-09-14T18:22:07Z",
        model: "resnet50",
        speeds,
        batches,
        rounds: 2,
        samples: 8,
    }
}

/// The middle one of many frames, none of which waits for anything.
fn frame(desk: &mut Desk) -> Duration {
    desk.steps(3);
    let mut times: Vec<Duration> = (0..15)
        .map(|_| {
            let begun = Instant::now();
            desk.step();
            begun.elapsed()
        })
        .collect();
    times.sort();
    times[times.len() / 2]
}

#[test]
fn a_broken_session_is_said_in_words() {
    let home = Home::new();
    let cut = home.write("cut.ron", "(version: 1, session: (name: \"half");
    let mut desk = Desk::awake(home, vec![cut, "/nowhere/at all.ron".into()]);
    desk.hear("cut.ron is ");
    desk.hear("Not opened: cannot read /nowhere/at all.ron: ");
    assert!(desk.app().shared.sessions.is_empty());
    // Taken down, they are still counted.
    desk.press("Escape");
    desk.press("Escape");
    desk.click("2 problems, show the log");
    assert!(desk.app().shared.window.log_open);
    assert!(!desk.sees("2 problems"), "the log is open");
    desk.press("Escape");
    desk.press("Ctrl+L");
    desk.see("cut.ron is ");
}

#[test]
fn a_broken_file_of_the_library_is_listed() {
    let home = Home::new();
    shelve(&home, "good", &made("Good", TRACT, &[1, 2]).session());
    home.write("home/sessions/bad.ron", "(");
    let mut desk = Desk::awake(home, Vec::new());
    desk.press("Ctrl+9");
    desk.see("bad.ron, cannot be read");
    desk.click("bad.ron, cannot be read");
    desk.see("Cannot be read");
}

#[test]
fn a_library_that_goes_away_is_survived() {
    let home = Home::new();
    let path = shelve(&home, "good", &made("Good", TRACT, &[1, 2]).session());
    let mut desk = Desk::awake(home, vec![path]);
    desk.until("it is open", |app| app.shared.sessions.len() == 1);
    let begun = Instant::now();
    desk.step_until("the watch looks", PATIENCE, |_| {
        begun.elapsed().as_secs() >= 4
    });
    let folder = desk.path("home/sessions");
    fs::rename(&folder, desk.path("elsewhere")).unwrap();
    desk.hear("is missing; the session is in memory only");
    desk.until("the library is empty", |app| app.library.found.is_empty());
    desk.hear("The library folder");
    fs::write(&folder, "not a folder").unwrap();
    desk.hear("cannot be read");
    desk.press("Ctrl+9");
    desk.see("cannot be read");
    fs::remove_file(&folder).unwrap();
    fs::rename(desk.path("elsewhere"), &folder).unwrap();
    desk.until("all is well again", |app| {
        app.library.found.len() == 1 && app.library.trouble.is_none()
    });
}

#[test]
fn a_worker_that_hangs_stops_nothing_else() {
    let mut desk = Desk::awake(Home::new(), Vec::new());
    desk.app_mut().bench.planner.draft = draft("fake,fail=run-hang", "1", 3);
    desk.act(Action::Run(RunAction::Start));
    let is_first_run = |app: &App| is_at(app, "running for the first time");
    desk.until("the worker is asked for its first run", is_first_run);
    let asked = Instant::now();
    desk.step_until("it hangs in it", PATIENCE, |_| {
        asked.elapsed() >= Duration::from_millis(500)
    });
    for screen in Screen::ALL {
        desk.act(Action::Go(screen));
        assert!(frame(&mut desk) < Duration::from_millis(250), "{screen:?}");
        assert!(is_first_run(desk.app()), "{screen:?}");
    }
    desk.press("Ctrl+3");
    desk.click("Stop");
    desk.step_until("the run is over", Duration::from_secs(20), is_saved);
    let home = desk.path("home").display().to_string();
    assert_eq!(support::processes_with(&home), Vec::<String>::new());
}

#[test]
fn a_session_that_cannot_be_saved_is_not_lost() {
    let mut desk = Desk::awake(Home::new(), Vec::new());
    long_run(&mut desk);
    let folder = desk.path("home/sessions");
    fs::remove_dir_all(&folder).unwrap();
    fs::write(&folder, "not a folder").unwrap();
    desk.click("Stop");
    desk.hear("Made up was not saved");
    assert!(matches!(
        desk.app().bench.run.as_ref().unwrap().stage,
        Stage::NotSaved(_)
    ));
    desk.click("Save as…");
    let path = desk.path("saved after all.ron");
    desk.fill("Path", &path.display().to_string());
    desk.press("Enter");
    desk.hear("Saved to");
    let session = session_file::read(&path).unwrap().session;
    assert!(session.cases.iter().any(|case| !case.rounds.is_empty()));
}

#[test]
fn a_disk_that_fills_while_the_window_measures_loses_nothing() {
    let home = Home::new();
    let folder = home.path("home/sessions");
    fs::create_dir_all(&folder).unwrap();
    let Some(_mounted) = support::component(
        Mount::tmpfs(&folder, 64),
        "the right to mount a small file system (root)",
    ) else {
        return;
    };
    let mut desk = Desk::awake(home, Vec::new());
    long_run(&mut desk);
    let fill = fs::write(folder.join("others.bin"), vec![1; 1 << 20]);
    assert!(fill.is_err(), "the disk is full");
    desk.click("Stop");
    desk.hear("Made up was not saved");
    assert!(
        desk.said()
            .iter()
            .any(|text| text.contains("No space left"))
    );
    assert!(desk.session_files().is_empty(), "no half of a file");
    desk.click("Save as…");
    let path = desk.path("saved elsewhere.ron");
    desk.fill("Path", &path.display().to_string());
    desk.press("Enter");
    desk.hear("Saved to");
    let session = session_file::read(&path).unwrap().session;
    assert!(session.cases.iter().any(|case| !case.rounds.is_empty()));
}

#[test]
fn a_window_that_hid_comes_back_where_nothing_can_be_saved() {
    let mut desk = Desk::awake(Home::new(), Vec::new());
    desk.app_mut().bench.planner.draft = draft("fake,sleep=yes,fixed=2000", "1", 3);
    desk.act(Action::Run(RunAction::Start));
    desk.until("it began", |app| {
        app.bench.run.as_ref().unwrap().session.is_some()
    });
    desk.close_window();
    desk.click("Continue without the window");
    let folder = desk.path("home/sessions");
    fs::remove_dir_all(&folder).unwrap();
    fs::write(&folder, "not a folder").unwrap();
    desk.hear("was not saved");
    desk.step_until("it is seen again", PATIENCE, |desk| {
        desk.has_asked(&ViewportCommand::Visible(true))
    });
    assert!(!desk.has_asked(&ViewportCommand::Close));
    desk.see("Save as…");
}

#[test]
fn a_thousand_sessions_are_no_burden() {
    let home = Home::new();
    let text = session_file::to_text(&made("Session 0000", TRACT, &[1, 2, 4]).session()).unwrap();
    shelve(
        &home,
        "0000",
        &made("Session 0000", TRACT, &[1, 2, 4]).session(),
    );
    for number in 1..1000 {
        let text = text.replacen("Session 0000", &format!("Session {number:04}"), 1);
        home.write(&format!("home/sessions/{number:04}.ron"), text);
    }
    let mut few = Desk::awake(Home::new(), Vec::new());
    let mut many = Desk::awake(home, Vec::new());
    assert_eq!(many.app().library.listed_len(), 1000);
    for screen in [Screen::Home, Screen::Plan, Screen::Library] {
        few.act(Action::Go(screen));
        many.act(Action::Go(screen));
        let (few, many) = (frame(&mut few), frame(&mut many));
        assert!(
            many < few * 4 + Duration::from_millis(40),
            "{screen:?}: {few:?}, {many:?}"
        );
    }
    many.press("Ctrl+9");
    assert!(many.sees("Session 0000"));
    scroll(&mut many, -40_000.0);
    assert!(many.sees("Session 0999"), "{:#?}", many.names());
    many.press("Ctrl+F");
    many.type_text("0512");
    assert_eq!(many.app().library.listed_len(), 1);
}

/// The wheel over the middle of the screen.
pub(super) fn scroll(desk: &mut Desk, by: f32) {
    desk.harness.hover_at(eframe::egui::pos2(500.0, 400.0));
    for _ in 0..4 {
        desk.harness.event(Event::MouseWheel {
            unit: MouseWheelUnit::Point,
            delta: vec2(0.0, by / 4.0),
            phase: TouchPhase::Move,
            source: MouseWheelSource::Unknown,
            modifiers: Modifiers::NONE,
        });
    }
    desk.steps(12);
}

#[test]
fn a_session_of_five_thousand_cases_can_be_looked_at() {
    const NAMES: [&str; 50] = ["tract:cpu"; 50];
    let home = Home::new();
    let speeds: Vec<Speed> = NAMES
        .iter()
        .enumerate()
        .map(|(place, name)| speed(name, "", 900.0 + 40.0 * place as f64, 9_800.0))
        .collect();
    let batches: Vec<usize> = (1..=100).collect();
    let session = SessionSpec {
        name: "Large",
        created: "2026-09-14T18:22:07Z",
        model: "resnet50",
        speeds: &speeds,
        batches: &batches,
        rounds: 2,
        samples: 6,
    }
    .session();
    let path = shelve(&home, "large", &session);
    let mut desk = Desk::awake(home, vec![path]);
    desk.until("it is open", |app| app.shared.sessions.len() == 1);
    desk.press("Ctrl+4");
    assert_eq!(desk.column("cases", "batch").len(), 5000);
    assert!(
        frame(&mut desk) < Duration::from_millis(900),
        "{:?}",
        frame(&mut desk)
    );
    desk.press("Ctrl+ArrowRight");
    desk.until("the pinned case is drawn", |app| {
        app.curves.pinned.is_some()
    });
    desk.press("Ctrl+5");
    desk.until("two sides are compared", |app| {
        app.compare.sides.found.result.is_some()
    });
    desk.steps(3);
}

#[test]
fn a_broken_memory_costs_only_itself() {
    let home = Home::new();
    fs::create_dir_all(home.path("home")).unwrap();
    home.write("home/window.ron", "(theme: Purple");
    let mut desk = Desk::awake(home, Vec::new());
    desk.hear("The window starts with default settings");
    assert_eq!(
        desk.app().shared.remembered.theme,
        SavedState::default().theme
    );
    desk.app().remember().unwrap();
    let again = Desk::awake(desk.home, Vec::new());
    assert!(again.said().is_empty(), "{:?}", again.said());
}

#[test]
fn a_file_of_nobody_leaves_the_screen_as_it_was() {
    let home = Home::new();
    let path = home.write("notes.txt", "no profile at all");
    let mut desk = Desk::awake(home, Vec::new());
    desk.press("Ctrl+8");
    desk.act(Action::OpenTrace(path));
    desk.hear("Not opened");
    assert_eq!(desk.app().shared.screen, Screen::Kernels);
}

#[test]
fn a_model_that_is_none_is_said_beside_its_name() {
    let home = Home::new();
    let path = home.write("broken.onnx", "no network");
    let mut desk = Desk::awake(home, Vec::new());
    desk.press("Ctrl+2");
    desk.fill("Model", &path.display().to_string());
    desk.step_until("it is refused", PATIENCE, |desk| desk.sees("broken.onnx"));
    desk.until("the reason is known", |app| {
        matches!(
            app.bench.planner.facts,
            powerband_app::plan::ModelFacts::Refused(_)
        )
    });
    desk.press("Escape");
    desk.press("Ctrl+N");
    desk.fill("Setup 1", "fake");
    desk.press("Escape");
    let start = desk.get("Start the run").accesskit_node();
    assert!(start.is_disabled());
    desk.press("Ctrl+Enter");
    desk.hear("The plan cannot be run yet");
    assert!(desk.app().bench.run.is_none());
}

#[test]
fn what_could_not_run_is_told_apart_from_what_was_measured() {
    let mut desk = Desk::awake(Home::new(), Vec::new());
    let mut draft = draft("fake", "1, 2", 2);
    draft.setups.push(DraftSetup {
        spec: "fake,fail=run-error".to_owned(),
        ..DraftSetup::default()
    });
    desk.app_mut().bench.planner.draft = draft;
    desk.act(Action::Run(RunAction::Start));
    desk.step_until("the run is saved", PATIENCE, is_saved);
    desk.hear("Made up is done: 2 of 4 cases measured, 2 could not run");
    desk.see("2 of 4 cases measured, 2 could not run, saved to");
    // No side was chosen, so Compare shows the setups of the run.
    let sides = &desk.app().compare.sides;
    let run = desk.app().bench.run.as_ref().and_then(|run| run.became);
    let of_run =
        |side: Option<SideChoice>| side.map(|side| (Some(side.session) == run, side.setup));
    assert_eq!(
        [sides.before, sides.after].map(of_run),
        [Some((true, 0)), Some((true, 1))]
    );
}

#[test]
fn a_run_that_measured_nothing_is_no_success() {
    let mut desk = Desk::awake(Home::new(), Vec::new());
    desk.app_mut().bench.planner.draft = draft("fake,fail=run-error", "1", 2);
    desk.act(Action::Run(RunAction::Start));
    desk.step_until("the run is saved", PATIENCE, is_saved);
    desk.hear("Made up measured nothing: ");
    desk.hear("the run failed, as told");
    assert!(!desk.sees("Show curves"));
}

#[test]
fn a_run_that_did_not_begin_offers_nothing_but_its_plan() {
    let home = Home::new();
    let path = home.write("broken.onnx", "no network");
    let mut desk = Desk::awake(home, Vec::new());
    let mut draft = draft("fake", "1", 2);
    draft.model = path.display().to_string();
    // Not looked at yet, so that nothing speaks against it.
    desk.app_mut().bench.planner.draft = draft;
    desk.act(Action::Run(RunAction::Start));
    desk.hear("The run did not start");
    desk.see("Change the plan…");
    for offer in ["Show curves", "Run again"] {
        assert!(desk.find(offer).is_none(), "{offer}");
    }
}
