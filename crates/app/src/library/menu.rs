//! What can be done with a session of the library.

use std::path::Path;

use crate::App;
use crate::action::{Action, Library, Sessions, Shell};
use crate::palette_entries::entry::{Groups, anywhere, seen_on};
use crate::screen::Screen;

/// What can be done with a session of the library, by its file.
pub(crate) fn of_file(app: &App, path: &Path) -> Groups {
    let file = || path.to_path_buf();
    let sessions = |title: &str, request| anywhere(title, Action::Sessions(request));
    let library = |title: &str, request| anywhere(title, Action::Library(request));
    let is_open = app.shared.sessions.by_path(path).is_some();
    let toggled = if is_open { "Close" } else { "Open" };
    let entry = app.library.entry(path);
    let again = entry.map_or(Ok(()), |entry| entry.can_run_again());
    let details = Action::Library(Library::Select(Some(file())));
    let text = path.display().to_string();
    vec![
        vec![
            sessions(toggled, Sessions::Toggle(file())),
            sessions("Add to the view", Sessions::Add(file())),
            sessions("Open and close all others", Sessions::OpenOnly(file())),
            sessions("Run again…", Sessions::RunFileAgain(file())).only_if(again),
        ],
        vec![
            seen_on(Screen::Library, "Details in the library", details),
            library("Duplicate", Library::Duplicate(file())),
            library("Show the file", Library::Reveal(file())),
            anywhere("Copy the path", Action::Shell(Shell::Copy(text))),
        ],
        vec![library("Move to the trash", Library::Discard(file()))],
    ]
}
