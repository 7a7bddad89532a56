//! In the command palette: sessions whose steps can be shown.

use super::{StepsSubject, has_ladder, has_steps};
use crate::App;
use crate::action::{Action, Journey};
use crate::palette_entries::entry::{Offered, seen_on};
use crate::screen::Screen;
use crate::sessions::LIVE;

pub(crate) fn entries(app: &App) -> Vec<Offered> {
    let with_steps = app.shared.sessions.iter().filter(|open| has_steps(open));
    let mut offered: Vec<Offered> = with_steps
        .map(|open| {
            let name = app.shared.sessions.name(open);
            offer(&format!("show {name}"), StepsSubject::at_first_point(open))
        })
        .collect();
    let looking = app.compare.journey.looking;
    let shown =
        looking.and_then(|looking| Some((looking, app.shared.sessions.get(looking.session)?)));
    if let Some((looking, open)) = shown
        && !has_ladder(open)
        && open.id != LIVE
    {
        let points = open.session.plan.points.iter();
        let others = points.filter(|point| **point != looking.point);
        offered.extend(
            others.map(|&point| offer(&point.to_string(), StepsSubject { point, ..looking })),
        );
    }
    offered
}

fn offer(title: &str, looking: StepsSubject) -> Offered {
    seen_on(
        Screen::Journey,
        format!("Steps: {title}"),
        Action::Journey(Journey::Look(looking)),
    )
}
