//! Where the words of knees, levels, numbers and the limit stand. Where they would cover something they move or
//! are left out.

use std::borrow::Cow;

use super::room::Room;
use super::words::{LeftOut, Text, What, Words};
use super::{Height, Plot, Side, series};
use crate::chart::area::{Area, At};
use crate::chart::mark::drop_words;
use crate::chart::spec::{Limit, Mark, Stroke};

/// Between words and the point or the line that they stand over or under.
const ABOVE: f64 = 3.0;
/// Between words of a knee and its line, and the axis.
const FROM_LINE: f64 = 6.0;
const FROM_AXIS: f64 = 4.0;
/// How many words of knees may stand one above the other, and how far apart, in heights of words.
const MOST_LIFTED: u8 = 5;
const LIFT: f64 = 1.14;
/// Places that are tried along a level for its words.
const PLACES_ALONG: usize = 8;
/// Room for the limit's words over its line, in heights of words.
const OVER_LIMIT: f64 = 1.3;

/// Puts the words of knees and levels, and numbers, where there is room.
pub(super) fn of_marks(plot: &dyn Plot, room: &mut Room, left_out: &mut Vec<LeftOut>) {
    let seeks_room = |mark: &Mark| {
        matches!(
            mark,
            Mark::Drop { .. } | Mark::Level { .. } | Mark::Roof { .. }
        )
    };
    let drawn = if plot.spec().marks.iter().any(seeks_room) {
        drawn(plot)
    } else {
        Vec::new()
    };
    for mark in &plot.spec().marks {
        let (words, series, legend) = match mark {
            Mark::Drop {
                at,
                text,
                name,
                series,
                legend,
            } => {
                let foot = (plot.place(at.0, at.1).0, plot.inner().bottom);
                let texts = drop_words(name.as_deref(), text);
                let words = knee(plot, foot, texts, &drawn, room);
                (words, Some(*series), legend.clone())
            }
            Mark::Level { y, text } | Mark::Roof { y, text, .. } if is_seen(plot, *y) => (
                level(plot, *y, text, &drawn, room),
                None,
                Some(text.clone()),
            ),
            Mark::Value { at, text } => (value(plot, *at, text, room), None, None),
            _ => continue,
        };
        let has_room = words.is_some_and(|words| room.put(words));
        if let Some(text) = legend.filter(|_| !has_room) {
            left_out.push(LeftOut { series, text });
        }
    }
}

/// Whether a level is on the chart.
fn is_seen(plot: &dyn Plot, y: f64) -> bool {
    let inner = plot.inner();
    let y = plot.place(plot.spec().x.low, y).1;
    inner.grown(0.5).has((inner.left, y))
}

/// The first of these texts that has room at the foot of a line or above, where it covers nothing. Where all
/// cover something, the last one stands there if it is the only one on the chart.
fn knee<'t>(
    plot: &dyn Plot,
    foot: At,
    texts: impl Iterator<Item = Cow<'t, str>>,
    drawn: &[Area],
    room: &Room,
) -> Option<Words> {
    let mut covering = None;
    for text in texts.filter(|text| !text.is_empty()) {
        let free = at_foot(plot, &text, foot, room);
        let covers_nothing = |words: &&Words| !drawn.iter().any(|one| one.touches(words.area));
        if let Some(words) = free.iter().find(covers_nothing) {
            return Some(words.clone());
        }
        covering = free.into_iter().next().or(covering);
    }
    covering.filter(|_| room.is_empty())
}

/// Places for words beside the foot of a line or above, the best first, where they lie over no other words.
fn at_foot(plot: &dyn Plot, text: &str, foot: At, room: &Room) -> Vec<Words> {
    let text = Text::new(plot, text, What::Note, None);
    let sides = [(FROM_LINE, Side::Start), (-FROM_LINE, Side::End)];
    let lifts = (0..MOST_LIFTED).map(|lift| f64::from(lift) * text.size.1 * LIFT + FROM_AXIS);
    let places = lifts.flat_map(|lift| {
        sides.map(|(aside, side)| text.at((foot.0 + aside, foot.1 - lift), side, Height::Bottom))
    });
    places.filter(|words| room.is_free(words)).collect()
}

/// Over a level at the left, or where they cover nothing: at the right, below the line, and then along it.
fn level(plot: &dyn Plot, y: f64, text: &str, drawn: &[Area], room: &Room) -> Option<Words> {
    let inner = plot.inner();
    let y = plot.place(plot.spec().x.low, y).1;
    let text = Text::new(plot, text, What::Note, None);
    let (left, right) = (inner.left + 4.0, inner.right - 4.0);
    let (over, under) = (y - ABOVE, y + ABOVE);
    let ends = [
        text.at((left, over), Side::Start, Height::Bottom),
        text.at((right, over), Side::End, Height::Bottom),
        text.at((left, under), Side::Start, Height::Top),
        text.at((right, under), Side::End, Height::Top),
    ];
    let along = (1..PLACES_ALONG).flat_map(|place| {
        let x = left + (right - left) * place as f64 / PLACES_ALONG as f64;
        let over = text.at((x, over), Side::Start, Height::Bottom);
        [over, text.at((x, under), Side::Start, Height::Top)]
    });
    // At the top of the chart stands the unit.
    let is_inside =
        |words: &Words| inner.top <= words.area.top && words.area.bottom <= inner.bottom;
    let places = ends.into_iter().chain(along);
    let free = places.filter(|words| room.is_free(words));
    let (inside, others): (Vec<Words>, Vec<Words>) = free.partition(is_inside);
    let covers_nothing = |words: &&Words| !drawn.iter().any(|other| other.touches(words.area));
    let best = inside.iter().find(covers_nothing);
    best.or_else(|| inside.first())
        .or_else(|| others.first())
        .cloned()
}

/// A number above a point; beside it where that is above the chart. At the ends of the chart it moves inwards.
fn value(plot: &dyn Plot, at: At, text: &str, room: &Room) -> Option<Words> {
    let (x, y) = plot.place(at.0, at.1);
    let inner = plot.inner();
    if !inner.grown(0.5).has((x, y)) {
        return None;
    }
    let text = Text::new(plot, text, What::Value, None);
    let above = text.at((x, y - ABOVE), Side::Middle, Height::Bottom);
    let beside = [(5.0, Side::Start), (-5.0, Side::End)]
        .map(|(aside, side)| text.at((x + aside, y), side, Height::Top));
    let is_over_top = y - text.size.1 - ABOVE < inner.top;
    let above = (!is_over_top).then_some(above);
    let mut places = above.into_iter().chain(beside);
    places.find(|words| room.is_free(words))
}

/// The height of the limit's line.
pub(super) fn line_of_limit(plot: &dyn Plot, limit: &Limit) -> f64 {
    let inner = plot.inner();
    let y = plot.place(plot.spec().x.low, limit.y).1;
    y.clamp(inner.top, inner.bottom)
}

/// The words of the limit: over its line at the right, or below it at the top of a chart.
pub(super) fn limit(plot: &dyn Plot, limit: &Limit, text: &str) -> Words {
    let inner = plot.inner();
    let y = line_of_limit(plot, limit);
    let text = Text::new(plot, text, What::Limit, None);
    let (shift, height) = if y - inner.top > text.size.1 * OVER_LIMIT {
        (-ABOVE, Height::Bottom)
    } else {
        (ABOVE, Height::Top)
    };
    let at = (inner.right - 2.0, y + shift);
    text.at(at, Side::End, height)
}

/// The places of columns, of points with their intervals, and of the lines of knees.
fn drawn(plot: &dyn Plot) -> Vec<Area> {
    let spec = plot.spec();
    let half = spec.bar_width / 2.0;
    let columns = spec.series.iter().filter(|one| one.stroke == Stroke::Bars);
    let columns = columns.flat_map(|one| &one.points).map(|point| {
        let ends = [(point.x - half, 0.0), (point.x + half, point.y)];
        let [foot, head] = ends.map(|(x, y)| plot.place(x, y));
        Area::between(foot, head)
    });
    let others = spec.series.iter().filter(|one| one.stroke != Stroke::Bars);
    let points = others.flat_map(|one| series::areas(plot, one));
    let lines = spec.marks.iter().filter_map(|mark| match mark {
        Mark::Drop { at, .. } => {
            let top = plot.place(at.0, at.1);
            Some(Area::between(top, (top.0, plot.inner().bottom)).grown(1.0))
        }
        _ => None,
    });
    columns.chain(points).chain(lines).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::layout::labels::labels;
    use crate::chart::layout::testing::Sheet;
    use crate::chart::spec::{ChartSpec, Point, Series, SeriesId};

    fn words(sheet: &Sheet) -> Vec<Words> {
        labels(sheet).words
    }

    fn sheet(points: &[(f64, f64)], marks: Vec<Mark>) -> Sheet {
        let point = |&(x, y): &(f64, f64)| Point {
            x,
            y,
            band: None,
            tag: 0,
        };
        let mut spec = ChartSpec::default();
        (spec.x.high, spec.y.high) = (1.0, 1.0);
        spec.marks = marks;
        spec.series.push(Series {
            id: SeriesId(0),
            name: String::new(),
            colour: 0,
            points: points.iter().map(point).collect(),
            gap_after: Vec::new(),
            stroke: Stroke::Curve,
        });
        Sheet(spec)
    }

    fn knee_at(x: f64) -> Mark {
        Mark::Drop {
            at: (x, 0.9),
            series: SeriesId(0),
            text: "knee".to_owned(),
            name: Some("one".to_owned()),
            legend: None,
        }
    }

    #[test]
    fn knees_at_one_place_stand_beside_their_line_and_over_nothing() {
        let sheet = sheet(&[(0.55, 0.05)], vec![knee_at(0.5), knee_at(0.5)]);
        let found = words(&sheet);
        let areas: Vec<Area> = found.iter().map(|words| words.area).collect();
        assert_eq!(found[0].text, "one: knee");
        assert_eq!(areas[0].right, 194.0, "a point is at the right of the foot");
        assert!(
            areas[1].left == 206.0 && areas[1].bottom < 187.0,
            "above the point"
        );
        assert!(!areas[0].touches(areas[1]));
    }

    #[test]
    fn words_of_a_level_move_to_where_nothing_is() {
        let level = || {
            vec![Mark::Level {
                y: 0.5,
                text: "median".to_owned(),
            }]
        };
        let place = |points: &[(f64, f64)]| words(&sheet(points, level()))[0].anchor;
        let free = place(&[]);
        assert_eq!((free.at, free.side), ((4.0, 97.0), Side::Start));
        let moved = place(&[(0.05, 0.55)]);
        assert_eq!((moved.at, moved.side), ((396.0, 97.0), Side::End));
    }

    #[test]
    fn a_number_stands_beside_its_point_at_the_top() {
        let value = |y: f64| Mark::Value {
            at: (0.5, y),
            text: "12".to_owned(),
        };
        let sheet = sheet(&[], vec![value(0.5), value(1.0)]);
        let at: Vec<At> = words(&sheet).iter().map(|words| words.anchor.at).collect();
        assert_eq!(at, [(200.0, 97.0), (205.0, 0.0)]);
    }
}
