//! The treemap: a region for each category, and in it a tile for each of its rows.

use eframe::egui::{
    self, Align2, Color32, CornerRadius, Id, Rect, Response, Sense, Stroke, StrokeKind, Ui,
    WidgetInfo, accesskit::Role, pos2, vec2,
};

use super::{drawing, table};
use crate::gui::theme::{self, text};
use crate::gui::widgets::chart_canvas::{area, rect};
use powerband_app::App;
use powerband_app::action::{Action, Kernels};
use powerband_app::kernels::{Found, Selected};
use powerband_core::base::humanize;
use powerband_findings::analysis::breakdown::Breakdown;
use powerband_findings::chart::layout::tiles;
use powerband_findings::chart::treemap::{self, Rectangle, Region, Tile};

/// Height of a treemap.
const MAP: f32 = 380.0;
/// Height of the head of a region.
const HEAD: f32 = 20.0;
/// Size of type in a tile.
const TILE: f32 = 12.0;
/// The least width and height of a tile that is a stop of the keyboard.
const STOP: f32 = 14.0;

/// Shows it.
pub(super) fn show(
    ui: &mut Ui,
    app: &App,
    found: &Found,
    changes: &mut Vec<Kernels>,
    actions: &mut Vec<Action>,
) {
    let state = &app.kernels;
    let (field, response) = ui.allocate_exact_size(vec2(ui.available_width(), MAP), Sense::hover());
    let mut regions = state.drawn.regions.clone();
    let (width, height) = (f64::from(field.width()), f64::from(field.height()));
    treemap::lay_out(&mut regions, width, height, f64::from(HEAD));
    response.widget_info(|| {
        let words = humanize::of_many(treemap::count(&regions) as u64, "tile");
        WidgetInfo::labeled(Role::Image, true, format!("Treemap, {words}"))
    });
    let rows = found.at(state.map_level());
    let map = Map {
        app,
        rows,
        field,
        id: response.id,
    };
    for region in &regions {
        map.region(ui, region, changes, actions);
        for (number, tile) in region.tiles.iter().enumerate() {
            map.tile(ui, region, tile, number, changes, actions);
        }
    }
}

/// What the parts of a treemap have in common.
struct Map<'a> {
    app: &'a App,
    rows: &'a Breakdown,
    field: Rect,
    id: Id,
}

impl Map<'_> {
    fn placed(&self, place: Rectangle) -> Rect {
        let min = self.field.min + vec2(place.x as f32, place.y as f32);
        Rect::from_min_size(min, vec2(place.width as f32, place.height as f32))
    }

    /// The ground and the head of a category.
    fn region(
        &self,
        ui: &Ui,
        region: &Region,
        changes: &mut Vec<Kernels>,
        actions: &mut Vec<Action>,
    ) {
        if region.head <= 0.0 {
            return;
        }
        let roles = theme::roles(ui);
        let whole = self.placed(region.place).shrink(1.0);
        let head = Rect::from_min_size(whole.min, vec2(whole.width(), HEAD - 1.0));
        let (title, share) = (region.category.title(), humanize::percent(region.share));
        let meaning = Selected::Category(region.category);
        let is_selected = self.app.kernels.selected() == Some(&meaning);
        let id = self.id.with(title);
        let response = hand(ui, head, id, &format!("{title}, {share}"), is_selected);
        let color = roles.fill(region.colour);
        let radius = CornerRadius::same(4);
        let painter = ui.painter_at(whole);
        painter.rect_filled(whole, radius, color.gamma_multiply(0.14));
        let is_lit = response.hovered() || is_selected;
        let edge = if is_lit { roles.accent } else { color };
        painter.rect_stroke(whole, radius, Stroke::new(1.0, edge), StrokeKind::Inside);
        let at = |x: f32| pos2(x, head.center().y);
        let font = theme::numbers(text::CAPTION);
        let number = painter.layout_no_wrap(share, font, roles.quiet);
        let font = egui::FontId::new(TILE, theme::semibold());
        let name = painter.layout_no_wrap(title.to_owned(), font, roles.text);
        let is_wide = name.size().x + number.size().x + 24.0 <= head.width();
        if is_wide {
            let left = head.right() - 8.0 - number.size().x;
            painter.galley(
                at(left) - vec2(0.0, number.size().y / 2.0),
                number,
                roles.quiet,
            );
        }
        let right = head.right() - 6.0;
        let room = Rect::from_min_max(head.min, pos2(right, head.bottom()));
        let clipped = painter.with_clip_rect(room);
        clipped.galley(
            at(head.left() + 8.0) - vec2(0.0, name.size().y / 2.0),
            name,
            roles.text,
        );
        drawing::offer(&response, self.app, Some(&meaning), actions);
        let words = format!("{title}, {}", humanize::percent(region.share));
        if response.on_hover_text(words).clicked() {
            changes.push(meaning.opened());
        }
    }

    fn tile(
        &self,
        ui: &Ui,
        region: &Region,
        tile: &Tile,
        number: usize,
        changes: &mut Vec<Kernels>,
        actions: &mut Vec<Action>,
    ) {
        let place = self.placed(tile.place);
        let row = tile.row.and_then(|row| self.rows.rows.get(row));
        let level = self.rows.level;
        let meaning = row.map(|row| Selected::of_row(level, row));
        let is_selected = meaning.is_some() && meaning.as_ref() == self.app.kernels.selected();
        let id = self.id.with((region.category.title(), number));
        let name = format!("{}, {}", tile.name, humanize::percent(tile.share));
        let response = match row {
            Some(_) => hand(ui, place, id, &name, is_selected),
            None => ui.interact(place, id, Sense::hover()),
        };
        drawing::offer(&response, self.app, meaning.as_ref(), actions);
        let color = theme::roles(ui).fill(region.colour);
        let is_lit = response.hovered() || is_selected;
        paint(ui, place, tile, color, is_lit);
        let times = self.app.kernels.times;
        let words = row.map_or(name, |row| table::in_full(self.rows, row, times));
        if response.on_hover_text(words).clicked() {
            changes.extend(meaning.map(Selected::opened));
        }
    }
}

/// A stop of the keyboard where it is large enough to be met by a hand.
fn hand(ui: &Ui, place: Rect, id: Id, name: &str, is_selected: bool) -> Response {
    let is_stop = place.width() >= STOP && place.height() >= STOP;
    let sense = if is_stop {
        Sense::click()
    } else {
        Sense::CLICK
    };
    let response = ui.interact(place, id, sense);
    if is_stop {
        response.widget_info(|| WidgetInfo::selected(Role::Button, true, is_selected, name));
    }
    response
}

fn paint(ui: &Ui, place: Rect, tile: &Tile, color: Color32, is_lit: bool) {
    let roles = theme::roles(ui);
    let inner = place.shrink(1.0);
    if !inner.is_positive() {
        return;
    }
    let radius = CornerRadius::same(3);
    let painter = ui.painter_at(inner);
    let strength = if is_lit { 0.5 } else { 0.3 };
    painter.rect_filled(inner, radius, color.gamma_multiply(strength));
    let edge = if is_lit {
        roles.accent
    } else {
        color.gamma_multiply(0.7)
    };
    painter.rect_stroke(inner, radius, Stroke::new(1.0, edge), StrokeKind::Inside);
    let Some(lines) = tiles::lines(area(inner), TILE.into()) else {
        return;
    };
    let room = rect(lines.room);
    let name = tile.name.clone();
    let font = theme::words(TILE);
    let mut job = egui::text::LayoutJob::simple(name, font, roles.text, room.width());
    job.wrap.max_rows = lines.of_name;
    job.wrap.break_anywhere = true;
    let galley = painter.layout_job(job);
    let below = galley.size().y;
    painter.galley(room.min, galley, roles.text);
    if lines.has_share {
        let at = room.min + vec2(0.0, below + 1.0);
        let font = theme::numbers(text::CAPTION);
        let share = humanize::percent(tile.share);
        painter.text(at, Align2::LEFT_TOP, share, font, roles.quiet);
    }
}
