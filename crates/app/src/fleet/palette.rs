//! In the command palette: cases that ran on several machines, and which sessions are compared.

use super::CaseChoice;
use crate::App;
use crate::action::{Action, Fleet};
use crate::palette_entries::entry::{Offered, seen_on};
use crate::screen::Screen;

pub(crate) fn entries(app: &App) -> Vec<Offered> {
    let all = app.compare.fleet.only.as_ref();
    let all = all.map(|_| offer("all open sessions", Fleet::Only(None)));
    let title = if app.compare.fleet.each_session {
        "count sessions of the same hardware as one machine"
    } else {
        "count each session as a machine"
    };
    let each = offer(title, Fleet::EachSession(!app.compare.fleet.each_session));
    let each = (app.shared.sessions.len() > 1).then_some(each);
    all.into_iter().chain(each).chain(cases(app)).collect()
}

fn cases(app: &App) -> Vec<Offered> {
    let Some(found) = &app.compare.fleet.found.result else {
        return Vec::new();
    };
    let shown = app.compare.fleet.shown();
    let others = found.fleet.cases.iter().filter(|case| shown != Some(case));
    let several = found.fleet.has_several_models();
    others
        .map(|case| {
            let title = format!("show {}", case.name(several));
            offer(&title, Fleet::Show(CaseChoice::from_case(case)))
        })
        .collect()
}

fn offer(title: &str, fleet: Fleet) -> Offered {
    seen_on(
        Screen::Fleet,
        format!("Fleet: {title}"),
        Action::Fleet(fleet),
    )
}
