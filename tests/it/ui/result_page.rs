//! A page of results written from the window, which says before what would be in it.

use powerband_app::action::{Action, PageAction, Shell};

use super::Desk;
use super::pictures::{Album, THEMES};
use crate::result_page::unpacked;
use crate::support::{Home, component, skipped};
use crate::verdicts::measure;

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
    let session = desk
        .app()
        .shared
        .sessions
        .iter()
        .next()
        .expect("a session")
        .id;
    desk.act(Action::Page(PageAction::Offer(vec![session])));
    desk.see("1 session");
    desk.see("such as /home/carolyn/nets/r50.onnx");
    Some(desk)
}

#[test]
fn a_page_says_what_is_in_it_and_is_written_without_names() {
    let Some(mut desk) = offered() else {
        return;
    };
    desk.press("Escape");
    assert!(!desk.sees("Share as a page"));
    let session = desk
        .app()
        .shared
        .sessions
        .iter()
        .next()
        .expect("a session")
        .id;
    desk.act(Action::Page(PageAction::Offer(vec![session])));
    desk.click("Leave out paths and the names of users and machines");
    desk.see("No path, and no known name of a user or a machine");
    desk.click("Save the page…");
    let to = desk.path("page.html");
    desk.fill("Path", &to.display().to_string());
    desk.click("Save");
    desk.hear("Saved to");
    let text = unpacked(&to);
    assert!(text.contains("Shared from r50.onnx by user"));
    let home = desk.path("").display().to_string();
    for secret in [home.trim_end_matches('/'), "carolyn"] {
        assert!(!text.contains(secret), "{secret}");
    }
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
