//! Many rows at once: selecting them by clicks and keys, and what is done with several sessions of the library.

use std::path::PathBuf;

use eframe::egui::{Event, Modifiers};
use powerband_app::action::{Action, Library};
use powerband_app::screen::Screen;
use powerband_store::session_file;

use super::data::{SessionSpec, speed};
use super::{Desk, alone, shelve};
use crate::support::Home;

const NAMES: [&str; 4] = ["Alpha", "Beta", "Gamma", "Delta"];

/// The library's screen with four sessions, the newest first.
fn desk(home: Home) -> Desk {
    for (place, name) in NAMES.into_iter().enumerate() {
        let session = SessionSpec {
            name,
            created: &format!("2026-09-1{}T18:22:07Z", 8 - place),
            model: "resnet50",
            speeds: &[speed("tract:cpu", "", 900.0, 9_800.0)],
            batches: &[1, 2],
            rounds: 2,
            samples: 12,
        }
        .session();
        shelve(&home, &name.to_lowercase(), &session);
    }
    let mut desk = Desk::awake(home, Vec::new());
    desk.press("Ctrl+9");
    desk.steps(2);
    assert_eq!(desk.column("sessions", "name"), NAMES);
    desk
}

/// A click on a session's row with keys held.
fn click(desk: &mut Desk, name: &str, held: Modifiers) {
    let row = format!("Session {name}");
    desk.reach(&row);
    desk.get(&row).click_modifiers(held);
    desk.steps(3);
}

const CTRL: Modifiers = Modifiers::COMMAND.plus(Modifiers::CTRL);

fn selected(desk: &Desk) -> Vec<String> {
    let files = desk.app().library.selected_files(&desk.app().shared);
    let names = files
        .iter()
        .filter_map(|file| desk.app().library.entry(file));
    names.map(|entry| entry.name.clone()).collect()
}

fn select(desk: &mut Desk, names: &[&str]) {
    click(desk, names[0], Modifiers::NONE);
    for name in &names[1..] {
        click(desk, name, CTRL);
    }
    assert_eq!(selected(desk), names);
}

#[test]
fn rows_are_selected_by_clicks_and_keys_and_copied() {
    let mut desk = desk(Home::new());
    select(&mut desk, &["Alpha", "Gamma"]);
    desk.see("2 selected of 4 sessions");
    click(&mut desk, "Gamma", CTRL);
    assert_eq!(selected(&desk), ["Alpha"]);
    click(&mut desk, "Beta", Modifiers::NONE);
    assert!(selected(&desk).is_empty(), "a plain click does what it did");
    click(&mut desk, "Delta", Modifiers::SHIFT);
    assert_eq!(selected(&desk), ["Beta", "Gamma", "Delta"]);
    desk.press("Shift+ArrowUp");
    assert_eq!(selected(&desk), ["Beta", "Gamma"]);
    desk.press("Shift+ArrowDown");
    assert_eq!(selected(&desk), ["Beta", "Gamma", "Delta"]);
    desk.harness.event(Event::Copy);
    desk.steps(2);
    let copied = desk.copied.last().expect("text").clone();
    let lines: Vec<&str> = copied.lines().collect();
    assert_eq!(lines.len(), 4, "{copied}");
    assert!(lines[1].starts_with("Beta\t"), "{copied}");
    desk.hear("Copied 3 sessions to the clipboard");
    desk.press("Ctrl+A");
    assert_eq!(selected(&desk), NAMES);
    // Notices close first, then the selection, then the details.
    for _ in 0..6 {
        if selected(&desk).is_empty() {
            break;
        }
        desk.press("Escape");
    }
    assert!(selected(&desk).is_empty());
    assert_eq!(desk.app().shared.screen, Screen::Library);
}

#[test]
fn the_keyboard_begins_a_selection_where_it_is() {
    let mut desk = desk(Home::new());
    desk.get("Session Beta").focus();
    desk.steps(2);
    desk.press("Shift+ArrowDown");
    desk.steps(2);
    assert_eq!(selected(&desk), ["Beta", "Gamma"]);
}

#[test]
fn what_a_search_hides_is_not_selected_any_more() {
    let mut desk = desk(Home::new());
    select(&mut desk, &["Alpha", "Gamma"]);
    desk.act(Action::Library(Library::Search("gamma".to_owned())));
    assert_eq!(selected(&desk), ["Gamma"]);
    desk.act(Action::Library(Library::Search(String::new())));
    assert_eq!(
        selected(&desk),
        ["Gamma"],
        "by its file, wherever it stands"
    );
}

#[test]
fn several_are_opened_compared_and_followed() {
    let mut desk = desk(Home::new());
    select(&mut desk, &["Alpha", "Gamma"]);
    desk.click("Compare the two");
    desk.until("both are compared", |app| {
        app.shared.screen == Screen::Compare && app.compare.sides.before.is_some()
    });
    let name = |desk: &Desk, pick: Option<powerband_app::compare::SideChoice>| {
        let open = pick.and_then(|pick| desk.app().shared.sessions.get(pick.session));
        open.map(|open| open.session.name.clone())
    };
    let sides = [
        desk.app().compare.sides.before,
        desk.app().compare.sides.after,
    ];
    let sides = sides.map(|pick| name(&desk, pick));
    assert_eq!(
        sides,
        [Some("Gamma".to_owned()), Some("Alpha".to_owned())],
        "the older one first"
    );

    desk.press("Ctrl+9");
    select(&mut desk, &["Alpha", "Beta", "Delta"]);
    desk.click("History of these");
    desk.until("the history is found", |app| {
        app.shared.screen == Screen::History && app.compare.history.found.result.is_some()
    });
    desk.until("of three sessions", |app| {
        let found = app.compare.history.found.result.as_ref();
        found.is_some_and(|found| found.history.points.len() == 3)
    });
    desk.see("Through 3 selected sessions");
    desk.click("All sessions");
    desk.until("of all", |app| {
        let found = app.compare.history.found.result.as_ref();
        found.is_some_and(|found| found.history.points.len() == 4)
    });

    desk.press("Ctrl+9");
    select(&mut desk, &["Alpha", "Beta", "Delta"]);
    desk.click("Open all");
    desk.until("they are open", |app| app.shared.sessions.len() >= 4);
}

#[test]
fn several_get_a_tag() {
    let mut desk = desk(Home::new());
    select(&mut desk, &["Beta", "Delta"]);
    desk.fill("Tags for the selected sessions", "#night");
    desk.press("Enter");
    desk.until("the tag is taken in", |app| {
        let entries = app
            .library
            .found
            .values()
            .filter_map(|found| found.entry.as_ref().ok());
        let has_tag = |entry: &&powerband_app::library::SessionEntry| {
            entry.tags.contains(&"night".to_owned())
        };
        entries.filter(has_tag).count() == 2
    });
    let path = desk.path("home/sessions/delta.ron");
    let session = session_file::read(&path).expect("a session").session;
    assert_eq!(
        session.tags,
        ["nightly", "laptop", "night"],
        "beside those that it had"
    );
    assert_eq!(selected(&desk), ["Beta", "Delta"], "they stay selected");
}

#[test]
fn several_go_to_the_trash_and_one_undo_takes_them_back() {
    let home = Home::new();
    let test = "ui::several::several_go_to_the_trash_and_one_undo_takes_them_back";
    if !alone(&home, test) {
        return;
    }
    let mut desk = desk(home);
    let there = |desk: &Desk| -> usize { desk.session_files().len() };
    select(&mut desk, &["Alpha", "Beta", "Delta"]);
    desk.click("Move all to the trash");
    desk.hear("3 sessions are in the trash");
    assert_eq!(there(&desk), 1);
    desk.until("the table has one", |app| app.library.found.len() == 1);
    desk.click("Undo");
    desk.hear("3 sessions are restored");
    assert_eq!(there(&desk), 4);
    desk.until("the table has four", |app| app.library.found.len() == 4);
    assert!(desk.app().library.discarded.is_empty());

    // The same by keys: Ctrl+Delete for all, Ctrl+Z for all.
    select(&mut desk, &["Alpha", "Beta"]);
    desk.press("Ctrl+Delete");
    desk.hear("2 sessions are in the trash");
    desk.press("Ctrl+Z");
    desk.hear("2 sessions are restored");
    assert_eq!(there(&desk), 4);
}

#[test]
fn two_thousand_sessions_stay_quick_to_select() {
    let home = Home::new();
    let first = SessionSpec {
        name: "One of many",
        created: "2026-09-14T18:22:07Z",
        model: "resnet50",
        speeds: &[speed("tract:cpu", "", 900.0, 9_800.0)],
        batches: &[1],
        rounds: 1,
        samples: 3,
    }
    .session();
    let path = shelve(&home, "many-0", &first);
    let folder = path.parent().expect("a folder").to_path_buf();
    for number in 1..2_000 {
        let copy: PathBuf = folder.join(format!("many-{number}.ron"));
        std::fs::copy(&path, copy).expect("a copy");
    }
    let mut desk = Desk::awake(home, Vec::new());
    desk.until("all are listed", |app| app.library.found.len() == 2_000);
    desk.press("Ctrl+9");
    desk.press("Ctrl+A");
    assert_eq!(
        desk.app().library.selected_files(&desk.app().shared).len(),
        2_000
    );
    desk.steps(3);
    let rows = desk.names().into_iter();
    let made = rows.filter(|name| name.starts_with("Session ")).count();
    assert!(
        (1..100).contains(&made),
        "only rows in sight are made, not {made}"
    );
}
