//! Commands about the open sessions.

use super::{LIVE, SessionId};
use crate::App;
use crate::action::{Action, Sessions};
use crate::command::entry::{Command, command};
use crate::reports::ReportSubject;

pub(crate) const NO_SESSION: &str = "no session is open";

pub(crate) const ALL: &[Command] = &[
    command("open", "Open files…", "Ctrl+O", |_| {
        Ok(Action::Sessions(Sessions::Choose))
    }),
    command("open-example", "Open the first example", "", |_| {
        Ok(Action::Sessions(Sessions::OpenExample(0)))
    }),
    command("close-all", "Close all sessions", "Ctrl+Shift+W", |app| {
        if app.shared.sessions.is_empty() {
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
    command("reload", "Reload the last session", "Ctrl+Shift+R", |app| {
        with_last(app, |id| Action::Sessions(Sessions::Reload(id)))
    }),
    command(
        "run-again",
        "Reuse the plan of the last session",
        "",
        run_again,
    ),
];

fn with_last(app: &App, act: fn(SessionId) -> Action) -> Result<Action, &'static str> {
    let last = app
        .shared
        .sessions
        .iter()
        .filter(|open| open.id != LIVE)
        .last();
    last.map(|open| act(open.id)).ok_or(NO_SESSION)
}

/// The plan of the last session that was measured here.
fn run_again(app: &App) -> Result<Action, &'static str> {
    let measured = app.shared.sessions.iter().filter(|open| open.id != LIVE);
    let last = measured.filter(|open| open.session.plan.can_run()).last();
    last.map(|open| Action::Sessions(Sessions::RunAgain(open.id)))
        .ok_or("no session measured here is open")
}

/// A report: of what is compared where that is shown, else of the last session.
fn report(app: &App) -> Result<Action, &'static str> {
    if let Some(subject) = app.compared_subject(app.shared.screen) {
        return Ok(Action::Report(subject, None));
    }
    with_last(app, |id| {
        Action::Report(ReportSubject::of_session(id), None)
    })
}
