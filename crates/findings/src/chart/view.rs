//! The part of a chart that is seen after zooming, and the labels that fit it.

use super::axis;
use super::mark::Mark;
use super::spec::{Axis, AxisScale, ChartSpec};
use std::collections::BTreeSet;

/// One step with the keyboard shows this share of what was seen.
const STEP: f64 = 0.7;
/// And moves by this share of it.
const MOVE: f64 = 0.2;
/// No view is shorter than this share of the whole axis.
const SHORTEST: f64 = 1e-4;

/// The visible part of a chart, in its coordinates.
#[derive(Clone, Debug, PartialEq)]
pub struct ChartView {
    /// From left to right.
    pub x: (f64, f64),
    /// From bottom to top.
    pub y: (f64, f64),
    /// The axes that these coordinates belong to: with another unit or scale they mean nothing.
    axes: [(String, AxisScale); 2],
}

/// A step of zooming.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Zoom {
    /// Closer, around the middle.
    In,
    /// Farther away.
    Out,
    /// The whole chart.
    Whole,
    /// Towards smaller values of x.
    Left,
    /// Towards larger values of x.
    Right,
    /// Towards larger values of y.
    Up,
    /// Towards smaller values of y.
    Down,
}

impl ChartView {
    /// The view of a whole chart.
    pub fn whole_chart(spec: &ChartSpec) -> Self {
        let of = |axis: &Axis| (axis.title.clone(), axis.scale);
        Self {
            x: (spec.x.low, spec.x.high),
            y: (spec.y.low, spec.y.high),
            axes: [of(&spec.x), of(&spec.y)],
        }
    }

    /// Whether its coordinates are those of a chart, and some of that is seen.
    pub fn fits(&self, spec: &ChartSpec) -> bool {
        let whole = Self::whole_chart(spec);
        let meets = |own: (f64, f64), all: (f64, f64)| own.0 < all.1 && all.0 < own.1;
        self.axes == whole.axes && meets(self.x, whole.x) && meets(self.y, whole.y)
    }

    /// This part of it, no larger than a chart; nothing where that is all of the chart.
    pub fn within(mut self, spec: &ChartSpec) -> Option<Self> {
        self.x = clamped(self.x, (spec.x.low, spec.x.high));
        self.y = clamped(self.y, (spec.y.low, spec.y.high));
        let is_moved = |axis: &Axis, (low, high)| axis::moved(axis, low, high).is_some();
        (is_moved(&spec.x, self.x) || is_moved(&spec.y, self.y)).then_some(self)
    }

    /// Another part of the same chart.
    pub fn with_ranges(mut self, x: (f64, f64), y: (f64, f64)) -> Self {
        (self.x, self.y) = (x, y);
        self
    }

    /// After a step.
    pub fn stepped(mut self, zoom: Zoom) -> Self {
        let middle = |(low, high): (f64, f64)| f64::midpoint(low, high);
        let (x, y) = (middle(self.x), middle(self.y));
        match zoom {
            Zoom::In => {
                self.x = scaled_around(self.x, x, STEP);
                self.y = scaled_around(self.y, y, STEP);
            }
            Zoom::Out => {
                self.x = scaled_around(self.x, x, 1.0 / STEP);
                self.y = scaled_around(self.y, y, 1.0 / STEP);
            }
            Zoom::Whole => {}
            Zoom::Left => self.x = by(self.x, -MOVE),
            Zoom::Right => self.x = by(self.x, MOVE),
            Zoom::Up => self.y = by(self.y, MOVE),
            Zoom::Down => self.y = by(self.y, -MOVE),
        }
        self
    }

    /// Closer along x around a place, where `factor` is below 1.
    pub fn scaled_x(mut self, at: f64, factor: f64) -> Self {
        self.x = scaled_around(self.x, at, factor);
        self
    }

    /// Moved by shares of what is seen.
    pub fn moved_by(mut self, along: f64, up: f64) -> Self {
        self.x = by(self.x, along);
        self.y = by(self.y, up);
        self
    }
}

fn scaled_around((low, high): (f64, f64), at: f64, factor: f64) -> (f64, f64) {
    (at + (low - at) * factor, at + (high - at) * factor)
}

fn by((low, high): (f64, f64), share: f64) -> (f64, f64) {
    let way = (high - low) * share;
    (low + way, high + way)
}

/// Moved into the whole, and no shorter than can be drawn.
fn clamped((low, high): (f64, f64), (least, most): (f64, f64)) -> (f64, f64) {
    let whole = most - least;
    let length = (high - low).clamp(whole * SHORTEST, whole);
    let middle = f64::midpoint(low, high);
    let low = (middle - length / 2.0).min(most - length).max(least);
    (low, low + length)
}

impl ChartSpec {
    /// What a view shows of it, with labels of its own.
    pub fn viewed(&self, view: &ChartView) -> Self {
        let sizes = self.series.iter().flat_map(|series| &series.points);
        let sizes: BTreeSet<u64> = sizes.map(|point| point.tag).collect();
        let x = axis::zoomed(&self.x, view.x, &sizes);
        let y = axis::zoomed(&self.y, view.y, &BTreeSet::new());
        let is_seen = |y: f64| (view.y.0..=view.y.1).contains(&y);
        let mut seen = self.seen(x);
        seen.y = y;
        seen.limit = seen.limit.filter(|limit| is_seen(limit.y));
        seen.marks.retain(|mark| match mark {
            Mark::Ring { at, .. }
            | Mark::Pin { at, .. }
            | Mark::Name { at, .. }
            | Mark::Value { at, .. } => is_seen(at.1),
            Mark::Level { y, .. } | Mark::Roof { y, .. } => is_seen(*y),
            // The line of a knee above the view goes through it.
            Mark::Drop { at, .. } => at.1 >= view.y.0,
            Mark::Failed { .. } | Mark::Divider { .. } | Mark::Edge { .. } => true,
        });
        seen
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::spec::{ChartPoint, Limit, Series, SeriesId, Stroke};

    fn spec() -> ChartSpec {
        let points = [1_u64, 2, 4, 8, 16].map(|batch| ChartPoint {
            x: (batch as f64).log2(),
            y: (batch as f64 * 3.0).log10(),
            band: None,
            tag: batch,
        });
        let at = (3.0, points[3].y);
        let series = SeriesId(0);
        ChartSpec {
            title: "Latency".to_owned(),
            x: axis::batches([1, 2, 4, 8, 16]),
            y: axis::logarithmic("ms per batch", 3.0, 48.0),
            series: vec![Series {
                id: series,
                name: "one".to_owned(),
                colour: 0,
                points: points.to_vec(),
                gap_after: Vec::new(),
                stroke: Stroke::Curve,
            }],
            marks: vec![Mark::Pin { at, series }],
            limit: Some(Limit {
                y: 1.0,
                text: "limit 10 ms".to_owned(),
            }),
            bar_width: 0.0,
        }
    }

    fn texts(axis: &Axis) -> Vec<&str> {
        axis.ticks.iter().map(|tick| tick.text.as_str()).collect()
    }

    #[test]
    fn labels_follow_the_view() {
        let spec = spec();
        let view = ChartView {
            x: (0.8, 2.2),
            y: (6_f64.log10(), 13_f64.log10()),
            ..ChartView::whole_chart(&spec)
        };
        assert!(view.fits(&spec));
        let seen = spec.viewed(&view);
        assert_eq!(texts(&seen.x), ["2", "4"]);
        assert!((4..=7).contains(&seen.y.ticks.len()), "{:?}", seen.y);
        let inside = |at: f64| (view.y.0..=view.y.1).contains(&at);
        assert!(seen.y.ticks.iter().all(|tick| inside(tick.at)));
        assert!(seen.limit.is_some() && seen.marks.is_empty());
        let lines = &seen.series[0].points;
        assert_eq!(lines.len(), 4, "one beyond each side, for the line");
        let between = ChartView {
            x: (3.2, 3.8),
            ..view
        };
        let labels = spec.viewed(&between).x;
        assert!(
            labels.ticks.len() > 1,
            "no batch was measured there: {labels:?}"
        );
    }

    #[test]
    fn steps_go_in_and_out_and_stay_inside() {
        let spec = spec();
        let whole = ChartView::whole_chart(&spec);
        assert_eq!(whole.clone().within(&spec), None, "nothing was zoomed");
        let closer = whole.clone().stepped(Zoom::In).within(&spec).unwrap();
        assert!(closer.x.0 > whole.x.0 && closer.y.1 < whole.y.1);
        let right = closer.clone().stepped(Zoom::Right).within(&spec).unwrap();
        assert!(right.x.0 > closer.x.0 && right.y == closer.y);
        let mut far = right;
        for _ in 0..20 {
            far = far.stepped(Zoom::Right).within(&spec).unwrap();
        }
        assert!((far.x.1 - whole.x.1).abs() < 1e-9);
        assert_eq!(closer.stepped(Zoom::Out).within(&spec), None);
    }

    #[test]
    fn a_view_of_other_units_is_none_of_the_chart() {
        let spec = spec();
        let view = ChartView::whole_chart(&spec);
        let linear = ChartSpec {
            y: axis::from_zero("ms per batch", 48.0),
            ..spec.clone()
        };
        assert!(view.fits(&spec) && !view.fits(&linear));
        let grown = ChartSpec {
            x: axis::batches([1, 2, 4, 8, 16, 32]),
            ..spec
        };
        assert!(view.fits(&grown), "a run that goes on");
    }

    #[test]
    fn names_on_an_axis_are_kept() {
        let mut axis = axis::between("session", 0.0, 2.0);
        for (tick, name) in axis
            .ticks
            .iter_mut()
            .zip(["Mon", "Tue", "Wed", "Thu", "Fri"])
        {
            name.clone_into(&mut tick.text);
        }
        let seen = axis::zoomed(&axis, (0.0, 1.0), &BTreeSet::new());
        assert!(seen.ticks.iter().all(|tick| axis.ticks.contains(tick)));
        assert!(!seen.ticks.is_empty());
    }
}
