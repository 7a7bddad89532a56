//! Commands about the open sessions.

use super::{LIVE, SessionId};
use crate::App;
use crate::action::{Action, PageAction, Sessions};
use crate::command::entry::{Command, command};
use crate::reports::{ReportSubject, ReportTarget};

pub(crate) const NO_SESSION: &str = "no session is open";

pub(crate) const ALL: &[Command] = &[
    command("open", "Open files…", "Ctrl+O", |_| {
        Ok(Action::Sessions(Sessions::Choose))
    })
    .on_machine(),
    command("open-example", "Open the first example", "", |_| {
        Ok(Action::Sessions(Sessions::OpenExample(0)))
    })
    .on_machine(),
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
    )
    .on_machine(),
    command("report", "Write a report…", "Ctrl+Shift+E", |app| {
        report(app, ReportTarget::Ask)
    })
    .on_machine(),
    command("preview-report", "Preview the report", "", |app| {
        report(app, ReportTarget::Preview)
    })
    .on_machine(),
    command("share", "Share the open sessions\u{2026}", "", |app| {
        let sessions = app.shared.sessions.iter().filter(|open| open.id != LIVE);
        let sessions: Vec<SessionId> = sessions.map(|open| open.id).collect();
        if sessions.is_empty() {
            return Err(NO_SESSION);
        }
        Ok(Action::Page(PageAction::Offer(sessions)))
    })
    .on_machine(),
    command("reload", "Reload the last session", "Ctrl+Shift+R", |app| {
        with_last(app, |id| Action::Sessions(Sessions::Reload(id)))
    })
    .on_machine(),
    command(
        "run-again",
        "Reuse the plan of the last session",
        "",
        run_again,
    )
    .on_machine(),
];

fn with_last(app: &App, act: fn(SessionId) -> Action) -> Result<Action, &'static str> {
    last(app).map(act)
}

fn last(app: &App) -> Result<SessionId, &'static str> {
    let saved = app.shared.sessions.iter().filter(|open| open.id != LIVE);
    saved.last().map(|open| open.id).ok_or(NO_SESSION)
}

/// The plan of the last session that was measured here.
fn run_again(app: &App) -> Result<Action, &'static str> {
    let measured = app.shared.sessions.iter().filter(|open| open.id != LIVE);
    let last = measured.filter(|open| open.session.plan.can_run()).last();
    last.map(|open| Action::Sessions(Sessions::RunAgain(open.id)))
        .ok_or("no session measured here is open")
}

/// A report: of what is compared or profiled where that is shown, else of the last session.
fn report(app: &App, target: ReportTarget) -> Result<Action, &'static str> {
    let subject = match app.reported_subject(app.shared.screen) {
        Some(subject) => subject,
        None => ReportSubject::of_session(last(app)?),
    };
    Ok(Action::Report(subject, target))
}
