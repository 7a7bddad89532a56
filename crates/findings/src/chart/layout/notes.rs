//! Where the words of knees, levels, numbers and the limit stand. Where they would cover something they move or
//! are left out.

use std::borrow::Cow;

use super::room::LabelSpace;
use super::words::{LabelKind, MeasuredLabel, OmittedLabel, PlacedLabel};
use super::{HorizontalAnchor, PlotSurface, VerticalAnchor, series};
use crate::chart::area::{Area, Position};
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
pub(super) fn place_mark_labels(
    plot: &dyn PlotSurface,
    room: &mut LabelSpace,
    left_out: &mut Vec<OmittedLabel>,
) {
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
        let has_room = words.is_some_and(|words| room.try_place(words));
        if let Some(text) = legend.filter(|_| !has_room) {
            left_out.push(OmittedLabel { series, text });
        }
    }
}

/// Whether a level is on the chart.
fn is_seen(plot: &dyn PlotSurface, y: f64) -> bool {
    let inner = plot.inner();
    let y = plot.place(plot.spec().x.low, y).1;
    inner.expanded(0.5).contains((inner.left, y))
}

/// The first of these texts that has room at the foot of a line or above, where it covers nothing. Where all
/// cover something, the last one stands there if it is the only one on the chart.
fn knee<'t>(
    plot: &dyn PlotSurface,
    foot: Position,
    texts: impl Iterator<Item = Cow<'t, str>>,
    drawn: &[Area],
    room: &LabelSpace,
) -> Option<PlacedLabel> {
    let mut covering = None;
    for text in texts.filter(|text| !text.is_empty()) {
        let free = foot_labels(plot, &text, foot, room);
        let covers_nothing =
            |words: &&PlacedLabel| !drawn.iter().any(|one| one.overlaps(words.area));
        if let Some(words) = free.iter().find(covers_nothing) {
            return Some(words.clone());
        }
        covering = free.into_iter().next().or(covering);
    }
    covering.filter(|_| room.is_empty())
}

/// Places for words beside the foot of a line or above, the best first, where they lie over no other words.
fn foot_labels(
    plot: &dyn PlotSurface,
    text: &str,
    foot: Position,
    room: &LabelSpace,
) -> Vec<PlacedLabel> {
    let text = MeasuredLabel::new(plot, text, LabelKind::Note, None);
    let sides = [
        (FROM_LINE, HorizontalAnchor::Start),
        (-FROM_LINE, HorizontalAnchor::End),
    ];
    let lifts = (0..MOST_LIFTED).map(|lift| f64::from(lift) * text.size.1 * LIFT + FROM_AXIS);
    let places = lifts.flat_map(|lift| {
        sides.map(|(aside, side)| {
            text.placed_at(
                (foot.0 + aside, foot.1 - lift),
                side,
                VerticalAnchor::Bottom,
            )
        })
    });
    places.filter(|words| room.is_free(words)).collect()
}

/// Over a level at the left, or where they cover nothing: at the right, below the line, and then along it.
fn level(
    plot: &dyn PlotSurface,
    y: f64,
    text: &str,
    drawn: &[Area],
    room: &LabelSpace,
) -> Option<PlacedLabel> {
    let inner = plot.inner();
    let y = plot.place(plot.spec().x.low, y).1;
    let text = MeasuredLabel::new(plot, text, LabelKind::Note, None);
    let (left, right) = (inner.left + 4.0, inner.right - 4.0);
    let (over, under) = (y - ABOVE, y + ABOVE);
    let ends = [
        text.placed_at(
            (left, over),
            HorizontalAnchor::Start,
            VerticalAnchor::Bottom,
        ),
        text.placed_at((right, over), HorizontalAnchor::End, VerticalAnchor::Bottom),
        text.placed_at((left, under), HorizontalAnchor::Start, VerticalAnchor::Top),
        text.placed_at((right, under), HorizontalAnchor::End, VerticalAnchor::Top),
    ];
    let along = (1..PLACES_ALONG).flat_map(|place| {
        let x = left + (right - left) * place as f64 / PLACES_ALONG as f64;
        let over = text.placed_at((x, over), HorizontalAnchor::Start, VerticalAnchor::Bottom);
        [
            over,
            text.placed_at((x, under), HorizontalAnchor::Start, VerticalAnchor::Top),
        ]
    });
    // At the top of the chart stands the unit.
    let is_inside =
        |words: &PlacedLabel| inner.top <= words.area.top && words.area.bottom <= inner.bottom;
    let places = ends.into_iter().chain(along);
    let free = places.filter(|words| room.is_free(words));
    let (inside, others): (Vec<PlacedLabel>, Vec<PlacedLabel>) = free.partition(is_inside);
    let covers_nothing =
        |words: &&PlacedLabel| !drawn.iter().any(|other| other.overlaps(words.area));
    let best = inside.iter().find(covers_nothing);
    best.or_else(|| inside.first())
        .or_else(|| others.first())
        .cloned()
}

/// A number above a point; beside it where that is above the chart. At the ends of the chart it moves inwards.
fn value(
    plot: &dyn PlotSurface,
    at: Position,
    text: &str,
    room: &LabelSpace,
) -> Option<PlacedLabel> {
    let (x, y) = plot.place(at.0, at.1);
    let inner = plot.inner();
    if !inner.expanded(0.5).contains((x, y)) {
        return None;
    }
    let text = MeasuredLabel::new(plot, text, LabelKind::Value, None);
    let above = text.placed_at(
        (x, y - ABOVE),
        HorizontalAnchor::Middle,
        VerticalAnchor::Bottom,
    );
    let beside = [
        (5.0, HorizontalAnchor::Start),
        (-5.0, HorizontalAnchor::End),
    ]
    .map(|(aside, side)| text.placed_at((x + aside, y), side, VerticalAnchor::Top));
    let is_over_top = y - text.size.1 - ABOVE < inner.top;
    let above = (!is_over_top).then_some(above);
    let mut places = above.into_iter().chain(beside);
    places.find(|words| room.is_free(words))
}

/// The height of the limit's line.
pub(super) fn line_of_limit(plot: &dyn PlotSurface, limit: &Limit) -> f64 {
    let inner = plot.inner();
    let y = plot.place(plot.spec().x.low, limit.y).1;
    y.clamp(inner.top, inner.bottom)
}

/// The words of the limit: over its line at the right, or below it at the top of a chart.
pub(super) fn limit(plot: &dyn PlotSurface, limit: &Limit, text: &str) -> PlacedLabel {
    let inner = plot.inner();
    let y = line_of_limit(plot, limit);
    let text = MeasuredLabel::new(plot, text, LabelKind::Limit, None);
    let (shift, height) = if y - inner.top > text.size.1 * OVER_LIMIT {
        (-ABOVE, VerticalAnchor::Bottom)
    } else {
        (ABOVE, VerticalAnchor::Top)
    };
    let at = (inner.right - 2.0, y + shift);
    text.placed_at(at, HorizontalAnchor::End, height)
}

/// The places of columns, of points with their intervals, and of the lines of knees.
fn drawn(plot: &dyn PlotSurface) -> Vec<Area> {
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
            Some(Area::between(top, (top.0, plot.inner().bottom)).expanded(1.0))
        }
        _ => None,
    });
    columns.chain(points).chain(lines).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::layout::labels::labels;
    use crate::chart::layout::testing::TestPlot;
    use crate::chart::spec::{ChartPoint, ChartSpec, Series, SeriesId};

    fn placed_labels(sheet: &TestPlot) -> Vec<PlacedLabel> {
        labels(sheet).words
    }

    fn sheet(points: &[(f64, f64)], marks: Vec<Mark>) -> TestPlot {
        let point = |&(x, y): &(f64, f64)| ChartPoint {
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
        TestPlot(spec)
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
        let found = placed_labels(&sheet);
        let areas: Vec<Area> = found.iter().map(|words| words.area).collect();
        assert_eq!(found[0].text, "one: knee");
        assert_eq!(areas[0].right, 194.0, "a point is at the right of the foot");
        assert!(
            areas[1].left == 206.0 && areas[1].bottom < 187.0,
            "above the point"
        );
        assert!(!areas[0].overlaps(areas[1]));
    }

    #[test]
    fn words_of_a_level_move_to_where_nothing_is() {
        let level = || {
            vec![Mark::Level {
                y: 0.5,
                text: "median".to_owned(),
            }]
        };
        let place = |points: &[(f64, f64)]| placed_labels(&sheet(points, level()))[0].anchor;
        let free = place(&[]);
        assert_eq!((free.at, free.side), ((4.0, 97.0), HorizontalAnchor::Start));
        let moved = place(&[(0.05, 0.55)]);
        assert_eq!(
            (moved.at, moved.side),
            ((396.0, 97.0), HorizontalAnchor::End)
        );
    }

    #[test]
    fn a_number_stands_beside_its_point_at_the_top() {
        let value = |y: f64| Mark::Value {
            at: (0.5, y),
            text: "12".to_owned(),
        };
        let sheet = sheet(&[], vec![value(0.5), value(1.0)]);
        let at: Vec<Position> = placed_labels(&sheet)
            .iter()
            .map(|words| words.anchor.at)
            .collect();
        assert_eq!(at, [(200.0, 97.0), (205.0, 0.0)]);
    }
}
