//! What is painted on a chart beside its series: failures, knees, rings, dividers, levels and numbers, with
//! their words where these lie over nothing.

use std::borrow::Cow;
use std::sync::Arc;

use eframe::egui::{Align2, Galley, Pos2, Rect, Shape, Stroke, Vec2, pos2, vec2};

use super::chart_canvas::{Canvas, REACH, faded};
use super::marker;
use crate::gui::theme::{self, text};
use powerband_findings::chart::failures::{self, Room};
use powerband_findings::chart::mark::drop_words;
use powerband_findings::chart::spec::{ChartSpec, Mark, SeriesId, Stroke as Drawing};

/// Half the width of a ring.
const RING: f32 = 8.0;
/// Half the width of the mark of a failed case.
const FAILED: f32 = 4.5;
/// Between the middles of two of them that stand side by side.
const BESIDE: f64 = 10.5;
/// How far above the axis the words of a knee may stand, the best first.
const LIFTS: [f32; 5] = [4.0, 20.0, 36.0, 52.0, 68.0];

/// Paints them. The answer is where words stand, for those that come later.
pub(super) fn show(canvas: &Canvas<'_>, spec: &ChartSpec) -> Vec<Rect> {
    let mut said = Vec::new();
    let seeks_room = |mark: &Mark| matches!(mark, Mark::Drop { .. } | Mark::Level { .. });
    let drawn = if spec.marks.iter().any(seeks_room) {
        drawn(canvas, spec)
    } else {
        Vec::new()
    };
    for (at, mark) in failed(canvas, spec) {
        failure(canvas, at, mark);
    }
    for mark in &spec.marks {
        match mark {
            Mark::Drop {
                at,
                series,
                text,
                name,
            } => {
                let foot = drop_line(canvas, *at, *series);
                let texts = drop_words(name.as_deref(), text);
                words_at_foot(canvas, foot, texts.collect(), &drawn, &mut said);
            }
            Mark::Ring { at, .. } => {
                let stroke = Stroke::new(2.0, canvas.roles.accent);
                canvas
                    .painter
                    .circle_stroke(canvas.place(at.0, at.1), RING, stroke);
            }
            Mark::Pin { at, .. } => {
                let stroke = Stroke::new(1.5, canvas.roles.text);
                canvas
                    .painter
                    .circle_stroke(canvas.place(at.0, at.1), RING + 3.0, stroke);
            }
            Mark::Divider { x } => {
                let x = canvas.place(*x, 0.0).x;
                if canvas.inner.x_range().contains(x) {
                    let stroke = Stroke::new(1.0, canvas.roles.line);
                    canvas.painter.vline(x, canvas.inner.y_range(), stroke);
                }
            }
            Mark::Value { at, text } => value(canvas, *at, text, &mut said),
            Mark::Level { y, text } => level(canvas, *y, text, &drawn),
            // Painted already, behind the markers, and after all other words.
            Mark::Failed { .. } | Mark::Edge { .. } | Mark::Name { .. } => {}
        }
    }
    said
}

/// What failed at the mark under the hand, and why.
pub(super) fn failed_at(canvas: &Canvas<'_>, spec: &ChartSpec, hand: Pos2) -> Option<String> {
    let near = failed(canvas, spec)
        .into_iter()
        .map(|(at, mark)| (at.distance(hand), mark))
        .filter(|(distance, _)| *distance < REACH);
    let nearest = near.min_by(|a, b| a.0.total_cmp(&b.0))?.1;
    let Mark::Failed { x, .. } = nearest else {
        return None;
    };
    Some(spec.failures_at(*x))
}

/// Where each failed case has its mark.
fn failed<'s>(canvas: &Canvas<'_>, spec: &'s ChartSpec) -> Vec<(Pos2, &'s Mark)> {
    let room = Room {
        width: canvas.inner.width().into(),
        right: canvas.inner.right().into(),
        step: BESIDE,
    };
    let middle = |x: f64| f64::from(canvas.place(x, 0.0).x);
    let places = failures::places(spec, room, middle).into_iter();
    places
        .map(|(x, mark)| (pos2(x as f32, canvas.inner.bottom()), mark))
        .collect()
}

fn failure(canvas: &Canvas<'_>, at: Pos2, mark: &Mark) {
    let Mark::Failed { series, colour, .. } = mark else {
        return;
    };
    let color = faded(canvas.roles.series(*colour), *series, canvas.highlighted);
    let ring = Stroke::new(1.6, color);
    canvas.painter.circle(at, FAILED, canvas.roles.panel, ring);
    let ends = [at + vec2(-3.0, 3.0), at + vec2(3.0, -3.0)];
    canvas.painter.line_segment(ends, Stroke::new(1.4, color));
}

/// The places of points and columns, and of the lines of knees: words stand beside them.
fn drawn(canvas: &Canvas<'_>, spec: &ChartSpec) -> Vec<Rect> {
    let half = spec.bar_width / 2.0;
    let points = spec.series.iter().flat_map(|series| {
        let is_column = series.stroke == Drawing::Bars;
        let has_bars = series.stroke == Drawing::Dots;
        let aside = spec.aside(series);
        series.points.iter().map(move |point| {
            if is_column {
                let ends = [
                    canvas.place(point.x - half, 0.0),
                    canvas.place(point.x + half, point.y),
                ];
                Rect::from_two_pos(ends[0], ends[1])
            } else {
                let size = Vec2::splat(2.0 * marker::RADIUS);
                let at = canvas.place(point.x + aside, point.y);
                let (low, high) = point
                    .band
                    .filter(|_| has_bars)
                    .unwrap_or((point.y, point.y));
                let ends = [low, high].map(|y| canvas.place(point.x + aside, y));
                Rect::from_center_size(at, size).union(Rect::from_two_pos(ends[0], ends[1]))
            }
        })
    });
    let lines = spec.marks.iter().filter_map(|mark| match mark {
        Mark::Drop { at, .. } => {
            let top = canvas.place(at.0, at.1);
            let foot = pos2(top.x, canvas.inner.bottom());
            Some(Rect::from_two_pos(top, foot).expand(1.0))
        }
        _ => None,
    });
    points.chain(lines).collect()
}

/// A dashed vertical from a point down to the axis; the answer is where it ends.
fn drop_line(canvas: &Canvas<'_>, at: (f64, f64), series: SeriesId) -> Pos2 {
    let top = canvas.place(at.0, at.1);
    let color = faded(canvas.roles.faint, series, canvas.highlighted);
    let foot = pos2(top.x, canvas.inner.bottom());
    let ends = [top + vec2(0.0, 7.0), foot];
    canvas
        .painter
        .extend(Shape::dashed_line(&ends, Stroke::new(1.0, color), 3.0, 3.0));
    foot
}

/// The first of these words that have room at the foot of a line or above, where they cover nothing. Words that
/// would lie over earlier ones are left out, and so are all but the first that would cover something.
fn words_at_foot(
    canvas: &Canvas<'_>,
    foot: Pos2,
    texts: Vec<Cow<'_, str>>,
    drawn: &[Rect],
    said: &mut Vec<Rect>,
) {
    let mut covering = None;
    for text in texts.into_iter().filter(|text| !text.is_empty()) {
        let font = theme::words(text::CAPTION);
        let color = canvas.roles.quiet;
        let galley = canvas
            .painter
            .layout_no_wrap(text.into_owned(), font, color);
        let free = free_at_foot(canvas, foot, galley.size(), said);
        let covers_nothing = |place: &&Rect| !drawn.iter().any(|other| other.intersects(**place));
        if let Some(place) = free.iter().find(covers_nothing) {
            words(canvas, *place, galley);
            said.push(*place);
            return;
        }
        if let Some(place) = free.first() {
            covering = Some((*place, galley));
        }
    }
    if let Some((place, galley)) = covering.filter(|_| said.is_empty()) {
        words(canvas, place, galley);
        said.push(place);
    }
}

/// Where words of a size may stand at the foot of a line without lying over others, the best first.
fn free_at_foot(canvas: &Canvas<'_>, foot: Pos2, size: Vec2, said: &[Rect]) -> Vec<Rect> {
    let sides = [(6.0, Align2::LEFT_BOTTOM), (-6.0, Align2::RIGHT_BOTTOM)];
    let places = LIFTS.iter().flat_map(|lift| {
        sides.map(|(aside, anchor)| anchor.anchor_size(foot + vec2(aside, -lift), size))
    });
    let inside = canvas.inner.x_range().expand(6.0);
    places
        .filter(|place| inside.contains(place.left()) && inside.contains(place.right()))
        .filter(|place| !said.iter().any(|other| other.intersects(*place)))
        .collect()
}

/// A number above a point; beside it where that is above the chart.
fn value(canvas: &Canvas<'_>, at: (f64, f64), text: &str, said: &mut Vec<Rect>) {
    let font = theme::numbers(text::CAPTION);
    let color = canvas.roles.text;
    let galley = canvas.painter.layout_no_wrap(text.to_owned(), font, color);
    let point = canvas.place(at.0, at.1);
    let place = if point.y - galley.size().y - 3.0 < canvas.inner.top() {
        let top = pos2(point.x + 5.0, point.y.max(canvas.inner.top()));
        Align2::LEFT_TOP.anchor_size(top, galley.size())
    } else {
        Align2::CENTER_BOTTOM.anchor_size(point - vec2(0.0, 3.0), galley.size())
    };
    if !said.iter().any(|other| other.intersects(place)) {
        canvas.painter.galley(place.min, galley, color);
        said.push(place);
    }
}

/// A dashed line at a height, with its words: over it at the left, or where they cover nothing.
fn level(canvas: &Canvas<'_>, y: f64, text: &str, drawn: &[Rect]) {
    let y = canvas.place(0.0, y).y;
    let ends = [pos2(canvas.inner.left(), y), pos2(canvas.inner.right(), y)];
    let stroke = Stroke::new(1.0, canvas.roles.faint);
    canvas
        .painter
        .extend(Shape::dashed_line(&ends, stroke, 3.0, 3.0));
    let small = theme::words(text::CAPTION);
    let color = canvas.roles.quiet;
    let galley = canvas.painter.layout_no_wrap(text.to_owned(), small, color);
    let place = |end: Pos2, aside: f32, down: f32, anchor: Align2| {
        anchor.anchor_size(end + vec2(aside, down), galley.size())
    };
    let places = [
        place(ends[0], 4.0, -3.0, Align2::LEFT_BOTTOM),
        place(ends[1], -4.0, -3.0, Align2::RIGHT_BOTTOM),
        place(ends[0], 4.0, 3.0, Align2::LEFT_TOP),
        place(ends[1], -4.0, 3.0, Align2::RIGHT_TOP),
    ];
    // At the top of the chart stands the unit.
    let inside = canvas.inner.y_range();
    let is_inside = |place: &&Rect| inside.contains(place.top()) && inside.contains(place.bottom());
    let is_free = |place: &&Rect| !drawn.iter().any(|other| other.intersects(**place));
    let mut inner = places.iter().filter(is_inside);
    let best = inner.clone().find(is_free).or_else(|| inner.next());
    words(canvas, *best.unwrap_or(&places[0]), galley);
}

/// Words on a ground of their own: what was drawn there shines through, and can be read no more than they.
fn words(canvas: &Canvas<'_>, place: Rect, galley: Arc<Galley>) {
    let ground = canvas.roles.panel.gamma_multiply(0.8);
    canvas.painter.rect_filled(place, 2.0, ground);
    canvas.painter.galley(place.min, galley, canvas.roles.quiet);
}
