//! Where points and their intervals are.

use super::PlotSurface;
use crate::chart::area::{Area, Position};
use crate::chart::spec::{ChartPoint, Series, Stroke};

/// Width of a column as a share of its place.
pub const COLUMN: f64 = 0.92;
/// How much of a published point's marker is open.
pub const HOLLOW: f64 = 0.5;
/// More points than this in a series are small dots.
const CROWD: usize = 64;
/// Half the width of the ends of an interval, in halves of a marker.
const END: f64 = 1.1;

/// A point with a marker.
pub struct PointMarker<'s> {
    /// The point.
    pub point: &'s ChartPoint,
    /// Where its marker is.
    pub at: Position,
    /// The lines of its interval, where it has its own.
    pub interval: Vec<(Position, Position)>,
}

/// Whether a series has so many points that they are small dots.
pub fn is_crowd(series: &Series) -> bool {
    series.points.len() > CROWD
}

/// The points of a series that have markers, with their intervals.
pub fn dots<'s>(plot: &dyn PlotSurface, series: &'s Series) -> Vec<PointMarker<'s>> {
    if matches!(series.stroke, Stroke::Bars | Stroke::Thin) {
        return Vec::new();
    }
    let aside = plot.spec().aside(series);
    let inside = plot.inner().expanded(6.0);
    let dots = series.points.iter().enumerate().map(|(place, point)| {
        let x = point.x + aside;
        let whisker = series.whisker(place).filter(|_| !is_crowd(series));
        PointMarker {
            point,
            at: plot.place(x, point.y),
            interval: whisker.map_or_else(Vec::new, |ends| interval(plot, x, ends, false)),
        }
    });
    dots.filter(|dot| inside.contains(dot.at)).collect()
}

/// The lines of the intervals of columns.
pub fn column_intervals(plot: &dyn PlotSurface, series: &Series) -> Vec<(Position, Position)> {
    let points = series
        .points
        .iter()
        .filter(|_| series.stroke == Stroke::Bars);
    let with_band = points.filter_map(|point| Some((point.x, point.band?)));
    let inner = plot.inner().expanded(1.0);
    let is_seen = |x: f64| (inner.left..=inner.right).contains(&plot.place(x, 0.0).0);
    with_band
        .filter(|(x, _)| is_seen(*x))
        .flat_map(|(x, band)| interval(plot, x, band, true))
        .collect()
}

/// A vertical, with the tip of an arrow where the interval goes on above the chart, and a bar at each end.
fn interval(
    plot: &dyn PlotSurface,
    x: f64,
    (low, high): (f64, f64),
    has_ends: bool,
) -> Vec<(Position, Position)> {
    let inner = plot.inner();
    let ends = [low, high].map(|y| plot.place(x, y));
    let [low, high] = ends.map(|(x, y)| (x, y.clamp(inner.top, inner.bottom)));
    let side = plot.marker() * END;
    let mut lines = vec![(low, high)];
    if ends[1].1 < inner.top {
        let (x, top) = high;
        lines.extend([-side, side].map(|side| ((x + side, top + side.abs()), (x, top))));
    }
    let inside = inner.expanded(0.1);
    let bars = ends.iter().filter(|end| has_ends && inside.contains(**end));
    lines.extend(bars.map(|(x, y)| ((x - side, *y), (x + side, *y))));
    lines
}

/// What the points of a series and their intervals cover.
pub(super) fn areas(plot: &dyn PlotSurface, series: &Series) -> Vec<Area> {
    let aside = plot.spec().aside(series);
    let points = series.points.iter().enumerate();
    let areas = points.flat_map(|(place, point)| {
        let x = point.x + aside;
        let whisker = series.whisker(place).map(|ends| {
            let [low, high] = [ends.0, ends.1].map(|y| plot.place(x, y));
            Area::between(low, high).expanded(2.0)
        });
        let marker = Area::square_around(plot.place(x, point.y), plot.marker());
        whisker.into_iter().chain([marker])
    });
    areas.collect()
}
