//! What is on a chart beside its series: failures, knees, rings, levels, numbers, names and the limit.

use std::borrow::Cow;

use super::axes::Plot;
use super::canvas::{Canvas, Height, Pen, Side, Words};
use crate::chart::area::{Area, At};
use crate::chart::failures::{self, Room};
use crate::chart::mark::drop_words;
use crate::chart::naming;
use crate::chart::spec::{Limit, Mark, Stroke};
use crate::export::text_metrics;
use powerband_core::base::humanize;

/// Dashes of lines that only help.
const DASHES: &str = "3 3";
/// From a point to its name.
const GAP: f64 = 7.0;
/// Places that are tried along a level for its words.
const PLACES_ALONG: usize = 8;
/// How many words of knees may stand one above the other.
const MOST_LIFTED: u8 = 5;
/// Characters of words on a chart at most.
const LONGEST: usize = 60;
/// Where a name may stand beside its point, the best first.
const BESIDE: [(f64, f64, Side, Height); 6] = [
    (1.0, 0.0, Side::Start, Height::Middle),
    (-1.0, 0.0, Side::End, Height::Middle),
    (0.7, -0.4, Side::Start, Height::Bottom),
    (0.7, 0.4, Side::Start, Height::Top),
    (-0.7, -0.4, Side::End, Height::Bottom),
    (-0.7, 0.4, Side::End, Height::Top),
];

/// Fronts and dividers, which lie behind the series.
pub(super) fn behind(canvas: &mut Canvas, plot: &Plot<'_>) {
    for mark in &plot.spec.marks {
        match mark {
            Mark::Edge { through } => {
                let pen = Pen::new(canvas.colours.faint, canvas.measures.hair);
                canvas.path(&corners(plot, through), pen);
            }
            Mark::Divider { x } => {
                let x = plot.place(*x, plot.spec.y.low).0;
                let colour = canvas.colours.line.towards(canvas.colours.faint, 0.45);
                let pen = Pen::new(colour, canvas.measures.hair).class("divider");
                canvas.line((x, plot.inner.top), (x, plot.inner.bottom), pen);
            }
            _ => {}
        }
    }
}

fn corners(plot: &Plot<'_>, through: &[(f64, f64)]) -> Vec<At> {
    let places = through.iter().map(|(x, y)| plot.place(*x, *y));
    places.collect()
}

/// Everything else, on top; words that would lie over earlier ones are left out.
pub(super) fn draw(canvas: &mut Canvas, plot: &Plot<'_>) {
    let mut said = Vec::new();
    failed(canvas, plot);
    for mark in &plot.spec.marks {
        match mark {
            Mark::Drop { at, text, name, .. } => {
                let foot = drop_line(canvas, plot, *at);
                let texts: Vec<_> = drop_words(name.as_deref(), text).collect();
                words_at_foot(canvas, plot, foot, &texts, &mut said);
            }
            Mark::Ring { at, .. } => {
                let radius = canvas.measures.marker * 2.2;
                let pen = Pen::new(canvas.colours.accent, canvas.measures.line).class("ring");
                canvas.circle(plot.place(at.0, at.1), radius, None, Some(pen));
            }
            Mark::Pin { at, .. } => {
                let radius = canvas.measures.marker * 3.0;
                let pen = Pen::new(canvas.colours.text, canvas.measures.line * 0.75).class("pin");
                canvas.circle(plot.place(at.0, at.1), radius, None, Some(pen));
            }
            Mark::Level { y, text } => level(canvas, plot, *y, text, &mut said),
            Mark::Value { at, text } => value(canvas, plot, *at, text, &mut said),
            Mark::Failed { .. } | Mark::Edge { .. } | Mark::Name { .. } | Mark::Divider { .. } => {}
        }
    }
    names(canvas, plot, said);
    if let Some(limit) = &plot.spec.limit {
        draw_limit(canvas, plot, limit);
    }
}

fn failed(canvas: &mut Canvas, plot: &Plot<'_>) {
    let room = Room {
        width: plot.inner.width(),
        right: plot.inner.right,
        step: canvas.measures.marker * 2.9,
    };
    let middle = |x: f64| plot.place(x, plot.spec.y.low).0;
    for (x, mark) in failures::places(plot.spec, room, middle) {
        if let Mark::Failed { colour, reason, .. } = mark {
            failure(canvas, (x, plot.inner.bottom), *colour, reason);
        }
    }
}

/// A hollow mark on the axis, with its reason under the hand.
fn failure(canvas: &mut Canvas, (x, y): At, colour: usize, reason: &str) {
    let r = canvas.measures.marker;
    let pen = Pen::new(canvas.colours.series(colour), canvas.measures.line * 0.8);
    canvas.group("failed", reason, |canvas| {
        canvas.circle((x, y), r * 1.25, Some(canvas.colours.panel), Some(pen));
        let reach = r * 0.83;
        canvas.line((x - reach, y + reach), (x + reach, y - reach), pen);
    });
}

/// A dashed vertical from a point down to the axis; the answer is where it ends.
fn drop_line(canvas: &mut Canvas, plot: &Plot<'_>, at: At) -> At {
    let top = plot.place(at.0, at.1);
    let foot = (top.0, plot.inner.bottom);
    let colour = canvas.colours.faint;
    let pen = Pen::new(colour, canvas.measures.hair)
        .dashed(DASHES)
        .class("drop");
    canvas.line((top.0, top.1 + canvas.measures.marker * 2.0), foot, pen);
    foot
}

/// The first of these words that have room beside the foot of a line, at its right or its left; the last
/// of them at its left where none has.
fn words_at_foot(
    canvas: &mut Canvas,
    plot: &Plot<'_>,
    foot: At,
    texts: &[Cow<'_, str>],
    said: &mut Vec<Area>,
) {
    let words = canvas.caption(canvas.colours.quiet);
    let sides = [
        (
            words.at(Side::Start, Height::Bottom),
            6.0,
            plot.inner.right - foot.0,
        ),
        (
            words.at(Side::End, Height::Bottom),
            -6.0,
            foot.0 - plot.inner.left,
        ),
    ];
    // Several at one place stand one above the other.
    let line = words.size * 1.4;
    let lifts = || (0..MOST_LIFTED).map(|lift| foot.1 - 4.0 - f64::from(lift) * line);
    let last = texts.len().saturating_sub(1);
    for (index, text) in texts
        .iter()
        .enumerate()
        .filter(|(_, text)| !text.is_empty())
    {
        let text = short(text);
        for (words, shift, room) in sides {
            let is_forced = index == last && shift < 0.0;
            let fits = canvas.width_of(&text, words) <= room - 8.0;
            let is_said = (fits || is_forced)
                && lifts().any(|y| say(canvas, (foot.0 + shift, y), &text, words, said));
            if is_said {
                return;
            }
        }
    }
}

/// Words, unless others stand there already; tells whether there was room.
fn say(canvas: &mut Canvas, at: At, text: &str, words: Words, said: &mut Vec<Area>) -> bool {
    let place = canvas.place_of(at, text, words);
    let is_free = !said.iter().any(|other| other.touches(place));
    if is_free {
        canvas.text(at, text, words);
        said.push(place);
    }
    is_free
}

fn short(text: &str) -> String {
    humanize::shorten(&text_metrics::clean(text), LONGEST)
}

/// A thin dashed horizontal with words.
fn level(canvas: &mut Canvas, plot: &Plot<'_>, y: f64, text: &str, said: &mut Vec<Area>) {
    let y = plot.place(plot.spec.x.low, y).1;
    if !plot.inner.grown(0.5).has((plot.inner.left, y)) {
        return;
    }
    let pen = Pen::new(canvas.colours.faint, canvas.measures.hair)
        .dashed(DASHES)
        .class("level");
    canvas.line((plot.inner.left, y), (plot.inner.right, y), pen);
    let text = short(text);
    let words = canvas.caption(canvas.colours.quiet);
    let over = words.at(Side::Start, Height::Bottom);
    // Where something stands at the left, the words go to the right, then below the line, and then
    // wherever there is room along it.
    let (left, right) = (plot.inner.left + 4.0, plot.inner.right - 4.0);
    let under = words.at(Side::Start, Height::Top);
    let ends = [
        ((left, y - 2.0), over),
        ((right, y - 2.0), words.at(Side::End, Height::Bottom)),
        ((left, y + 2.0), under),
        ((right, y + 2.0), words.at(Side::End, Height::Top)),
    ];
    let along = (1..PLACES_ALONG).flat_map(|place| {
        let x = left + (right - left) * place as f64 / PLACES_ALONG as f64;
        [((x, y - 2.0), over), ((x, y + 2.0), under)]
    });
    let places: Vec<_> = ends.into_iter().chain(along).collect();
    let drawn = drawn(plot);
    let is_free = |(at, words): &(At, Words)| {
        let place = canvas.place_of(*at, &text, *words);
        !said.iter().chain(&drawn).any(|other| other.touches(place))
    };
    let (at, words) = places
        .iter()
        .find(|place| is_free(place))
        .copied()
        .unwrap_or(places[0]);
    said.push(canvas.place_of(at, &text, words));
    canvas.text(at, &text, words);
}

/// The places of columns, and of points with their intervals.
fn drawn(plot: &Plot<'_>) -> Vec<Area> {
    let half = plot.spec.bar_width / 2.0;
    let bars = plot
        .spec
        .series
        .iter()
        .filter(|series| series.stroke == Stroke::Bars);
    let columns = bars.flat_map(|series| &series.points).map(|point| {
        Area::between(
            plot.place(point.x - half, 0.0),
            plot.place(point.x + half, point.y),
        )
    });
    let others = plot.spec.series.iter();
    let others = others.filter(|series| series.stroke != Stroke::Bars);
    let points = others.flat_map(|series| {
        let aside = plot.spec.aside(series);
        series
            .points
            .iter()
            .enumerate()
            .flat_map(move |(place, point)| {
                let whisker = series.whisker(place).map(|(low, high)| {
                    let ends = [low, high].map(|y| plot.place(point.x + aside, y));
                    Area::between(ends[0], ends[1]).grown(2.0)
                });
                let dot = Area::around(plot.place(point.x + aside, point.y), 2.0);
                whisker.into_iter().chain([dot])
            })
    });
    columns.chain(points).collect()
}

/// A number above a point; beside it where that is above the chart.
fn value(canvas: &mut Canvas, plot: &Plot<'_>, at: At, text: &str, said: &mut Vec<Area>) {
    let (x, y) = plot.place(at.0, at.1);
    let words = canvas.figures(canvas.colours.text).class("value");
    if y - words.size * 1.25 - 3.0 < plot.inner.top {
        let at = (x + 5.0, y.max(plot.inner.top));
        say(canvas, at, text, words.at(Side::Start, Height::Top), said);
    } else {
        let words = words.at(Side::Middle, Height::Bottom);
        say(canvas, (x, y - 3.0), text, words, said);
    }
}

/// The names: each where it covers nothing, or not at all.
fn names(canvas: &mut Canvas, plot: &Plot<'_>, mut taken: Vec<Area>) {
    for mark in &plot.spec.marks {
        if let Mark::Edge { through } = mark {
            let corners = corners(plot, through);
            let sides = corners.windows(2);
            taken.extend(sides.map(|ends| Area::between(ends[0], ends[1]).grown(1.0)));
        }
    }
    for point in plot.spec.series.iter().flat_map(|series| &series.points) {
        let (low, high) = point.band.unwrap_or((point.y, point.y));
        let ends = [low, high].map(|y| plot.place(point.x, y));
        taken.push(Area::between(ends[0], ends[1]).grown(1.0));
        let at = plot.place(point.x, point.y);
        taken.push(Area::around(at, canvas.measures.marker));
    }
    for mark in &plot.spec.marks {
        let Mark::Name { at, text, .. } = mark else {
            continue;
        };
        let text = short(text);
        let words = canvas.caption(canvas.colours.quiet).class("name");
        let middle = plot.place(at.0, at.1);
        let places = BESIDE.map(|(x, y, side, height)| {
            let at = (middle.0 + x * GAP, middle.1 + y * GAP);
            (at, words.at(side, height))
        });
        let is_free = |(at, words): &(At, Words)| {
            let place = canvas.place_of(*at, &text, *words);
            plot.inner.grown(6.0).holds(place) && !taken.iter().any(|other| other.touches(place))
        };
        if let Some((at, words)) = places.into_iter().find(is_free) {
            taken.push(canvas.place_of(at, &text, words));
            canvas.text(at, &text, words);
        }
    }
    names_of_curves(canvas, plot, &taken);
}

/// The names of a few curves, where they run.
fn names_of_curves(canvas: &mut Canvas, plot: &Plot<'_>, taken: &[Area]) {
    let words = canvas.caption(canvas.colours.quiet).class("name");
    let words = words.at(Side::Start, Height::Top);
    let names: Vec<_> = naming::named(plot.spec)
        .into_iter()
        .map(|(id, name)| (id, short(&name)))
        .collect();
    let sizes: Vec<_> = names
        .iter()
        .map(|(id, name)| {
            let area = canvas.place_of((0.0, 0.0), name, words);
            (*id, (area.width(), area.height()))
        })
        .collect();
    let place = |x, y| plot.place(x, y);
    let places = naming::places(plot.spec, &sizes, plot.inner, taken, place);
    for ((_, name), area) in names.iter().zip(places) {
        if let Some(area) = area {
            canvas.rect(area, canvas.colours.panel, 0.8, 2.0);
            canvas.text((area.left, area.top), name, words);
        }
    }
}

/// The limit with its words, and what is beyond it.
fn draw_limit(canvas: &mut Canvas, plot: &Plot<'_>, limit: &Limit) {
    let inner = plot.inner;
    let y = plot.place(plot.spec.x.low, limit.y).1;
    let y = y.clamp(inner.top, inner.bottom);
    let above = Area::new(inner.left, inner.top, inner.right, y);
    canvas.rect(above, canvas.colours.bad, 0.05, 0.0);
    let colour = canvas.colours.accent;
    let pen = Pen::new(colour, canvas.measures.hair * 1.2)
        .dashed("5 4")
        .class("limit");
    canvas.line((inner.left, y), (inner.right, y), pen);
    let words = canvas.caption(colour);
    let text = short(&limit.text);
    let has_room = y - inner.top > words.size * 1.6;
    let (shift, height) = if has_room {
        (-3.0, Height::Bottom)
    } else {
        (3.0, Height::Top)
    };
    let at = (inner.right - 2.0, y + shift);
    let words = words.at(Side::End, height);
    let ground = canvas.place_of(at, &text, words).grown(2.0);
    canvas.rect(ground, canvas.colours.panel, 0.8, 3.0);
    canvas.text(at, &text, words);
}
