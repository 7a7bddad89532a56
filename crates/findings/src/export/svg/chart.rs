//! A chart: bands, lines, columns and markers between the hairlines and the marks.

use super::axes::SvgPlot;
use super::canvas::{Pen, SvgCanvas};
use super::sketch;
use crate::chart::area::{Area, Position};
use crate::chart::colours::Fill;
use crate::chart::layout::labels::{ChartLabels, OmittedLabel, labels};
use crate::chart::layout::legend::{self, LegendItem};
use crate::chart::layout::series::{COLUMN, HOLLOW, column_intervals, dots, is_crowd};
use crate::chart::layout::{Letters, PlotSurface as _, bands, marks};
use crate::chart::palette;
use crate::chart::spec::{Axis, AxisScale, ChartPoint, ChartSpec, Series, Stroke};
use powerband_core::base::humanize;

/// With more points than this, points have no tooltips.
const MOST_TOLD: usize = 3_000;

/// Width of the limit, in hairlines.
const LIMIT: f64 = 1.2;

/// Draws it.
pub(super) fn draw(canvas: &mut SvgCanvas, letters: &Letters<'_>, spec: &ChartSpec, area: Area) {
    let (items, labels) = labels_beside_legend(canvas, letters, spec, area);
    let (legend, below) = legend::lay_out(&items, area, letters);
    sketch::draw(canvas, &legend);
    let plot = SvgPlot::new(canvas, spec, below);
    plot.hairlines(canvas);
    canvas.clipped(plot.inner.expanded(canvas.measures.line), |canvas| {
        sketch::draw(canvas, &marks::behind(&plot, letters));
        for series in &spec.series {
            canvas.series(Some(series.id), |canvas| body(canvas, &plot, series));
        }
    });
    plot.draw_text(canvas, below);
    let is_told = spec.series.iter().map(|s| s.points.len()).sum::<usize>() <= MOST_TOLD;
    for series in &spec.series {
        canvas.series(Some(series.id), |canvas| {
            markers(canvas, &plot, series, is_told);
        });
    }
    sketch::draw(canvas, &marks::on_top(&plot, &labels, letters));
    let limit = marks::limit(&plot, labels.limit.as_ref(), LIMIT, letters);
    sketch::draw(canvas, &limit);
}

/// The entries of the legend, which also says what has no room on the chart, and the words that have room below
/// a legend of that height.
fn labels_beside_legend(
    canvas: &SvgCanvas,
    letters: &Letters<'_>,
    spec: &ChartSpec,
    area: Area,
) -> (Vec<LegendItem>, ChartLabels) {
    let mut left_out = Vec::new();
    loop {
        let items = LegendItem::of_chart(spec, &left_out);
        let below = legend::below(&items, area, letters);
        let labels = labels(&SvgPlot::new(canvas, spec, below));
        let news = labels
            .left_out
            .iter()
            .filter(|one| !left_out.contains(*one));
        let news: Vec<OmittedLabel> = news.cloned().collect();
        if news.is_empty() {
            return (items, labels);
        }
        left_out.extend(news);
    }
}

/// The dashes of a published curve.
const PUBLISHED: &[f64] = &[3.0, 3.0];

/// Columns, or the band and the line.
fn body(canvas: &mut SvgCanvas, plot: &SvgPlot<'_>, series: &Series) {
    match series.stroke {
        Stroke::Bars => columns(canvas, plot, series),
        // Dots have their intervals as bars of their own.
        Stroke::Dots => {}
        Stroke::Curve | Stroke::Thin | Stroke::Published => {
            for run in series.runs() {
                band(canvas, plot, series, run);
                line(canvas, plot, series, run);
            }
        }
    }
}

fn band(canvas: &mut SvgCanvas, plot: &SvgPlot<'_>, series: &Series, run: &[ChartPoint]) {
    let slices = bands::band(plot, run);
    if slices.is_empty() {
        return;
    }
    let (outlines, strength) = bands::outlines(&slices);
    for outline in outlines {
        canvas.area(&outline, canvas.colours.series(series.colour), strength);
    }
}

fn line(canvas: &mut SvgCanvas, plot: &SvgPlot<'_>, series: &Series, run: &[ChartPoint]) {
    let points: Vec<Position> = run
        .iter()
        .map(|point| plot.place(point.x, point.y))
        .filter(|at| at.0.is_finite() && at.1.is_finite())
        .collect();
    let width = if matches!(series.stroke, Stroke::Thin | Stroke::Published) {
        canvas.measures.line / 2.0
    } else {
        canvas.measures.line
    };
    let pen = Pen::new(canvas.colours.series(series.colour), width);
    let dashes = if series.stroke == Stroke::Published {
        PUBLISHED
    } else {
        palette::dashes(series.colour, canvas.is_print)
    };
    let pen = pen.dashed(dashes).class("series");
    canvas.path(&points, pen);
}

fn columns(canvas: &mut SvgCanvas, plot: &SvgPlot<'_>, series: &Series) {
    let half = plot.spec.bar_width * COLUMN / 2.0;
    for point in &series.points {
        let foot = plot.place(point.x - half, 0.0);
        let head = plot.place(point.x + half, point.y);
        canvas.group(
            "point",
            &point_tooltip(plot.spec, series, point),
            |canvas| {
                canvas.filled(
                    Area::between(foot, head),
                    Fill::from_hue(series.colour),
                    0.75,
                    0.0,
                );
            },
        );
    }
}

/// Markers with their numbers, and intervals that are bars of their own.
fn markers(canvas: &mut SvgCanvas, plot: &SvgPlot<'_>, series: &Series, is_told: bool) {
    let pen = Pen::new(canvas.colours.text, canvas.measures.line * 0.7);
    for (from, to) in column_intervals(plot, series) {
        canvas.line(from, to, pen);
    }
    let colour = canvas.colours.series(series.colour);
    let pen = Pen::new(colour, canvas.measures.line * 0.75);
    let is_small = is_crowd(series) || !is_told;
    let radius = canvas.measures.marker;
    for dot in dots(plot, series) {
        let title = if is_told {
            point_tooltip(plot.spec, series, dot.point)
        } else {
            String::new()
        };
        canvas.group("point", &title, |canvas| {
            if is_small {
                canvas.circle(dot.at, radius * 0.4, Some(colour), None);
                return;
            }
            for (from, to) in dot.interval {
                canvas.line(from, to, pen);
            }
            canvas.marker(dot.at, series.colour, radius);
            if series.stroke == Stroke::Published {
                canvas.circle(dot.at, radius * HOLLOW, Some(canvas.colours.panel), None);
            }
        });
    }
}

/// A point in words: whose, where, how much, and between what.
fn point_tooltip(spec: &ChartSpec, series: &Series, point: &ChartPoint) -> String {
    let number = |axis: &Axis, at: f64| humanize::value(axis.value(at));
    let x = if spec.x.scale == AxisScale::Log2 {
        humanize::count(spec.x.value(point.x).round() as u64)
    } else {
        let named = spec.x.ticks.iter().find(|tick| tick.at == point.x);
        named.map_or_else(|| number(&spec.x, point.x), |tick| tick.text.clone())
    };
    let band = point.band.map_or_else(String::new, |(low, high)| {
        let (low, high) = (number(&spec.y, low), number(&spec.y, high));
        format!(" ({low} to {high})")
    });
    format!(
        "{}, {} {x}: {} {}{band}",
        series.name,
        spec.x.title,
        number(&spec.y, point.y),
        spec.y.title
    )
}
