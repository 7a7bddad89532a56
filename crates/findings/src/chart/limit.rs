//! The latency limit: which time a place on the chart stands for, and which times a limit may have.

use super::axis::TimeUnit;
use super::spec::ChartSpec;

/// Significant digits of a limit that was dragged: more than a hand can place.
const LIMIT_DIGITS: i32 = 3;
/// How many times shorter than the shortest time that is shown, and longer than the longest, a limit may be:
/// beyond, it says nothing of any case.
const LIMIT_REACH: f64 = 10.0;

/// The time that a coordinate of the latency chart stands for, in nanoseconds and to three
/// significant digits: where the limit was dragged to.
pub fn limit_of(spec: &ChartSpec, y: f64) -> f64 {
    let unit = TimeUnit::of_title(&spec.y.title);
    let time = spec.y.scale.to_number(y) * unit.ns;
    if !time.is_finite() || time <= 0.0 {
        return 0.0;
    }
    let digits = LIMIT_DIGITS - 1 - time.log10().floor() as i32;
    // Powers of ten above one are exact, those below are not: divide by the former.
    if digits >= 0 {
        let scale = 10_f64.powi(digits);
        (time * scale).round() / scale
    } else {
        let scale = 10_f64.powi(-digits);
        (time / scale).round() * scale
    }
}

/// A limit that says something of what the latency chart shows: from a tenth of the shortest time to ten
/// times the longest. As it is where nothing is shown.
pub fn within_reach(spec: &ChartSpec, limit_ns: f64) -> f64 {
    let unit = TimeUnit::of_title(&spec.y.title);
    let points = spec.series.iter().flat_map(|series| &series.points);
    let times = points.map(|point| spec.y.scale.to_number(point.y) * unit.ns);
    let (shortest, longest) = times.fold((f64::INFINITY, 0.0_f64), |(low, high), time| {
        (low.min(time), high.max(time))
    });
    if shortest > longest || limit_ns.is_nan() {
        return limit_ns;
    }
    limit_ns.clamp(shortest / LIMIT_REACH, longest * LIMIT_REACH)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::axis;
    use crate::chart::spec::{Axis, AxisScale, ChartPoint, Series, SeriesId, Stroke};

    /// Two cases that take 5 ms and 72 ms.
    fn times(y: Axis) -> ChartSpec {
        let point = |(tag, ms): (u64, f64)| ChartPoint {
            x: tag as f64,
            y: y.scale.to_coordinate(ms),
            band: None,
            tag,
        };
        ChartSpec {
            series: vec![Series {
                id: SeriesId(1),
                name: "one".to_owned(),
                colour: 0,
                points: [(1, 5.0), (2, 72.0)].map(point).to_vec(),
                gap_after: Vec::new(),
                stroke: Stroke::Curve,
            }],
            y,
            ..ChartSpec::default()
        }
    }

    #[test]
    fn a_limit_stays_within_reach_of_the_times() {
        let title = "ms per batch";
        let is_near = |limit: f64, expected: f64| (limit / expected - 1.0).abs() < 1e-9;
        for y in [
            axis::logarithmic(title, 5.0, 72.0),
            axis::from_zero(title, 72.0),
        ] {
            let spec = times(y);
            assert_eq!(within_reach(&spec, 9e6), 9e6);
            for far in [0.0, 1.0, -3e9] {
                assert!(is_near(within_reach(&spec, far), 5e5));
            }
            for far in [1e30, f64::INFINITY] {
                assert!(is_near(within_reach(&spec, far), 72e7));
            }
        }
        assert_eq!(within_reach(&ChartSpec::default(), 1e30), 1e30);
    }

    #[test]
    fn a_place_beyond_the_axis_is_no_time_below_zero() {
        let spec = times(axis::from_zero("ms per batch", 72.0));
        assert_eq!(limit_of(&spec, -4.0), 0.0);
        assert_eq!(limit_of(&spec, 144.0), 144e6);
        let spec = times(axis::logarithmic("ms per batch", 5.0, 72.0));
        assert_eq!(spec.y.scale, AxisScale::Log10);
        assert_eq!(limit_of(&spec, 3.0), 1e9);
    }
}
