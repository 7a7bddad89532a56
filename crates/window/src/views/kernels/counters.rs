//! Hardware counters.

use eframe::egui::Ui;

use crate::widgets::data_table::{self, DataTable};
use crate::widgets::label;
use powerband_app::App;
use powerband_app::action::Action;
use powerband_core::base::humanize;
use powerband_core::domain::profile::Counter;

/// A row for each kernel and counter that the filter leaves.
pub(super) fn show(ui: &mut Ui, app: &App, counters: &[Counter], actions: &mut Vec<Action>) {
    let places = &app.profile.kernels.drawn.counters;
    super::super::card(ui, |ui| {
        let title = |ui: &mut Ui| {
            label::card_title(ui, "Counters").on_hover_text(
                "What the hardware counted, added up over the launches of each kernel",
            );
        };
        if places.is_empty() {
            title(ui);
            let all = humanize::pluralised(counters.len() as u64, "counter");
            label::quiet(ui, &format!("None of {all} matches the filter above."));
            return;
        }
        if data_table::tools(ui, app, "counters", actions, title) {
            let table = DataTable {
                id: "counters",
                height: 320.0,
                ..DataTable::default()
            };
            table.show(ui, app, actions);
        }
        if places.len() < counters.len() {
            let hidden = humanize::count((counters.len() - places.len()) as u64);
            label::quiet(ui, &format!("{hidden} more do not match the filter above"));
        }
    });
}
