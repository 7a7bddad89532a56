//! About the open sessions.

use super::{Command, command};
use crate::action::{Action, Sessions};
use crate::command_guards::{NO_SESSION, report, run_again, with_last};

/// These commands.
pub(super) const ALL: &[Command] = &[
    command("open", "Open files…", "Ctrl+O", |_| {
        Ok(Action::Sessions(Sessions::Choose))
    }),
    command("open-example", "Open the first example session", "", |_| {
        Ok(Action::Sessions(Sessions::OpenExample(0)))
    }),
    command("close-all", "Close all sessions", "Ctrl+Shift+W", |app| {
        if app.sessions.is_empty() {
            Err(NO_SESSION)
        } else {
            Ok(Action::Sessions(Sessions::CloseAll))
        }
    }),
    command("close-session", "Close the last session", "Ctrl+W", |app| {
        with_last(app, |id| Action::Sessions(Sessions::Close(id)))
    }),
    command(
        "save-as",
        "Save the last session as…",
        "Ctrl+Shift+S",
        |app| with_last(app, |id| Action::Sessions(Sessions::SaveAs(id, None))),
    ),
    command("report", "Write a report…", "Ctrl+Shift+E", report),
    command(
        "reload",
        "Read the last session again",
        "Ctrl+Shift+R",
        |app| with_last(app, |id| Action::Sessions(Sessions::Reload(id))),
    ),
    command("run-again", "Plan the last session again", "", run_again),
];
