//! Tables: a header that sorts, numbers to the right, only visible rows are made. A table wider than its
//! place scrolls sideways.

use eframe::egui::accesskit::Role;
use eframe::egui::emath::GuiRounding as _;
use eframe::egui::scroll_area::ScrollAreaOutput;
use eframe::egui::{
    Align, Align2, CursorIcon, Id, Label, Layout, Pos2, Rect, Response, RichText, ScrollArea,
    Sense, Stroke, Ui, WidgetInfo, pos2, vec2,
};
use egui_extras::{Column, TableBuilder, TableRow};

use super::{handle, menu};
use crate::theme::{self, size, text};
use powerband_core::base::humanize::UNKNOWN;

/// One column.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ColumnSpec {
    /// What stands above it.
    pub title: &'static str,
    /// Its help, in a sentence; may be empty.
    pub help: &'static str,
    /// Least width.
    pub width: f32,
    /// Whether it takes what room is left.
    pub grows: bool,
    /// Whether it holds numbers, which stand to the right.
    pub is_number: bool,
}

impl ColumnSpec {
    /// A text column.
    pub(crate) const fn text_column(title: &'static str, width: f32) -> Self {
        Self {
            title,
            help: "",
            width,
            grows: false,
            is_number: false,
        }
    }
}

/// The user's input on a table.
#[derive(Debug, Default)]
pub(crate) struct TableInput {
    /// The column whose header was clicked.
    pub sorted: Option<usize>,
    /// The column whose edge was dragged, and its new width; nothing for the one that suits it.
    pub resized: Option<(usize, Option<f32>)>,
    /// The row that was clicked.
    pub clicked: Option<usize>,
    /// The row under the pointer.
    pub hovered: Option<usize>,
    /// Whether the user scrolled its rows.
    pub is_scrolled: bool,
    /// The row that the keyboard is at.
    pub focused: Option<usize>,
}

/// Common to all rows of a table while they are made.
struct Rows<'a> {
    /// The name of each; `None` where rows cannot be clicked.
    name: Option<&'a dyn Fn(usize) -> String>,
    /// Width of all columns.
    width: f32,
    /// The visible part of the table.
    seen: Rect,
}

/// Layout and state of a shown table.
pub(crate) struct TableLayout<'a> {
    /// Names it among the tables of a screen.
    pub id: &'a str,
    /// Its columns.
    pub columns: &'a [ColumnSpec],
    /// The column that it is sorted by, and whether it falls.
    pub sort: Option<(usize, bool)>,
    /// How many rows there are.
    pub rows: usize,
    /// Whether a row is selected.
    pub is_selected: &'a dyn Fn(usize) -> bool,
    /// Most height that it takes; more is scrolled.
    pub height: f32,
    /// A row that is scrolled into view.
    pub in_view: Option<usize>,
    /// What the right button offers on a cell, by its row and column.
    pub menu: Menu<'a>,
}

/// Offers what can be done with a cell, by its row and column.
pub(crate) type Menu<'a> = &'a dyn Fn(&mut Ui, usize, usize);

impl TableLayout<'_> {
    /// Shows it; `cell` draws one cell by its row and column. Its rows cannot be clicked.
    pub(crate) fn show(&self, ui: &mut Ui, cell: impl FnMut(&mut Ui, usize, usize)) -> TableInput {
        self.shown(ui, None, cell)
    }

    /// Shows it with rows that can be clicked, by pointer or by Enter and Space; `name` names a row for
    /// screen readers.
    pub(crate) fn show_clickable(
        &self,
        ui: &mut Ui,
        name: impl Fn(usize) -> String,
        cell: impl FnMut(&mut Ui, usize, usize),
    ) -> TableInput {
        self.shown(ui, Some(&name), cell)
    }

    fn shown(
        &self,
        ui: &mut Ui,
        name: Option<&dyn Fn(usize) -> String>,
        cell: impl FnMut(&mut Ui, usize, usize),
    ) -> TableInput {
        let needed: f32 = self.columns.iter().map(|column| column.width).sum();
        let width = ui.available_width().max(needed);
        let sideways = ScrollArea::horizontal().id_salt((self.id, "sideways"));
        let shown = sideways.show(ui, |ui| {
            ui.set_width(width);
            self.over_its_width(ui, name, cell)
        });
        shown.inner
    }

    fn over_its_width(
        &self,
        ui: &mut Ui,
        name: Option<&dyn Fn(usize) -> String>,
        mut cell: impl FnMut(&mut Ui, usize, usize),
    ) -> TableInput {
        let mut touched = TableInput::default();
        let height = (self.rows as f32 * size::ROW + 1.0).min(self.height);
        // The scrolled rows take the wheel's movement, so it is read before.
        let wheel = ui.input(|input| input.smooth_scroll_delta().y);
        ui.push_id(self.id, |ui| {
            ui.spacing_mut().item_spacing = vec2(0.0, 0.0);
            ui.visuals_mut().selection.bg_fill = theme::roles(ui).raised;
            // Cells take no input: each would be a stop of the keyboard without a name.
            let mut builder = TableBuilder::new(ui)
                .auto_shrink([false, true])
                .max_scroll_height(height)
                .min_scrolled_height(height)
                .cell_layout(Layout::left_to_right(Align::Center));
            if let Some(row) = self.in_view.filter(|row| *row < self.rows) {
                builder = builder.scroll_to_row(row, None);
            }
            for column in self.columns {
                let kind = if column.grows {
                    Column::remainder()
                } else {
                    Column::exact(column.width)
                };
                builder = builder.column(kind.at_least(column.width).clip(true));
            }
            let shown = builder
                .header(size::ROW, |header| self.header(header, &mut touched))
                .body(|mut body| {
                    let rows = Rows {
                        name,
                        width: body.widths().iter().sum(),
                        seen: body.ui_mut().clip_rect(),
                    };
                    body.rows(size::ROW, self.rows, |row| {
                        self.row(row, &rows, &mut cell, &mut touched);
                    });
                });
            let has_more = shown.content_size.y > shown.inner_rect.height() + 1.0;
            touched.is_scrolled = has_more && self.is_scrolled_by_hand(ui, wheel, &shown);
        });
        touched
    }

    /// Whether the wheel or the scroll bar moved the rows in this frame.
    fn is_scrolled_by_hand(&self, ui: &Ui, wheel: f32, shown: &ScrollAreaOutput<()>) -> bool {
        let memory = Id::unique(("table-offset", self.id));
        let offset = shown.state.clamped_offset().y;
        let before: Option<f32> = ui.data(|data| data.get_temp(memory));
        ui.data_mut(|data| data.insert_temp(memory, offset));
        let is_over = ui.rect_contains_pointer(shown.inner_rect);
        let is_dragged = ui.input(|input| input.pointer.any_down());
        (is_over && wheel != 0.0) || (is_dragged && before.is_some_and(|before| before != offset))
    }

    /// The titles, and between them the edges to drag.
    fn header(&self, mut header: TableRow<'_, '_>, touched: &mut TableInput) {
        for (index, column) in self.columns.iter().enumerate() {
            header.col(|ui| {
                if self.header_cell(ui, index, column).clicked() {
                    touched.sorted = Some(index);
                }
                if column.title.is_empty() {
                    return;
                }
                let id = Id::unique(("column", self.id, index));
                let cell = ui.max_rect();
                if let Some(width) = handle::of_column(ui, id, cell, cell.width()) {
                    touched.resized = Some((index, width.chosen()));
                }
            });
        }
    }

    fn row(
        &self,
        mut row: TableRow<'_, '_>,
        rows: &Rows<'_>,
        cell: &mut impl FnMut(&mut Ui, usize, usize),
        touched: &mut TableInput,
    ) {
        let index = row.index();
        let is_selected = (self.is_selected)(index);
        row.set_selected(is_selected);
        let mut whole = None;
        let mut asked = None;
        for (place, column) in self.columns.iter().enumerate() {
            row.col(|ui| {
                let whole = whole.get_or_insert_with(|| rows.hand(ui, index, is_selected));
                let pointer = whole.interact_pointer_pos();
                let is_here = pointer.is_some_and(|at| ui.max_rect().x_range().contains(at.x));
                if whole.secondary_clicked() && is_here {
                    asked = Some(place);
                }
                ground(ui, whole, is_selected);
                line_below(ui);
                if place == 0 && is_selected {
                    selection_bar(ui);
                }
                side(ui, column, |ui| cell(ui, index, place));
            });
        }
        let Some(whole) = whole else {
            return;
        };
        let identity = || rows.name.map_or_else(String::new, |name| name(index));
        self.context_menu(&whole, index, asked, identity);
        if whole.hovered() {
            touched.hovered = Some(index);
        }
        if whole.clicked() {
            touched.clicked = Some(index);
        }
        if whole.has_focus() {
            touched.focused = Some(index);
        }
    }

    /// What the right button offers; the cell that it was pressed on is remembered while that is open.
    /// It closes where another row comes to stand here, so that no entry is about that.
    fn context_menu(
        &self,
        whole: &Response,
        row: usize,
        asked: Option<usize>,
        identity: impl Fn() -> String,
    ) {
        let memory = Id::unique(("table-menu", self.id));
        let meant = whole.id.with("meant");
        if !menu::is_open(whole) {
            whole.ctx.data_mut(|data| data.remove::<String>(meant));
        }
        if let Some(column) = asked {
            whole.ctx.data_mut(|data| data.insert_temp(memory, column));
        }
        menu::opened_on(whole, |ui| {
            let now = identity();
            let opened_for: String =
                ui.data_mut(|data| data.get_temp_mut_or_insert_with(meant, identity).clone());
            if opened_for != now {
                return ui.close();
            }
            let column: Option<usize> = ui.data(|data| data.get_temp(memory));
            (self.menu)(ui, row, column.unwrap_or(0));
        });
    }

    fn header_cell(&self, ui: &mut Ui, index: usize, column: &ColumnSpec) -> Response {
        line_below(ui);
        let has_title = !column.title.is_empty();
        let roles = theme::roles(ui);
        let arrow = match self.sort {
            Some((sorted, falls)) if sorted == index => {
                if falls {
                    " ▾"
                } else {
                    " ▴"
                }
            }
            _ => "",
        };
        let color = if arrow.is_empty() {
            roles.faint
        } else {
            roles.text
        };
        let words = RichText::new(format!("{}{arrow}", column.title))
            .size(text::CAPTION)
            .color(color);
        let mut response = None;
        side(ui, column, |ui| {
            let sense = if has_title {
                Sense::click()
            } else {
                Sense::hover()
            };
            response = Some(ui.add(Label::new(words).sense(sense).truncate()));
        });
        let response = response.unwrap_or_else(|| ui.response());
        let response = if has_title {
            let name = format!("Sort by {}", column.title);
            response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &name));
            response.on_hover_cursor(CursorIcon::PointingHand)
        } else {
            response
        };
        if column.help.is_empty() {
            response
        } else {
            response.on_hover_text(column.help)
        }
    }
}

impl Rows<'_> {
    /// Input of a row, handled in its first cell before its content, so that controls in its cells get input
    /// first.
    fn hand(&self, ui: &mut Ui, index: usize, is_selected: bool) -> Response {
        let cell = ui.max_rect();
        let right = (cell.left() + self.width).min(self.seen.right());
        let whole = Rect::from_min_max(cell.min, pos2(right, cell.bottom()));
        // A row on which a click does nothing has a menu all the same, and is no stop of the keyboard.
        let sense = if self.name.is_some() {
            Sense::click()
        } else {
            Sense::CLICK
        };
        // The row is wider than the cell, which would clip its input.
        let cell_seen = ui.clip_rect();
        ui.set_clip_rect(self.seen);
        let hand = ui.interact(whole, ui.scope_id().with("row"), sense);
        ui.set_clip_rect(cell_seen);
        if let Some(name) = self.name {
            hand.widget_info(|| WidgetInfo::selected(Role::Button, true, is_selected, name(index)));
        }
        // The next rows are made once this one is visible.
        if hand.gained_focus() {
            hand.scroll_to_me(None);
        }
        hand
    }
}

/// The background of the row under the pointer. Each cell paints its own part, because it clips the rest.
fn ground(ui: &Ui, row: &Response, is_selected: bool) {
    if row.hovered() && !is_selected {
        let ground = ui.max_rect().round_ui();
        let fill = theme::roles(ui).raised;
        ui.painter().rect_filled(ground, 0.0, fill);
    }
}

/// Numbers stand to the right, words to the left, both off the edge.
fn side(ui: &mut Ui, column: &ColumnSpec, content: impl FnOnce(&mut Ui)) {
    let layout = if column.is_number {
        Layout::right_to_left(Align::Center)
    } else {
        Layout::left_to_right(Align::Center)
    };
    ui.with_layout(layout, |ui| {
        ui.add_space(10.0);
        ui.spacing_mut().item_spacing.x = 6.0;
        content(ui);
    });
}

/// What is selected has a bar in the accent colour at its left, as in every list.
fn selection_bar(ui: &Ui) {
    let rect = ui.max_rect();
    let bar = Rect::from_min_size(rect.min + vec2(0.0, 6.0), vec2(2.0, rect.height() - 12.0));
    ui.painter().rect_filled(bar, 1.0, theme::roles(ui).accent);
}

fn line_below(ui: &Ui) {
    let rect = ui.max_rect();
    let color = theme::roles(ui).line.gamma_multiply(0.55);
    ui.painter()
        .hline(rect.x_range(), rect.bottom() - 0.5, Stroke::new(1.0, color));
}

/// A number in a cell.
pub(crate) fn number(ui: &mut Ui, value: &str) -> Response {
    let roles = theme::roles(ui);
    let (digits, unit) = split_unit(value);
    let font = theme::numbers(12.5);
    let galley = {
        let mut job = eframe::egui::text::LayoutJob::default();
        let format = |color| eframe::egui::TextFormat::simple(font.clone(), color);
        let is_unknown = value == UNKNOWN;
        job.append(
            digits,
            0.0,
            format(if is_unknown { roles.faint } else { roles.text }),
        );
        if !unit.is_empty() {
            job.append(&format!(" {unit}"), 0.0, format(roles.quiet));
        }
        job
    };
    ui.add(Label::new(galley).selectable(false))
}

/// A unit is the last word, unless it is a number itself.
fn split_unit(value: &str) -> (&str, &str) {
    match value.rsplit_once(' ') {
        Some((digits, unit)) if !unit.starts_with(|c: char| c.is_ascii_digit()) => (digits, unit),
        _ => (value, ""),
    }
}

/// Words at a place, for painters of whole rows.
pub(crate) fn paint_words(
    ui: &Ui,
    at: Pos2,
    words: &str,
    size: f32,
    color: eframe::egui::Color32,
) -> Rect {
    ui.painter().text(
        pos2(at.x, at.y),
        Align2::LEFT_CENTER,
        words,
        theme::text_font(size),
        color,
    )
}
