//! The library: names, tags, notes, copies, the trash and back, searching, and what others do to the files.

use std::fs;
use std::path::Path;

use egui_kittest::kittest::NodeT as _;
use powerband_app::App;
use powerband_app::action::{Action, Library, Sessions};
use powerband_app::library::examples;
use powerband_app::notices::NoticeLevel;
use powerband_app::plan::{PlanEdit, PlanField};
use powerband_app::screen::Screen;
use powerband_app::sessions::OnDisk;
use powerband_core::base::clock;
use powerband_core::domain::plan::{Load, WorkerLifetime};
use powerband_core::domain::point::Point;
use powerband_core::domain::session::Session;
use powerband_import::reading::read_progress::ReadProgress;
use powerband_import::reading::source::Limits;
use powerband_import::session;
use powerband_store::session_file;

use super::data::{SessionSpec, speed};
use super::{Desk, alone, shelve, write};
use crate::support::Home;

fn session(name: &str, tag: &str) -> Session {
    let mut session = SessionSpec {
        name,
        created: "2026-09-14T18:22:07Z",
        model: "resnet50",
        speeds: &[speed("rten:cpu", "", 900.0, 9_800.0)],
        batches: &[1, 2],
        rounds: 2,
        samples: 12,
    }
    .session();
    session.tags = vec![tag.to_owned()];
    session
}

/// The library screen with two sessions, the first selected.
fn desk(home: Home) -> Desk {
    shelve(&home, "alpha", &session("Alpha", "green"));
    shelve(&home, "beta", &session("Beta", "blue"));
    let mut desk = Desk::awake(home, Vec::new());
    desk.press("Ctrl+9");
    let path = desk.path("home/sessions/alpha.ron");
    desk.act(Action::Library(Library::Select(Some(path))));
    desk.steps(2);
    desk
}

fn on_disk(desk: &Desk, name: &str) -> Session {
    let path = desk.path(&format!("home/sessions/{name}.ron"));
    session_file::read(&path).expect("a session").session
}

#[test]
fn names_tags_and_notes_are_written() {
    let mut desk = desk(Home::new());
    desk.fill("Session name", "Gamma");
    desk.press("Enter");
    desk.until("the name is taken in", |app| {
        app.library.found.values().any(|scanned| {
            scanned
                .entry
                .as_ref()
                .is_ok_and(|entry| entry.name == "Gamma")
        })
    });
    assert_eq!(on_disk(&desk, "alpha").name, "Gamma");
    desk.fill("Tags", "#red nightly");
    desk.press("Enter");
    desk.until("the tags are taken in", |app| {
        app.library.tags().contains(&"red".to_owned())
    });
    assert_eq!(on_disk(&desk, "alpha").tags, ["red", "nightly"]);
    desk.fill("Notes", "lid closed");
    desk.click("Session name");
    desk.until("the notes are taken in", |app| {
        app.library.found.values().any(|scanned| {
            scanned
                .entry
                .as_ref()
                .is_ok_and(|entry| entry.notes == "lid closed")
        })
    });
    assert_eq!(on_disk(&desk, "alpha").notes, "lid closed");
    assert!(desk.said().is_empty(), "{:?}", desk.said());
}

#[test]
fn a_name_is_changed_while_the_session_is_open() {
    let mut desk = desk(Home::new());
    desk.click("Open");
    desk.until("it is open", |app| app.shared.sessions.len() == 1);
    desk.press("Ctrl+9");
    desk.fill("Session name", "Delta");
    desk.press("Enter");
    desk.until("the open one has the name", |app| {
        app.shared
            .sessions
            .iter()
            .all(|open| open.session.name == "Delta")
    });
    // Two looks of the watch later nobody takes the change for somebody else's.
    let begun = std::time::Instant::now();
    desk.step_until("time passes", super::PATIENCE, |_| {
        begun.elapsed().as_secs() >= 4
    });
    assert!(desk.said().is_empty(), "{:?}", desk.said());
}

#[test]
fn copies_are_made_and_the_trash_gives_back() {
    let home = Home::new();
    if !alone(
        &home,
        "ui::library::copies_are_made_and_the_trash_gives_back",
    ) {
        return;
    }
    let mut desk = desk(home);
    desk.click("Duplicate");
    desk.until("there are three", |app| app.library.found.len() == 3);
    desk.click("Move to the trash");
    desk.hear("is in the trash");
    desk.until("there are two", |app| app.library.found.len() == 2);
    assert!(!desk.path("home/sessions/alpha.ron").exists());
    desk.click("Undo");
    desk.hear("Alpha is restored");
    desk.until("there are three again", |app| app.library.found.len() == 3);
    assert_eq!(on_disk(&desk, "alpha").name, "Alpha");

    let path = desk.path("home/sessions/beta.ron");
    desk.act(Action::Library(Library::Select(Some(path.clone()))));
    desk.press("Ctrl+Delete");
    desk.until("it is gone", |_| !path.exists());
    desk.until("it can be had back", |app| {
        !app.library.discarded.is_empty()
    });
    desk.press("Ctrl+Shift+Delete");
    desk.until("it is back", |_| path.exists());

    // Undoing is of what is seen: the trash here, the plan on its own screen.
    let mut draft = desk.app().bench.planner.draft.clone();
    draft.batches = "1, 2".to_owned();
    desk.act(Action::Plan(PlanEdit::Text(
        PlanField::Batches,
        draft.batches.clone(),
    )));
    desk.act(Action::Library(Library::Discard(path.clone())));
    desk.until("it can be had back", |app| {
        !app.library.discarded.is_empty()
    });
    desk.press("Ctrl+Z");
    desk.until("it is back again", |_| path.exists());
    desk.until("what is no longer so is taken down", |app| {
        let is_up = |words: &str| {
            app.shared
                .notices
                .on_screen()
                .any(|notice| notice.text == words)
        };
        is_up("Beta is restored") && !is_up("Beta is in the trash")
    });
    desk.press("Ctrl+Z");
    assert_eq!(desk.app().bench.planner.draft.batches, "1, 2");

    // Each notice brings back what it tells of, not what was discarded last.
    let other = desk.path("home/sessions/alpha.ron");
    for gone in [&other, &path] {
        desk.act(Action::Library(Library::Discard(gone.clone())));
        desk.until("it is gone", |_| !gone.exists());
    }
    let older = |app: &App| {
        let mut up = app.shared.notices.on_screen();
        let notice = up.find(|notice| notice.text == "Alpha is in the trash");
        notice.and_then(|notice| notice.offer.clone())
    };
    desk.until("both are told of", |app| {
        app.library.discarded.len() == 2 && older(app).is_some()
    });
    let (_, undo) = older(desk.app()).expect("an offer");
    desk.act(undo);
    desk.until("the older one is back", |_| other.exists());
    assert!(!path.exists());
}

#[test]
fn sessions_are_found_by_words_and_tags() {
    let mut desk = desk(Home::new());
    desk.press("Ctrl+F");
    desk.type_text("alpha");
    assert_eq!(desk.app().library.listed_len(), 1);
    desk.fill("Search the library", "#blue");
    let names: Vec<_> = desk
        .app()
        .library
        .listed()
        .map(|(path, _)| path.clone())
        .collect();
    assert_eq!(names, [desk.path("home/sessions/beta.ron")]);
    desk.fill("Search the library", "no such words");
    desk.see("No session matches these words.");
    desk.fill("Search the library", "");
    desk.press("Escape");
    desk.click("#green");
    assert_eq!(desk.app().library.search, "#green");
    desk.click("#green");
    assert_eq!(desk.app().library.listed_len(), 2);
}

fn listed(desk: &Desk) -> Vec<String> {
    desk.column("sessions", "name")
}

#[test]
fn the_list_is_sorted_by_its_heads() {
    let home = Home::new();
    let mut later = session("Beta", "blue");
    later.created = "2026-09-15T18:22:07Z".to_owned();
    shelve(&home, "beta", &later);
    shelve(&home, "alpha", &session("Alpha", "green"));
    let mut desk = Desk::awake(home, Vec::new());
    desk.press("Ctrl+9");
    assert_eq!(listed(&desk), ["Beta", "Alpha"], "the newest first");
    desk.click("Sort by Session");
    assert_eq!(listed(&desk), ["Alpha", "Beta"]);
    desk.click("Sort by Session");
    assert_eq!(listed(&desk), ["Beta", "Alpha"]);
    desk.click("Sort by Measured");
    assert_eq!(listed(&desk), ["Alpha", "Beta"], "the oldest first");
    desk.fill("Search the library", "#blue");
    desk.see("1 of 2 sessions in");
    assert_eq!(listed(&desk), ["Beta"]);
    // Once out of the field, and once out of the search.
    desk.press("Escape");
    desk.press("Escape");
    assert_eq!(desk.app().library.search, "");
    assert_eq!(listed(&desk).len(), 2, "the table has what the list has");
}

#[test]
fn the_first_tag_moves_nothing() {
    let home = Home::new();
    let mut bare = session("Alpha", "");
    bare.tags.clear();
    let path = shelve(&home, "alpha", &bare);
    let mut desk = Desk::awake(home, Vec::new());
    desk.press("Ctrl+9");
    desk.act(Action::Library(Library::Select(Some(path))));
    desk.steps(2);
    let before = desk.get("Notes").rect();
    desk.fill("Tags", "green");
    desk.press("Enter");
    desk.until("the tag is taken in", |app| !app.library.tags().is_empty());
    desk.see("#green");
    desk.steps(2);
    let moved = (desk.get("Notes").rect().min - before.min).length();
    assert!(moved < 0.5, "by {moved} points");
}

#[test]
fn published_numbers_have_no_plan() {
    let home = Home::new();
    let is_it = |one: &&examples::Example| one.file == "published-aitemplate-resnet50.ron";
    let example = examples::ALL.iter().find(is_it).expect("an example");
    let published = example.open().expect("a session").session;
    let path = shelve(&home, "published", &published);
    let mut desk = Desk::awake(home, Vec::new());
    desk.press("Ctrl+9");
    desk.act(Action::Library(Library::Select(Some(path))));
    desk.steps(2);
    assert!(desk.get("Run again…").accesskit_node().is_disabled());
    // Setups, batches and moment in its row, batches and moment among its details.
    let unknown = desk.names().iter().filter(|name| *name == "–").count();
    assert!(unknown >= 5, "{:?}", desk.names());
}

#[test]
fn examples_come_back() {
    let mut desk = Desk::awake(Home::new(), Vec::new());
    desk.act(Action::Sessions(Sessions::OpenExample(0)));
    desk.until("it is open", |app| app.shared.sessions.len() == 1);
    desk.press("Ctrl+9");
    desk.see("No sessions in the library yet");
    desk.app().remember().expect("it is written down");
    let mut desk = Desk::awake(desk.home, Vec::new());
    desk.until("it is open again", |app| app.shared.sessions.len() == 1);
    let open = desk
        .app()
        .shared
        .sessions
        .iter()
        .next()
        .expect("it is open");
    assert_eq!(open.path, None);
    let id = open.id;
    desk.act(Action::Sessions(Sessions::Close(id)));
    assert!(desk.app().to_remember().examples.is_empty());
}

#[test]
fn no_more_than_three_notices_are_shown() {
    let mut desk = Desk::awake(Home::new(), Vec::new());
    for number in 1..=5 {
        let text = format!("Trouble number {number}");
        let notices = &mut desk.app_mut().shared.notices;
        notices.add(NoticeLevel::Trouble, text, None, clock::monotonic_ns());
    }
    desk.steps(2);
    assert!(desk.sees("Trouble number 5") && desk.sees("Trouble number 3"));
    assert!(!desk.sees("Trouble number 2"));
    desk.click("2 more in the log");
    assert!(desk.app().shared.window.log_open);
    desk.see("Trouble number 1");
}

#[test]
fn the_list_beside_the_rail_opens_and_closes() {
    let mut desk = desk(Home::new());
    desk.press("Ctrl+1");
    desk.click("Open Alpha");
    desk.until("it is open", |app| app.shared.sessions.len() == 1);
    assert_eq!(desk.app().shared.screen, Screen::Curves);
    desk.click_with_ctrl("Open Beta");
    desk.until("the other alone is open", |app| {
        app.shared
            .sessions
            .iter()
            .all(|open| open.session.name == "Beta")
            && app.shared.sessions.len() == 1
    });
    desk.click("Hide the library");
    assert!(desk.find("Find a session").is_none());
    desk.click("Show the library");
    desk.click("Close Beta");
    assert!(desk.app().shared.sessions.is_empty());
}

#[test]
fn what_others_do_to_an_open_file_is_noticed() {
    let mut desk = desk(Home::new());
    desk.click("Open");
    desk.until("it is open", |app| app.shared.sessions.len() == 1);
    let path = desk.path("home/sessions/alpha.ron");
    // The watch must have seen the file once before it can see a change.
    let begun = std::time::Instant::now();
    desk.step_until("time passes", super::PATIENCE, |_| {
        begun.elapsed().as_secs() >= 4
    });
    write(&path, &session("Elsewhere", "green"));
    desk.hear("Another program changed the file");
    desk.click("Reload");
    desk.until("it is read again", |app| {
        app.shared
            .sessions
            .iter()
            .all(|open| open.session.name == "Elsewhere" && open.on_disk == OnDisk::Same)
    });
    fs::remove_file(&path).unwrap();
    desk.hear("is missing; the session is in memory only");
    desk.click("Save as…");
    desk.fill("Path", &path.display().to_string());
    desk.press("Enter");
    desk.hear("Saved to");
    assert_eq!(on_disk(&desk, "alpha").name, "Elsewhere");
}

#[test]
fn any_session_is_planned_again_as_it_was_measured() {
    let home = Home::new();
    let mut loaded = session("Loaded", "green");
    loaded.plan.load = Load::Poisson { per_s: 25.0 };
    loaded.plan.keeping = WorkerLifetime::OneAtATime;
    loaded.plan.seed = 77;
    shelve(&home, "loaded", &loaded);
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let file = root.join("tests/fixtures/import/hyperfine/python-sum.json");
    let taken = session::import_files(
        &[file],
        None,
        Limits::default(),
        &ReadProgress::default(),
        "0.1.0",
    );
    let foreign = taken.expect("a file of another tool").session;
    shelve(&home, "foreign", &foreign);
    let mut desk = Desk::awake(home, Vec::new());
    // Neither is open.
    let path = desk.path("home/sessions/loaded.ron");
    desk.press("Ctrl+9");
    desk.act(Action::Library(Library::Select(Some(path))));
    desk.click("Run again…");
    desk.until("the plan is there", |app| app.shared.screen == Screen::Plan);
    let request = desk.app().bench.planner.draft.request().expect("a plan");
    assert_eq!(request.load, Load::Poisson { per_s: 25.0 });
    assert_eq!(request.keeping, WorkerLifetime::OneAtATime);
    assert_eq!(request.seed, Some(77));
    assert_eq!(request.points, Some([1, 2].map(Point::of_batch).to_vec()));
    // It is seen, and can be changed by hand.
    desk.fill("Rate", "40");
    let request = desk.app().bench.planner.draft.request().expect("a plan");
    assert_eq!(request.load, Load::Poisson { per_s: 40.0 });
    desk.click("Requests: closed loop");
    let request = desk.app().bench.planner.draft.request().expect("a plan");
    assert_eq!(request.load, Load::Closed);
    // What another tool measured has no plan, and that is known before the file is opened.
    let path = desk.path("home/sessions/foreign.ron");
    desk.press("Ctrl+9");
    desk.act(Action::Library(Library::Select(Some(path.clone()))));
    assert!(desk.get("Run again…").accesskit_node().is_disabled());
    desk.act(Action::Sessions(Sessions::RunFileAgain(path)));
    desk.hear("no plan to run again");
}
