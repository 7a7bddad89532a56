//! What can be done with a series, and with a case.

use crate::App;
use crate::action::{
    Action, Compare, Curves, FigureAction, History, Kernels, Network, RunAction, Sessions, Shell,
    Why,
};
use crate::compare::profiles::profile_of;
use crate::compare::{self, is_comparable};
use crate::history::Following;
use crate::kernels;
use crate::palette_entries::entry::{Groups, Offered, all_of, anywhere, seen_on};
use crate::screen::Screen;
use crate::sessions::{self, LIVE, OpenSession, Pin};
use crate::tables::action::TableChange;
use crate::why::{WhySubject, can_be_asked};
use powerband_core::domain::case::CaseKey;
use powerband_core::domain::point::Point;
use powerband_findings::analysis::breakdown::BreakdownLevel;
use powerband_findings::chart::spec::SeriesId;

/// What can be done with a series: a setup of an open session, or a published curve.
pub(crate) fn of_series(app: &App, id: SeriesId) -> Groups {
    let (session, setup) = sessions::of_series(id);
    let Some(open) = app.shared.sessions.get(session) else {
        return Vec::new();
    };
    let mut groups = vec![visibility_entries(app, id)];
    if setup < open.session.plan.setups.len() {
        groups.push(sides(open, setup, None));
        groups.push(screen_entries(app, open, setup, None));
    }
    groups.push(copies(app, id));
    groups
}

/// What can be done with a case.
pub(crate) fn of_case(app: &App, pin: Pin) -> Groups {
    let Some(open) = app.shared.sessions.get(pin.session) else {
        return Vec::new();
    };
    let CaseKey { setup, point } = pin.case;
    let id = sessions::series(pin.session, setup);
    vec![
        pin_entries(app, pin),
        sides(open, setup, Some(point)),
        screen_entries(app, open, setup, Some(point)),
        visibility_entries(app, id),
        copies(app, id),
    ]
}

fn curves(title: &str, change: Curves) -> Offered {
    seen_on(Screen::Curves, title, Action::Curves(change))
}

fn pin_entries(app: &App, pin: Pin) -> Vec<Offered> {
    if app.curves.pin == Some(pin) {
        return vec![curves("Unpin", Curves::Pin(None))];
    }
    let mut offered = vec![curves("Pin: show its samples", Curves::Pin(Some(pin)))];
    if app.curves.second == Some(pin) {
        offered.push(curves("Unpin the second case", Curves::PinSecond(None)));
    } else if app.curves.pin.is_some() {
        let second = Curves::PinSecond(Some(pin));
        offered.push(curves("Pin beside the pinned case", second));
    }
    offered
}

/// Menu entries that show, hide or isolate a series.
fn visibility_entries(app: &App, id: SeriesId) -> Vec<Offered> {
    let legend = &app.curves.drawn.legend;
    let Some(entry) = legend.iter().find(|entry| entry.id == id) else {
        return Vec::new();
    };
    let mut offered = Vec::new();
    if !entry.is_apart {
        let doing = if entry.shown {
            "Hide this series"
        } else {
            "Show this series"
        };
        offered.push(curves(doing, Curves::ToggleSeries(id)));
    }
    let others = legend.iter().filter(|other| other.id != id && other.shown);
    if others.count() > 0 {
        offered.push(curves("Show this series only", Curves::OnlySeries(id)));
    }
    if !app.curves.hidden.is_empty() {
        offered.push(curves("Show every series", Curves::ShowAll));
    }
    offered
}

/// One side of a comparison.
fn sides(open: &OpenSession, setup: usize, point: Option<Point>) -> Vec<Offered> {
    let pick = compare::SideChoice::of_setup(open.id, setup);
    if !is_comparable(open) {
        return Vec::new();
    }
    let offer = |title: &str, request| seen_on(Screen::Compare, title, Action::Compare(request));
    let mut offered = vec![
        offer("Set as before", Compare::Before(pick)),
        offer("Set as after", Compare::After(pick)),
    ];
    if let Some(point) = point {
        let pick = compare::SideChoice {
            point: Some(point),
            ..pick
        };
        offered.push(offer(
            &format!("Set {point} alone as before"),
            Compare::Before(pick),
        ));
        offered.push(offer(
            &format!("Set {point} alone as after"),
            Compare::After(pick),
        ));
    }
    offered
}

/// Menu entries that open it on other screens.
fn screen_entries(
    app: &App,
    open: &OpenSession,
    setup: usize,
    point: Option<Point>,
) -> Vec<Offered> {
    let mut offered = Vec::new();
    if open.id != LIVE {
        let first = open.session.plan.points.first().copied();
        if let Some(point) = point.or(first) {
            let following = Following {
                session: open.id,
                setup,
                point,
            };
            let actions = [History::Only(None), History::Follow(following)];
            let mut all = vec![Action::Go(Screen::History)];
            all.extend(actions.map(Action::History));
            offered.push(all_of("Follow it through the library", all));
        }
    }
    if let Some(pick) = profile_of(open, setup, point) {
        let titles = ["Open in Kernels", "Show on the timeline"];
        offered.extend(kernels::menu::of_profile(app, pick, titles));
    }
    offered.extend(explained(open, setup, point));
    let id = sessions::series(open.id, setup);
    if app
        .curves
        .drawn
        .graph
        .choices
        .iter()
        .any(|one| one.id == id)
    {
        offered.push(graph_tables("Show the engine's graph", id));
    }
    let again = Action::Sessions(Sessions::RunAgain(open.id));
    let can_run = open.session.plan.can_run().then_some(());
    let can_run = can_run.ok_or("the session was not measured here");
    offered.push(anywhere("Reuse the plan", again).only_if(can_run));
    offered
}

/// The tables of what the engine made of the network of a setup.
pub(crate) fn graph_tables(title: impl Into<String>, id: SeriesId) -> Offered {
    let graph = Action::Curves(Curves::Examined(id));
    let mut offered = seen_on(Screen::Network, title, graph);
    offered.actions.push(Action::Network(Network::Tables(true)));
    offered
}

/// What limits it: by the model where it has a profile, and by experiment.
fn explained(open: &OpenSession, setup: usize, point: Option<Point>) -> Vec<Offered> {
    let profile = profile_of(open, setup, point);
    let look = profile.map(|pick| {
        let looking = WhySubject {
            session: pick.session,
            profile: Some(pick.profile),
        };
        let look = Action::Why(Why::Look(looking));
        seen_on(Screen::Why, "Show what limits it", look)
    });
    let ask = point.map(|point| {
        let case = CaseKey { setup, point };
        let session = open.id;
        let ask = Action::Run(RunAction::Why(Pin { session, case }, None));
        anywhere("Why? Measure experiments on it", ask).only_if(can_be_asked(open, case))
    });
    look.into_iter().chain(ask).collect()
}

/// What can be done with a node or an operator of an engine's graph, by its name.
pub(crate) fn of_node(app: &App, id: SeriesId, name: &str, level: BreakdownLevel) -> Groups {
    let (session, setup) = sessions::of_series(id);
    let open = app.shared.sessions.get(session);
    let profile = open.and_then(|open| profile_of(open, setup, None));
    let copy = Action::Shell(Shell::Copy(name.to_owned()));
    let mut offered = vec![anywhere("Copy the whole name", copy)];
    if let Some(pick) = profile {
        let actions = [
            Kernels::Look(pick),
            Kernels::AllRows,
            Kernels::Level(level),
            Kernels::Filter(name.to_owned()),
        ];
        let mut shown = vec![Action::Go(Screen::Kernels)];
        shown.extend(actions.map(Action::Kernels));
        offered.insert(0, all_of("Show it in Kernels", shown));
    }
    vec![offered]
}

fn copies(app: &App, id: SeriesId) -> Vec<Offered> {
    let (session, setup) = sessions::of_series(id);
    let name = app.shared.sessions.series_name(session, setup);
    let copy = Action::Shell(Shell::Copy(name.clone()));
    let filter = Action::Table("cases", TableChange::Filter(name));
    let picture = Action::Figures(FigureAction::CopyNear);
    vec![
        anywhere("Copy the name", copy),
        anywhere("Copy the picture of the chart", picture),
        seen_on(Screen::Curves, "List all its cases", filter),
    ]
}
