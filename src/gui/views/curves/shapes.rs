//! The card of what can be read from the shape of each curve: its line, its saturation, its knee, and what
//! ran.

use eframe::egui::{self, Label, RichText, Ui};

use crate::gui::theme::{self, space};
use crate::gui::widgets::table::{self, ColumnSpec, Table};
use crate::gui::widgets::{label, marker};
use powerband_app::App;
use powerband_app::action::Curves;
use powerband_app::curves::shapes::{COLUMN_HELP, COLUMNS, Shape};

/// Most height of the table.
const TABLE: f32 = 280.0;
/// The place of the column that says what became of larger batches.
const LARGER: usize = 6;

/// Shows it, where any shape says something.
pub(super) fn show(ui: &mut Ui, app: &App, changes: &mut Vec<Curves>) {
    let shapes = &app.curves.drawn.shapes;
    if shapes.is_empty() {
        return;
    }
    // The rows of a table stand a little in from its edge; the title stands above their words.
    let margin = egui::Margin::symmetric(6, 8);
    theme::card(ui).inner_margin(margin).show(ui, |ui| {
        ui.set_width(ui.available_width());
        ui.vertical(|ui| {
            ui.horizontal(|ui| {
                ui.add_space(10.0);
                label::card_title(ui, "Shape of the curves");
                label::faint(
                    ui,
                    "Latency ≈ fixed time + time per item × batch; the knee is the smallest batch with 90 % of the best throughput",
                );
            });
            rows(ui, shapes, changes);
        });
    });
    ui.add_space(space::MEDIUM);
}

fn columns() -> [ColumnSpec; 7] {
    let widths = [150.0, 88.0, 100.0, 96.0, 64.0, 100.0, 130.0];
    std::array::from_fn(|place| ColumnSpec {
        title: COLUMNS[place],
        help: COLUMN_HELP[place],
        width: widths[place],
        grows: place == 0 || place == LARGER,
        is_number: (1..LARGER).contains(&place),
    })
}

fn rows(ui: &mut Ui, shapes: &[Shape], changes: &mut Vec<Curves>) {
    let table = Table {
        id: "shapes",
        columns: &columns(),
        sort: None,
        sorts: false,
        rows: shapes.len(),
        selected: None,
        height: TABLE,
    };
    let touched = table.show(ui, |ui, index, place| {
        if let Some(shape) = shapes.get(index) {
            cell(ui, shape, place);
        }
    });
    if let Some(shape) = touched.hovered.and_then(|index| shapes.get(index)) {
        changes.push(Curves::Highlight(Some(shape.id)));
    }
}

fn cell(ui: &mut Ui, shape: &Shape, place: usize) {
    let words = &shape.cells[place].words;
    let response = match place {
        0 => {
            marker::inline(ui, shape.colour);
            table::words(ui, words)
        }
        LARGER => {
            let roles = theme::roles(ui);
            let color = if shape.has_failed {
                roles.bad
            } else {
                roles.quiet
            };
            let words = RichText::new(words).color(color);
            ui.add(Label::new(words).truncate().selectable(false))
        }
        _ => table::number(ui, words),
    };
    let help = &shape.cells[place].help;
    if !help.is_empty() {
        response.on_hover_text(help);
    }
}
