//! Paints a heat map: its legend, and a field of cells for each setup. Cells are found by the pointer, and by the
//! arrow keys where a field has the focus.

use std::sync::Arc;

use eframe::egui::{
    Align2, Color32, CursorIcon, EventFilter, Galley, Id, Key, Mesh, Modifiers, Painter, Pos2,
    Rect, Response, Sense, Shape, Stroke, StrokeKind, Ui, WidgetInfo, accesskit::Role, pos2, vec2,
};

use super::chart_canvas::{area, pos, rect};
use super::{figure, marker};
use crate::gui::theme::{self, Roles, text};
use powerband_findings::chart::area::Area;
use powerband_findings::chart::colours::{Colours, DARK, LIGHT, Rgb};
use powerband_findings::chart::figure::Drawing;
use powerband_findings::chart::heat_map::{Cell, Content, HeatMap, Panel, Place, colours};
use powerband_findings::chart::layout::Font;
use powerband_findings::chart::layout::cell_words::{self, Written};
use powerband_findings::chart::layout::cells::{self, Field, Item, Letters, MARKS, NO_VALUE};

/// Pieces of the bar in the legend.
const PIECES: usize = 48;
/// Between cells.
const GAP: f32 = 0.5;
/// Width of the line of the limit, and of the ground below it.
const LIMIT: (f32, f32) = (2.0, 4.5);

/// The label of a column or a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Head {
    /// Of a column, by its place.
    Column(usize),
    /// Of a row, counted from the bottom.
    Row(usize),
}

/// The user's input on one field.
pub(crate) struct Touched {
    /// Which panel.
    pub panel: usize,
    /// The whole field.
    pub response: Response,
    /// The cell under the pointer.
    pub hovered: Option<Place>,
    /// The cell that was clicked, or chosen by Enter.
    pub clicked: Option<Place>,
    /// The label that was clicked.
    pub head: Option<Head>,
}

/// The height that suits a map over the width that there is.
pub(crate) fn height(ui: &Ui, map: &HeatMap, width: f32) -> f32 {
    cells::height(
        map,
        width.into(),
        &letters(&|text, font| width_of(ui, text, font)),
    ) as f32
}

/// Shows it over the width that there is.
pub(crate) fn show(ui: &mut Ui, id: &str, map: &HeatMap) -> Vec<Touched> {
    let width = ui.available_width();
    let size = vec2(width, height(ui, map, width));
    let (outer, _) = ui.allocate_exact_size(size, Sense::hover());
    if !ui.is_rect_visible(outer) {
        return Vec::new();
    }
    let painter = ui.painter_at(outer.expand(1.0));
    let canvas = Canvas {
        map,
        painter,
        roles: theme::roles(ui),
        colours: if ui.visuals().dark_mode {
            &DARK
        } else {
            &LIGHT
        },
    };
    let places = {
        let width = |text: &str, font: Font| f64::from(canvas.galley(text, font).size().x);
        cells::lay_out(map, area(outer), &letters(&width))
    };
    for item in &places.legend {
        canvas.legend(item);
    }
    let panels = map.panels.iter().zip(&places.fields).enumerate();
    let touched = panels
        .filter(|(_, (_, field))| ui.is_rect_visible(whole(field)))
        .map(|(place, (panel, field))| canvas.field(ui, id, place, panel, field))
        .collect();
    figure::offer(ui, id, outer, || Drawing::HeatMap(Box::new(map.clone())));
    touched
}

fn letters(width: &dyn Fn(&str, Font) -> f64) -> Letters<'_> {
    Letters {
        size: text::CAPTION.into(),
        width,
    }
}

fn width_of(ui: &Ui, text: &str, font: Font) -> f64 {
    let galley = ui
        .painter()
        .layout_no_wrap(text.to_owned(), font_id(font), Color32::WHITE);
    galley.size().x.into()
}

fn font_id(font: Font) -> eframe::egui::FontId {
    match font {
        Font::Words => theme::words(text::CAPTION),
        Font::Numbers => theme::numbers(text::CAPTION),
    }
}

fn color(Rgb(red, green, blue): Rgb) -> Color32 {
    Color32::from_rgb(red, green, blue)
}

/// The cells of a field with their labels.
fn whole(field: &Field) -> Rect {
    let (beside, below) = (field.row_heads(), field.column_heads());
    rect(Area::new(
        beside.left,
        beside.top,
        below.right,
        below.bottom,
    ))
}

/// Where a map is painted, and how.
struct Canvas<'a> {
    map: &'a HeatMap,
    painter: Painter,
    roles: &'a Roles,
    colours: &'a Colours,
}

impl Canvas<'_> {
    fn galley(&self, text: &str, font: Font) -> Arc<Galley> {
        let text = text.to_owned();
        self.painter
            .layout_no_wrap(text, font_id(font), Color32::PLACEHOLDER)
    }

    fn text(&self, at: Pos2, anchor: Align2, text: &str, font: Font, color: Color32) -> Rect {
        let galley = self.galley(text, font);
        let place = anchor.anchor_size(at, galley.size());
        self.painter.galley(place.min, galley, color);
        place
    }

    fn legend(&self, item: &Item) {
        let quiet = self.roles.quiet;
        let kind = self.map.scale.kind;
        let words = |at: &(f64, f64), text: &str| {
            self.text(pos(*at), Align2::LEFT_CENTER, text, Font::Words, quiet)
        };
        match item {
            Item::Bar {
                words: at,
                bar,
                labels,
            } => {
                words(at, &self.map.scale.title);
                self.painter.add(Shape::mesh(self.bar(rect(*bar))));
                for (at, text) in labels {
                    self.text(pos(*at), Align2::CENTER_CENTER, text, Font::Numbers, quiet);
                }
            }
            Item::Sample {
                share,
                sample,
                text,
                words: at,
            } => {
                let color = color(colours::of_share(self.colours, kind, *share));
                self.painter.rect_filled(rect(*sample), 2.0, color);
                words(at, text);
            }
            Item::Limit {
                line: (from, to),
                text,
                words: at,
            } => {
                let stroke = Stroke::new(LIMIT.0, self.roles.accent);
                self.painter.line_segment([pos(*from), pos(*to)], stroke);
                words(at, text);
            }
            Item::Missing { sample, words: at } => {
                let mut mesh = Mesh::default();
                self.hatch(&mut mesh, *sample);
                self.painter.add(Shape::mesh(mesh));
                words(at, NO_VALUE);
            }
            Item::Marks { words: at } => {
                words(at, MARKS);
            }
        }
    }

    /// The colours from the lowest to the highest value.
    fn bar(&self, bar: Rect) -> Mesh {
        let mut mesh = Mesh::default();
        for piece in 0..=PIECES {
            let share = piece as f64 / PIECES as f64;
            let color = color(colours::of_share(self.colours, self.map.scale.kind, share));
            let x = bar.left() + bar.width() * share as f32;
            mesh.colored_vertex(pos2(x, bar.top()), color);
            mesh.colored_vertex(pos2(x, bar.bottom()), color);
        }
        for first in (0..PIECES as u32).map(|piece| 2 * piece) {
            mesh.add_triangle(first, first + 1, first + 2);
            mesh.add_triangle(first + 1, first + 2, first + 3);
        }
        mesh
    }

    fn hatch(&self, mesh: &mut Mesh, cell: Area) {
        mesh.add_colored_rect(rect(cell), self.roles.raised);
        let color = self.roles.faint.gamma_multiply(0.7);
        for (from, to) in cell_words::hatching(cell) {
            // A thin parallelogram: a line of its own for each would cost a shape each.
            let (from, to) = (pos(from), pos(to));
            let aside = vec2(0.35, 0.35);
            let first = mesh.vertices.len() as u32;
            for at in [from - aside, from + aside, to - aside, to + aside] {
                mesh.colored_vertex(at, color);
            }
            mesh.add_triangle(first, first + 1, first + 2);
            mesh.add_triangle(first + 1, first + 2, first + 3);
        }
    }

    /// One panel, and what the user does with it.
    fn field(&self, ui: &Ui, id: &str, place: usize, panel: &Panel, field: &Field) -> Touched {
        let id = ui.scope_id().with((id, "field", place));
        let outer = whole(field);
        let response = ui.interact(outer, id, Sense::click());
        let hand = response.hover_pos();
        let at = |hand: Pos2| (f64::from(hand.x), f64::from(hand.y));
        let hovered = hand.and_then(|hand| field.at(at(hand)));
        let head = hand.and_then(|hand| {
            let column = field.column_at(at(hand)).map(Head::Column);
            column.or_else(|| field.row_at(at(hand)).map(Head::Row))
        });
        let is_focused = response.has_focus();
        let cursor = self.cursor(ui, id, panel, is_focused);
        self.words_around(panel, field, head);
        self.cells(ui, panel, field);
        self.iso_line(panel, field);
        let lit = hovered.or_else(|| cursor.filter(|_| is_focused));
        if let Some(lit) = lit {
            let stroke = Stroke::new(2.0, self.roles.text);
            let cell = rect(field.cell(lit));
            self.painter
                .rect_stroke(cell, 1.0, stroke, StrokeKind::Inside);
        }
        let said = cursor.map_or_else(String::new, |place| self.map.words(panel, place));
        response.widget_info(|| {
            let whose = [&self.map.title, &panel.name];
            let whose: Vec<&str> = whose.into_iter().map(String::as_str).collect();
            let whose = whose.join(", ");
            let name = format!("Heat map of {}. {said}", whose.trim_end_matches(", "));
            WidgetInfo::labeled(Role::Button, true, name)
        });
        let is_clicked = response.clicked();
        let clicked = match hand {
            Some(_) => hovered,
            None => cursor,
        };
        let response = if head.is_some() || hovered.is_some() {
            response.on_hover_cursor(CursorIcon::PointingHand)
        } else {
            response
        };
        Touched {
            panel: place,
            hovered,
            clicked: clicked.filter(|_| is_clicked),
            head: head.filter(|_| is_clicked),
            response,
        }
    }

    /// The cell that the arrow keys are on: the pinned one to begin with, else the lower left one.
    fn cursor(&self, ui: &Ui, id: Id, panel: &Panel, is_focused: bool) -> Option<Place> {
        let (columns, rows) = (self.map.x.sizes.len(), self.map.y.sizes.len());
        if columns == 0 || rows == 0 {
            return None;
        }
        let memory = id.with("cursor");
        let known: Option<Place> = ui.data(|data| data.get_temp(memory));
        let pinned = panel.cells.iter().position(|cell| cell.is_pinned);
        let pinned = pinned.map(|place| (place % columns, place / columns));
        let (mut column, mut row) = known.or(pinned).unwrap_or_default();
        (column, row) = (column.min(columns - 1), row.min(rows - 1));
        if is_focused {
            let filter = EventFilter {
                horizontal_arrows: true,
                vertical_arrows: true,
                ..EventFilter::default()
            };
            ui.memory_mut(|memory| memory.set_focus_lock_filter(id, filter));
            let pressed = |key: Key| ui.input_mut(|input| input.consume_key(Modifiers::NONE, key));
            if pressed(Key::ArrowLeft) {
                column = column.saturating_sub(1);
            }
            if pressed(Key::ArrowRight) {
                column = (column + 1).min(columns - 1);
            }
            if pressed(Key::ArrowDown) {
                row = row.saturating_sub(1);
            }
            if pressed(Key::ArrowUp) {
                row = (row + 1).min(rows - 1);
            }
            if known != Some((column, row)) {
                ui.data_mut(|data| data.insert_temp(memory, (column, row)));
            }
        }
        Some((column, row))
    }

    /// The name of a panel, its sides and their labels; the label under the pointer is lit.
    fn words_around(&self, panel: &Panel, field: &Field, head: Option<Head>) {
        let (roles, map) = (self.roles, self.map);
        if !panel.name.is_empty() {
            let at = pos(field.name);
            let mut left = at.x;
            if let Some(index) = panel.colour {
                let color = roles.series(index);
                marker::paint(&self.painter, at + vec2(5.0, 0.0), index, 4.0, color);
                left += 16.0;
            }
            let right = field.cells.right as f32;
            let clip = Rect::from_min_max(pos2(left, at.y - 10.0), pos2(right, at.y + 10.0));
            let galley = self.galley(&panel.name, Font::Words);
            let place = pos2(left, at.y - galley.size().y / 2.0);
            let painter = self
                .painter
                .with_clip_rect(clip.intersect(self.painter.clip_rect()));
            painter.galley(place, galley, roles.text);
        }
        let faint = roles.faint;
        let at = pos(field.y_title);
        self.text(at, Align2::LEFT_CENTER, &map.y.name, Font::Words, faint);
        let at = pos(field.x_title);
        self.text(at, Align2::RIGHT_CENTER, &map.x.name, Font::Words, faint);
        let width = |text: &str, font: Font| f64::from(self.galley(text, font).size().x);
        let letters = letters(&width);
        let lit = |is_it: bool| if is_it { roles.accent } else { roles.quiet };
        let of_column = |text: &str| {
            match head {
                Some(Head::Column(column)) => {
                    map.x.sizes.get(column).map(|size| cells::text_of(*size))
                }
                _ => None,
            }
            .is_some_and(|own| own == text)
        };
        for (at, text) in field.x_labels(&map.x, &letters) {
            let color = lit(of_column(&text));
            self.text(pos(at), Align2::CENTER_CENTER, &text, Font::Numbers, color);
        }
        let of_row = |text: &str| {
            match head {
                Some(Head::Row(row)) => map.y.sizes.get(row).map(|size| cells::text_of(*size)),
                _ => None,
            }
            .is_some_and(|own| own == text)
        };
        for (at, text) in field.y_labels(&map.y, &letters) {
            let color = lit(of_row(&text));
            self.text(pos(at), Align2::RIGHT_CENTER, &text, Font::Numbers, color);
        }
    }

    /// All grounds in one shape, then the words.
    fn cells(&self, ui: &Ui, panel: &Panel, field: &Field) {
        let columns = self.map.x.sizes.len().max(1);
        let seen = ui.clip_rect();
        let mut grounds = Mesh::default();
        let mut inks = Vec::with_capacity(panel.cells.len());
        for (number, cell) in panel.cells.iter().enumerate() {
            let whole = field.cell((number % columns, number / columns));
            let inner = rect(whole).shrink(GAP);
            let ink = match &cell.content {
                Content::Outside => continue,
                Content::Value(value) => {
                    let ground = colours::of_value(self.colours, &self.map.scale, *value);
                    grounds.add_colored_rect(inner, color(ground));
                    color(colours::ink(ground))
                }
                Content::Missing { .. } => {
                    self.hatch(&mut grounds, area(inner));
                    self.roles.quiet
                }
            };
            if seen.intersects(inner) {
                inks.push((cell, inner, ink));
            }
        }
        self.painter.add(Shape::mesh(grounds));
        let width = |text: &str, font: Font| f64::from(self.galley(text, font).size().x);
        for (cell, inner, ink) in inks {
            if cell.is_pinned {
                let stroke = Stroke::new(2.0, ink);
                self.painter
                    .rect_stroke(inner.shrink(2.0), 1.0, stroke, StrokeKind::Inside);
            }
            let scale = &self.map.scale;
            for words in cell_words::words_in(cell, scale, area(inner), &letters(&width)) {
                self.written(cell, &words, ink);
            }
        }
    }

    /// Words in a cell; on hatching they need a ground.
    fn written(&self, cell: &Cell, words: &Written, ink: Color32) {
        let galley = self.galley(&words.text, words.font);
        let place = Align2::CENTER_CENTER.anchor_size(pos(words.at), galley.size());
        if matches!(cell.content, Content::Missing { .. }) {
            let ground = place.expand2(vec2(3.0, 0.0));
            self.painter.rect_filled(ground, 2.0, self.roles.raised);
        }
        self.painter.galley(place.min, galley, ink);
    }

    /// The borders of the limit, on a ground that sets them apart from every colour.
    fn iso_line(&self, panel: &Panel, field: &Field) {
        let edges = self.map.iso_line(panel);
        let strokes = [
            Stroke::new(LIMIT.1, self.roles.panel),
            Stroke::new(LIMIT.0, self.roles.accent),
        ];
        for stroke in strokes {
            for (from, to) in &edges {
                let ends = [field.corner(*from), field.corner(*to)];
                self.painter.line_segment(ends.map(pos), stroke);
            }
        }
    }
}
