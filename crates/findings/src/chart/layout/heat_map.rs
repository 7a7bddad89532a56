//! A heat map as shapes: its legend, and a field of cells for each setup.

use super::cell_words::words_in;
use super::cells::{self, Field, LIMIT};
use super::{Anchor, Font, Height, Letters, Side};
use crate::chart::area::Area;
use crate::chart::heat_map::{Cell, Content, HeatMap, Panel};
use crate::chart::sketch::{Ink, Item, words};

/// Between cells.
const GAP: f64 = 0.5;
/// The ground that sets the line of the limit apart from every colour below it, in widths of a line.
const LIMIT_GROUND: f64 = LIMIT * 2.2;

/// A heat map with everything at its place.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Placed {
    /// The shapes, first at the back.
    pub items: Vec<Item>,
    /// A field for each panel.
    pub fields: Vec<Field>,
}

/// Finds the place of everything.
pub fn lay_out(map: &HeatMap, area: Area, letters: &Letters<'_>) -> Placed {
    let places = cells::lay_out(map, area, letters);
    let mut items = places.legend;
    for (panel, field) in map.panels.iter().zip(&places.fields) {
        words_around(&mut items, map, panel, field, letters);
        let columns = map.x.sizes.len().max(1);
        for (number, cell) in panel.cells.iter().enumerate() {
            let place = (number % columns, number / columns);
            if cell.content != Content::Outside {
                let tooltip = format!("{}, {}", panel.name, map.words(panel, place));
                let shapes = shapes_of(cell, map, field.cell(place), letters);
                items.push(Item::group("cell", tooltip, shapes));
            }
        }
        iso_line(&mut items, map, panel, field);
    }
    Placed {
        items,
        fields: places.fields,
    }
}

/// The name of a panel, its sides and their labels.
fn words_around(
    items: &mut Vec<Item>,
    map: &HeatMap,
    panel: &Panel,
    field: &Field,
    letters: &Letters<'_>,
) {
    let size = letters.size;
    let at = |at, side| Anchor::new(at, side, Height::Middle);
    if !panel.name.is_empty() {
        let (mut left, y) = field.name;
        if let Some(colour) = panel.colour {
            items.push(Item::Marker {
                at: (left + size * 0.5, y),
                shape: Some(colour),
                radius: letters.marker,
                ink: Ink::Series(colour),
                strength: 1.0,
            });
            left += size * 1.4;
        }
        let short = letters.cut(&panel.name, Font::Words, field.cells.right - left);
        let name = words(at((left, y), Side::Start), short, Font::Words, Ink::Text);
        items.push(Item::group("", &panel.name, vec![name]));
    }
    for (at, name) in [
        (at(field.y_title, Side::Start), &map.y.name),
        (at(field.x_title, Side::End), &map.x.name),
    ] {
        items.push(words(at, name, Font::Words, Ink::Faint));
    }
    let columns = field.x_labels(&map.x, letters).into_iter();
    let rows = field.y_labels(&map.y, letters).into_iter();
    let columns = columns.map(|(at, text)| (at, text, Side::Middle, "x-tick"));
    let rows = rows.map(|(at, text)| (at, text, Side::End, "y-tick"));
    items.extend(columns.chain(rows).map(|(place, text, side, class)| {
        words(at(place, side), text, Font::Numbers, Ink::Quiet).class(class)
    }));
}

fn shapes_of(cell: &Cell, map: &HeatMap, whole: Area, letters: &Letters<'_>) -> Vec<Item> {
    let area = whole.grown(-GAP);
    let is_hatched = cell.value().is_none();
    let (mut items, ink) = match cell.content {
        Content::Value(value) => {
            let (kind, share) = (map.scale.kind, map.scale.share(value));
            let ground = Item::Ground {
                area,
                ink: Ink::Scale(kind, share),
                strength: 1.0,
                radius: 0.0,
            };
            (vec![ground], Ink::OnScale(kind, share))
        }
        Content::Missing { .. } | Content::Outside => (vec![Item::Hatched(area)], Ink::Quiet),
    };
    if cell.is_pinned {
        items.push(Item::Edge {
            area: area.grown(-letters.line),
            thickness: 1.0,
            ink,
            radius: 0.0,
        });
    }
    for written in words_in(cell, &map.scale, area, letters) {
        if is_hatched {
            // Words on hatching need a ground.
            let half = (letters.width)(&written.text, written.font) / 2.0 + 2.0;
            let ((x, y), high) = (written.at, letters.size * 0.65);
            items.push(Item::Ground {
                area: Area::new(x - half, y - high, x + half, y + high),
                ink: Ink::Raised,
                strength: 1.0,
                radius: 0.0,
            });
        }
        let at = Anchor::new(written.at, Side::Middle, Height::Middle);
        items.push(words(at, written.text, written.font, ink).class("value"));
    }
    items
}

/// The borders of the limit.
fn iso_line(items: &mut Vec<Item>, map: &HeatMap, panel: &Panel, field: &Field) {
    let edges = map.iso_line(panel);
    for (thickness, ink, class) in [
        (LIMIT_GROUND, Ink::Panel, ""),
        (LIMIT, Ink::Accent, "limit"),
    ] {
        items.extend(edges.iter().map(|(from, to)| {
            let ends = (field.corner(*from), field.corner(*to));
            Item::line(ends, thickness, ink).class(class)
        }));
    }
}
