//! In the command palette: what can be done with each open session, and what can be opened.

use std::path::Path;

use super::{LIVE, OpenSession};
use crate::App;
use crate::action::{Action, Sessions};
use crate::palette_entries::entry::{Offered, anywhere};
use crate::reports::{ReportSubject, ReportTarget};
use powerband_store::examples;

pub(crate) fn entries(app: &App) -> Vec<Offered> {
    let saved = app.shared.sessions.iter().filter(|open| open.id != LIVE);
    saved
        .flat_map(|open| opened(app, open))
        .chain(again(app))
        .chain(examples())
        .collect()
}

fn opened(app: &App, open: &OpenSession) -> Vec<Offered> {
    let (id, name) = (open.id, app.shared.sessions.name(open));
    let entry = |doing: &str, request| anywhere(doing, Action::Sessions(request));
    let mut offered = vec![
        entry(&format!("Close {name}"), Sessions::Close(id)),
        entry(&format!("Save {name} as…"), Sessions::SaveAs(id, None)),
        anywhere(
            format!("Write a report about {name}…"),
            Action::Report(ReportSubject::of_session(id), ReportTarget::Ask),
        ),
    ];
    if open.path.is_some() {
        offered.push(entry(&format!("Reload {name}"), Sessions::Reload(id)));
    }
    // Those of the library can be planned again whether they are open or not.
    let is_listed = open
        .path
        .as_ref()
        .is_some_and(|path| app.library.found.contains_key(path));
    if !is_listed && open.session.plan.can_run() {
        offered.push(entry(
            &format!("Reuse the plan of {name}"),
            Sessions::RunAgain(id),
        ));
    }
    offered
}

fn again(app: &App) -> impl Iterator<Item = Offered> {
    let titles = app.library.titles().into_iter();
    let can_run = |path: &Path| {
        let entry = app.library.entry(path);
        entry.is_some_and(|entry| entry.can_run_again().is_ok())
    };
    titles
        .filter(move |(path, _)| can_run(path))
        .map(|(path, title)| {
            anywhere(
                format!("Run {title} again…"),
                Action::Sessions(Sessions::RunFileAgain(path.clone())),
            )
        })
}

fn examples() -> impl Iterator<Item = Offered> {
    examples::ALL.iter().enumerate().map(|(place, example)| {
        anywhere(
            format!("Open the example {}", example.title),
            Action::Sessions(Sessions::OpenExample(place)),
        )
    })
}
