//! Commands about the picture of a network.

use super::Direction;
use crate::App;
use crate::action::{Action, Network};
use crate::command::entry::{Command, command};
use crate::screen::Screen;
use powerband_findings::analysis::network::modules::Item;

pub(crate) const ALL: &[Command] = &[
    command(
        "network-engine",
        "Network: as the engine runs it, or as the file has it",
        "",
        |app| {
            let is_engine = app.profile.network.view.is_engine;
            drawn(app).map(|()| Action::Network(Network::Engine(!is_engine)))
        },
    ),
    command("network-tables", "Network: picture or tables", "", |app| {
        Ok(Action::Network(Network::Tables(
            !app.profile.network.shows_tables,
        )))
    }),
    command(
        "network-slowest",
        "Network: next slowest node",
        "J",
        |app| slowest(app, Direction::Next),
    ),
    command(
        "network-slower",
        "Network: previous slowest node",
        "Shift+J",
        |app| slowest(app, Direction::Previous),
    ),
    command(
        "network-open-all",
        "Network: open every module",
        "",
        |app| drawn(app).map(|()| Action::Network(Network::OpenAll)),
    ),
    command("network-fold", "Network: fold to a page", "", |app| {
        drawn(app).map(|()| Action::Network(Network::Fold))
    }),
    command("network-found", "Network: next match", "", |app| {
        found(app, Direction::Next)
    }),
    command("network-found-back", "Network: previous match", "", |app| {
        found(app, Direction::Previous)
    }),
    command(
        "network-toggle",
        "Network: open or close the selected module",
        "",
        |app| match app.profile.network.selected {
            Some(Item::Module(module)) => Ok(Action::Network(Network::Toggle(module))),
            _ => Err("no module is selected"),
        },
    ),
    command(
        "network-zoom",
        "Network: zoom to what is selected",
        "",
        |app| match app.profile.network.selected {
            Some(_) => drawn(app).map(|()| Action::Network(Network::Zoom)),
            None => Err("nothing is selected"),
        },
    ),
    command(
        "network-free",
        "Network: exclude what is selected from the estimate, or include it",
        "",
        |app| {
            let state = &app.profile.network;
            let item = state.selected.ok_or("no node is selected")?;
            let estimate = state.network().and_then(|network| network.without([item]));
            let estimate = estimate.map(|_| Action::Network(Network::Free(item)));
            estimate.ok_or("no estimate can be made without what is selected")
        },
    ),
    command(
        "network-free-nothing",
        "Network: include everything in the estimate",
        "",
        |app| {
            if app.profile.network.free.is_empty() {
                Err("nothing is excluded")
            } else {
                Ok(Action::Network(Network::FreeNothing))
            }
        },
    ),
    command(
        "network-none",
        "Network: select nothing",
        "",
        |app| match app.profile.network.selected {
            Some(_) => Ok(Action::Network(Network::Select(None))),
            None => Err("nothing is selected"),
        },
    ),
];

fn drawn(app: &App) -> Result<(), &'static str> {
    let network = app.profile.network.network();
    network.map(|_| ()).ok_or("no network is drawn")
}

/// The key acts where the picture is shown.
fn slowest(app: &App, direction: Direction) -> Result<Action, &'static str> {
    if !app.shared.shows(Screen::Network) {
        return Err("the network is not shown");
    }
    if app.profile.network.slowest().is_empty() {
        Err("no node has a time")
    } else {
        Ok(Action::Network(Network::Slowest(direction)))
    }
}

fn found(app: &App, direction: Direction) -> Result<Action, &'static str> {
    if app.profile.network.matches.is_empty() {
        Err("no node is found")
    } else {
        Ok(Action::Network(Network::Found(direction)))
    }
}
