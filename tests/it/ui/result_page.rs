//! A page of results written from the window, which says before what would be in it.

use std::fs;

use powerband_app::action::{Action, PageAction, Shell};

use super::Desk;
use super::pictures::{Album, THEMES};
use crate::result_page::{SECRET_TIMELINE, unpacked};
use crate::support::{Home, component, skipped};
use crate::verdicts::measure;
use powerband_store::session_file;

/// A session's name with a path and a user.
const NAME: &str = "Shared from /home/carolyn/nets/r50.onnx by carolyn";

/// A window with a session, and what a page of it would have; nothing where this program has no viewer.
fn offered() -> Option<Desk> {
    if std::env::var_os("POWERBAND_WITHOUT_VIEWER").is_some() {
        skipped("the viewer, which is left out here");
        return None;
    }
    let viewer = powerband::result_page::check_viewer().ok();
    component(viewer, "the viewer, which scripts/viewer builds")?;
    let home = Home::new();
    let rest = ["--batch", "1", "--rounds", "2", "--name", NAME];
    measure(&home, "a.ron", &["fake,fixed=300"], &rest);
    let file = home.path("a.ron");
    let mut desk = Desk::awake(home, vec![file]);
    desk.until("it is open", |app| app.shared.sessions.len() == 1);
    offer(&mut desk);
    desk.see("1 session");
    desk.see("such as /home/carolyn/nets/r50.onnx");
    Some(desk)
}

/// Shows what a page of the open session would have.
fn offer(desk: &mut Desk) {
    let session = desk
        .app()
        .shared
        .sessions
        .iter()
        .next()
        .expect("a session")
        .id;
    desk.act(Action::Page(PageAction::Offer(vec![session])));
}

/// Saves the page that is offered; everything in it.
fn saved(desk: &mut Desk) -> String {
    desk.click("Save the page…");
    let to = desk.path("page.html");
    desk.fill("Path", &to.display().to_string());
    desk.click("Save");
    desk.hear("Saved to");
    unpacked(&to)
}

#[test]
fn a_page_says_what_is_in_it_and_is_written_without_names() {
    let Some(mut desk) = offered() else {
        return;
    };
    desk.press("Escape");
    assert!(!desk.sees("Share as a page"));
    offer(&mut desk);
    desk.click("Leave out paths and the names of users and machines");
    desk.see("No path, and no known name of a user or a machine");
    let text = saved(&mut desk);
    assert!(text.contains("Shared from r50.onnx by user"));
    let home = desk.path("").display().to_string();
    for secret in [home.trim_end_matches('/'), "carolyn"] {
        assert!(!text.contains(secret), "{secret}");
    }
}

#[test]
fn a_page_has_the_timelines_that_its_offer_was_about() {
    if std::env::var_os("POWERBAND_WITHOUT_VIEWER").is_some() {
        skipped("the viewer, which is left out here");
        return;
    }
    let viewer = powerband::result_page::check_viewer().ok();
    if component(viewer, "the viewer, which scripts/viewer builds").is_none() {
        return;
    }
    let home = Home::new();
    let trace = home.write("t.pt.trace.json", SECRET_TIMELINE);
    let imported = home.run(&["import", &trace.display().to_string(), "--out", "b.ron"]);
    assert_eq!(imported.status, Some(0), "{imported:#?}");
    let file = home.path("b.ron");
    let session = session_file::read(&file).expect("a session").session;
    let mut desk = Desk::awake(home, vec![file]);
    desk.until("it is open", |app| app.shared.sessions.len() == 1);
    offer(&mut desk);
    desk.see("1 session, 1 timeline");
    let timeline = session.profiles[0].trace_file.as_ref();
    fs::remove_file(desk.path(timeline.expect("a timeline"))).expect("it was there");
    assert!(saved(&mut desk).contains("train.py(3): f"));
}

#[test]
fn the_offer_of_a_page_is_painted() {
    let Some(mut album) = Album::open() else {
        return;
    };
    let Some(mut desk) = offered() else {
        return;
    };
    for (theme, word) in THEMES {
        desk.act(Action::Shell(Shell::Theme(theme)));
        desk.steps(2);
        album.take(&mut desk, &format!("share-{word}"));
    }
    album.close();
}
