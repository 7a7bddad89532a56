//! Bars beside names as shapes, with two columns of numbers at the right.

use super::{Anchor, Font, HorizontalAnchor, Letters, VerticalAnchor};
use crate::chart::area::Area;
use crate::chart::breakdown::{Bar, ChangeBar};
use crate::chart::colours::Fill;
use crate::chart::sketch::{Ink, SketchShape};
use powerband_core::base::humanize;

/// Heights in sizes of type: a bar with the space below it, what stands above the numbers.
const ROW: f64 = 2.0;
const HEAD: f64 = 1.6;
/// Thickness of a bar, as a share of its row, and in sizes of type at most.
const THICK: (f64, f64) = (0.56, 3.0);
/// For names, as a share of the width.
const NAMES: f64 = 0.34;
/// The shortest bar that is drawn.
const SHORTEST: f64 = 1.5;

/// The bar of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BarShape {
    /// None: the row stands for several.
    None,
    /// From the left, as a share of the longest.
    FromLeft(f64, Fill),
    /// From the middle: a gain to the left, a loss to the right.
    FromMiddle(f64),
}

/// A bar with its name and numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct BarRow {
    pub name: String,
    pub bar: BarShape,
    pub numbers: [String; 2],
}

/// Bars with everything at its place.
#[derive(Clone, Debug, PartialEq)]
pub struct PlacedBars {
    /// The shapes, first at the back.
    pub items: Vec<SketchShape>,
    /// All of each row.
    pub rows: Vec<Area>,
}

impl BarRow {
    /// Where the time went.
    pub fn of_bars(bars: &[Bar]) -> Vec<Self> {
        let row = |bar: &Bar| Self {
            name: bar.name.clone(),
            bar: match bar.row {
                Some(_) => BarShape::FromLeft(bar.length, bar.colour),
                None => BarShape::None,
            },
            numbers: [humanize::percent(bar.share), humanize::duration_ns(bar.ns)],
        };
        bars.iter().map(row).collect()
    }

    /// What makes a difference, without the first numbers.
    pub fn of_changes(changes: &[ChangeBar]) -> Vec<Self> {
        let row = |change: &ChangeBar| Self {
            name: change.name.clone(),
            bar: BarShape::FromMiddle(change.length),
            numbers: [String::new(), humanize::time_change(change.ns)],
        };
        changes.iter().map(row).collect()
    }

    fn tooltip(&self) -> String {
        let numbers = self.numbers.iter().filter(|number| !number.is_empty());
        let numbers: Vec<&str> = numbers.map(String::as_str).collect();
        format!("{}: {}", self.name, numbers.join(", "))
    }

    /// The bar in its room.
    fn shape(&self, room: Area) -> Option<SketchShape> {
        match self.bar {
            BarShape::None => None,
            BarShape::FromLeft(share, fill) => {
                let right = room.left + (room.width() * share).max(SHORTEST);
                let area = Area { right, ..room };
                Some(SketchShape::Block { area, fill })
            }
            BarShape::FromMiddle(share) => {
                let middle = f64::midpoint(room.left, room.right);
                let reach = (room.width() / 2.0 * share.abs()).max(SHORTEST);
                let end = middle + reach.copysign(share);
                Some(SketchShape::Ground {
                    area: Area::between((middle, room.top), (end, room.bottom)),
                    ink: if share < 0.0 { Ink::Good } else { Ink::Bad },
                    strength: 0.85,
                    radius: 2.0,
                })
            }
        }
    }
}

fn head_height(heads: &[String; 2], letters: &Letters<'_>) -> f64 {
    if heads.iter().all(String::is_empty) {
        return 0.0;
    }
    letters.size * HEAD
}

/// The height that suits so many bars below these heads of their numbers, which may be empty.
pub fn height(rows: usize, heads: &[String; 2], letters: &Letters<'_>) -> f64 {
    rows as f64 * letters.body * ROW + head_height(heads, letters)
}

/// Finds the place of everything; rows grow with the area.
pub fn lay_out(
    rows: &[BarRow],
    heads: &[String; 2],
    area: Area,
    captions: &Letters<'_>,
) -> PlacedBars {
    let letters = captions.sized(captions.body);
    let size = letters.size;
    let [first, second] = [0, 1].map(|column| {
        let widths = rows.iter().map(|row| &row.numbers[column]);
        let widths = widths.map(|number| letters.width(number, Font::Numbers));
        widths.fold(captions.width(&heads[column], Font::Words), f64::max)
    });
    let names = rows.iter().map(|row| letters.width(&row.name, Font::Words));
    let name = names.fold(0.0, f64::max).min(area.width() * NAMES);
    let (left, right) = (
        area.left + name + size,
        area.right - first - second - size * 2.0,
    );
    let ends = [area.right - second - size, area.right];
    let at = |x, y, side| Anchor::new((x, y), side, VerticalAnchor::Middle);
    let top = area.top + head_height(heads, captions);
    let above = f64::midpoint(area.top, top);
    let mut items = Vec::new();
    for (head, end) in heads.iter().zip(ends).filter(|(head, _)| !head.is_empty()) {
        let at = at(end, above, HorizontalAnchor::End);
        items.push(captions.text(at, head, Font::Words, Ink::Faint));
    }
    let step = (area.bottom - top) / rows.len().max(1) as f64;
    let mut places = Vec::new();
    for (place, row) in rows.iter().enumerate() {
        let top = top + place as f64 * step;
        let bottom = top + step;
        let middle = f64::midpoint(top, bottom);
        places.push(Area::new(area.left, top, area.right, bottom));
        let half = (step * THICK.0).min(size * THICK.1) / 2.0;
        let room = Area::new(left, middle - half, right, middle + half);
        let mut shapes: Vec<SketchShape> = row.shape(room).into_iter().collect();
        let short = letters.cut(&row.name, Font::Words, name + 0.5);
        let start = at(area.left, middle, HorizontalAnchor::Start);
        let name = letters.text(start, short, Font::Words, Ink::Text);
        shapes.push(name.class("bar"));
        for ((number, end), ink) in row.numbers.iter().zip(ends).zip([Ink::Text, Ink::Quiet]) {
            let end = at(end, middle, HorizontalAnchor::End);
            shapes.push(letters.text(end, number, Font::Numbers, ink));
        }
        items.push(SketchShape::group("point", row.tooltip(), shapes));
    }
    let is_from_middle = |row: &BarRow| matches!(row.bar, BarShape::FromMiddle(_));
    if rows.iter().any(is_from_middle) {
        let middle = f64::midpoint(left, right.max(left));
        let ends = ((middle, top), (middle, area.bottom));
        items.push(letters.hairline(ends, Ink::Faint));
    }
    PlacedBars {
        items,
        rows: places,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::layout::letters;

    #[test]
    fn bars_begin_at_the_left_and_changes_in_the_middle() {
        let row = |bar, number: &str| BarRow {
            name: "conv".to_owned(),
            bar,
            numbers: [String::new(), number.to_owned()],
        };
        let bars = |shapes: [BarShape; 2]| {
            let rows = shapes.map(|bar| row(bar, "12 ms"));
            let heads = [String::new(), "Time".to_owned()];
            let letters = letters();
            let area = Area::new(0.0, 0.0, 300.0, height(2, &heads, &letters));
            let placed = lay_out(&rows, &heads, area, &letters);
            assert_eq!(placed.rows.last().map(|row| row.bottom), Some(area.bottom));
            let groups = placed.items.into_iter().filter_map(|item| match item {
                SketchShape::Group { items, .. } => items.into_iter().next(),
                _ => None,
            });
            let areas = groups.filter_map(|bar| match bar {
                SketchShape::Block { area, .. } | SketchShape::Ground { area, .. } => {
                    Some((area.left, area.right))
                }
                _ => None,
            });
            areas.collect::<Vec<_>>()
        };
        // From behind the names, of four letters, to before the numbers, of five.
        let fill = Fill::from_hue(0);
        let longest = BarShape::FromLeft(1.0, fill);
        assert_eq!(bars([longest, BarShape::None]), [(34.0, 250.0)]);
        let changes = [-0.5, 1.0].map(BarShape::FromMiddle);
        assert_eq!(bars(changes), [(88.0, 142.0), (142.0, 250.0)]);
    }
}
