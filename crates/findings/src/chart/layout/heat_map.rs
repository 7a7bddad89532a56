//! A heat map as shapes: its legend, and a field of cells for each setup.

use super::cell_words::cell_texts;
use super::cells::{self, LIMIT, PanelLayout};
use super::{Anchor, Font, HorizontalAnchor, Letters, VerticalAnchor};
use crate::chart::area::Area;
use crate::chart::heat_map::{Content, HeatMap, MapCell, Panel};
use crate::chart::sketch::{Ink, SketchShape};

/// Between cells.
const GAP: f64 = 0.5;
/// The ground that sets the line of the limit apart from every colour below it, in widths of a line.
const LIMIT_GROUND: f64 = LIMIT * 2.2;

/// A heat map with everything at its place.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlacedHeatMap {
    /// The shapes, first at the back.
    pub items: Vec<SketchShape>,
    /// A field for each panel.
    pub fields: Vec<PanelLayout>,
}

/// Finds the place of everything.
pub fn lay_out(map: &HeatMap, area: Area, letters: &Letters<'_>) -> PlacedHeatMap {
    let places = cells::lay_out(map, area, letters);
    let mut items = places.legend;
    for (panel, field) in map.panels.iter().zip(&places.fields) {
        words_around(&mut items, map, panel, field, letters);
        let columns = map.x.sizes.len().max(1);
        for (number, cell) in panel.cells.iter().enumerate() {
            let place = (number % columns, number / columns);
            if cell.content != Content::Outside {
                let tooltip = format!("{}, {}", panel.name, map.cell_text(panel, place));
                let shapes = shapes_of(cell, map, field.cell(place), letters);
                items.push(SketchShape::group("cell", tooltip, shapes));
            }
        }
        iso_line(&mut items, map, panel, field);
    }
    PlacedHeatMap {
        items,
        fields: places.fields,
    }
}

/// The name of a panel, its sides and their labels.
fn words_around(
    items: &mut Vec<SketchShape>,
    map: &HeatMap,
    panel: &Panel,
    field: &PanelLayout,
    letters: &Letters<'_>,
) {
    let size = letters.size;
    let at = |at, side| Anchor::new(at, side, VerticalAnchor::Middle);
    if !panel.name.is_empty() {
        let (mut left, y) = field.name;
        if let Some(colour) = panel.colour {
            items.push(SketchShape::Marker {
                at: (left + size * 0.5, y),
                shape: colour,
                radius: letters.marker,
                ink: Ink::Series(colour),
                strength: 1.0,
            });
            left += size * 1.4;
        }
        let short = letters.cut(&panel.name, Font::Words, field.cells.right - left);
        let name = letters.text(
            at((left, y), HorizontalAnchor::Start),
            short,
            Font::Words,
            Ink::Text,
        );
        items.push(SketchShape::group("", &panel.name, vec![name]));
    }
    for (at, name) in [
        (at(field.y_title, HorizontalAnchor::Start), &map.y.name),
        (at(field.x_title, HorizontalAnchor::End), &map.x.name),
    ] {
        items.push(letters.text(at, name, Font::Words, Ink::Faint));
    }
    let columns = field.x_labels(&map.x, letters).into_iter();
    let rows = field.y_labels(&map.y, letters).into_iter();
    let columns = columns.map(|(at, text)| (at, text, HorizontalAnchor::Middle, "x-tick"));
    let rows = rows.map(|(at, text)| (at, text, HorizontalAnchor::End, "y-tick"));
    items.extend(columns.chain(rows).map(|(place, text, side, class)| {
        letters
            .text(at(place, side), text, Font::Numbers, Ink::Quiet)
            .class(class)
    }));
}

fn shapes_of(
    cell: &MapCell,
    map: &HeatMap,
    whole: Area,
    letters: &Letters<'_>,
) -> Vec<SketchShape> {
    let area = whole.expanded(-GAP);
    let is_hatched = cell.value().is_none();
    let (mut items, ink) = match cell.content {
        Content::Value(value) => {
            let (kind, share) = (map.scale.kind, map.scale.share(value));
            let ground = SketchShape::Ground {
                area,
                ink: Ink::Scale(kind, share),
                strength: 1.0,
                radius: 0.0,
            };
            (vec![ground], Ink::OnScale(kind, share))
        }
        Content::Missing { .. } | Content::Outside => {
            (vec![SketchShape::Hatched(area)], Ink::Quiet)
        }
    };
    if cell.is_pinned {
        items.push(SketchShape::Edge {
            area: area.expanded(-letters.line),
            thickness: 1.0,
            ink,
            radius: 0.0,
        });
    }
    for written in cell_texts(cell, &map.scale, area, letters) {
        if is_hatched {
            // Words on hatching need a ground.
            let half = letters.width(&written.text, written.font) / 2.0 + 2.0;
            let ((x, y), high) = (written.at, letters.size * 0.65);
            items.push(SketchShape::Ground {
                area: Area::new(x - half, y - high, x + half, y + high),
                ink: Ink::Raised,
                strength: 1.0,
                radius: 0.0,
            });
        }
        let at = Anchor::new(written.at, HorizontalAnchor::Middle, VerticalAnchor::Middle);
        items.push(
            letters
                .text(at, written.text, written.font, ink)
                .class("value"),
        );
    }
    items
}

/// The borders of the limit.
fn iso_line(items: &mut Vec<SketchShape>, map: &HeatMap, panel: &Panel, field: &PanelLayout) {
    let edges = map.iso_line(panel);
    for (thickness, ink, class) in [
        (LIMIT_GROUND, Ink::Panel, ""),
        (LIMIT, Ink::Accent, "limit"),
    ] {
        items.extend(edges.iter().map(|(from, to)| {
            let ends = (field.corner(*from), field.corner(*to));
            SketchShape::line(ends, thickness, ink).class(class)
        }));
    }
}
