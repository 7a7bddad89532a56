//! What on a screen has a menu of its own, and what can be done with it: the same entries under the right
//! button, under the menu key, and in the palette for what is selected.
//!
//! To add a kind: a variant of [`MenuTarget`], a line in [`menu`], and a `menu.rs` in the folder that it is about.

mod linked;
pub(crate) mod palette;

use std::path::PathBuf;

pub use linked::pinned_pair;

use crate::App;
use crate::kernels::{self, SelectedRow};
use crate::palette_entries::entry::Groups;
use crate::screen::{Door, Screen};
use crate::sessions::{self, Pin, SessionId};
use crate::{curves, library, plan, shell, timeline};
use powerband_core::domain::case::CaseKey;
use powerband_findings::analysis::breakdown::BreakdownLevel;
use powerband_findings::chart::spec::SeriesId;

/// An item on a screen that has a context menu.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MenuTarget {
    /// A setup of an open session, or a published curve.
    Series(SeriesId),
    /// A case of an open session.
    Case(Pin),
    /// An open session.
    Session(SessionId),
    /// A session of the library, by its file.
    File(PathBuf),
    /// A setup of the plan, by its place.
    Setup(usize),
    /// A node or an operator of the graph that an engine made of the network for a setup, by its name.
    Node(SeriesId, String, BreakdownLevel),
    /// A row of the kernels screen.
    Row(SelectedRow),
    /// A slice of the trace that is shown, by the trace's index.
    Slice(usize),
    /// A door of the rail.
    Door(Door),
}

/// What can be done with an item, in groups.
pub fn menu(app: &App, item: &MenuTarget) -> Groups {
    let mut groups = menu_on_machine(app, item);
    for group in &mut groups {
        group.retain(|offered| app.shared.offers_all(&offered.actions));
    }
    groups.retain(|group| !group.is_empty());
    groups
}

fn menu_on_machine(app: &App, item: &MenuTarget) -> Groups {
    match item {
        MenuTarget::Series(id) => curves::menu::of_series(app, *id),
        MenuTarget::Case(pin) => curves::menu::of_case(app, *pin),
        MenuTarget::Session(id) => sessions::menu::of_session(app, *id),
        MenuTarget::File(path) => library::menu::of_file(app, path),
        MenuTarget::Node(id, name, level) => curves::menu::of_node(app, *id, name, *level),
        MenuTarget::Row(row) => kernels::menu::of_row(app, row),
        MenuTarget::Slice(slice) => timeline::menu::of_slice(app, *slice),
        MenuTarget::Door(door) => shell::menu::door_menu(app, *door),
        MenuTarget::Setup(place) => plan::menu::of_setup(app, *place),
    }
}

/// What an item is called.
pub fn name(app: &App, item: &MenuTarget) -> String {
    match item {
        MenuTarget::Series(id) => {
            let (session, setup) = sessions::of_series(*id);
            app.shared.sessions.series_name(session, setup)
        }
        MenuTarget::Case(pin) => {
            let name = app.shared.sessions.series_name(pin.session, pin.case.setup);
            format!("{name}, {}", pin.case.point)
        }
        MenuTarget::Session(id) => app
            .shared
            .sessions
            .get(*id)
            .map_or_else(String::new, |open| app.shared.sessions.name(open)),
        MenuTarget::File(path) => {
            let entry = app.library.entry(path).map(|entry| entry.name.clone());
            let file = || {
                path.file_name()
                    .unwrap_or_default()
                    .to_string_lossy()
                    .into_owned()
            };
            entry.unwrap_or_else(file)
        }
        MenuTarget::Node(_, name, _) => name.clone(),
        MenuTarget::Row(row) => kernels::menu::name(row),
        MenuTarget::Slice(_) => "Slice".to_owned(),
        MenuTarget::Door(door) => door.title().to_owned(),
        MenuTarget::Setup(place) => format!("setup {}", place + 1),
    }
}

/// The items that a row of a table is about, by its place in the whole table.
pub fn of_row(app: &App, table: &str, row: usize) -> Vec<MenuTarget> {
    let drawn = &app.curves.drawn;
    match table {
        "cases" => drawn
            .cases
            .get(row)
            .map(|case| MenuTarget::Case(case.pin))
            .into_iter()
            .collect(),
        "shapes" => drawn
            .shapes
            .get(row)
            .map(|shape| MenuTarget::Series(shape.id))
            .into_iter()
            .collect(),
        "slowest" | "operators" => node(app, table, row).into_iter().collect(),
        "fleet" => {
            let machine = app
                .compare
                .fleet
                .shown()
                .and_then(|case| case.machines.get(row));
            let found = app.compare.fleet.found.result.as_ref();
            let pin = machine.and_then(|machine| found?.pin(machine));
            pin.map(MenuTarget::Case).into_iter().collect()
        }
        "pairs" => pair(app, row).into_iter().map(MenuTarget::Case).collect(),
        "kernels" | "categories" | "changes" => {
            let place = app.profile.kernels.drawn.rows.get(row);
            let meaning = place.and_then(|place| app.profile.kernels.row_meaning(*place));
            meaning.map(MenuTarget::Row).into_iter().collect()
        }
        "limits" => {
            let limits = app.profile.why.found.result.as_ref();
            let limits = limits.and_then(|found| found.limits.as_ref());
            let node = limits.and_then(|limits| limits.nodes.get(row));
            let name = node.map(|node| node.name.clone());
            let row = name.map(SelectedRow::Kernel).map(MenuTarget::Row);
            row.into_iter().collect()
        }
        "sessions" => {
            let listed = app.library.listed_at(row);
            let path = listed.map(|(path, _)| path.clone());
            path.map(MenuTarget::File).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// The node or the operator of a row of the tables about an engine's graph.
fn node(app: &App, table: &str, row: usize) -> Option<MenuTarget> {
    let card = &app.curves.drawn.graph;
    let id = card.shown.as_ref()?.id;
    if table == "operators" {
        let name = card.graph.operators.get(row)?.name.clone();
        return Some(MenuTarget::Node(id, name, BreakdownLevel::Operator));
    }
    let name = card.graph.slowest.get(row)?.name.clone();
    Some(MenuTarget::Node(id, name, BreakdownLevel::Kernel))
}

/// Both cases of a pair that is compared.
pub fn pair(app: &App, row: usize) -> Vec<Pin> {
    let Some((before, after, comparison)) = &app.compare.sides.found.result else {
        return Vec::new();
    };
    let pairs = comparison.pairs.get(row).into_iter();
    pairs
        .flat_map(|pair| {
            [
                (before.session, pair.before.setup, pair.before_point),
                (after.session, pair.after.setup, pair.after_point),
            ]
        })
        .map(|(session, setup, point)| Pin {
            session,
            case: CaseKey { setup, point },
        })
        .collect()
}

/// What is selected on the screen that is shown.
pub fn selected(app: &App) -> Vec<MenuTarget> {
    let case = || app.curves.pin.map(MenuTarget::Case);
    let item = match app.shared.screen {
        Screen::Curves | Screen::Compare => case(),
        Screen::Kernels => app.profile.kernels.selected().cloned().map(MenuTarget::Row),
        Screen::Timeline => app.profile.timeline.selected_slice().map(MenuTarget::Slice),
        Screen::Library => app.library.selected.clone().map(MenuTarget::File),
        _ => None,
    };
    item.into_iter().collect()
}
