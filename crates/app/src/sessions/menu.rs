//! What can be done with an open session.

use super::{LIVE, OpenSession, SessionId};
use crate::App;
use crate::action::{Action, Compare, Journey, Library, PageAction, Sessions, Shell};
use crate::compare::{self, is_comparable};
use crate::journey::StepsSubject;
use crate::kernels;
use crate::palette_entries::entry::{Groups, Offered, anywhere, seen_on};
use crate::reports::{ReportSubject, ReportTarget};
use crate::screen::Screen;

/// What can be done with an open session.
pub(crate) fn of_session(app: &App, id: SessionId) -> Groups {
    let Some(open) = app.shared.sessions.get(id) else {
        return Vec::new();
    };
    vec![screens(app, open), sides(open), file(open), closing(open)]
}

fn sessions(title: &str, request: Sessions) -> Offered {
    anywhere(title, Action::Sessions(request))
}

/// The screens that show it.
fn screens(app: &App, open: &OpenSession) -> Vec<Offered> {
    let mut offered = vec![anywhere("Show its curves", Action::Go(Screen::Curves))];
    if open.session.plan.setups.len() > 1 && open.id != LIVE {
        let look = Action::Journey(Journey::Look(StepsSubject::at_first_point(open)));
        offered.push(seen_on(Screen::Journey, "Show its steps", look));
    }
    if !open.session.profiles.is_empty() {
        let pick = kernels::ProfileRef {
            session: open.id,
            profile: 0,
        };
        let titles = ["Show its kernels", "Show its timeline"];
        offered.extend(kernels::menu::of_profile(app, pick, titles));
    }
    offered
}

/// One side of a comparison, all setups in common.
fn sides(open: &OpenSession) -> Vec<Offered> {
    if !is_comparable(open) {
        return Vec::new();
    }
    let pick = compare::SideChoice::of_session(open.id);
    let offer = |title: &str, request| seen_on(Screen::Compare, title, Action::Compare(request));
    vec![
        offer("Set as before", Compare::Before(pick)),
        offer("Set as after", Compare::After(pick)),
    ]
}

fn file(open: &OpenSession) -> Vec<Offered> {
    if open.id == LIVE {
        return Vec::new();
    }
    let can_run = open.session.plan.can_run().then_some(());
    let can_run = can_run.ok_or("the session was not measured here");
    let mut offered = vec![
        sessions("Reuse the plan", Sessions::RunAgain(open.id)).only_if(can_run),
        anywhere(
            "Write a report…",
            Action::Report(ReportSubject::of_session(open.id), ReportTarget::Ask),
        ),
        anywhere(
            "Share as a page…",
            Action::Page(PageAction::Offer(vec![open.id])),
        ),
        sessions("Save as…", Sessions::SaveAs(open.id, None)),
    ];
    if let Some(path) = &open.path {
        let text = path.display().to_string();
        let library = |request| Action::Library(request);
        offered.extend([
            sessions("Reload from the file", Sessions::Reload(open.id)),
            seen_on(
                Screen::Library,
                "Details in the library",
                library(Library::Select(Some(path.clone()))),
            ),
            anywhere("Show the file", library(Library::Reveal(path.clone()))),
            anywhere("Copy the path", Action::Shell(Shell::Copy(text))),
        ]);
    }
    offered
}

fn closing(open: &OpenSession) -> Vec<Offered> {
    if open.id == LIVE {
        return Vec::new();
    }
    let mut offered = vec![sessions("Close", Sessions::Close(open.id))];
    if let Some(path) = &open.path {
        let only = Sessions::OpenOnly(path.clone());
        offered.push(sessions("Close all others", only));
    }
    offered
}
