//! Paints what is on a chart beside its series: failures, knees, rings, dividers, levels, and all words.

use eframe::egui::{Pos2, Shape as Painted, Stroke};

use super::chart_canvas::{ChartCanvas, REACH, pos};
use powerband_findings::analysis::limits::lines::LineKind;
use powerband_findings::chart::area::Position;
use powerband_findings::chart::layout::failures::{self, FailureMark};
use powerband_findings::chart::layout::labels::ChartLabels;
use powerband_findings::chart::layout::marks::{MarkShape, shapes};
use powerband_findings::chart::layout::words::LabelKind;
use powerband_findings::chart::spec::Mark;

/// Fronts and dividers, which lie behind the markers.
pub(super) fn behind(canvas: &ChartCanvas<'_>) {
    for shape in shapes(canvas).iter().filter(|shape| shape.is_behind()) {
        paint(canvas, shape);
    }
}

/// Everything else, and all words over it.
pub(super) fn show(canvas: &ChartCanvas<'_>, labels: &ChartLabels) {
    for failed in failures::failure_marks(canvas) {
        failure(canvas, failed);
    }
    for shape in shapes(canvas).iter().filter(|shape| !shape.is_behind()) {
        paint(canvas, shape);
    }
    for words in &labels.words {
        let color = match words.what {
            LabelKind::Value => canvas.roles.text,
            _ => canvas.roles.quiet,
        };
        let color = words.series.map_or(color, |id| canvas.faded(color, id));
        canvas.draw_text(words, color);
    }
}

fn paint(canvas: &ChartCanvas<'_>, shape: &MarkShape) {
    let (roles, painter) = (canvas.roles, &canvas.painter);
    let faint = Stroke::new(1.0, roles.faint);
    let dashed = |from: Position, to: Position, stroke: Stroke| {
        let line = Painted::dashed_line(&[pos(from), pos(to)], stroke, 3.0, 3.0);
        painter.extend(line);
    };
    match shape {
        MarkShape::Edge(corners) => {
            let corners = corners.iter().map(|at| pos(*at)).collect();
            let inside = painter.with_clip_rect(canvas.inner.expand(1.0));
            inside.add(Painted::line(corners, faint));
        }
        MarkShape::Divider(from, to) => canvas.line((*from, *to), Stroke::new(1.0, roles.line)),
        MarkShape::Drop(from, to, series) => {
            let color = canvas.faded(roles.faint, *series);
            dashed(*from, *to, Stroke::new(1.0, color));
        }
        MarkShape::Level(from, to) => dashed(*from, *to, faint),
        MarkShape::Roof(from, to, kind) => match kind {
            LineKind::Published => dashed(*from, *to, Stroke::new(1.0, roles.quiet)),
            LineKind::Measured => canvas.line((*from, *to), Stroke::new(1.0, roles.quiet)),
            LineKind::Engine => canvas.line((*from, *to), Stroke::new(2.5, roles.quiet)),
        },
        MarkShape::Ring(at, radius) => {
            let stroke = Stroke::new(2.0, roles.accent);
            painter.circle_stroke(pos(*at), *radius as f32, stroke);
        }
        MarkShape::Pin(at, radius) => {
            let stroke = Stroke::new(1.5, roles.text);
            painter.circle_stroke(pos(*at), *radius as f32, stroke);
        }
    }
}

/// The failures at the mark under the pointer, with their reasons.
pub(super) fn failed_at(canvas: &ChartCanvas<'_>, hand: Pos2) -> Option<String> {
    let near = failures::failure_marks(canvas)
        .into_iter()
        .map(|failed| (pos(failed.at).distance(hand), failed.mark))
        .filter(|(distance, _)| *distance < REACH);
    let nearest = near.min_by(|a, b| a.0.total_cmp(&b.0))?.1;
    let Mark::Failed { x, .. } = nearest else {
        return None;
    };
    Some(canvas.spec.failures_at(*x))
}

fn failure(canvas: &ChartCanvas<'_>, failed: FailureMark<'_>) {
    let Mark::Failed { series, colour, .. } = failed.mark else {
        return;
    };
    let color = canvas.faded(canvas.roles.series(*colour), *series);
    let (ring, radius) = (Stroke::new(1.6, color), failed.radius as f32);
    let panel = canvas.roles.panel;
    canvas.painter.circle(pos(failed.at), radius, panel, ring);
    canvas.line(failed.across, Stroke::new(1.4, color));
}
