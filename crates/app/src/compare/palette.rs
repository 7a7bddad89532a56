//! In the command palette: what can be either side of the comparison.

use super::comparable_setups;
use super::profiles::side_of_profile;
use super::{SideChoice, is_comparable, whole_name};
use crate::App;
use crate::action::{Action, Compare};
use crate::kernels;
use crate::palette_entries::entry::{Offered, seen_on};
use crate::screen::Screen;
use crate::sessions::OpenSession;

pub(crate) fn entries(app: &App) -> Vec<Offered> {
    let comparable = app
        .shared
        .sessions
        .iter()
        .filter(|open| is_comparable(open));
    comparable
        .flat_map(|open| sides(app, open))
        .chain(profiles(app))
        .chain(points(app))
        .collect()
}

/// Every profile, where there are two to be compared.
fn profiles(app: &App) -> Vec<Offered> {
    let sessions = &app.shared.sessions;
    let known = kernels::profile_refs(sessions).into_iter();
    known
        .flat_map(|pick| {
            let name = format!("the profile {}", kernels::words::name(sessions, pick));
            both(&name, side_of_profile(sessions, pick))
        })
        .collect()
}

fn offer(side: &str, name: &str, request: Compare) -> Offered {
    seen_on(
        Screen::Compare,
        format!("Compare: {side} is {name}"),
        Action::Compare(request),
    )
}

fn both(name: &str, pick: SideChoice) -> [Offered; 2] {
    [
        offer("before", name, Compare::Before(pick)),
        offer("after", name, Compare::After(pick)),
    ]
}

/// Every setup of a session, and the session as a whole.
fn sides(app: &App, open: &OpenSession) -> Vec<Offered> {
    let whole = (app.shared.sessions.len() > 1 && !open.session.plan.setups.is_empty())
        .then(|| {
            both(
                &whole_name(&app.shared.sessions, open),
                SideChoice::of_session(open.id),
            )
        })
        .into_iter()
        .flatten();
    let setups = comparable_setups(open).flat_map(|setup| {
        let name = app.shared.sessions.series_name(open.id, setup);
        both(&name, SideChoice::of_setup(open.id, setup))
    });
    whole.chain(setups).collect()
}

/// One batch size of the sides as they are, or all.
fn points(app: &App) -> Vec<Offered> {
    let sides = [
        (
            "before",
            app.compare.sides.before,
            Compare::Before as fn(SideChoice) -> _,
        ),
        ("after", app.compare.sides.after, Compare::After),
    ];
    let mut offered = Vec::new();
    for (side, pick, request) in sides {
        let Some((pick, open)) =
            pick.and_then(|pick| Some((pick, app.shared.sessions.get(pick.session)?)))
        else {
            continue;
        };
        if pick.point.is_some() {
            offered.push(offer(
                side,
                "all its batches",
                request(SideChoice {
                    point: None,
                    ..pick
                }),
            ));
        }
        let points = open
            .comparable_session()
            .plan
            .points
            .iter()
            .copied()
            .map(Some);
        let is_setup = !pick.whole && pick.profile.is_none();
        let others = points.filter(|point| is_setup && *point != pick.point);
        for point in others {
            let name = point.map_or_else(String::new, |point| point.to_string());
            offered.push(offer(side, &name, request(SideChoice { point, ..pick })));
        }
    }
    offered
}
