//! The ribbon of difference as shapes: losses above a line and gains below it, each where its operator ran, and the
//! running sum beneath.

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
    /// Whether bars carry what they say under a pointer; the window asks for one of them alone.
    pub has_tooltips: bool,
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
        let bars = ribbon.seen(self.stretch).filter(|bar| {
            bar.difference_ns != 0.0
                && self.x(bar.time.from) <= x + reach
                && self.x(bar.time.to) >= x - reach
        });
        bars.max_by(|one, other| {
            one.difference_ns
                .abs()
                .total_cmp(&other.difference_ns.abs())
        })
    }
}

/// Standings in the order in which their parts of a column are stacked, from the line outwards.
const STACKED: [RibbonStanding; 3] = [
    RibbonStanding::BeyondStarts,
    RibbonStanding::BeyondSteps,
    RibbonStanding::Open,
];

/// Losses and gains that stand in one place.
struct RibbonColumn<'a> {
    left: f64,
    right: f64,
    /// Of each standing.
    lost_ns: [f64; 3],
    gained_ns: [f64; 3],
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
    let (lost, gained) = (
        highest(|one| one.lost_ns.iter().sum()),
        highest(|one| one.gained_ns.iter().sum()),
    );
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
        let tooltip = if place.has_tooltips {
            tooltip(column)
        } else {
            String::new()
        };
        shapes.push(SketchShape::group(
            "difference",
            tooltip,
            bars(column, zero, scale),
        ));
    }
    shapes.extend(running_sum(ribbon, place, (split + pad, bottom - pad)));
    shapes.extend(names(ribbon, place, split, letters));
    shapes
}

fn columns<'a>(ribbon: &'a Ribbon, place: RibbonPlace) -> Vec<RibbonColumn<'a>> {
    let number = |x: f64| ((x - place.columns.0) / COLUMN).max(0.0) as usize;
    let mut narrow: Vec<Option<RibbonColumn<'a>>> = Vec::new();
    narrow.resize_with(number(place.columns.1) + 1, || None);
    let mut found = Vec::new();
    let bars = ribbon.seen(place.stretch);
    for bar in bars.filter(|bar| bar.difference_ns != 0.0) {
        let (left, right) = (place.x(bar.time.from), place.x(bar.time.to));
        let new = |left: f64, right: f64| RibbonColumn {
            left,
            right,
            lost_ns: [0.0; 3],
            gained_ns: [0.0; 3],
            bar: Some(bar),
            n_bars: 0,
        };
        let column = if right - left >= COLUMN {
            found.push(new(left, right));
            found.last_mut()
        } else {
            let number = number(f64::midpoint(left, right));
            let left = place.columns.0 + number as f64 * COLUMN;
            let entry = narrow.get_mut(number);
            entry.map(|entry| entry.get_or_insert_with(|| new(left, left + COLUMN)))
        };
        let Some(column) = column else {
            continue;
        };
        let place = STACKED
            .iter()
            .position(|standing| *standing == bar.standing);
        let place = place.unwrap_or_default();
        column.lost_ns[place] += bar.difference_ns.max(0.0);
        column.gained_ns[place] += (-bar.difference_ns).max(0.0);
        column.n_bars += 1;
        column.bar = column.bar.filter(|_| column.n_bars == 1);
    }
    found.extend(narrow.into_iter().flatten());
    found
}

fn bars(column: &RibbonColumn<'_>, zero: f64, scale: f64) -> Vec<SketchShape> {
    let gap = if column.right - column.left > 3.0 {
        0.6
    } else {
        0.0
    };
    let mut shapes = Vec::new();
    for (times, colour, way) in [
        (&column.lost_ns, Ink::Bad, -1.0),
        (&column.gained_ns, Ink::Good, 1.0),
    ] {
        let mut from = zero;
        for (standing, ns) in STACKED.into_iter().zip(times) {
            let to = from + way * ns * scale;
            let (ink, strength) = match standing {
                RibbonStanding::BeyondStarts => (colour, 1.0),
                RibbonStanding::BeyondSteps => (colour, 0.5),
                RibbonStanding::Open => (Ink::Faint, 0.5),
            };
            if *ns > 0.0 {
                shapes.push(SketchShape::Ground {
                    area: Area::new(column.left, from.min(to), column.right - gap, from.max(to)),
                    ink,
                    strength,
                    radius: 0.0,
                });
            }
            from = to;
        }
    }
    shapes
}

fn tooltip(column: &RibbonColumn<'_>) -> String {
    match column.bar {
        Some(bar) => format!("{}; {}", bar.tooltip(), bar.standing.title()),
        None => format!(
            "{}: {}",
            humanize::pluralised(column.n_bars, "operator"),
            humanize::time_change(
                column.lost_ns.iter().sum::<f64>() - column.gained_ns.iter().sum::<f64>()
            )
        ),
    }
}

/// The sum of all differences up to each moment, as a line of steps.
fn running_sum(ribbon: &Ribbon, place: RibbonPlace, (top, bottom): (f64, f64)) -> Vec<SketchShape> {
    let ends = &ribbon.sums;
    let most = ends.iter().map(|(_, sum)| *sum).fold(0.0, f64::max);
    let least = ends.iter().map(|(_, sum)| *sum).fold(0.0, f64::min);
    let y = |sum: f64| top + (most - sum) / (most - least).max(1e-9) * (bottom - top);
    // What ended before the time that is drawn is where the line begins.
    let first = ends.partition_point(|(end, _)| *end < place.stretch.from);
    let begin = first.checked_sub(1).map_or(0.0, |before| ends[before].1);
    let mut points: Vec<Position> = vec![(place.columns.0, y(begin))];
    for (end, sum) in &ends[first..] {
        if *end > place.stretch.to {
            break;
        }
        let x = place.x(*end);
        let last = points.last().copied().unwrap_or_default();
        // What is narrower than a column is one step.
        if x - last.0 < 0.5 && points.len() > 1 {
            if let Some(last) = points.last_mut() {
                last.1 = y(*sum);
            }
            continue;
        }
        points.extend([(x, last.1), (x, y(*sum))]);
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
    let meaning = match (ribbon.has_steps, ribbon.standings.first()) {
        (false, _) => "grey: one step, no interval",
        (true, Some(RibbonStanding::Open) | None) => "grey: not settled",
        (true, Some(_)) => "coloured: settled",
    };
    let first = top + line * 0.7;
    let sum = format!("Sum {}", humanize::time_change(ribbon.total_ns));
    let mut lines = vec![
        text(first, "Slower above, faster below", Ink::Text),
        text(f64::midpoint(split, bottom), &sum, Ink::Text),
    ];
    lines.extend(has_room.then(|| text(first + line, meaning, Ink::Quiet)));
    lines
}
