//! The comparison of two sweeps over two dimensions: the speed-up of each point, with its verdict as a mark.

use eframe::egui::Ui;

use crate::theme;
use crate::widgets::{heat_map, label, menu, tip};
use powerband_app::App;
use powerband_app::action::{Action, Curves};
use powerband_app::items::MenuTarget;
use powerband_app::sessions::Pin;
use powerband_core::base::humanize;
use powerband_core::domain::case::CaseKey;
use powerband_findings::analysis::comparison::CasePair;
use powerband_findings::chart::heat_map::HeatMap;

pub(super) fn show(ui: &mut Ui, app: &App, map: &HeatMap, actions: &mut Vec<Action>) {
    theme::card(ui).show(ui, |ui| {
        ui.set_width(ui.available_width());
        ui.vertical(|ui| {
            let title = if map.fixed.is_empty() {
                map.title.clone()
            } else {
                format!("{}, {}", map.title, map.fixed)
            };
            label::card_title(ui, &title).on_hover_text(
                "How many times as fast each point is after; the table below has the same numbers with their intervals",
            );
            if map.is_empty() {
                label::quiet(ui, "No case was measured on both sides.");
                return;
            }
            for touched in heat_map::show(ui, "compare-map", map) {
                react(&touched, app, map, actions);
            }
        });
    });
}

fn react(touched: &heat_map::HeatMapInput, app: &App, map: &HeatMap, actions: &mut Vec<Action>) {
    let Some(panel) = map.panels.get(touched.panel) else {
        return;
    };
    let pair_of = |place| pair(app, map, panel.tag as usize, place);
    let pin_of = |pair: &CasePair| {
        let session = app.compare.sides.after?.session;
        let (setup, point) = (pair.after.setup, pair.after_point);
        let case = CaseKey { setup, point };
        Some(Pin { session, case })
    };
    let hovered = touched.hovered.and_then(pair_of);
    let item = hovered.and_then(pin_of).map(MenuTarget::Case);
    let pinned = app.curves.pin.map(MenuTarget::Case);
    menu::of_hovered(&touched.response, app, item, pinned, actions);
    if let Some(pin) = touched.clicked.and_then(pair_of).and_then(pin_of) {
        let pin = (app.curves.pin != Some(pin)).then_some(pin);
        actions.push(Action::Curves(Curves::Pin(pin)));
    }
    let Some(place) = touched
        .hovered
        .filter(|_| !menu::is_open(&touched.response))
    else {
        return;
    };
    tip::show(&touched.response, |ui| {
        label::quiet(ui, &humanize::capitalised(&map.cell_text(panel, place)));
        let Some(pair) = hovered else {
            return;
        };
        let unknown = || humanize::UNKNOWN.to_owned();
        let interval = pair.ratio.and_then(|ratio| ratio.interval_text());
        for (name, value) in [
            (
                pair.ratio.map_or("Interval", |ratio| ratio.interval_name()),
                interval,
            ),
            ("Median before", pair.before.median_text()),
            ("Median after", pair.after.median_text()),
        ] {
            ui.horizontal(|ui| {
                ui.set_width(260.0);
                label::pair(ui, name, &value.unwrap_or_else(unknown));
            });
        }
        if let Some(reason) = &pair.verdict.reason {
            label::quiet(ui, &format!("{}.", humanize::capitalised(reason)));
        }
    });
}

/// The pair of a cell.
fn pair<'a>(
    app: &'a App,
    map: &HeatMap,
    setup: usize,
    place: (usize, usize),
) -> Option<&'a CasePair> {
    let point = map.point(place)?;
    let (.., comparison) = app.compare.sides.found.result.as_ref()?;
    let mut pairs = comparison.pairs.iter();
    pairs.find(|pair| pair.after.setup == setup && pair.before_point == point)
}
