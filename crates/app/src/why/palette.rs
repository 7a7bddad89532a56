//! In the command palette: what can be asked about, and the nodes with most of the time.

use super::{name, subjects};
use crate::App;
use crate::action::{Action, Why};
use crate::palette_entries::entry::{Offered, seen_on};
use crate::screen::Screen;
use powerband_core::base::humanize;

/// Nodes that can be selected from the palette, from the one with most time on.
const NODES: usize = 24;

pub(crate) fn entries(app: &App) -> Vec<Offered> {
    let looking = app.profile.why.looking;
    let others = subjects(&app.shared.sessions)
        .into_iter()
        .filter(|subject| Some(*subject) != looking);
    let others = others.map(|subject| {
        let title = format!("why is {} slow", name(&app.shared.sessions, subject));
        offer(&title, Why::Look(subject))
    });
    let limits = app.profile.why.found.result.as_ref();
    let limits = limits.and_then(|found| found.limits.as_ref());
    let nodes = limits.iter().flat_map(|limits| &limits.nodes);
    let nodes = nodes.take(NODES).enumerate().map(|(place, node)| {
        let share = humanize::percent(node.share);
        let title = format!("select {}, {share} of the time", node.short);
        offer(&title, Why::Select(Some(place)))
    });
    others.chain(nodes).collect()
}

fn offer(title: &str, change: Why) -> Offered {
    seen_on(Screen::Why, format!("Why: {title}"), Action::Why(change))
}
