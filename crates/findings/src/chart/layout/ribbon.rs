//! The ribbon of difference as shapes: losses above a line and gains below it, each where its operator ran, and the
//! running sum beneath.

use std::collections::BTreeMap;

use super::{Anchor, Font, HorizontalAnchor, Letters, VerticalAnchor};
use crate::analysis::timeline::stretch::TimeRange;
use crate::chart::area::{Area, Position};
use crate::chart::ribbon::{Ribbon, RibbonBar, RibbonStanding};
use crate::chart::sketch::{Ink, SketchShape};
use powerband_core::base::humanize;

/// Its height in sizes of type.
pub const HEIGHT: f64 = 6.4;
/// The share of it that the bars take.
const BARS: f64 = 0.58;
/// Narrower bars are added up in columns of this width.
const COLUMN: f64 = 1.5;

/// Where the ribbon is drawn: names at the left, and its bars in the columns of a timeline.
#[derive(Clone, Copy, Debug)]
pub struct RibbonPlace {
    pub area: Area,
    /// From where to where the time goes.
    pub columns: (f64, f64),
    pub stretch: TimeRange,
}

impl RibbonPlace {
    /// Where a time is.
    pub fn x(&self, time_ns: f64) -> f64 {
        let (left, right) = self.columns;
        let share = (time_ns - self.stretch.from) / self.stretch.length().max(1e-9);
        (left + share * (right - left)).clamp(left, right)
    }

    /// The bar at a place or near it that is the highest.
    pub fn bar_at<'a>(&self, ribbon: &'a Ribbon, x: f64, reach: f64) -> Option<&'a RibbonBar> {
        let bars = ribbon.bars.iter().filter(|bar| {
            self.is_seen(bar)
                && bar.difference_ns != 0.0
                && self.x(bar.time.from) <= x + reach
                && self.x(bar.time.to) >= x - reach
        });
        bars.max_by(|one, other| {
            one.difference_ns
                .abs()
                .total_cmp(&other.difference_ns.abs())
        })
    }

    fn is_seen(&self, bar: &RibbonBar) -> bool {
        bar.time.to >= self.stretch.from && bar.time.from <= self.stretch.to
    }
}

/// Losses and gains that stand in one place.
struct RibbonColumn<'a> {
    left: f64,
    right: f64,
    lost_ns: f64,
    gained_ns: f64,
    standing: RibbonStanding,
    /// The bar, where it is one alone.
    bar: Option<&'a RibbonBar>,
    n_bars: u64,
}

/// Finds the place of everything.
pub fn lay_out(ribbon: &Ribbon, place: RibbonPlace, letters: &Letters<'_>) -> Vec<SketchShape> {
    let Area { top, bottom, .. } = place.area;
    let split = top + (bottom - top) * BARS;
    let columns = columns(ribbon, place);
    let highest =
        |value: fn(&RibbonColumn<'_>) -> f64| columns.iter().map(value).fold(0.0, f64::max);
    let (lost, gained) = (highest(|one| one.lost_ns), highest(|one| one.gained_ns));
    let pad = letters.size * 0.3;
    let room = split - top - 2.0 * pad;
    let scale = room / (lost + gained).max(1e-9);
    let zero = top + pad + lost * scale;
    let mut shapes = vec![
        letters.hairline(
            ((place.columns.0, zero), (place.columns.1, zero)),
            Ink::Hairline,
        ),
        letters.hairline(
            ((place.area.left, bottom), (place.columns.1, bottom)),
            Ink::Hairline,
        ),
    ];
    for column in &columns {
        shapes.push(bars(column, zero, scale));
    }
    shapes.extend(running_sum(ribbon, place, (split + pad, bottom - pad)));
    shapes.extend(names(ribbon, place, split, letters));
    shapes
}

fn columns<'a>(ribbon: &'a Ribbon, place: RibbonPlace) -> Vec<RibbonColumn<'a>> {
    let mut narrow: BTreeMap<i64, RibbonColumn<'a>> = BTreeMap::new();
    let mut found = Vec::new();
    for bar in ribbon
        .bars
        .iter()
        .filter(|bar| place.is_seen(bar) && bar.difference_ns != 0.0)
    {
        let (left, right) = (place.x(bar.time.from), place.x(bar.time.to));
        let new = |left: f64, right: f64| RibbonColumn {
            left,
            right,
            lost_ns: 0.0,
            gained_ns: 0.0,
            standing: RibbonStanding::Open,
            bar: Some(bar),
            n_bars: 0,
        };
        let column = if right - left >= COLUMN {
            found.push(new(left, right));
            found.last_mut()
        } else {
            let number = (f64::midpoint(left, right) / COLUMN).floor();
            let left = number * COLUMN;
            let entry = narrow.entry(number as i64);
            Some(entry.or_insert_with(|| new(left, left + COLUMN)))
        };
        let Some(column) = column else {
            continue;
        };
        column.lost_ns += bar.difference_ns.max(0.0);
        column.gained_ns += (-bar.difference_ns).max(0.0);
        column.n_bars += 1;
        column.bar = column.bar.filter(|_| column.n_bars == 1);
        column.standing = stronger(column.standing, bar.standing);
    }
    found.extend(narrow.into_values());
    found
}

fn stronger(one: RibbonStanding, other: RibbonStanding) -> RibbonStanding {
    use RibbonStanding::{BeyondStarts, BeyondSteps, Open};
    match (one, other) {
        (BeyondStarts, _) | (_, BeyondStarts) => BeyondStarts,
        (BeyondSteps, _) | (_, BeyondSteps) => BeyondSteps,
        (Open, Open) => Open,
    }
}

fn bars(column: &RibbonColumn<'_>, zero: f64, scale: f64) -> SketchShape {
    let ground = |from: f64, to: f64, colour: Ink| {
        let (ink, strength) = match column.standing {
            RibbonStanding::BeyondStarts => (colour, 1.0),
            RibbonStanding::BeyondSteps => (colour, 0.5),
            RibbonStanding::Open => (Ink::Faint, 0.5),
        };
        let gap = if column.right - column.left > 3.0 {
            0.6
        } else {
            0.0
        };
        SketchShape::Ground {
            area: Area::new(column.left, from, column.right - gap, to),
            ink,
            strength,
            radius: 0.0,
        }
    };
    let mut shapes = Vec::new();
    if column.lost_ns > 0.0 {
        shapes.push(ground(zero - column.lost_ns * scale, zero, Ink::Bad));
    }
    if column.gained_ns > 0.0 {
        shapes.push(ground(zero, zero + column.gained_ns * scale, Ink::Good));
    }
    let tooltip = match column.bar {
        Some(bar) => format!("{}; {}", bar.tooltip(), bar.standing.title()),
        None => format!(
            "{}: {}",
            humanize::pluralised(column.n_bars, "operator"),
            humanize::time_change(column.lost_ns - column.gained_ns)
        ),
    };
    SketchShape::group("difference", tooltip, shapes)
}

/// The sum of all differences up to each moment, as a line of steps.
fn running_sum(ribbon: &Ribbon, place: RibbonPlace, (top, bottom): (f64, f64)) -> Vec<SketchShape> {
    let mut sum = 0.0;
    let sums: Vec<(f64, f64)> = ribbon
        .bars
        .iter()
        .map(|bar| {
            sum += bar.difference_ns;
            (bar.time.to, sum)
        })
        .collect();
    let most = sums.iter().map(|(_, sum)| *sum).fold(0.0, f64::max);
    let least = sums.iter().map(|(_, sum)| *sum).fold(0.0, f64::min);
    let y = |sum: f64| top + (most - sum) / (most - least).max(1e-9) * (bottom - top);
    let mut points: Vec<Position> = vec![(place.columns.0, y(0.0))];
    for (time, sum) in sums {
        let x = place.x(time);
        let last = points.last().copied().unwrap_or_default();
        // What is narrower than a column is one step.
        if x - last.0 < 0.5 && points.len() > 1 {
            if let Some(last) = points.last_mut() {
                last.1 = y(sum);
            }
            continue;
        }
        points.extend([(x, last.1), (x, y(sum))]);
    }
    let end = points.last().copied().unwrap_or_default();
    points.push((place.columns.1, end.1));
    vec![SketchShape::Path {
        points,
        thickness: 0.8,
        ink: Ink::Text,
        class: "sum",
    }]
}

/// What the strip shows, at its left.
fn names(
    ribbon: &Ribbon,
    place: RibbonPlace,
    split: f64,
    letters: &Letters<'_>,
) -> Vec<SketchShape> {
    let Area {
        left, top, bottom, ..
    } = place.area;
    let room = place.columns.0 - left - letters.size;
    let text = |y: f64, text: &str, ink: Ink| {
        let at = Anchor::new((left, y), HorizontalAnchor::Start, VerticalAnchor::Middle);
        let cut = letters.cut(text, Font::Words, room);
        let words = letters.text(at, cut, Font::Words, ink);
        SketchShape::group("", text, vec![words])
    };
    let line = letters.size * 1.35;
    let has_room = split - top >= 2.0 * line;
    let meaning = match (ribbon.has_steps, ribbon.standings().first()) {
        (false, _) => "grey: one step tells no spread",
        (true, Some(RibbonStanding::Open) | None) => "grey: within the steps' spread",
        (true, Some(_)) => "coloured: beyond the steps' spread",
    };
    let first = top + line * 0.7;
    let sum = format!("Sum {}", humanize::time_change(ribbon.total_ns));
    let mut lines = vec![
        text(first, "Lost above, gained below", Ink::Text),
        text(f64::midpoint(split, bottom), &sum, Ink::Text),
    ];
    lines.extend(has_room.then(|| text(first + line, meaning, Ink::Quiet)));
    lines
}
