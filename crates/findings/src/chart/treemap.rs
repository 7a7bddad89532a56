//! Where the time went, as a treemap: a region for each category, and in it a tile for each of its rows. Areas
//! are shares of the time.

use std::collections::BTreeMap;

use super::area::Area;
use super::breakdown::category_fill;
use super::colours::Fill;
use crate::analysis::breakdown::{Breakdown, BreakdownRow, FilteredRows};
use crate::analysis::category::Category;

/// Most tiles; smaller ones are too small to be read and become one in each region.
const TILES: usize = 48;
/// Between the edge of a region and its tiles.
const EDGE: f64 = 2.0;
/// The height of a region, in heights of its head, from which on it has one; and the width.
const WITH_HEAD: (f64, f64) = (2.4, 3.0);

/// A rectangle within another one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rectangle {
    /// Its left edge.
    pub x: f64,
    /// Its upper edge.
    pub y: f64,
    /// Its width.
    pub width: f64,
    /// Its height.
    pub height: f64,
}

impl Rectangle {
    /// Where it is in an area.
    pub(crate) fn within(self, area: Area) -> Area {
        let (left, top) = (area.left + self.x, area.top + self.y);
        Area::new(left, top, left + self.width, top + self.height)
    }

    /// Width times height.
    pub fn area(self) -> f64 {
        self.width * self.height
    }

    /// How much longer than wide it is, or wider than long; 1 for a square.
    pub fn stretch(self) -> f64 {
        (self.width / self.height).max(self.height / self.width)
    }
}

/// A row in its region.
#[derive(Clone, Debug, PartialEq)]
pub struct Tile {
    /// The row that it stands for; nothing for the one of all that is left.
    pub row: Option<usize>,
    /// What stands in it.
    pub name: String,
    /// Its share of everything, from 0 to 1.
    pub share: f64,
}

/// A category with its rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Region {
    /// Which.
    pub category: Category,
    /// Its share of everything, from 0 to 1.
    pub share: f64,
    /// What it and its tiles are filled with.
    pub colour: Fill,
    /// Its rows, the largest first.
    pub tiles: Vec<Tile>,
}

/// The regions of the rows that are shown, the largest first, before they have places. Rows have to stand by
/// falling time.
pub fn regions(breakdown: &Breakdown, shown: &FilteredRows) -> Vec<Region> {
    let rows = shown.rows.iter();
    let rows = rows.filter_map(|&place| Some((place, breakdown.rows.get(place)?)));
    let mut found: BTreeMap<Category, (Vec<Tile>, Vec<&BreakdownRow>)> = BTreeMap::new();
    for (number, (place, row)) in rows.filter(|(_, row)| row.total_ns > 0).enumerate() {
        let (tiles, rest) = found.entry(row.category).or_default();
        if number >= TILES && !tiles.is_empty() {
            rest.push(row);
            continue;
        }
        tiles.push(Tile {
            row: Some(place),
            name: row.short.clone(),
            share: row.share,
        });
    }
    let region = |(category, (mut tiles, rest)): (Category, (Vec<Tile>, Vec<&BreakdownRow>))| {
        if !rest.is_empty() {
            tiles.push(Tile {
                row: None,
                name: format!("{} more", rest.len()),
                share: rest.iter().map(|row| row.share).sum(),
            });
        }
        Region {
            category,
            share: tiles.iter().map(|tile| tile.share).sum(),
            colour: category_fill(category),
            tiles,
        }
    };
    let mut regions: Vec<Region> = found.into_iter().map(region).collect();
    regions.sort_by(|a, b| b.share.total_cmp(&a.share));
    regions
}

/// How many tiles some regions have.
pub fn count(regions: &[Region]) -> usize {
    regions.iter().map(|region| region.tiles.len()).sum()
}

/// Where a region is.
pub(crate) struct RegionRectangles {
    /// All of it.
    pub(crate) whole: Rectangle,
    /// The height of its head above its tiles; 0 where there is no room for one.
    pub(crate) head: f64,
    /// Its tiles.
    pub(crate) tiles: Vec<Rectangle>,
}

/// The places of regions and their tiles in a field. A region has a head of this height where there is room.
pub(crate) fn places(
    regions: &[Region],
    width: f64,
    height: f64,
    head: f64,
) -> Vec<RegionRectangles> {
    let weights: Vec<f64> = regions.iter().map(|region| region.share).collect();
    let wholes = squarified(&weights, width, height);
    let placed = regions.iter().zip(wholes).map(|(region, whole)| {
        let has_head = whole.height >= WITH_HEAD.0 * head && whole.width >= WITH_HEAD.1 * head;
        let head = if has_head { head } else { 0.0 };
        let edge = if has_head { EDGE } else { 0.0 };
        let weights: Vec<f64> = region.tiles.iter().map(|tile| tile.share).collect();
        let inner = (whole.width - 2.0 * edge, whole.height - head - edge);
        let mut tiles = squarified(&weights, inner.0, inner.1);
        for tile in &mut tiles {
            tile.x += whole.x + edge;
            tile.y += whole.y + head;
        }
        RegionRectangles { whole, head, tiles }
    });
    placed.collect()
}

/// Fills a field with rectangles: their areas are proportional to the weights, their sides as equal as possible
/// (squarified treemap of Bruls, Huizing and van Wijk). A weight of zero or less gets no area.
pub(crate) fn squarified(weights: &[f64], width: f64, height: f64) -> Vec<Rectangle> {
    let mut places = vec![Rectangle::default(); weights.len()];
    let is_drawn = |weight: f64| weight.is_finite() && weight > 0.0;
    let mut order: Vec<usize> = (0..weights.len())
        .filter(|&at| is_drawn(weights[at]))
        .collect();
    order.sort_by(|&a, &b| weights[b].total_cmp(&weights[a]));
    let whole: f64 = order.iter().map(|&at| weights[at]).sum();
    if whole <= 0.0 || width <= 0.0 || height <= 0.0 {
        return places;
    }
    let scale = width * height / whole;
    let area = |at: usize| weights[at] * scale;
    let mut field = Rectangle {
        x: 0.0,
        y: 0.0,
        width,
        height,
    };
    let mut rest = order.as_slice();
    while !rest.is_empty() {
        let side = field.width.min(field.height);
        let mut number = 1;
        while number < rest.len() {
            let now = worst(rest[..number].iter().map(|&at| area(at)), side);
            let then = worst(rest[..=number].iter().map(|&at| area(at)), side);
            if then > now {
                break;
            }
            number += 1;
        }
        let (row, others) = rest.split_at(number);
        field = lay(row, &area, field, &mut places);
        rest = others;
    }
    places
}

/// The most stretched of a row of rectangles along a side.
fn worst(areas: impl Iterator<Item = f64>, side: f64) -> f64 {
    let (mut sum, mut least, mut most) = (0.0, f64::INFINITY, 0.0_f64);
    for area in areas {
        sum += area;
        least = least.min(area);
        most = most.max(area);
    }
    let square = side * side;
    (square * most / (sum * sum)).max(sum * sum / (square * least))
}

/// Lays a row along the shorter side of the field; what is left of the field is the answer.
fn lay(
    row: &[usize],
    area: &dyn Fn(usize) -> f64,
    field: Rectangle,
    places: &mut [Rectangle],
) -> Rectangle {
    let sum: f64 = row.iter().map(|&at| area(at)).sum();
    let is_wide = field.width >= field.height;
    let side = field.width.min(field.height).max(f64::MIN_POSITIVE);
    let thickness = sum / side;
    let mut offset = 0.0;
    for &at in row {
        let length = area(at) / thickness.max(f64::MIN_POSITIVE);
        places[at] = if is_wide {
            Rectangle {
                x: field.x,
                y: field.y + offset,
                width: thickness,
                height: length,
            }
        } else {
            Rectangle {
                x: field.x + offset,
                y: field.y,
                width: length,
                height: thickness,
            }
        };
        offset += length;
    }
    if is_wide {
        Rectangle {
            x: field.x + thickness,
            width: (field.width - thickness).max(0.0),
            ..field
        }
    } else {
        Rectangle {
            y: field.y + thickness,
            height: (field.height - thickness).max(0.0),
            ..field
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::breakdown::{self, BreakdownLevel, Filter};
    use crate::analysis::category::Rules;
    use crate::analysis::kernel_fixtures::{RESNET_V100, profile};

    #[test]
    fn rectangles_fill_the_field_and_have_their_areas() {
        let weights = [6.0, 6.0, 4.0, 3.0, 2.0, 2.0, 1.0];
        let places = squarified(&weights, 6.0, 4.0);
        for (weight, place) in weights.iter().zip(&places) {
            assert!((place.area() - weight).abs() < 1e-9, "{place:?}");
            assert!(place.x >= -1e-9 && place.x + place.width <= 6.0 + 1e-9);
            assert!(place.y >= -1e-9 && place.y + place.height <= 4.0 + 1e-9);
            assert!(place.stretch() < 3.1, "{place:?}");
        }
        for (place, a) in places.iter().enumerate() {
            for b in &places[place + 1..] {
                let is_apart = a.x + a.width <= b.x + 1e-9
                    || b.x + b.width <= a.x + 1e-9
                    || a.y + a.height <= b.y + 1e-9
                    || b.y + b.height <= a.y + 1e-9;
                assert!(is_apart, "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn strange_weights_have_no_area() {
        assert_eq!(squarified(&[], 1.0, 1.0), []);
        let places = squarified(&[0.0, f64::NAN, -1.0, 2.0], 3.0, 2.0);
        assert_eq!(places[0].area() + places[1].area() + places[2].area(), 0.0);
        assert!((places[3].area() - 6.0).abs() < 1e-9);
        assert_eq!(squarified(&[1.0], 0.0, 5.0)[0].area(), 0.0);
    }

    #[test]
    fn regions_of_a_real_profile_stand_for_all_of_it() {
        let profile = profile(RESNET_V100);
        let found =
            breakdown::profile_breakdown(&profile, &Rules::default(), BreakdownLevel::Kernel);
        let regions = regions(&found, &found.filtered_rows(&Filter::default()));
        let whole: f64 = regions.iter().map(|region| region.share).sum();
        assert!((whole - 1.0).abs() < 1e-9);
        assert_eq!(regions[0].category, Category::Convolution);
        assert!(count(&regions) <= TILES + 2 * regions.len());
        let places = places(&regions, 900.0, 340.0, 18.0);
        let area: f64 = places.iter().map(|places| places.whole.area()).sum();
        assert!((area - 306_000.0).abs() < 1.0, "{area}");
        assert!(places[0].head > 0.0 && places.last().unwrap().head == 0.0);
        for (region, places) in regions.iter().zip(&places) {
            let outer = places.whole;
            for (tile, inner) in region.tiles.iter().zip(&places.tiles) {
                let row = tile.row.map(|row| &found.rows[row]);
                assert!(row.is_none_or(|row| row.category == region.category));
                assert!(inner.x >= outer.x - 1e-6 && inner.y >= outer.y + places.head - 1e-6);
                assert!(inner.x + inner.width <= outer.x + outer.width + 1e-6);
                assert!(inner.y + inner.height <= outer.y + outer.height + 1e-6);
            }
        }
    }
}
