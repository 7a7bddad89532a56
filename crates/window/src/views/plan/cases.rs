//! What the plan will measure: a table of its cases with the estimate of each, and the sum.

use eframe::egui::Ui;

use crate::theme::space;
use crate::views;
use crate::widgets::data_table::{self, DataTable};
use crate::widgets::{label, marker};
use powerband_app::App;
use powerband_app::action::Action;
use powerband_core::base::humanize;

/// Height from which on the rows scroll.
const HEIGHT: f32 = 340.0;

pub(super) fn show(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    views::rows_card(ui, |ui| {
        let title = |ui: &mut Ui| {
            ui.add_space(10.0);
            label::card_title(ui, "Cases of the plan");
        };
        let Some(plan) = app.bench.planned(&app.shared) else {
            ui.horizontal(title);
            ui.horizontal(|ui| {
                ui.add_space(10.0);
                label::quiet(ui, "Fix the marked fields to see what will be measured.");
            });
            return;
        };
        if !data_table::tools(ui, app, "planned", actions, title) {
            return;
        }
        let cases = plan.cases();
        let lead = |ui: &mut Ui, row: usize| {
            if let Some(case) = cases.get(row) {
                let look = plan.looks.get(case.setup);
                marker::inline(ui, look.and_then(|look| look.colour).unwrap_or(case.setup));
            }
        };
        let table = DataTable {
            id: "planned",
            height: HEIGHT,
            lead: Some(&lead),
            ..DataTable::default()
        };
        table.show(ui, app, actions);
        let refused = app.shared.machine.refused(&plan);
        let estimate = app.bench.estimate(&plan, &refused);
        ui.add_space(space::TINY);
        ui.horizontal(|ui| {
            ui.add_space(10.0);
            let cases = humanize::pluralised(estimate.cases as u64, "case");
            label::quiet(ui, &format!("Total: {cases}, {estimate}"));
        });
    });
}
