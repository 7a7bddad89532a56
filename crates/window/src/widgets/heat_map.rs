//! Shows a heat map: its shapes, and a field for each setup whose cells are found by the pointer, and by the arrow
//! keys where it has the focus.

use eframe::egui::{
    CursorIcon, EventFilter, Id, Key, Modifiers, Response, Sense, Stroke, StrokeKind, Ui,
    WidgetInfo, accesskit::Role, vec2,
};

use super::figure;
use super::sketch::{Sketch, laid_out, with_letters};
use crate::theme::{self, Roles};
use powerband_findings::chart::area::Area;
use powerband_findings::chart::figure::Drawing;
use powerband_findings::chart::heat_map::{CellIndex, HeatMap, Panel};
use powerband_findings::chart::layout::Font;
use powerband_findings::chart::layout::cells::{self, PanelLayout};
use powerband_findings::chart::layout::heat_map::lay_out;
use powerband_findings::chart::sketch::{Ink, SketchShape};

pub(crate) use powerband_findings::chart::layout::cells::Head;

/// The user's input on one field.
pub(crate) struct HeatMapInput {
    /// Which panel.
    pub panel: usize,
    /// The whole field.
    pub response: Response,
    /// The cell under the pointer.
    pub hovered: Option<CellIndex>,
    /// The cell that was clicked, or chosen by Enter.
    pub clicked: Option<CellIndex>,
    /// The label that was clicked.
    pub head: Option<Head>,
}

/// Shows it over the width that there is.
pub(crate) fn show(ui: &mut Ui, id: &str, map: &HeatMap) -> Vec<HeatMapInput> {
    let shapes = ui.scope_id().with((id, "shapes"));
    let laid_out = laid_out(ui, shapes, map, |width, letters| {
        let height = cells::height(map, width, letters);
        let area = Area::new(0.0, 0.0, width, height);
        (height as f32, lay_out(map, area, letters))
    });
    let (height, placed) = &laid_out.placed;
    let size = vec2(ui.available_width(), *height);
    let (outer, _) = ui.allocate_exact_size(size, Sense::hover());
    if !ui.is_rect_visible(outer) {
        return Vec::new();
    }
    let painter = ui.painter_at(outer.expand(1.0));
    let canvas = HeatMapCanvas {
        map,
        sketch: Sketch::new(ui, &painter, outer.min.to_vec2()),
        roles: theme::roles(ui),
    };
    canvas.sketch.paint(&placed.items);
    let panels = map.panels.iter().zip(&placed.fields).enumerate();
    let touched = panels
        .filter(|(_, (_, field))| ui.is_rect_visible(canvas.sketch.rect(field.area_with_headers())))
        .map(|(place, (panel, field))| canvas.field(ui, id, place, panel, field))
        .collect();
    figure::offer(ui, id, outer, || Drawing::HeatMap(Box::new(map.clone())));
    touched
}

/// Where a map is painted, and how.
struct HeatMapCanvas<'a> {
    map: &'a HeatMap,
    sketch: Sketch<'a>,
    roles: &'a Roles,
}

impl HeatMapCanvas<'_> {
    /// One panel, and what the user does with it.
    fn field(
        &self,
        ui: &Ui,
        id: &str,
        place: usize,
        panel: &Panel,
        field: &PanelLayout,
    ) -> HeatMapInput {
        let id = ui.scope_id().with((id, "field", place));
        let outer = self.sketch.rect(field.area_with_headers());
        let response = ui.interact(outer, id, Sense::click());
        let hand = response.hover_pos().map(|hand| self.sketch.place(hand));
        let hovered = hand.and_then(|hand| field.cell_at(hand));
        let head = hand.and_then(|hand| field.head_at(hand));
        let is_focused = response.has_focus();
        let cursor = self.cursor(ui, id, panel, is_focused);
        if let Some(head) = head {
            self.lit_head(field, head);
        }
        let lit = hovered.or_else(|| cursor.filter(|_| is_focused));
        if let Some(lit) = lit {
            let stroke = Stroke::new(2.0, self.roles.text);
            let cell = self.sketch.rect(field.cell(lit));
            self.sketch
                .painter
                .rect_stroke(cell, 1.0, stroke, StrokeKind::Inside);
        }
        let said = cursor.map_or_else(String::new, |place| self.map.cell_text(panel, place));
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
        HeatMapInput {
            panel: place,
            hovered,
            clicked: clicked.filter(|_| is_clicked),
            head: head.filter(|_| is_clicked),
            response,
        }
    }

    /// The cell that the arrow keys are on: the pinned one to begin with, else the lower left one.
    fn cursor(&self, ui: &Ui, id: Id, panel: &Panel, is_focused: bool) -> Option<CellIndex> {
        let (columns, rows) = (self.map.x.sizes.len(), self.map.y.sizes.len());
        if columns == 0 || rows == 0 {
            return None;
        }
        let memory = id.with("cursor");
        let known: Option<CellIndex> = ui.data(|data| data.get_temp(memory));
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

    /// The label under the pointer, set apart from the others.
    fn lit_head(&self, field: &PanelLayout, head: Head) {
        let size = match head {
            Head::Column(column) => self.map.x.sizes.get(column),
            Head::Row(row) => self.map.y.sizes.get(row),
        };
        let text = size.map(|size| cells::size_text(*size)).unwrap_or_default();
        let items = with_letters(self.sketch.painter, |letters| {
            let anchor = field.header_anchor(head, letters);
            let width = letters.width(&text, Font::Numbers);
            let ground = SketchShape::Ground {
                area: anchor.area((width, letters.size)).expanded(2.0),
                ink: Ink::Panel,
                strength: 1.0,
                radius: 2.0,
            };
            [
                ground,
                letters.text(anchor, text, Font::Numbers, Ink::Accent),
            ]
        });
        self.sketch.paint(&items);
    }
}
