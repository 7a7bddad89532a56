//! The treemap: a region for each category, and in it a tile for each of its rows.

use eframe::egui::{Id, Rect, Response, Sense, Stroke, Ui, WidgetInfo, accesskit::Role, vec2};

use super::{drawing, table};
use crate::theme;
use crate::widgets::sketch::{Sketch, laid_out};
use powerband_app::App;
use powerband_app::action::{Action, Kernels};
use powerband_app::kernels::{KernelsResult, SelectedRow};
use powerband_core::base::humanize;
use powerband_findings::analysis::breakdown::Breakdown;
use powerband_findings::chart::area::Area;
use powerband_findings::chart::layout::treemap::{RegionAreas, lay_out};
use powerband_findings::chart::treemap::{self, Region};

/// Height of a treemap.
const MAP: f32 = 380.0;
/// Width of the edge around a lit tile.
const LIT: f32 = 2.0;
/// The least width and height of a tile that is a stop of the keyboard.
const STOP: f32 = 14.0;

pub(super) fn show(
    ui: &mut Ui,
    app: &App,
    found: &KernelsResult,
    changes: &mut Vec<Kernels>,
    actions: &mut Vec<Action>,
) {
    let state = &app.profile.kernels;
    let regions = &state.drawn.regions;
    let id = ui.scope_id().with("treemap shapes");
    let laid_out = laid_out(ui, id, regions, |width, letters| {
        lay_out(regions, Area::new(0.0, 0.0, width, MAP.into()), letters)
    });
    let (field, response) = ui.allocate_exact_size(vec2(ui.available_width(), MAP), Sense::hover());
    response.widget_info(|| {
        let words = humanize::pluralised(treemap::count(regions) as u64, "tile");
        WidgetInfo::labeled(Role::Image, true, format!("Treemap, {words}"))
    });
    let painter = ui.painter_at(field);
    let map = Map {
        app,
        rows: found.breakdown(state.map_level()),
        sketch: Sketch::new(ui, &painter, field.min.to_vec2()),
        id: response.id,
    };
    map.sketch.paint(&laid_out.placed.items);
    for (region, areas) in regions.iter().zip(&laid_out.placed.regions) {
        map.show_header(ui, region, areas, changes, actions);
        for number in 0..region.tiles.len() {
            map.tile(ui, region, areas, number, changes, actions);
        }
    }
}

/// What the parts of a treemap have in common.
struct Map<'a> {
    app: &'a App,
    rows: &'a Breakdown,
    sketch: Sketch<'a>,
    id: Id,
}

impl Map<'_> {
    /// A category by its head.
    fn show_header(
        &self,
        ui: &Ui,
        region: &Region,
        areas: &RegionAreas,
        changes: &mut Vec<Kernels>,
        actions: &mut Vec<Action>,
    ) {
        let Some(head) = areas.head else {
            return;
        };
        let title = region.category.title();
        let name = format!("{title}, {}", humanize::percent(region.share));
        let meaning = SelectedRow::Category(region.category);
        let is_selected = self.app.profile.kernels.selected() == Some(&meaning);
        let id = self.id.with(title);
        let response = hand(ui, self.sketch.rect(head), id, &name, is_selected);
        self.light(ui, areas.whole, response.hovered() || is_selected);
        drawing::offer(&response, self.app, Some(&meaning), actions);
        if response.on_hover_text(name).clicked() {
            changes.push(meaning.opened());
        }
    }

    fn tile(
        &self,
        ui: &Ui,
        region: &Region,
        areas: &RegionAreas,
        number: usize,
        changes: &mut Vec<Kernels>,
        actions: &mut Vec<Action>,
    ) {
        let (tile, area) = (&region.tiles[number], areas.tiles[number]);
        let place = self.sketch.rect(area);
        let row = tile.row.and_then(|row| self.rows.rows.get(row));
        let level = self.rows.level;
        let meaning = row.map(|row| SelectedRow::of_row(level, row));
        let is_selected =
            meaning.is_some() && meaning.as_ref() == self.app.profile.kernels.selected();
        let id = self.id.with((region.category.title(), number));
        let name = format!("{}, {}", tile.name, humanize::percent(tile.share));
        let response = match row {
            Some(_) => hand(ui, place, id, &name, is_selected),
            None => ui.interact(place, id, Sense::hover()),
        };
        self.light(ui, area, response.hovered() || is_selected);
        drawing::offer(&response, self.app, meaning.as_ref(), actions);
        let times = self.app.profile.kernels.times;
        let words = row.map_or(name, |row| table::in_full(self.rows, row, times));
        if response.on_hover_text(words).clicked() {
            changes.extend(meaning.map(SelectedRow::opened));
        }
    }

    /// An edge around what is selected or under the pointer.
    fn light(&self, ui: &Ui, area: Area, is_lit: bool) {
        if is_lit {
            let stroke = Stroke::new(LIT, theme::roles(ui).accent);
            self.sketch.edge(area.expanded(-1.0), 3.0, stroke);
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
