//! Lines on a chart of throughput: where the arithmetic alone would reach a peak, or what the engine reaches.

use powerband_core::base::humanize;

use super::axis;
use super::spec::{AxisScale, ChartSpec, Mark};
use crate::analysis::limits::lines::LineKind;
use crate::analysis::limits::throughput::ThroughputRoof;

/// A line this many times above the fastest point is left out: the curves would lie on the floor.
const MOST_ABOVE: f64 = 4.0;
/// Room above the highest line for its words, as a share of its height.
const HEADROOM: f64 = 1.06;

/// Lays the lines on a chart, whose axis reaches up to them.
pub fn lay(spec: &mut ChartSpec, roofs: &[ThroughputRoof]) {
    let points = spec.series.iter().flat_map(|series| &series.points);
    let fastest = points
        .map(|point| spec.y.scale.to_number(point.y))
        .fold(0.0, f64::max);
    let near = roofs
        .iter()
        .filter(|roof| (0.0..=MOST_ABOVE * fastest).contains(&roof.per_s));
    let near: Vec<&ThroughputRoof> = near.collect();
    let Some(highest) = near.iter().map(|roof| roof.per_s).reduce(f64::max) else {
        return;
    };
    let top = highest * HEADROOM;
    if spec.y.scale.to_coordinate(top) > spec.y.high {
        let lowest = spec.y.scale.to_number(spec.y.low);
        spec.y = match spec.y.scale {
            AxisScale::Linear => axis::from_zero(&spec.y.title, top),
            _ => axis::logarithmic(&spec.y.title, lowest, top),
        };
    }
    for roof in near {
        spec.marks.push(Mark::Roof {
            y: spec.y.scale.to_coordinate(roof.per_s),
            text: format!("{} {}", roof_text(roof), humanize::rate(roof.per_s)),
            kind: roof.kind,
        });
    }
}

fn roof_text(roof: &ThroughputRoof) -> String {
    match roof.kind {
        LineKind::Published => format!("published: {}", roof.title),
        LineKind::Measured | LineKind::Engine => humanize::capitalised(&roof.title),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::spec::{Axis, ChartPoint, Series, SeriesId, Stroke};

    fn chart(per_s: f64) -> ChartSpec {
        ChartSpec {
            y: axis::from_zero("items per second", per_s),
            x: Axis {
                scale: AxisScale::Log2,
                high: 4.0,
                ..Axis::default()
            },
            series: vec![Series {
                id: SeriesId(1),
                name: "ort".to_owned(),
                colour: 0,
                stroke: Stroke::Curve,
                gap_after: Vec::new(),
                points: vec![ChartPoint {
                    x: 0.0,
                    y: per_s,
                    band: None,
                    tag: 1,
                }],
            }],
            ..ChartSpec::default()
        }
    }

    fn roof(kind: LineKind, per_s: f64) -> ThroughputRoof {
        ThroughputRoof {
            kind,
            title: "a line".to_owned(),
            per_s,
        }
    }

    #[test]
    fn the_axis_reaches_up_to_lines_that_are_near() {
        let mut spec = chart(50.0);
        let roofs = [
            roof(LineKind::Engine, 60.0),
            roof(LineKind::Measured, 150.0),
            roof(LineKind::Published, 5_000.0),
        ];
        lay(&mut spec, &roofs);
        assert!(spec.y.high >= 150.0, "{}", spec.y.high);
        let kinds: Vec<LineKind> = spec
            .marks
            .iter()
            .filter_map(|mark| match mark {
                Mark::Roof { kind, .. } => Some(*kind),
                _ => None,
            })
            .collect();
        assert_eq!(kinds, [LineKind::Engine, LineKind::Measured]);
        let mut empty = ChartSpec::default();
        lay(&mut empty, &roofs);
        assert!(empty.marks.is_empty());
    }
}
