//! Where the time went, as bars and as a treemap: rectangles whose areas are shares.

use super::colours::{Depth, Fill};
use crate::analysis::breakdown::{Breakdown, Shown};
use crate::analysis::category::Category;
use crate::analysis::kernel_comparison::Comparison;
use crate::analysis::profile_runs::Times;

/// Most bars; what is left is one more.
const BARS: usize = 12;
/// Most tiles; smaller ones are too small to be read and become one.
const TILES: usize = 48;
/// Rows of a comparison that are drawn.
const CHANGES: usize = 12;

/// What a category is filled with. No two are alike; those that are met most often have a hue as it is.
pub fn colour(category: Category) -> Fill {
    match category {
        Category::Convolution => Fill::plain(0),
        Category::Copies => Fill::of(0, Depth::Soft),
        Category::Reduction => Fill::of(0, Depth::Strong),
        Category::Attention => Fill::plain(1),
        Category::Softmax => Fill::of(1, Depth::Soft),
        Category::Collective => Fill::of(1, Depth::Strong),
        Category::BatchNorm => Fill::plain(2),
        Category::Gather => Fill::of(2, Depth::Soft),
        Category::Norm => Fill::of(2, Depth::Strong),
        Category::Elementwise => Fill::plain(3),
        Category::Pooling => Fill::of(3, Depth::Soft),
        Category::Layout => Fill::of(3, Depth::Strong),
        Category::Gemm => Fill::plain(4),
        Category::Optimiser => Fill::of(4, Depth::Soft),
        Category::Other => Fill::GREY,
    }
}

/// One bar.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    /// The row that it stands for; nothing for the one of all that is left.
    pub row: Option<usize>,
    /// What stands beside it.
    pub name: String,
    /// Its length, as a share of the longest, from 0 to 1; 0 for the one of all that is left.
    pub length: f64,
    /// Its share of everything, from 0 to 1.
    pub share: f64,
    /// Its time, of a run or a step or in total, in nanoseconds.
    pub ns: f64,
    /// What it is filled with.
    pub colour: Fill,
}

/// Bars of the rows that are shown, and one for the others.
pub fn bars(breakdown: &Breakdown, shown: &Shown, times: Times) -> Vec<Bar> {
    let divided = |ns: f64| breakdown.shown_ns(ns, times);
    let mut bars: Vec<Bar> = shown
        .rows
        .iter()
        .filter_map(|&place| Some((place, breakdown.rows.get(place)?)))
        .take(BARS)
        .map(|(place, row)| Bar {
            row: Some(place),
            name: row.short.clone(),
            length: 0.0,
            share: row.share,
            ns: divided(row.total_ns as f64),
            colour: colour(row.category),
        })
        .collect();
    let drawn: f64 = bars.iter().map(|bar| bar.ns).sum();
    let left = divided(shown.total_ns as f64) - drawn;
    let number = shown.rows.len() - bars.len();
    if number > 0 {
        bars.push(Bar {
            row: None,
            name: format!("{number} more"),
            length: 0.0,
            share: breakdown.share_of_all(left * times.divisor(breakdown.runs)),
            ns: left,
            colour: Fill::GREY,
        });
    }
    // What is left would be the longest, and says nothing by its length.
    let of_rows = || bars.iter().filter(|bar| bar.row.is_some());
    let longest = of_rows().map(|bar| bar.ns).fold(0.0, f64::max);
    for bar in bars.iter_mut().filter(|bar| bar.row.is_some()) {
        bar.length = share(bar.ns, longest);
    }
    bars
}

fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

/// A row of a comparison as a bar to either side.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The row.
    pub row: usize,
    /// What stands beside it.
    pub name: String,
    /// From -1, the largest gain, to 1, the largest loss.
    pub length: f64,
    /// The difference, in nanoseconds.
    pub ns: f64,
}

/// Those of some rows that make most of the difference. The rows have to stand by falling difference.
pub fn changes(comparison: &Comparison, rows: &[usize]) -> Vec<Step> {
    let rows = rows
        .iter()
        .filter_map(|&place| Some((place, comparison.rows.get(place)?)))
        .take(CHANGES);
    let largest = rows
        .clone()
        .map(|(_, row)| row.difference_ns().abs())
        .fold(0.0, f64::max);
    rows.filter(|(_, row)| row.difference_ns() != 0.0)
        .map(|(place, row)| Step {
            row: place,
            name: row.title.clone(),
            length: share(row.difference_ns().abs(), largest) * row.difference_ns().signum(),
            ns: row.difference_ns(),
        })
        .collect()
}

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
    /// Width times height.
    pub fn area(self) -> f64 {
        self.width * self.height
    }

    /// How much longer than wide it is, or wider than long; 1 for a square.
    pub fn stretch(self) -> f64 {
        (self.width / self.height).max(self.height / self.width)
    }
}

/// One rectangle of a treemap.
#[derive(Clone, Debug, PartialEq)]
pub struct Tile {
    /// The row that it stands for; nothing for the one of all that is left.
    pub row: Option<usize>,
    /// What stands in it.
    pub name: String,
    /// Its share of everything, from 0 to 1.
    pub share: f64,
    /// What it is filled with.
    pub colour: Fill,
    /// Where it is.
    pub place: Rectangle,
}

/// A treemap of the rows that are shown. They have to stand by falling time.
pub fn treemap(breakdown: &Breakdown, shown: &Shown, width: f64, height: f64) -> Vec<Tile> {
    let mut tiles = tiles(breakdown, shown);
    lay_out(&mut tiles, width, height);
    tiles
}

/// Gives tiles their places in a field.
pub(crate) fn lay_out(tiles: &mut [Tile], width: f64, height: f64) {
    let weights: Vec<f64> = tiles.iter().map(|tile| tile.share).collect();
    let places = squarified(&weights, width, height);
    for (tile, place) in tiles.iter_mut().zip(places) {
        tile.place = place;
    }
}

/// The tiles of a treemap, before they have places.
pub fn tiles(breakdown: &Breakdown, shown: &Shown) -> Vec<Tile> {
    let mut tiles: Vec<Tile> = shown
        .rows
        .iter()
        .filter_map(|&place| Some((place, breakdown.rows.get(place)?)))
        .filter(|(_, row)| row.total_ns > 0)
        .map(|(place, row)| Tile {
            row: Some(place),
            name: row.short.clone(),
            share: row.share,
            colour: colour(row.category),
            place: Rectangle::default(),
        })
        .collect();
    if tiles.len() > TILES {
        let rest = tiles.split_off(TILES);
        tiles.push(Tile {
            row: None,
            name: format!("{} more", rest.len()),
            share: rest.iter().map(|tile| tile.share).sum(),
            colour: Fill::GREY,
            place: Rectangle::default(),
        });
    }
    tiles
}

/// Rectangles whose areas are as the weights, filling a field, as near to squares as can be had: the
/// layout of Bruls, Huizing and van Wijk. Weights that are nothing or less have rectangles without area.
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
    use crate::analysis::breakdown::{self, Filter, Level};
    use crate::analysis::category::Rules;
    use crate::analysis::kernel_comparison;
    use crate::analysis::kernel_fixtures::{RESNET_MI210, RESNET_V100, profile};

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
    fn bars_and_tiles_of_a_real_profile_stand_for_all_of_it() {
        let profile = profile(RESNET_V100);
        let found = breakdown::add_up(&profile, &Rules::default(), Level::Kernel);
        let shown = found.shown(&Filter::default());
        let bars = bars(&found, &shown, Times::Total);
        assert_eq!(bars.len(), BARS + 1);
        let rest = bars.last().unwrap();
        assert_eq!((rest.row, rest.length), (None, 0.0));
        let whole: f64 = bars.iter().map(|bar| bar.share).sum();
        assert!((whole - 1.0).abs() < 1e-9);
        assert!(bars.iter().all(|bar| bar.length <= 1.0));
        let tiles = treemap(&found, &shown, 900.0, 300.0);
        let area: f64 = tiles.iter().map(|tile| tile.place.area()).sum();
        assert!((area - 270_000.0).abs() < 1.0, "{area}");
        assert_eq!(tiles.len(), TILES + 1);
    }

    #[test]
    fn no_two_categories_share_a_colour() {
        use crate::chart::colours::{Colours, DARK, LIGHT, Rgb};

        let apart = |one: Rgb, other: Rgb| {
            let parts = [(one.0, other.0), (one.1, other.1), (one.2, other.2)];
            let apart = parts.map(|(a, b)| u32::from(a.abs_diff(b)));
            apart.into_iter().sum::<u32>()
        };
        let check = |colours: &Colours| {
            for (place, one) in Category::ALL.into_iter().enumerate() {
                for other in &Category::ALL[place + 1..] {
                    let found = apart(colours.fill(colour(one)), colours.fill(colour(*other)));
                    assert!(found >= 48, "{one:?} and {other:?}: {found}");
                }
            }
        };
        check(&DARK);
        check(&LIGHT);
        // On paper hatchings distinguish hues, and their grounds depths.
        let fills: std::collections::HashSet<_> = Category::ALL.into_iter().map(colour).collect();
        assert_eq!(fills.len(), Category::ALL.len());
    }

    #[test]
    fn changes_go_to_either_side() {
        let (before, after) = (profile(RESNET_V100), profile(RESNET_MI210));
        let found = kernel_comparison::compare_profiles(&before, &after, &Rules::default());
        let all: Vec<usize> = (0..found.rows.len()).collect();
        let steps = changes(&found, &all);
        assert_eq!(steps[0].length.abs(), 1.0);
        assert!(steps.iter().all(|step| (-1.0..=1.0).contains(&step.length)));
        assert!(
            steps
                .iter()
                .all(|step| step.ns.signum() == step.length.signum())
        );
        // The longest of those that are asked for has the whole length.
        let few = changes(&found, &[3, 5]);
        assert_eq!(few.iter().map(|step| step.row).collect::<Vec<_>>(), [3, 5]);
        assert_eq!(few[0].length.abs(), 1.0);
    }
}
