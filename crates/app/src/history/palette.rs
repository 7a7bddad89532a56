//! In the command palette: cases that can be followed through the library.

use super::{Following, point_or_first};
use crate::App;
use crate::action::{Action, History};
use crate::palette_entries::entry::{Offered, seen_on};
use crate::screen::Screen;
use crate::sessions::LIVE;

pub(crate) fn entries(app: &App) -> Vec<Offered> {
    let Some(following) = app.compare.history.following else {
        return Vec::new();
    };
    let all = app.compare.history.only.as_ref().map(|_| {
        let all = Action::History(History::Only(None));
        seen_on(Screen::History, "History: all sessions of the library", all)
    });
    let shows_all = app.compare.history.shows_all_cases;
    let title = if shows_all {
        "History: followed case alone"
    } else {
        "History: all cases of the session"
    };
    let cases = Action::History(History::AllCases(!shows_all));
    setups(app, following)
        .into_iter()
        .chain(all)
        .chain([seen_on(Screen::History, title, cases)])
        .chain(points(app, following))
        .collect()
}

fn offer(title: &str, following: Following) -> Offered {
    seen_on(
        Screen::History,
        format!("History: {title}"),
        Action::History(History::Follow(following)),
    )
}

fn setups(app: &App, following: Following) -> Vec<Offered> {
    let mut offered = Vec::new();
    for open in app.shared.sessions.iter().filter(|open| open.id != LIVE) {
        for setup in 0..open.session.plan.setups.len() {
            let name = app.shared.sessions.series_name(open.id, setup);
            let other = Following {
                session: open.id,
                setup,
                point: point_or_first(open, following.point),
            };
            offered.push(offer(&format!("follow {name}"), other));
        }
    }
    offered
}

fn points(app: &App, following: Following) -> Vec<Offered> {
    let open = app.shared.sessions.get(following.session);
    let points = open.map_or(&[][..], |open| &open.session.plan.points);
    let others = points.iter().filter(|point| **point != following.point);
    others
        .map(|&point| offer(&point.to_string(), Following { point, ..following }))
        .collect()
}
