//! The card beside the picture of a network: what is selected, with its lines, its neighbours, and what it would bring
//! if it took no time.

use eframe::egui::{ScrollArea, Ui};

use crate::icon;
use crate::theme::{self, space};
use crate::widgets::chart::{self, ChartOptions};
use crate::widgets::{button, label};
use powerband_app::App;
use powerband_app::action::{Action, Network};
use powerband_app::screen::Screen;
use powerband_findings::analysis::network::facts::{Fact, WhatIf};
use powerband_findings::analysis::network::modules::Item;
use powerband_findings::chart::network::NetworkFigure;

/// Neighbours that are listed on each side.
const NEIGHBOURS: usize = 6;
/// Height of the histogram of a constant.
const HISTOGRAM: f32 = 110.0;

/// Shows what is selected; or the whole network where nothing is.
pub(super) fn show(ui: &mut Ui, app: &App, picture: &NetworkFigure, actions: &mut Vec<Action>) {
    let network = &picture.network;
    let item = picture.selected.unwrap_or(Item::Module(0));
    theme::card(ui).show(ui, |ui| {
        ui.set_width(ui.available_width());
        let area = ScrollArea::vertical().auto_shrink([false, true]);
        area.show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = space::TINY;
            label::card_title(
                ui,
                &label::fitted(ui, &network.item_name(item), ui.available_width()),
            )
            .on_hover_text(network.item_name(item));
            for fact in network.facts(item) {
                show_fact(ui, &fact);
            }
            values(ui, app);
            buttons(ui, app, item, actions);
            what_if(ui, app, picture, item, actions);
            neighbours(ui, app, actions);
            if picture.selected.is_none() {
                for note in &network.notes {
                    label::faint(ui, note);
                }
            }
        });
    });
}

fn show_fact(ui: &mut Ui, fact: &Fact) {
    label::caption(ui, &fact.name);
    label::quiet(ui, &fact.value);
}

/// The values of the largest constant of the selected node.
fn values(ui: &mut Ui, app: &App) {
    let state = &app.profile.network;
    match &state.weight.result {
        Some(Ok(figure)) => {
            if figure.histogram.has_points() {
                label::caption(ui, &figure.histogram.title);
                let look = ChartOptions {
                    height: HISTOGRAM,
                    highlighted: None,
                    zooms: false,
                    crosshair: false,
                };
                chart::show(ui, "weight-values", &figure.histogram, look);
            }
            for fact in &figure.facts {
                show_fact(ui, fact);
            }
        }
        Some(Err(reason)) => {
            label::faint(ui, &format!("Values not known: {reason}"));
        }
        None if state.weight.busy().is_some() => {
            label::faint(ui, "Reading the weights…");
        }
        None => {}
    }
}

/// Other screens on which the item is shown.
fn buttons(ui: &mut Ui, app: &App, item: Item, actions: &mut Vec<Action>) {
    let state = &app.profile.network;
    ui.add_space(space::SMALL);
    ui.horizontal_wrapped(|ui| {
        if let Item::Module(module) = item
            && state
                .network()
                .is_some_and(|network| network.tree.modules[module].opens())
        {
            let is_open = state.view.open.contains(&module);
            let name = if is_open { "Close" } else { "Open" };
            if button::labelled(ui, Some(icon::FOLD), name).clicked() {
                actions.push(Action::Network(Network::Toggle(module)));
            }
        }
        let has_time = state
            .network()
            .is_some_and(|network| network.own_time(item).is_some());
        if has_time {
            for screen in [Screen::Kernels, Screen::Timeline, Screen::Why] {
                if button::labelled(ui, None, screen.title()).clicked() {
                    actions.push(Action::Go(screen));
                }
            }
        }
    });
}

/// What a run would take without the parts that are reckoned with as free.
fn what_if(ui: &mut Ui, app: &App, picture: &NetworkFigure, item: Item, actions: &mut Vec<Action>) {
    let state = &app.profile.network;
    let network = &picture.network;
    let is_whole = item == Item::Module(0);
    if let Some(estimate) = network.without([item]).filter(|_| !is_whole) {
        ui.add_space(space::SMALL);
        label::caption(ui, "What if").on_hover_text(WhatIf::FORMULA);
        for fact in estimate.facts() {
            show_fact(ui, &fact);
        }
        let is_free = state.free.contains(&item);
        let name = if is_free { "Include" } else { "Exclude" };
        if button::labelled(ui, None, name).clicked() {
            actions.push(Action::Network(Network::Free(item)));
        }
    }
    if state.free.is_empty() {
        return;
    }
    ui.add_space(space::SMALL);
    let names: Vec<String> = state
        .free
        .iter()
        .map(|item| network.item_name(*item))
        .collect();
    label::caption(ui, "Excluded").on_hover_text(WhatIf::FORMULA);
    label::quiet(ui, &names.join(", "));
    if let Some(estimate) = network.without(state.free.iter().copied()) {
        for fact in estimate.facts() {
            show_fact(ui, &fact);
        }
    }
    if button::labelled(ui, Some(icon::UNDO), "Include all").clicked() {
        actions.push(Action::Network(Network::FreeNothing));
    }
}

/// The nodes that the selected item reads, and those that read it.
fn neighbours(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let state = &app.profile.network;
    let (Some(network), Some((_, around))) = (state.network(), &state.neighbours) else {
        return;
    };
    for (title, nodes) in [("Reads", &around.reads), ("Read by", &around.readers)] {
        if nodes.is_empty() {
            continue;
        }
        ui.add_space(space::SMALL);
        label::caption(ui, title);
        for node in nodes.iter().take(NEIGHBOURS) {
            let item = Item::Node(*node);
            let name = network.item_name(item);
            let short = label::fitted(ui, &name, ui.available_width() - space::MEDIUM);
            if ui.link(short).on_hover_text(name).clicked() {
                actions.push(Action::Network(Network::Select(Some(item))));
            }
        }
        if nodes.len() > NEIGHBOURS {
            label::faint(ui, &format!("{} more", nodes.len() - NEIGHBOURS));
        }
    }
}
