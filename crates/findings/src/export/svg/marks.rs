//! What is on a chart beside its series: failures, knees, rings, levels, numbers, names and the limit.

use super::axes::SvgPlot;
use super::canvas::{Pen, SvgCanvas};
use crate::analysis::limits::lines::LineKind;
use crate::chart::area::Area;
use crate::chart::layout::failures::{self, FailureMark};
use crate::chart::layout::labels::{ChartLabels, limit_line};
use crate::chart::layout::marks::{MarkShape, shapes};
use crate::chart::layout::words::{LabelKind, PlacedLabel};
use crate::chart::spec::Mark;

/// Dashes of lines that only help.
const DASHES: &[f64] = &[3.0, 3.0];

/// Fronts and dividers, which lie behind the series.
pub(super) fn behind(canvas: &mut SvgCanvas, plot: &SvgPlot<'_>) {
    for shape in shapes(plot).iter().filter(|shape| shape.is_behind()) {
        draw_shape(canvas, shape);
    }
}

/// Everything else, on top, and all words over it.
pub(super) fn draw(canvas: &mut SvgCanvas, plot: &SvgPlot<'_>, labels: &ChartLabels) {
    for failed in failures::failure_marks(plot) {
        failure(canvas, failed);
    }
    for shape in shapes(plot).iter().filter(|shape| !shape.is_behind()) {
        draw_shape(canvas, shape);
    }
    for words in &labels.words {
        draw_words(canvas, words);
    }
    if let Some(y) = limit_line(plot) {
        draw_limit(canvas, plot, y, labels.limit.as_ref());
    }
}

fn draw_shape(canvas: &mut SvgCanvas, shape: &MarkShape) {
    let (colours, line) = (canvas.colours, canvas.measures.line);
    let hair = Pen::new(colours.faint, canvas.measures.hair);
    match shape {
        MarkShape::Edge(corners) => canvas.path(corners, hair),
        MarkShape::Divider(from, to) => {
            let colour = colours.line.towards(colours.faint, 0.45);
            let pen = Pen { colour, ..hair };
            canvas.line(*from, *to, pen.class("divider"));
        }
        MarkShape::Drop(from, to, _) => canvas.line(*from, *to, hair.dashed(DASHES).class("drop")),
        MarkShape::Level(from, to) => canvas.line(*from, *to, hair.dashed(DASHES).class("level")),
        MarkShape::Roof(from, to, kind) => {
            let pen = match kind {
                LineKind::Published => Pen::new(colours.quiet, 1.0).dashed(DASHES),
                LineKind::Measured => Pen::new(colours.quiet, 1.0),
                LineKind::Engine => Pen::new(colours.quiet, 2.5),
            };
            canvas.line(*from, *to, pen.class("roof"));
        }
        MarkShape::Ring(at, radius) => {
            let pen = Pen::new(colours.accent, line).class("ring");
            canvas.circle(*at, *radius, None, Some(pen));
        }
        MarkShape::Pin(at, radius) => {
            let pen = Pen::new(colours.text, line * 0.75).class("pin");
            canvas.circle(*at, *radius, None, Some(pen));
        }
    }
}

/// A hollow mark on the axis, with its reason under the hand.
fn failure(canvas: &mut SvgCanvas, failed: FailureMark<'_>) {
    let Mark::Failed { colour, reason, .. } = failed.mark else {
        return;
    };
    let pen = Pen::new(canvas.colours.series(*colour), canvas.measures.line * 0.8);
    canvas.group("failed", reason, |canvas| {
        canvas.circle(
            failed.at,
            failed.radius,
            Some(canvas.colours.panel),
            Some(pen),
        );
        canvas.line(failed.across.0, failed.across.1, pen);
    });
}

fn draw_words(canvas: &mut SvgCanvas, words: &PlacedLabel) {
    let colours = canvas.colours;
    if let Some(ground) = words.ground() {
        canvas.rect(ground, colours.panel, 0.8, 2.0);
    }
    let style = match words.what {
        LabelKind::Value => canvas.figures(colours.text).class("value"),
        LabelKind::Note => canvas.caption(colours.quiet),
        LabelKind::Name => canvas.caption(colours.quiet).class("name"),
        LabelKind::Limit => canvas.caption(colours.accent),
    };
    let anchor = words.anchor;
    canvas.text(
        anchor.at,
        &words.text,
        style.anchored(anchor.side, anchor.height),
    );
}

/// The limit with its words, and what is beyond it.
fn draw_limit(canvas: &mut SvgCanvas, plot: &SvgPlot<'_>, y: f64, words: Option<&PlacedLabel>) {
    let inner = plot.inner;
    let above = Area { bottom: y, ..inner };
    canvas.rect(above, canvas.colours.bad, 0.05, 0.0);
    let pen = Pen::new(canvas.colours.accent, canvas.measures.hair * 1.2);
    let pen = pen.dashed(&[5.0, 4.0]).class("limit");
    canvas.line((inner.left, y), (inner.right, y), pen);
    if let Some(words) = words {
        draw_words(canvas, words);
    }
}
