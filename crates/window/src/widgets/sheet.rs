//! A small table of given texts, as wide as they need: numbers to the right, words to the left.

use eframe::egui::accesskit::Role;
use eframe::egui::{Color32, FontId, ScrollArea, Sense, Stroke, Ui, WidgetInfo, pos2, vec2};

use crate::theme::{self, size, text};
use powerband_core::base::humanize::UNKNOWN;
use powerband_findings::analysis::claims::PublishedTable;

/// Between two columns.
const APART: f32 = 22.0;

/// Shows it; what is wider than the room there is can be scrolled.
pub(crate) fn show(ui: &mut Ui, id: &str, sheet: &PublishedTable) {
    ScrollArea::horizontal()
        .id_salt(id)
        .auto_shrink([false, true])
        .show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 0.0;
            let widths = widths(ui, sheet);
            row(ui, sheet, &widths, &sheet.columns, true);
            for cells in &sheet.rows {
                row(ui, sheet, &widths, cells, false);
            }
        });
}

fn font(sheet: &PublishedTable, column: usize, is_head: bool) -> FontId {
    match (is_head, column < sheet.text_columns) {
        (true, _) => theme::text_font(text::CAPTION),
        (false, true) => theme::text_font(text::BODY),
        (false, false) => theme::numbers(12.5),
    }
}

fn widths(ui: &Ui, sheet: &PublishedTable) -> Vec<f32> {
    let width = |words: &str, font: FontId| {
        let galley = ui
            .painter()
            .layout_no_wrap(words.to_owned(), font, Color32::WHITE);
        galley.size().x
    };
    let columns = sheet.columns.iter().enumerate();
    let of_column = columns.map(|(column, title)| {
        let head = width(title, font(sheet, column, true));
        let cells = sheet.rows.iter().filter_map(|row| row.get(column));
        cells
            .map(|cell| width(cell, font(sheet, column, false)))
            .fold(head, f32::max)
    });
    of_column.collect()
}

fn row(ui: &mut Ui, sheet: &PublishedTable, widths: &[f32], cells: &[String], is_head: bool) {
    let roles = theme::roles(ui);
    let whole: f32 = widths.iter().map(|width| width + APART).sum();
    let (rect, response) = ui.allocate_exact_size(vec2(whole, size::ROW), Sense::hover());
    let said = cells.join(", ");
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, &said));
    let mut left = rect.left();
    for (column, (cell, width)) in cells.iter().zip(widths).enumerate() {
        let color = match (is_head, cell == UNKNOWN) {
            (true, _) | (false, true) => roles.faint,
            (false, false) => roles.text,
        };
        let font = font(sheet, column, is_head);
        let galley = ui.painter().layout_no_wrap(cell.clone(), font, color);
        let shift = if column < sheet.text_columns {
            0.0
        } else {
            width - galley.size().x
        };
        let at = pos2(left + shift, rect.center().y - galley.size().y / 2.0);
        ui.painter().galley(at, galley, color);
        left += width + APART;
    }
    let line = Stroke::new(1.0, roles.line.gamma_multiply(0.55));
    let end = rect.right() - APART;
    ui.painter()
        .hline(rect.left()..=end, rect.bottom() - 0.5, line);
}
