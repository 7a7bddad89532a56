//! The card of speed and accuracy: every setup that was compared, and the Pareto front.

use eframe::egui::{Align, ComboBox, Layout, Ui};

use super::title;
use crate::theme::{self, space};
use crate::widgets::chart::{self, ChartInput, ChartOptions};
use crate::widgets::data_table::{self, DataTable};
use crate::widgets::{label, marker, segmented, tip};
use powerband_app::App;
use powerband_app::action::{Action, Curves};
use powerband_app::curves::trade_off::{TradeOff, TradeOffRow};
use powerband_findings::analysis::trade_off::{Quality, SpeedPoint};
use powerband_findings::chart::spec::SeriesId;

/// Height of the chart.
const CHART: f32 = 260.0;
/// Most height of the table below it.
const TABLE: f32 = 280.0;

/// Shows it, where a session has accuracies.
pub(super) fn show(ui: &mut Ui, app: &App, changes: &mut Vec<Curves>, actions: &mut Vec<Action>) {
    let drawn = &app.curves.drawn.trade_off;
    if !drawn.is_known {
        return;
    }
    theme::card(ui).show(ui, |ui| {
        ui.set_width(ui.available_width());
        ui.vertical(|ui| {
            header(ui, app, drawn, changes);
            if drawn.rows.is_empty() {
                label::quiet(
                    ui,
                    "Every setup that was compared is hidden. Click one in the legend.",
                );
                return;
            }
            label::quiet_line(ui, &drawn.compared);
            if drawn.chart.is_empty() {
                label::quiet(ui, "None of these has both a speed and an accuracy.");
            } else if app.curves.shown_alone() != Some("trade-off") {
                let look = ChartOptions {
                    height: CHART,
                    highlighted: app.curves.highlighted,
                    zooms: true,
                    crosshair: false,
                };
                let touched = chart::show(ui, "trade-off", &drawn.chart, look);
                react(&touched, app, changes);
            }
            ui.add_space(space::SMALL);
            rows(ui, app, changes, actions);
        });
    });
    ui.add_space(space::MEDIUM);
}

fn header(ui: &mut Ui, app: &App, drawn: &TradeOff, changes: &mut Vec<Curves>) {
    ui.horizontal(|ui| {
        title::show(
            ui,
            "trade-off",
            "Speed and accuracy",
            "Each setup by speed and by how close its outputs are to the fp32 network. The line is the Pareto front: no other setup dominates those on it.",
            app,
            changes,
        );
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            ui.spacing_mut().item_spacing.x = space::SMALL;
            let known: Vec<(Quality, String, &str)> = drawn
                .known
                .iter()
                .map(|quality| (*quality, quality.to_string(), quality.sentence()))
                .collect();
            if known.len() > 1 {
                let taken = segmented::show(ui, "Accuracy", drawn.quality, &known);
                changes.extend(taken.map(Curves::Quality));
            }
            let combo = ComboBox::from_id_salt("trade-off-at")
                .width(160.0)
                .selected_text(drawn.at.to_string());
            let response = combo.show_ui(ui, |ui| {
                let points = drawn.points.iter().map(|point| SpeedPoint::Point(*point));
                for at in std::iter::once(SpeedPoint::Best).chain(points) {
                    let is_it = at == drawn.at;
                    if ui.selectable_label(is_it, at.to_string()).clicked() && !is_it {
                        changes.push(Curves::At(at));
                    }
                }
            });
            response.response.accessible_name("Batch size of the speed");
        });
    });
}

pub(super) fn react(touched: &ChartInput, app: &App, changes: &mut Vec<Curves>) {
    if let Some((series, _)) = touched.hovered {
        changes.push(Curves::Highlight(Some(series)));
        let words = hover_words(app, series);
        tip::show(&touched.response, |ui| super::hover(ui, &words));
    }
    if let Some((series, _)) = touched.clicked {
        pin(series, app, changes);
    }
}

/// Facts of a setup as names and values; one without a name is a sentence.
fn hover_words(app: &App, series: SeriesId) -> Vec<(String, String)> {
    let mut rows = app.curves.drawn.trade_off.rows.iter();
    let source = rows.position(|row| row.series.id == series);
    let Some((view, source)) = app.shared.tables.view("trade-off").zip(source) else {
        return Vec::new();
    };
    let cells = view.row(source).into_iter();
    let known = cells.filter(|(_, cell)| cell.text.is_some());
    known
        .map(|(head, cell)| match head.key {
            "front" => (String::new(), cell.note),
            _ => (head.title.to_owned(), cell.shown_text().to_owned()),
        })
        .collect()
}

/// Pins the case of a setup, or unpins it.
fn pin(series: SeriesId, app: &App, changes: &mut Vec<Curves>) {
    let row = app.curves.drawn.trade_off.row(series);
    if let Some(pin) = row.and_then(|row| row.series.pin) {
        changes.push(Curves::Pin((app.curves.pin != Some(pin)).then_some(pin)));
    }
}

fn rows(ui: &mut Ui, app: &App, changes: &mut Vec<Curves>, actions: &mut Vec<Action>) {
    let rows = &app.curves.drawn.trade_off.rows;
    if !data_table::tools(ui, app, "trade-off", actions, |_| {}) {
        return;
    }
    let name = |row: usize| {
        let row: Option<&TradeOffRow> = rows.get(row);
        format!("Setup {}", row.map_or("", |row| &row.line.name))
    };
    let lead = |ui: &mut Ui, row: usize| {
        if let Some(row) = rows.get(row) {
            marker::inline(ui, row.series.colour);
        }
    };
    let pinned = app.curves.pin;
    let is_pinned = |row: &TradeOffRow| pinned.is_some() && row.series.pin == pinned;
    let table = DataTable {
        id: "trade-off",
        height: TABLE,
        selected: rows.iter().position(is_pinned),
        name: Some(&name),
        lead: Some(&lead),
        ..DataTable::default()
    };
    let touched = table.show(ui, app, actions);
    if let Some(row) = touched.clicked.and_then(|row| rows.get(row)) {
        pin(row.series.id, app, changes);
    }
    if let Some(row) = touched.hovered.and_then(|row| rows.get(row)) {
        changes.push(Curves::Highlight(Some(row.series.id)));
    }
}
