//! The table of nodes with what limits each.

use eframe::egui::{Sense, Ui, vec2};

use crate::theme;
use crate::views::rows_card;
use crate::widgets::data_table::{self, DataTable};
use crate::widgets::{label, marker};
use powerband_app::App;
use powerband_app::action::{Action, Why};
use powerband_app::why::WhyResult;
use powerband_findings::analysis::limits::bound::Bound;
use powerband_findings::chart::roofline;

/// Most height of the table.
const HEIGHT: f32 = 520.0;

/// Shows it; a row selects its point.
pub(super) fn table(ui: &mut Ui, app: &App, found: &WhyResult, actions: &mut Vec<Action>) {
    let Some(limits) = &found.limits else {
        return;
    };
    rows_card(ui, |ui| {
        let title = |ui: &mut Ui| {
            ui.add_space(10.0);
            label::card_title(ui, "Nodes");
        };
        if !data_table::tools(ui, app, "limits", actions, title) {
            return;
        }
        let nodes = &limits.nodes;
        let lead = |ui: &mut Ui, row: usize| {
            if let Some(node) = nodes.get(row) {
                sign(ui, node.bound.as_ref().ok().copied());
            }
        };
        let name = |row: usize| {
            let node = nodes.get(row).map_or("", |node| &node.short);
            format!("Select {node}")
        };
        let table = DataTable {
            id: "limits",
            height: HEIGHT,
            selected: app.profile.why.selected,
            name: Some(&name),
            lead: Some(&lead),
            ..DataTable::default()
        };
        let touched = table.show_with(ui, app, app.profile.why.selected, actions);
        if let Some(node) = touched.clicked {
            let again = app.profile.why.selected == Some(node);
            let node = Some(node).filter(|_| !again);
            actions.push(Action::Why(Why::Select(node)));
        }
    });
}

/// The marker of a class; a ring in grey where nothing is said.
pub(in crate::views) fn sign(ui: &mut Ui, bound: Option<Bound>) {
    let (rect, _) = ui.allocate_exact_size(vec2(12.0, 16.0), Sense::hover());
    let roles = theme::roles(ui);
    if let Some(index) = bound.and_then(roofline::bound_colour) {
        let color = roles.series(index);
        marker::paint(ui.painter(), rect.center(), index, 4.0, color);
    } else {
        let stroke = eframe::egui::Stroke::new(1.3, roles.faint);
        ui.painter().circle_stroke(rect.center(), 3.6, stroke);
    }
}
