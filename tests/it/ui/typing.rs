//! What is typed and not finished, rows that the keyboard reaches, words that can be copied, and the last
//! of very many series.

use eframe::egui::{
    Event, Modifiers, OutputCommand, PointerButton, Pos2, Rect, Shape, StrokeKind, vec2,
};
use egui_kittest::kittest::AccessKitNode;
use powerband_app::action::{Action, Library};
use powerband_app::screen::Screen;
use powerband_core::domain::session::Session;
use powerband_store::session_file;

use super::data::{SessionSpec, Speed, speed};
use super::{Desk, PATIENCE, name_of, shelve, write};
use crate::support::Home;

fn session(name: &str, speeds: &[Speed]) -> Session {
    SessionSpec {
        name,
        created: "2026-09-14T18:22:07Z",
        model: "resnet50",
        speeds,
        batches: &[1, 2],
        rounds: 1,
        samples: 12,
    }
    .session()
}

/// The library screen with two sessions, the first selected.
fn library() -> Desk {
    let home = Home::new();
    let speeds = [speed("tract:cpu", "", 900.0, 9_800.0)];
    shelve(&home, "alpha", &session("Alpha", &speeds));
    shelve(&home, "beta", &session("Beta", &speeds));
    let mut desk = Desk::awake(home, Vec::new());
    desk.press("Ctrl+9");
    let path = desk.path("home/sessions/alpha.ron");
    desk.act(Action::Library(Library::Select(Some(path))));
    desk.steps(2);
    desk
}

fn on_disk(desk: &Desk) -> Session {
    let path = desk.path("home/sessions/alpha.ron");
    session_file::read(&path).expect("a session").session
}

/// What was asked for that changes a session's file.
fn changes(desk: &mut Desk) -> Vec<Action> {
    let mut actions = desk.actions();
    actions.retain(|request| {
        matches!(
            request,
            Action::Library(Library::Rename(..) | Library::Tags(..) | Library::Notes(..))
        )
    });
    actions
}

/// The name of what the keyboard is at.
pub(super) fn at_keyboard(desk: &Desk) -> Option<String> {
    let mut nodes = desk.nodes().into_iter();
    let focused = nodes.find(AccessKitNode::is_focused)?;
    name_of(&focused)
}

#[test]
fn escape_gives_back_what_was_there() {
    let mut desk = library();
    let before = on_disk(&desk);
    for field in ["Session name", "Tags", "Notes"] {
        let saved = desk.value(field);
        desk.fill(field, "half a word");
        assert_eq!(desk.value(field), "half a word");
        desk.actions();
        desk.press("Escape");
        desk.steps(3);
        assert_eq!(desk.value(field), saved, "{field}");
        assert_eq!(changes(&mut desk), [], "{field}");
    }
    assert_eq!(
        desk.app().shared.screen,
        Screen::Library,
        "Escape left the text"
    );
    assert!(desk.app().library.selected.is_some());
    let after = on_disk(&desk);
    assert_eq!(
        (after.name, after.tags, after.notes),
        (before.name, before.tags, before.notes)
    );
}

#[test]
fn what_is_typed_is_written_when_keys_leave_the_screen() {
    let mut desk = library();
    desk.fill("Session name", "Gamma");
    desk.press("Ctrl+1");
    assert_eq!(desk.app().shared.screen, Screen::Home);
    desk.step_until("the file has the name", PATIENCE, |desk| {
        on_disk(desk).name == "Gamma"
    });
    let path = desk.path("home/sessions/alpha.ron");
    desk.until("the library has the name", |app| {
        let entry = app.library.entry(&path);
        entry.is_some_and(|entry| entry.name == "Gamma")
    });
    desk.press("Ctrl+9");
    assert_eq!(desk.value("Session name"), "Gamma");
    desk.actions();
    desk.press("Ctrl+1");
    assert_eq!(changes(&mut desk), [], "written once");
    assert!(desk.said().is_empty(), "{:?}", desk.said());
}

#[test]
fn what_nobody_finished_is_not_shown_as_if_it_were_saved() {
    let mut desk = library();
    desk.fill("Session name", "Gamma");
    desk.actions();
    // Nobody asks for it: the screen is another one from one frame to the next.
    desk.act(Action::Go(Screen::Home));
    desk.steps(2);
    desk.act(Action::Go(Screen::Library));
    desk.steps(2);
    assert_eq!(desk.value("Session name"), on_disk(&desk).name);
    assert_eq!(changes(&mut desk), []);
    // The field is one like before.
    desk.fill("Session name", "Delta");
    desk.press("Enter");
    desk.step_until("the file has the name", PATIENCE, |desk| {
        on_disk(desk).name == "Delta"
    });
}

/// Whether a line is painted around a place.
fn has_mark(desk: &Desk, place: Rect) -> bool {
    let shapes = desk.harness.output().shapes.iter();
    let mut rects = shapes.filter_map(|clipped| match &clipped.shape {
        Shape::Rect(rect) => Some(rect),
        _ => None,
    });
    rects.any(|rect| {
        let apart = (rect.rect.min - place.min).length() + (rect.rect.max - place.max).length();
        rect.stroke.width > 0.0 && apart < 6.0
    })
}

#[test]
fn rows_are_reached_and_clicked_by_keyboard() {
    let mut desk = library();
    let top = |desk: &Desk, name: &str| desk.get(name).rect().top();
    let mut rows = ["Session Alpha", "Session Beta"];
    rows.sort_by(|a, b| top(&desk, a).total_cmp(&top(&desk, b)));
    let place = desk.get(rows[0]).rect();
    assert!(!has_mark(&desk, place));
    desk.get(rows[0]).focus();
    desk.steps(2);
    assert_eq!(at_keyboard(&desk).as_deref(), Some(rows[0]));
    assert!(has_mark(&desk, desk.get(rows[0]).rect()));
    // A row is one stop, however many cells it has.
    desk.press("Tab");
    assert_eq!(at_keyboard(&desk).as_deref(), Some(rows[1]));
    assert!(!has_mark(&desk, place));
    desk.act(Action::Library(Library::Select(None)));
    desk.press("Enter");
    let file = if rows[1] == "Session Beta" {
        "home/sessions/beta.ron"
    } else {
        "home/sessions/alpha.ron"
    };
    assert_eq!(desk.app().library.selected, Some(desk.path(file)));
    desk.press("Space");
    assert_eq!(desk.app().library.selected, None, "a second time it is not");
}

/// The width of the widest line around a place, off its edge.
fn ring(desk: &Desk, place: Rect) -> f32 {
    let shapes = desk.harness.output().shapes.iter();
    let rects = shapes.filter_map(|clipped| match &clipped.shape {
        Shape::Rect(rect) => Some(rect),
        _ => None,
    });
    let around = rects.filter(|rect| {
        let apart = (rect.rect.min - place.min).length() + (rect.rect.max - place.max).length();
        rect.stroke_kind == StrokeKind::Outside && apart < 6.0
    });
    around.fold(0.0, |widest, rect| rect.stroke.width.max(widest))
}

#[test]
fn whatever_the_keyboard_is_at_has_the_same_mark() {
    let mut desk = library();
    let on_library = ["Session Alpha", "Open"];
    let on_settings = ["Theme: System", "Theme: Dark", "Open Alpha"];
    for (keys, names) in [
        ("Ctrl+9", &on_library[..]),
        ("Ctrl+Comma", &on_settings[..]),
    ] {
        desk.press(keys);
        for name in names {
            desk.reach(name);
            assert!(ring(&desk, desk.get(name).rect()) < 1.5, "{name}");
            desk.get(name).focus();
            desk.steps(2);
            assert_eq!(at_keyboard(&desk).as_deref(), Some(*name));
            let width = ring(&desk, desk.get(name).rect());
            assert!(width >= 2.0, "{name}: {width}");
        }
    }
    // What is gone has no mark.
    desk.get("Theme: Dark").focus();
    desk.steps(2);
    let place = desk.get("Theme: Dark").rect();
    desk.press("Ctrl+1");
    assert!(ring(&desk, place) < 1.5);
}

#[test]
fn a_row_is_clicked_wherever_the_hand_is_in_it() {
    let mut desk = library();
    let path = desk.path("home/sessions/beta.ron");
    for share in [0.02, 0.5, 0.98] {
        desk.act(Action::Library(Library::Select(None)));
        // The list has more room again.
        desk.steps(2);
        let row = desk.get("Session Beta").rect();
        let at = row.left_center() + vec2(row.width() * share, 0.0);
        drag(&mut desk, at, at);
        assert_eq!(desk.app().library.selected.as_ref(), Some(&path), "{share}");
    }
}

pub(super) fn drag(desk: &mut Desk, from: Pos2, to: Pos2) {
    let button = |pos, pressed| Event::PointerButton {
        pos,
        button: PointerButton::Primary,
        pressed,
        modifiers: Modifiers::NONE,
    };
    let hand = [
        Event::PointerMoved(from),
        button(from, true),
        Event::PointerMoved(to),
        button(to, false),
    ];
    for event in hand {
        desk.harness.event(event);
        desk.step();
    }
}

#[test]
fn a_fault_of_the_plan_can_be_copied() {
    let mut desk = Desk::awake(Home::new(), Vec::new());
    desk.press("Ctrl+2");
    desk.press("Ctrl+N");
    desk.fill("Setup 1", "fake,speed=9");
    desk.press("Escape");
    let faults = desk
        .app()
        .bench
        .planner
        .draft
        .request()
        .expect_err("a fault");
    let fault = faults[0].text.clone();
    desk.reach(&fault);
    let place = desk.get(&fault).rect();
    let inset = vec2(1.0, 3.0);
    drag(&mut desk, place.min + inset, place.max - inset);
    desk.harness.event(Event::Copy);
    desk.step();
    let commands = &desk.harness.output().platform_output.commands;
    let copied = commands.iter().find_map(|command| match command {
        OutputCommand::CopyText(text) => Some(text.as_str()),
        _ => None,
    });
    let copied = copied.expect("something to copy");
    assert!(
        fault.contains(copied) && 2 * copied.len() > fault.len(),
        "{copied:?} of {fault:?}"
    );
}

#[test]
fn the_thirtieth_series_can_be_hidden() {
    let speeds: Vec<Speed> = (1..=30)
        .map(|setup| {
            let spec = format!("tract:cpu,threads={setup}").leak();
            let label = format!("setup {setup}").leak();
            speed(spec, label, 900.0 + f64::from(setup), 9_800.0)
        })
        .collect();
    let home = Home::new();
    let file = home.path("many.ron");
    write(&file, &session("Many", &speeds));
    let mut desk = Desk::awake(home, vec![file]);
    desk.until("it is open", |app| app.shared.sessions.len() == 1);
    desk.press("Ctrl+4");
    let is_shown = |desk: &Desk| desk.app().curves.drawn.legend[29].shown;
    assert_eq!(desk.app().curves.drawn.legend.len(), 30);
    assert!(is_shown(&desk));
    assert!(desk.find("Series setup 24").is_some());
    assert!(desk.find("Series setup 25").is_none());
    desk.click("Show 6 more");
    desk.click("Series setup 30");
    assert!(!is_shown(&desk));
    desk.click("Show fewer");
    assert!(desk.find("Series setup 30").is_none());
    assert!(!is_shown(&desk), "it is hidden all the same");
}

#[test]
fn a_path_completes_with_tab_and_a_wrong_one_stays() {
    let home = Home::new();
    std::fs::create_dir(home.path("deep folder")).expect("a folder");
    home.write("deep folder/one.ron", "no session");
    home.write("deep folder/other.ron", "no session");
    let folder = home.path("");
    let mut desk = Desk::awake(home, Vec::new());
    desk.press("Ctrl+O");
    desk.see("Tab completes it");
    let typed = |desk: &Desk| desk.value("Path");
    desk.type_text(&format!(
        "{}/de",
        folder.display().to_string().trim_end_matches('/')
    ));
    desk.steps(2);
    desk.press("Tab");
    desk.steps(2);
    assert!(typed(&desk).ends_with("/deep folder/"), "{}", typed(&desk));
    desk.see("Complete one.ron");
    desk.type_text("ot");
    desk.steps(2);
    desk.press("Tab");
    assert!(typed(&desk).ends_with("/deep folder/other.ron"));
    desk.type_text("x");
    desk.press("Enter");
    desk.see("There is no ");
    assert!(typed(&desk).ends_with("other.ronx"));
}
