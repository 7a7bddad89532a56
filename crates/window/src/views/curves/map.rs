//! The card of the heat map: which quantity of which setup over which dimensions, and the map itself.

use eframe::egui::{Align, Layout, Ui};

use super::{hover, hover_words, pinned_by};
use crate::theme::{self, space};
use crate::widgets::heat_map::{self, Head, HeatMapInput};
use crate::widgets::{label, menu, segmented, tip};
use powerband_app::App;
use powerband_app::action::{Action, Curves};
use powerband_app::curves::heat::{DrawnMap, SweepView};
use powerband_app::items::MenuTarget;
use powerband_core::base::humanize;
use powerband_findings::chart::heat_map::cases::MapQuantity;
use powerband_findings::chart::spec::SeriesId;

/// Letters of a setup's name in its chip.
const NAME: usize = 28;
/// With more setups than these, chips would fill the card.
const MOST_SETUPS: usize = 8;

/// Shows it, where two dimensions vary and it is wanted.
pub(super) fn show(ui: &mut Ui, app: &App, changes: &mut Vec<Curves>, actions: &mut Vec<Action>) {
    let Some(drawn) = app.curves.drawn.map.as_ref() else {
        return;
    };
    if app.curves.map.shown == SweepView::Curves {
        return;
    }
    theme::card(ui).show(ui, |ui| {
        ui.set_width(ui.available_width());
        ui.vertical(|ui| {
            header(ui, app, drawn, changes);
            setups(ui, drawn, changes);
            ui.add_space(space::SMALL);
            if drawn.map.is_empty() && !drawn.map.has_missing() {
                label::quiet(ui, "No case at these sizes was measured.");
                return;
            }
            for touched in heat_map::show(ui, "heat-map", &drawn.map) {
                react(&touched, app, drawn, changes, actions);
            }
        });
    });
    ui.add_space(space::MEDIUM);
}

fn header(ui: &mut Ui, app: &App, drawn: &DrawnMap, changes: &mut Vec<Curves>) {
    ui.horizontal(|ui| {
        let title = if drawn.map.fixed.is_empty() {
            drawn.map.title.clone()
        } else {
            format!("{}, {}", drawn.map.title, drawn.map.fixed)
        };
        label::card_title(ui, &title).on_hover_text(
            "A cell for each point of the sweep. A click on a cell pins it; a click on the size of a row or a column draws its curve",
        );
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            ui.spacing_mut().item_spacing.x = space::SMALL;
            let known: Vec<(MapQuantity, String, &str)> = drawn
                .quantities
                .iter()
                .map(|one| (*one, one.to_string(), one.sentence()))
                .collect();
            if known.len() > 1 {
                let taken = segmented::show(ui, "Heat map of", drawn.quantity, &known);
                changes.extend(taken.map(Curves::Mapped));
            }
            let others = &app.curves.drawn.axes.others;
            if others.len() > 1 {
                let help = "The dimension of the sweep that stands upwards";
                let names = others.iter().map(|other| other.dimension.name);
                let choices: Vec<(&str, String, &str)> =
                    names.map(|name| (name, name.to_owned(), help)).collect();
                let mut names = choices.iter().map(|choice| choice.0);
                let chosen = names.find(|name| *name == drawn.map.y.name);
                let taken = segmented::exact(ui, "Upwards", chosen.unwrap_or_default(), &choices);
                changes.extend(taken.map(Curves::Upwards));
            }
        });
    });
}

/// Which setup is shown, where there are several.
fn setups(ui: &mut Ui, drawn: &DrawnMap, changes: &mut Vec<Curves>) {
    if drawn.setups.len() < 2 {
        return;
    }
    ui.add_space(space::TINY);
    let names: Vec<&str> = drawn
        .setups
        .iter()
        .map(|(_, name, _)| name.as_str())
        .collect();
    let short = humanize::shorten_apart(&names, NAME);
    let all = (None, "Every setup".to_owned(), "A field for each setup");
    let own = drawn.setups.iter().zip(short);
    let own = own.map(|((id, name, _), short)| (Some(*id), short, name.as_str()));
    let mut choices: Vec<(Option<SeriesId>, String, &str)> = vec![all];
    choices.extend(own.take(MOST_SETUPS));
    ui.horizontal_wrapped(|ui| {
        let taken = segmented::exact(ui, "Setup of the heat map", drawn.setup, &choices);
        changes.extend(taken.map(Curves::MapSetup));
    });
}

fn react(
    touched: &HeatMapInput,
    app: &App,
    drawn: &DrawnMap,
    changes: &mut Vec<Curves>,
    actions: &mut Vec<Action>,
) {
    let pin_of = |place| drawn.pin(touched.panel, place);
    let hovered = touched.hovered.and_then(pin_of);
    let pinned = app.curves.pin.map(MenuTarget::Case);
    menu::of_hovered(
        &touched.response,
        app,
        hovered.map(MenuTarget::Case),
        pinned,
        actions,
    );
    if let Some(pin) = touched.clicked.and_then(pin_of) {
        let is_second = touched.response.ctx.input(|input| input.modifiers.shift);
        changes.push(pinned_by(app, pin, is_second));
    }
    let (x, y) = (&drawn.map.x, &drawn.map.y);
    let axes = &app.curves.drawn.axes;
    let name_of = |name: &str| {
        let mut varying = axes.varying.iter();
        varying.find(|one| one.name == name).map(|one| one.name)
    };
    if let (Some(head), Some(along), Some(up)) = (touched.head, name_of(&x.name), name_of(&y.name))
    {
        let change = match head {
            Head::Column(column) => x
                .sizes
                .get(column)
                .map(|size| Curves::Along(up, along, *size)),
            Head::Row(row) => y.sizes.get(row).map(|size| Curves::Along(along, up, *size)),
        };
        changes.extend(change);
    }
    if let (Some(place), Some(panel)) = (touched.hovered, drawn.map.panels.get(touched.panel))
        && !menu::is_open(&touched.response)
    {
        let said = drawn.map.cell_text(panel, place);
        let words = hovered.map_or_else(Vec::new, |pin| hover_words(app, pin));
        tip::show(&touched.response, |ui| {
            label::quiet(ui, &humanize::capitalised(&said));
            hover(ui, &words);
        });
    }
}
