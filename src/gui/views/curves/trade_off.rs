//! The card of speed and accuracy: every setup that was compared, and the edge that nobody beats.

use eframe::egui::{Align, ComboBox, Label, Layout, RichText, Ui};

use crate::gui::theme::{self, space};
use crate::gui::widgets::chart::{self, Look, Touched};
use crate::gui::widgets::table::{self, ColumnSpec, Table};
use crate::gui::widgets::{label, marker, segmented, tip};
use powerband_app::App;
use powerband_app::action::Curves;
use powerband_app::curves::trade_off::{COLUMN_HELP, COLUMNS, Row, TradeOff};
use powerband_findings::analysis::trade_off::{At, Quality};
use powerband_findings::chart::spec::SeriesId;

/// Height of the chart.
const CHART: f32 = 260.0;
/// Most height of the table below it.
const TABLE: f32 = 280.0;
/// The place of the column that says who beats whom.
const FRONT: usize = 8;

/// Shows it, where a session has accuracies.
pub(super) fn show(ui: &mut Ui, app: &App, changes: &mut Vec<Curves>) {
    let drawn = &app.curves.drawn.trade_off;
    if !drawn.is_known {
        return;
    }
    theme::card(ui).show(ui, |ui| {
        ui.set_width(ui.available_width());
        ui.vertical(|ui| {
            head(ui, drawn, changes);
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
            } else {
                let look = Look {
                    height: CHART,
                    highlighted: app.curves.highlighted,
                    zooms: false,
                };
                let touched = chart::show(ui, "trade-off", &drawn.chart, look);
                react(&touched, app, changes);
            }
            ui.add_space(space::SMALL);
            rows(ui, app, changes);
        });
    });
    ui.add_space(space::MEDIUM);
}

fn head(ui: &mut Ui, drawn: &TradeOff, changes: &mut Vec<Curves>) {
    ui.horizontal(|ui| {
        label::card_title(ui, "Speed and accuracy").on_hover_text(
            "Each setup by how fast it is and how close it comes to the network in floats. The line is the front: nobody beats those on it in both.",
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
                let batches = drawn.batches.iter().map(|batch| At::Batch(*batch));
                for at in std::iter::once(At::Best).chain(batches) {
                    let is_it = at == drawn.at;
                    if ui.selectable_label(is_it, at.to_string()).clicked() && !is_it {
                        changes.push(Curves::At(at));
                    }
                }
            });
            response.response.accessible_name("Where the speed counts");
        });
    });
}

fn react(touched: &Touched, app: &App, changes: &mut Vec<Curves>) {
    let drawn = &app.curves.drawn.trade_off;
    if let Some((series, _)) = touched.hovered {
        changes.push(Curves::Highlight(Some(series)));
        let words = drawn.row(series).map(Row::words).unwrap_or_default();
        tip::show(&touched.response, |ui| super::hover(ui, &words));
    }
    if let Some((series, _)) = touched.clicked {
        pin(series, app, changes);
    }
}

/// Pins the case of a setup, or unpins it.
fn pin(series: SeriesId, app: &App, changes: &mut Vec<Curves>) {
    let row = app.curves.drawn.trade_off.row(series);
    if let Some(pin) = row.and_then(|row| row.pin) {
        changes.push(Curves::Pin((app.curves.pin != Some(pin)).then_some(pin)));
    }
}

fn columns() -> [ColumnSpec; 9] {
    let widths = [150.0, 52.0, 86.0, 86.0, 64.0, 64.0, 94.0, 92.0, 150.0];
    std::array::from_fn(|place| ColumnSpec {
        title: COLUMNS[place],
        help: COLUMN_HELP[place],
        width: widths[place],
        grows: place == 0 || place == FRONT,
        is_number: (1..FRONT).contains(&place),
    })
}

fn rows(ui: &mut Ui, app: &App, changes: &mut Vec<Curves>) {
    let rows = &app.curves.drawn.trade_off.rows;
    let columns = columns();
    let table = Table {
        id: "trade-off-table",
        columns: &columns,
        sort: None,
        sorts: false,
        rows: rows.len(),
        selected: app
            .curves
            .pin
            .and_then(|pin| rows.iter().position(|row| row.pin == Some(pin))),
        height: TABLE,
    };
    let name = |index| {
        let row: Option<&Row> = rows.get(index);
        format!("Setup {}", row.map_or("", |row| &row.cells[0]))
    };
    let touched = table.show_clickable(ui, name, |ui, index, place| {
        if let Some(row) = rows.get(index) {
            cell(ui, row, place);
        }
    });
    if let Some(row) = touched.clicked.and_then(|index| rows.get(index)) {
        pin(row.id, app, changes);
    }
    if let Some(row) = touched.hovered.and_then(|index| rows.get(index)) {
        changes.push(Curves::Highlight(Some(row.id)));
    }
}

fn cell(ui: &mut Ui, row: &Row, place: usize) {
    let roles = theme::roles(ui);
    let (words, help) = (&row.cells[place], &row.helps[place]);
    let response = match place {
        0 => {
            marker::inline(ui, row.colour);
            table::words(ui, words)
        }
        FRONT => {
            let color = match (row.is_front, row.is_trouble) {
                (true, _) => roles.text,
                (false, true) => roles.bad,
                (false, false) => roles.quiet,
            };
            let mut words = words.as_str();
            if let Some((name, colour)) = &row.behind {
                ui.add(Label::new(RichText::new("behind").color(color)).selectable(false));
                marker::inline(ui, *colour);
                words = name;
            }
            let words = RichText::new(words).color(color);
            ui.add(Label::new(words).truncate().selectable(false))
        }
        _ => table::number(ui, words),
    };
    if !help.is_empty() {
        response.on_hover_text(help);
    }
}
