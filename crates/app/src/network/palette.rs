//! In the command palette: what the nodes of a network are coloured by, and the slowest of them.

use crate::App;
use crate::action::{Action, Network, Shell};
use crate::palette_entries::entry::{Offered, seen_on};
use crate::screen::Screen;
use powerband_core::base::humanize;
use powerband_findings::chart::network_colours::NetworkColouring;

/// Nodes that can be selected from the palette, from the one with most time on.
const NODES: usize = 24;

pub(crate) fn entries(app: &App) -> Vec<Offered> {
    let state = &app.profile.network;
    let Some(network) = state.network() else {
        return Vec::new();
    };
    let colourings = NetworkColouring::ALL.into_iter().map(|colouring| {
        let title = format!("colours by {}", colouring.title().to_lowercase());
        offer(&title, Network::Colouring(colouring))
    });
    let slowest = state.slowest().into_iter().take(NODES);
    let nodes = slowest.filter_map(|item| {
        let time = network.own_time(item)?;
        let share = humanize::percent(time.share);
        let title = format!("select {}, {share} of the time", time.short);
        Some(offer(&title, Network::Select(Some(item))))
    });
    let search = "Network: search nodes".to_owned();
    let field = Action::Shell(Shell::Cursor("Search nodes".to_owned()));
    let search = seen_on(Screen::Network, search, field);
    colourings.chain(nodes).chain([search]).collect()
}

fn offer(title: &str, change: Network) -> Offered {
    let title = format!("Network: {title}");
    seen_on(Screen::Network, title, Action::Network(change))
}
