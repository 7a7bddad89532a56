//! What is on a chart beside its series, as shapes: fronts, dividers, the lines of knees and levels, rings, failures,
//! words and the limit.

use super::failures::failure_marks;
use super::labels::{ChartLabels, limit_line};
use super::words::{LabelKind, PlacedLabel};
use super::{Letters, PlotSurface};
use crate::analysis::limits::lines::LineKind;
use crate::chart::area::{Area, Position};
use crate::chart::sketch::{Ink, SketchShape};
use crate::chart::spec::Mark;

/// Sizes in halves of a marker: rings, and how far below its point the line of a knee begins.
const RING: f64 = 2.2;
const PIN: f64 = 3.0;
const BELOW_POINT: f64 = 2.0;
/// Thickness of the ring around a pinned point and of a failure, in widths of a line.
const THIN: f64 = 0.75;
const FAILURE: f64 = 0.8;
/// Dashes of lines that only help, and of the limit.
const DASHES: &[f64] = &[3.0, 3.0];
const SOLID: &[f64] = &[];
const LIMIT: &[f64] = &[5.0, 4.0];

/// Whether a mark lies behind the series.
fn is_behind(mark: &Mark) -> bool {
    matches!(
        mark,
        Mark::Edge { .. } | Mark::Divider { .. } | Mark::Roof { .. }
    )
}

/// Fronts, dividers and roofs, which lie behind the series.
pub fn behind(plot: &dyn PlotSurface, letters: &Letters<'_>) -> Vec<SketchShape> {
    let marks = plot.spec().marks.iter().filter(|mark| is_behind(mark));
    marks
        .filter_map(|mark| shape(plot, letters, mark))
        .collect()
}

/// Everything else but the limit, and all words over it.
pub fn on_top(
    plot: &dyn PlotSurface,
    labels: &ChartLabels,
    letters: &Letters<'_>,
) -> Vec<SketchShape> {
    let marks = plot.spec().marks.iter().filter(|mark| !is_behind(mark));
    let marks = marks.filter_map(|mark| shape(plot, letters, mark));
    let words = labels.words.iter().map(|words| text(words, letters));
    failures(plot).chain(marks).chain(words).collect()
}

/// The limit with its words, a line of so many hairlines, and what is beyond it.
pub fn limit(
    plot: &dyn PlotSurface,
    words: Option<&PlacedLabel>,
    hairlines: f64,
    letters: &Letters<'_>,
) -> Vec<SketchShape> {
    let (Some(y), inner) = (limit_line(plot), plot.inner()) else {
        return Vec::new();
    };
    let beyond = SketchShape::Ground {
        area: Area { bottom: y, ..inner },
        ink: Ink::Bad,
        strength: 0.05,
        radius: 0.0,
    };
    let ends = ((inner.left, y), (inner.right, y));
    let thickness = letters.hair * hairlines / letters.line;
    let line = SketchShape::line(ends, thickness, Ink::Accent).dashed(LIMIT);
    let words = words.map(|words| text(words, letters));
    [beyond, line.class("limit")]
        .into_iter()
        .chain(words)
        .collect()
}

fn shape(plot: &dyn PlotSurface, letters: &Letters<'_>, mark: &Mark) -> Option<SketchShape> {
    let inner = plot.inner();
    let across = |y: f64| {
        let y = plot.place(plot.spec().x.low, y).1;
        let is_inside = inner.expanded(0.5).contains((inner.left, y));
        is_inside.then_some(((inner.left, y), (inner.right, y)))
    };
    let dashed = |ends, class| {
        letters
            .hairline(ends, Ink::Faint)
            .dashed(DASHES)
            .class(class)
    };
    let ring = |at: &Position, halves, thickness, ink, class| SketchShape::Ring {
        at: plot.place(at.0, at.1),
        radius: plot.marker() * halves,
        ground: None,
        thickness,
        ink,
        class,
    };
    Some(match mark {
        Mark::Edge { through } => SketchShape::Path {
            points: through.iter().map(|(x, y)| plot.place(*x, *y)).collect(),
            thickness: letters.hair / letters.line,
            ink: Ink::Faint,
            class: "",
        },
        Mark::Divider { x } => {
            let x = plot.place(*x, plot.spec().y.low).0;
            let is_inside = (inner.left..=inner.right).contains(&x);
            let line = letters.hairline(((x, inner.top), (x, inner.bottom)), Ink::Divider);
            return is_inside.then(|| line.class("divider"));
        }
        Mark::Drop { at, series, .. } => {
            let (x, y) = plot.place(at.0, at.1);
            let top = (y + plot.marker() * BELOW_POINT).max(inner.top);
            let line = || dashed(((x, top), (x, inner.bottom)), "drop");
            return (top < inner.bottom).then(|| line().of_series(*series));
        }
        Mark::Level { y, .. } => dashed(across(*y)?, "level"),
        Mark::Roof { y, kind, .. } => {
            let (width, dashes) = match kind {
                LineKind::Published => (1.0, DASHES),
                LineKind::Measured => (1.0, SOLID),
                LineKind::Engine => (2.5, SOLID),
            };
            let line = SketchShape::line(across(*y)?, width / letters.line, Ink::Quiet);
            line.dashed(dashes).class("roof")
        }
        Mark::Ring { at, .. } => ring(at, RING, 1.0, Ink::Accent, "ring"),
        Mark::Pin { at, .. } => ring(at, PIN, THIN, Ink::Text, "pin"),
        Mark::Failed { .. } | Mark::Name { .. } | Mark::Value { .. } => return None,
    })
}

/// Hollow marks on the axis, with a line across.
fn failures(plot: &dyn PlotSurface) -> impl Iterator<Item = SketchShape> {
    failure_marks(plot).into_iter().filter_map(|failed| {
        let Mark::Failed {
            series,
            colour,
            reason,
            ..
        } = failed.mark
        else {
            return None;
        };
        let ink = Ink::Series(*colour);
        let ring = SketchShape::Ring {
            at: failed.at,
            radius: failed.radius,
            ground: Some(Ink::Panel),
            thickness: FAILURE,
            ink,
            class: "",
        };
        let across = SketchShape::line(failed.across, FAILURE, ink);
        let failure = SketchShape::group("failed", reason, vec![ring, across]);
        Some(failure.of_series(*series))
    })
}

/// Words at their place, on their ground.
fn text(words: &PlacedLabel, letters: &Letters<'_>) -> SketchShape {
    let ground = words.ground().map(|area| SketchShape::Ground {
        area,
        ink: Ink::Panel,
        strength: 0.8,
        radius: 2.0,
    });
    let (ink, class) = match words.what {
        LabelKind::Value => (Ink::Text, "value"),
        LabelKind::Note => (Ink::Quiet, ""),
        LabelKind::Name => (Ink::Quiet, "name"),
        LabelKind::Limit => (Ink::Accent, ""),
    };
    let text = letters.text(words.anchor, &words.text, words.what.font(), ink);
    SketchShape::OfSeries {
        series: words.series,
        items: ground.into_iter().chain([text.class(class)]).collect(),
    }
}
