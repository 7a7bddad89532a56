//! The card of the shape of each curve: fixed and per-item time, saturation, knee and largest batch.

use eframe::egui::Ui;

use crate::theme::space;
use crate::widgets::data_table::{self, DataTable};
use crate::widgets::{label, marker};
use powerband_app::App;
use powerband_app::action::{Action, Curves};

/// Most height of the table.
const TABLE: f32 = 280.0;

/// Shows it, where a curve has a shape.
pub(super) fn show(ui: &mut Ui, app: &App, changes: &mut Vec<Curves>, actions: &mut Vec<Action>) {
    if app.shared.tables.view("shapes").is_none() {
        return;
    }
    let shapes = &app.curves.drawn.shapes;
    super::super::rows_card(ui, |ui| {
        let title = |ui: &mut Ui| {
            ui.add_space(10.0);
            label::card_title(ui, "Shape of the curves").on_hover_text(
                "Latency ≈ fixed time + time per item × batch; the knee is the smallest batch with 90 % of the best throughput",
            );
        };
        if !data_table::tools(ui, app, "shapes", actions, title) {
            return;
        }
        let lead = |ui: &mut Ui, row: usize| {
            if let Some(shape) = shapes.get(row) {
                marker::inline(ui, shape.colour);
            }
        };
        let table = DataTable {
            id: "shapes",
            height: TABLE,
            lead: Some(&lead),
            ..DataTable::default()
        };
        let touched = table.show(ui, app, actions);
        if let Some(shape) = touched.hovered.and_then(|row| shapes.get(row)) {
            changes.push(Curves::Highlight(Some(shape.id)));
        }
    });
    ui.add_space(space::MEDIUM);
}
