//! Windows without room for a second column, small ones and those made larger by Ctrl+Plus: what stands at
//! the side of a wide window stands in the one column, and a hand reaches it.

use std::path::PathBuf;
use std::sync::Arc;

use eframe::egui::{Rect, Vec2, pos2};
use powerband_app::action::{Action, Library, RunAction, Sessions};
use powerband_app::compare::RaisedFlag;
use powerband_app::run::{LiveRun, Stage};
use powerband_app::screen::Screen;
use powerband_core::base::clock;
use powerband_core::domain::profile::Tool;
use powerband_core::domain::session::Session;
use powerband_core::stats::prediction::MoreRounds;
use powerband_findings::analysis::flags::FlagSeverity;
use powerband_findings::analysis::verdict::Call;
use powerband_store::session_file;

use super::data::{SessionSpec, speed};
use super::pictures::{PictureState, desk};
use super::{Desk, shelve};
use crate::support::Home;

/// The last one is the smallest that the window can be made.
const WINDOWS: [(f32, f32); 3] = [(900.0, 700.0), (700.0, 600.0), (720.0, 480.0)];
/// What 1280 × 800 is after one Ctrl+Plus: the library still stands beside the screen.
const LARGER: (f32, f32) = (1_163.0, 727.0);
/// What 720 is after four: tables are wider than their cards.
const NARROWEST: (f32, f32) = (514.0, 600.0);

pub(super) fn resize(desk: &mut Desk, size: (f32, f32)) {
    desk.harness.set_size(Vec2::from(size));
    desk.steps(3);
}

/// What a screen may have of a window: not the rail at its left, nor the strip at its foot.
fn screen(size: (f32, f32)) -> Rect {
    Rect::from_min_max(pos2(56.0, 0.0), pos2(size.0, size.1 - 32.0)).expand(0.6)
}

/// Scrolls to it as a keyboard does, and tells where it stands then: on the screen, all of it.
pub(super) fn reach(desk: &mut Desk, size: (f32, f32), name: &str) -> Rect {
    desk.get(name).scroll_to_me();
    desk.steps(3);
    let rect = desk.get(name).rect();
    assert!(
        screen(size).contains_rect(rect),
        "\"{name}\" cannot be brought onto the screen in a window of {size:?}: {rect:?}"
    );
    rect
}

fn top(desk: &Desk, name: &str) -> f32 {
    desk.get(name).rect().top()
}

/// A run in its middle, whose case under way is left out after this visit.
pub(super) fn live() -> LiveRun {
    let made = SessionSpec {
        name: "resnet50",
        created: "2026-10-04T09:00:00Z",
        model: "resnet50",
        speeds: &[
            speed("ort:cpu", "ONNX Runtime", 2_900.0, 4_150.0),
            speed("tract:cpu", "tract", 900.0, 9_800.0),
        ],
        batches: &[1, 2, 4, 8],
        rounds: 5,
        samples: 60,
    };
    let mut run = made.live();
    run.began_ns = clock::monotonic_ns();
    let current = run.current.as_ref().map(|(case, _)| *case);
    run.skipped.extend(current);
    run
}

#[test]
fn a_run_keeps_what_goes_on_now() {
    let mut desk = Desk::awake(Home::new(), Vec::new());
    for size in WINDOWS.into_iter().chain([LARGER]) {
        resize(&mut desk, size);
        let run = live();
        let (case, _) = run.current.clone().expect("a case under way");
        desk.app_mut().bench.run = Some(run);
        desk.act(Action::Go(Screen::Run));
        desk.steps(2);
        for name in ["Current case", "Devices", "Run log", "Now"] {
            reach(&mut desk, size, name);
        }
        assert!(top(&desk, "Throughput so far") < top(&desk, "Current case"));
        desk.actions();
        desk.get("Now").click();
        desk.steps(2);
        let actions = desk.actions();
        assert!(
            actions.contains(&Action::Run(RunAction::Skip(case))),
            "{size:?}: {actions:?}"
        );
        let clashes = desk.clashes();
        assert!(clashes.is_empty(), "{size:?}: {clashes:?}");

        let run = desk.app_mut().bench.run.as_mut().expect("the run");
        run.stage = Stage::Saved(PathBuf::from("/resnet50.ron"));
        run.current = None;
        desk.steps(2);
        assert!(desk.find("Current case").is_none());
        for name in ["Devices", "Run log"] {
            reach(&mut desk, size, name);
        }
    }
}

/// Two setups of one session; every answer is open, and a flag is raised.
fn undecided() -> Desk {
    let mut desk = desk(PictureState::Small, 1.0);
    desk.act(Action::Go(Screen::Compare));
    let compare = &mut desk.app_mut().compare;
    let (_, _, comparison) = compare.sides.found.result.as_mut().expect("a comparison");
    for pair in &mut Arc::make_mut(comparison).pairs {
        pair.verdict.call = Call::Inconclusive;
        pair.verdict.reason = Some("the rounds scatter".to_owned());
        pair.verdict.more_rounds = Some(MoreRounds {
            rounds: 7,
            probability: 0.5,
            seconds: Some(21.0),
        });
    }
    compare.sides.drawn.flags = vec![RaisedFlag {
        name: "noisy",
        weight: FlagSeverity::Amber,
        cases: 2,
        meaning: "Times scatter more than usual.",
        advice: "close other programs".to_owned(),
    }];
    desk.steps(2);
    desk
}

#[test]
fn a_comparison_keeps_its_answer_and_what_is_behind_it() {
    let mut desk = undecided();
    for size in WINDOWS.into_iter().chain([LARGER]) {
        resize(&mut desk, size);
        for name in [
            "Speed-up over all pairs",
            "Measure 7 more rounds",
            "Warnings",
            "What changed",
        ] {
            reach(&mut desk, size, name);
        }
        // The answer comes before what it was drawn from.
        for name in ["Speed-up over all pairs", "Measure 7 more rounds"] {
            assert!(top(&desk, name) < top(&desk, "Latency"), "{name}, {size:?}");
        }
        let clashes = desk.clashes();
        assert!(clashes.is_empty(), "{size:?}: {clashes:?}");
    }
}

#[test]
fn columns_of_a_table_are_moved_into_sight() {
    let is_in_sight = |desk: &mut Desk, column: &str| {
        desk.get(column).scroll_to_me();
        desk.steps(3);
        desk.get(column).rect().right() < NARROWEST.0 - 22.0
    };
    let mut desk = undecided();
    resize(&mut desk, NARROWEST);
    assert!(is_in_sight(&mut desk, "Sort by Verdict"));
    desk.app_mut().bench.run = Some(live());
    desk.act(Action::Go(Screen::Run));
    desk.steps(2);
    assert!(is_in_sight(&mut desk, "Sort by Outcome"));
}

/// The library with more sessions than are in sight, and the file of one of them.
fn in_library() -> (Desk, PathBuf) {
    let home = Home::new();
    for number in 0..14 {
        let session = SessionSpec {
            name: &format!("Session {number}"),
            created: "2026-09-14T18:22:07Z",
            model: "resnet50",
            speeds: &[speed("tract:cpu", "", 900.0, 9_800.0)],
            batches: &[1, 2],
            rounds: 2,
            samples: 12,
        }
        .session();
        shelve(&home, &format!("session-{number:02}"), &session);
    }
    let mut desk = Desk::awake(home, Vec::new());
    desk.act(Action::Go(Screen::Library));
    let path = desk.path("home/sessions/session-02.ron");
    (desk, path)
}

#[test]
fn a_session_of_the_library_keeps_its_details() {
    for size in WINDOWS {
        let (mut desk, path) = in_library();
        resize(&mut desk, size);
        desk.act(Action::Library(Library::Select(Some(path.clone()))));
        desk.steps(2);
        // In sight as soon as it is selected, without any scrolling.
        let field = desk.get("Session name").rect();
        assert!(screen(size).contains_rect(field), "{size:?}: {field:?}");
        for name in ["Move to the trash", "Notes", "Tags", "Session name"] {
            reach(&mut desk, size, name);
        }
        let clashes = desk.clashes();
        assert!(clashes.is_empty(), "{size:?}: {clashes:?}");
        desk.fill("Session name", "Renamed");
        desk.press("Enter");
        desk.until("the name is taken in", |app| {
            let entry = app.library.entry(&path);
            entry.is_some_and(|entry| entry.name == "Renamed")
        });
        let renamed = session_file::read(&path).expect("a session").session;
        assert_eq!(renamed.name, "Renamed");
    }
}

#[test]
fn home_keeps_the_area_to_drop_files_on() {
    let mut desk = desk(PictureState::Small, 1.0);
    desk.act(Action::Go(Screen::Home));
    for size in [(850.0, 700.0), (700.0, 600.0), (720.0, 480.0)] {
        resize(&mut desk, size);
        let area = reach(&mut desk, size, "Open files…");
        assert!(area.width() > 300.0, "{size:?}: {area:?}");
        assert!(
            area.top() > desk.get("Start").rect().bottom(),
            "{size:?}: {area:?}"
        );
    }
    desk.actions();
    desk.get("Open files…").click();
    desk.steps(2);
    let actions = desk.actions();
    assert!(
        actions.contains(&Action::Sessions(Sessions::Choose)),
        "{actions:?}"
    );
}

#[test]
fn the_library_can_be_shown_where_it_is_folded_for_want_of_room() {
    let mut desk = Desk::awake(Home::new(), Vec::new());
    let is_shown = |desk: &Desk| desk.find("Hide the library").is_some();
    resize(&mut desk, (1_200.0, 700.0));
    assert!(is_shown(&desk));
    resize(&mut desk, WINDOWS[0]);
    assert!(!is_shown(&desk));
    let before = desk.app().shared.remembered.library_folded;
    desk.click("Show the library");
    assert!(is_shown(&desk));
    desk.get("Find a session");
    // What a narrow window shows is not what a wide one is to show.
    assert_eq!(desk.app().shared.remembered.library_folded, before);
    resize(&mut desk, (1_200.0, 700.0));
    resize(&mut desk, WINDOWS[0]);
    assert!(!is_shown(&desk));
}

/// Two sessions whose names no field has room for.
fn long_names(change: impl Fn(&mut Session)) -> Desk {
    let home = Home::new();
    let made = |name, created| {
        let mut session = SessionSpec {
            name,
            created,
            model: "resnet50",
            speeds: &[speed("ort:cpu,threads=8,opt=all", "", 2_900.0, 4_150.0)],
            batches: &[1, 2, 4],
            rounds: 5,
            samples: 60,
        }
        .session();
        change(&mut session);
        session
    };
    let name =
        "DenseNet-121, graph optimisations off and on, measured after the upgrade of the driver";
    let sessions = [
        made(name, "2026-09-14T18:22:07Z"),
        made(name, "2026-10-02T07:41:55Z"),
    ];
    let files: Vec<PathBuf> = sessions
        .iter()
        .enumerate()
        .map(|(place, session)| shelve(&home, &format!("long-{place}"), session))
        .collect();
    let mut desk = Desk::awake(home, files);
    desk.act(Action::Go(Screen::Compare));
    desk.until("two sides are compared", |app| {
        app.compare.sides.found.result.is_some()
    });
    desk
}

#[test]
fn long_names_push_nothing_off_a_comparison() {
    let mut desk = long_names(|_| {});
    for size in [(1_280.0, 800.0), (900.0, 640.0)] {
        resize(&mut desk, size);
        for name in [
            "Before: setup",
            "Before: point",
            "After: setup",
            "After: point",
            "Speed-up over all pairs",
            "What changed",
            "Case by case",
        ] {
            reach(&mut desk, size, name);
        }
        let verdict = desk.get("Sort by Verdict").rect();
        assert!(verdict.right() < size.0, "{verdict:?}");
    }
}

#[test]
fn what_was_imported_has_no_preset() {
    let mut desk = long_names(|session| {
        session.imported = Some(Tool {
            name: "trtexec".to_owned(),
            ..Tool::default()
        });
        session.environment.cpu.model.clear();
        session.model.name.clone_from(&session.created);
        session.model.sha256.clear();
        session.model.parameters = 0;
        session.model.macs = None;
    });
    desk.see("2026-09-14 18:22, imported from trtexec");
    let names = desk.names();
    let notes = names.iter().find(|name| name.contains(" notes: "));
    desk.click(notes.expect("notes"));
    desk.see("are one network is not known");
    let about = names.iter().map(String::as_str);
    let about: Vec<&str> = about
        .filter(|name| name.starts_with("2026-") && name.contains("import"))
        .collect();
    let expected = [
        "2026-09-14 18:22, imported from trtexec",
        "2026-10-02 07:41, imported from trtexec",
    ];
    assert_eq!(about, expected);
    assert!(!desk.sees(" preset") && !desk.sees("are the same file"));
}

#[test]
fn different_networks_are_told_beside_the_answer() {
    let mut desk = long_names(|session| {
        if session.created.contains("-10-") {
            session.model.name = "densenet121".to_owned();
            session.model.sha256 = "ff".to_owned();
            session.model.parameters = 7_978_856;
        }
    });
    desk.see("Different networks: resnet50 has 25.56 M parameters");
    let names = desk.names();
    assert!(
        names.iter().any(|name| name == "different networks"),
        "{names:?}"
    );
    // The ratio is kept, with its interval; the two were not interleaved.
    desk.see("99 % interval ");
}
