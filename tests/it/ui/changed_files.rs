//! Files of open sessions that are removed, replaced, cut off, made huge, or become something else: what is in memory
//! stays as it was, and each is a sentence.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::Path;

use powerband_app::action::{Action, Sessions};
use powerband_store::session_file;

use super::data::{SessionSpec, Speed, speed};
use super::{Desk, shelve};
use crate::support::Home;

const RTEN: &[Speed] = &[speed("rten:cpu", "", 900.0, 9_800.0)];

fn made(name: &'static str) -> SessionSpec<'static> {
    SessionSpec {
        name,
        created: "2026-09-14T18:22:07Z",
        model: "resnet50",
        speeds: RTEN,
        batches: &[1, 2],
        rounds: 2,
        samples: 8,
    }
}

/// What is done to the file; what the window says of it; what it says when the file is read again.
type FileChange = (fn(&Path), &'static str, &'static str);

const MISSING: &str = "is missing; the session is in memory only";
const CHANGED: &str = "Another program changed the file of First";

const CHANGES: [FileChange; 6] = [
    (
        |path| fs::remove_file(path).expect("a file"),
        MISSING,
        "No such file",
    ),
    (
        |path| {
            let whole = fs::read(path).expect("a file");
            fs::write(path, &whole[..whole.len() / 2]).expect("a file");
        },
        CHANGED,
        "is damaged",
    ),
    (
        |path| {
            // A terabyte that takes no room on the disk.
            let file = File::options().write(true).open(path).expect("a file");
            file.set_len(1 << 40).expect("a hole");
        },
        CHANGED,
        "it has more than",
    ),
    (
        |path| {
            fs::remove_file(path).expect("a file");
            fs::create_dir(path).expect("a folder");
        },
        CHANGED,
        "it is a folder",
    ),
    (
        |path| {
            fs::remove_file(path).expect("a file");
            symlink(path, path).expect("a link");
        },
        MISSING,
        "symbolic links",
    ),
    (
        |path| {
            fs::remove_file(path).expect("a file");
            symlink("/dev/zero", path).expect("a link");
        },
        CHANGED,
        "it is a device",
    ),
];

#[test]
fn a_file_that_turns_into_something_else_changes_nothing_in_memory() {
    for (change, said, read_again) in CHANGES {
        let home = Home::new();
        let path = shelve(&home, "first", &made("First").session());
        let mut desk = Desk::awake(home, vec![path.clone()]);
        desk.until("it is open", |app| app.shared.sessions.len() == 1);
        let open = desk.app().shared.sessions.iter().next().expect("a session");
        let (id, session) = (open.id, open.session.clone());
        desk.until("its file is watched", |app| app.library.found.len() == 1);
        change(&path);
        desk.hear(said);
        desk.act(Action::Sessions(Sessions::Reload(id)));
        desk.hear(read_again);
        let still = desk
            .app()
            .shared
            .sessions
            .iter()
            .next()
            .expect("still open");
        assert_eq!(still.session, session, "{read_again}");
        // Looking through the library took no harm either.
        desk.press("Ctrl+9");
        desk.steps(2);
    }
}

#[test]
fn a_file_that_another_session_replaces_is_shown_once_it_is_read_again() {
    let home = Home::new();
    let path = shelve(&home, "first", &made("First").session());
    let mut desk = Desk::awake(home, vec![path.clone()]);
    desk.until("it is open", |app| app.shared.sessions.len() == 1);
    desk.until("its file is watched", |app| app.library.found.len() == 1);
    session_file::write(&path, &made("Second").session()).expect("a file");
    desk.hear(CHANGED);
    let open = desk.app().shared.sessions.iter().next().expect("a session");
    assert_eq!(open.session.name, "First");
    let id = open.id;
    desk.act(Action::Sessions(Sessions::Reload(id)));
    desk.until("it is read again", |app| {
        app.shared
            .sessions
            .iter()
            .any(|open| open.session.name == "Second")
    });
}
