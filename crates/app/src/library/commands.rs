//! Commands about the files of the library.

use crate::App;
use crate::action::{Action, Library, Sessions};
use crate::command::entry::{Command, command};

const NO_SELECTION: &str = "no session is selected in the library";

pub(crate) const ALL: &[Command] = &[
    command("search", "Find a session", "Ctrl+F", |_| {
        Ok(Action::Library(Library::FocusSearch))
    }),
    command(
        "duplicate",
        "Library: duplicate the selected session",
        "",
        |app| with_selected(app, Library::Duplicate),
    ),
    command(
        "discard",
        "Library: move the selected session to the trash",
        "Ctrl+Delete",
        |app| match app.library.selected_files(&app.shared) {
            files if files.len() > 1 => Ok(Action::Library(Library::DiscardAll(files))),
            _ => with_selected(app, Library::Discard),
        },
    ),
    command(
        "restore",
        "Library: restore from the trash",
        "Ctrl+Shift+Delete",
        |app| {
            if app.library.discarded.is_empty() {
                Err("nothing was moved to the trash")
            } else {
                Ok(Action::Library(Library::Restore))
            }
        },
    ),
    command(
        "reveal",
        "Library: show the file of the selected session",
        "",
        |app| with_selected(app, Library::Reveal),
    ),
    command(
        "add-to-view",
        "Library: add the selected session to the view",
        "",
        |app| {
            let path = app.library.selected.clone().ok_or(NO_SELECTION)?;
            Ok(Action::Sessions(Sessions::Add(path)))
        },
    ),
    command(
        "open-only",
        "Library: open the selected session and close all others",
        "",
        |app| {
            let path = app.library.selected.clone().ok_or(NO_SELECTION)?;
            Ok(Action::Sessions(Sessions::OpenOnly(path)))
        },
    ),
    command(
        "open-selected",
        "Library: open or close the selected session",
        "",
        |app| {
            let path = app.library.selected.clone().ok_or(NO_SELECTION)?;
            Ok(Action::Sessions(Sessions::Toggle(path)))
        },
    ),
];

fn with_selected(
    app: &App,
    act: fn(std::path::PathBuf) -> Library,
) -> Result<Action, &'static str> {
    let path = app.library.selected.clone().ok_or(NO_SELECTION)?;
    Ok(Action::Library(act(path)))
}
