//! Where fronts, dividers, the lines of knees, levels and rings are.

use super::PlotSurface;
use crate::analysis::limits::lines::LineKind;
use crate::chart::area::Position;
use crate::chart::spec::{Mark, SeriesId};

/// Sizes in halves of a marker: rings, and how far below its point the line of a knee begins.
const RING: f64 = 2.2;
const PIN: f64 = 3.0;
const BELOW_POINT: f64 = 2.0;

/// A shape on a chart.
#[derive(Clone, Debug, PartialEq)]
pub enum MarkShape {
    /// A front: a thin line through its corners.
    Edge(Vec<Position>),
    /// A thin vertical.
    Divider(Position, Position),
    /// The dashed vertical of a knee, from a series' point to the axis.
    Drop(Position, Position, SeriesId),
    /// A dashed horizontal.
    Level(Position, Position),
    /// A horizontal that a rate cannot pass.
    Roof(Position, Position, LineKind),
    /// A ring around the best point, with its radius.
    Ring(Position, f64),
    /// A ring around the pinned point.
    Pin(Position, f64),
}

impl MarkShape {
    /// Whether it lies behind the series.
    pub fn is_behind(&self) -> bool {
        matches!(self, Self::Edge(_) | Self::Divider(..) | Self::Roof(..))
    }
}

/// The shapes of a chart's marks. Failed cases have [their own](super::failures).
pub fn shapes(plot: &dyn PlotSurface) -> Vec<MarkShape> {
    let inner = plot.inner();
    let radius = |times: f64| plot.marker() * times;
    let across = |y: f64| {
        let y = plot.place(plot.spec().x.low, y).1;
        let is_inside = inner.expanded(0.5).contains((inner.left, y));
        is_inside.then_some(((inner.left, y), (inner.right, y)))
    };
    let shape = |mark: &Mark| {
        Some(match mark {
            Mark::Edge { through } => {
                MarkShape::Edge(through.iter().map(|(x, y)| plot.place(*x, *y)).collect())
            }
            Mark::Divider { x } => {
                let x = plot.place(*x, plot.spec().y.low).0;
                let is_inside = (inner.left..=inner.right).contains(&x);
                return is_inside.then_some(MarkShape::Divider((x, inner.top), (x, inner.bottom)));
            }
            Mark::Drop { at, series, .. } => {
                let (x, y) = plot.place(at.0, at.1);
                let top = (y + radius(BELOW_POINT)).max(inner.top);
                if top >= inner.bottom {
                    return None;
                }
                MarkShape::Drop((x, top), (x, inner.bottom), *series)
            }
            Mark::Level { y, .. } => {
                return across(*y).map(|(from, to)| MarkShape::Level(from, to));
            }
            Mark::Roof { y, kind, .. } => {
                return across(*y).map(|(from, to)| MarkShape::Roof(from, to, *kind));
            }
            Mark::Ring { at, .. } => MarkShape::Ring(plot.place(at.0, at.1), radius(RING)),
            Mark::Pin { at, .. } => MarkShape::Pin(plot.place(at.0, at.1), radius(PIN)),
            Mark::Failed { .. } | Mark::Name { .. } | Mark::Value { .. } => return None,
        })
    };
    plot.spec().marks.iter().filter_map(shape).collect()
}
