//! A treemap as shapes: regions with heads, and in them tiles with names and shares.

use super::{Anchor, Font, HorizontalAnchor, Letters, VerticalAnchor};
use crate::chart::area::Area;
use crate::chart::sketch::{Ink, SketchShape};
use crate::chart::treemap::{Region, Tile, places};
use powerband_core::base::humanize;

/// In sizes of type: the height of a region's head, and from its edge to its words.
const HEAD: f64 = 1.6;
const TO_HEAD: (f64, f64) = (0.5, 0.3);
/// From a tile's edge to its words, aside and above; the smallest room for them; a line.
const TO_WORDS: (f64, f64) = (0.6, 0.4);
const LEAST: (f64, f64) = (3.1, 1.2);
const LINE: f64 = 1.3;
/// Lines that name and share need.
const BOTH: f64 = 2.1;
/// Lines of a name at most.
const MOST: usize = 3;
/// Smaller tiles are not drawn.
const SMALLEST: f64 = 2.0;

/// Where a region can be met by a hand.
#[derive(Clone, Debug, PartialEq)]
pub struct RegionAreas {
    /// All of it.
    pub whole: Area,
    /// The head above its tiles, where it has one.
    pub head: Option<Area>,
    /// Its tiles.
    pub tiles: Vec<Area>,
}

/// A treemap with everything at its place.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlacedTreemap {
    /// The shapes, first at the back.
    pub items: Vec<SketchShape>,
    /// The areas of each region.
    pub regions: Vec<RegionAreas>,
}

/// Finds the place of everything.
pub fn lay_out(regions: &[Region], area: Area, letters: &Letters<'_>) -> PlacedTreemap {
    let head = letters.size * HEAD;
    let mut placed = PlacedTreemap::default();
    let places = places(regions, area.width(), area.height(), head);
    for (region, places) in regions.iter().zip(places) {
        let whole = places.whole.within(area);
        let inner = whole.expanded(-1.0);
        if places.head > 0.0 {
            head_of(&mut placed.items, region, inner, letters);
        }
        let tiles = places.tiles.iter().map(|tile| tile.within(area));
        let tiles: Vec<Area> = tiles.collect();
        for (tile, area) in region.tiles.iter().zip(&tiles) {
            if area.width() > SMALLEST && area.height() > SMALLEST {
                let share = humanize::percent(tile.share);
                let tooltip = format!("{}, {}: {share}", tile.name, region.category.title());
                let shapes = shapes_of(tile, share, region, area.expanded(-1.0), letters);
                placed
                    .items
                    .push(SketchShape::group("point", tooltip, shapes));
            }
        }
        let head = (places.head > 0.0).then_some(Area {
            bottom: whole.top + places.head,
            ..inner
        });
        placed.regions.push(RegionAreas { whole, head, tiles });
    }
    placed
}

/// The edge of a region, its name, and its share where there is room.
fn head_of(items: &mut Vec<SketchShape>, region: &Region, area: Area, letters: &Letters<'_>) {
    items.push(SketchShape::Edge {
        area,
        thickness: letters.hair / letters.line,
        ink: Ink::Fill(region.colour),
        radius: 3.0,
    });
    let size = letters.size;
    let name = region.category.title();
    let both = format!("{name}  {}", humanize::percent(region.share));
    let room = area.width() - 2.0 * size * TO_HEAD.0;
    let text = if letters.width(&both, Font::Words) <= room {
        both
    } else {
        letters.cut(name, Font::Words, room)
    };
    let at = (area.left + size * TO_HEAD.0, area.top + size * TO_HEAD.1);
    let at = Anchor::new(at, HorizontalAnchor::Start, VerticalAnchor::Top);
    items.push(letters.text(at, text, Font::Words, Ink::Text));
}

fn shapes_of(
    tile: &Tile,
    share: String,
    region: &Region,
    area: Area,
    letters: &Letters<'_>,
) -> Vec<SketchShape> {
    let fill = region.colour;
    let mut items = vec![SketchShape::Tile { area, fill }];
    let size = letters.size;
    let room = Area::new(
        area.left + size * TO_WORDS.0,
        area.top + size * TO_WORDS.1,
        area.right - size * TO_WORDS.0,
        area.bottom - size * TO_WORDS.1,
    );
    if room.width() < size * LEAST.0 || room.height() < size * LEAST.1 {
        return items;
    }
    let line = size * LINE;
    let has_share = room.height() >= line * BOTH;
    let for_name = room.height() - if has_share { line } else { 0.0 };
    let most = ((for_name / line) as usize).clamp(1, MOST);
    let width = |text: &str, font| letters.width(text, font);
    let name = letters.broken(&tile.name, Font::Words, room.width(), most);
    let name = name.into_iter().map(|text| (text, Font::Words, Ink::Text));
    let has_share = has_share && width(&share, Font::Numbers) <= room.width();
    let share = has_share.then_some((share, Font::Numbers, Ink::Quiet));
    let lines: Vec<_> = name.chain(share).collect();
    let widths = lines.iter().map(|(text, font, _)| width(text, *font));
    items.push(SketchShape::Clearing(Area::new(
        room.left,
        room.top,
        room.left + widths.fold(0.0, f64::max),
        room.top + lines.len() as f64 * line,
    )));
    let mut top = room.top;
    for (text, font, ink) in lines {
        let at = Anchor::new(
            (room.left, top),
            HorizontalAnchor::Start,
            VerticalAnchor::Top,
        );
        items.push(letters.text(at, text, font, ink));
        top += line;
    }
    items
}
