//! Published curves laid under measured ones: on the same axes, drawn apart from them.

use super::axis::{self, TimeUnit};
use super::curves::{CurveOptions, Overlay};
use super::spec::{AxisScale, ChartPoint, ChartSpec, Series, SeriesId, Stroke};
use crate::analysis::claims::{self, PublishedCurve};

/// A published curve as a series of a chart.
#[derive(Clone, Debug)]
pub struct PublishedOverlay<'a> {
    /// Which series it becomes.
    pub id: SeriesId,
    /// Its name in the legend.
    pub name: String,
    /// Its palette index.
    pub colour: usize,
    /// The curve.
    pub curve: &'a PublishedCurve,
}

/// Published rates this many times the highest measured one would leave the measured ones on the floor of a linear axis.
const FAR_ABOVE: f64 = 8.0;

/// The options of charts that published curves are laid under: where no axis of throughput is chosen, it is
/// logarithmic where these are far above what is measured.
pub fn options_for(
    options: &CurveOptions,
    overlays: &[Overlay<'_>],
    under: &[PublishedOverlay<'_>],
) -> CurveOptions {
    let own = overlays.iter().flat_map(|overlay| &overlay.curve.points);
    let own = own
        .filter_map(|point| point.throughput_per_s)
        .reduce(f64::max);
    let published = highest(under, |point| point.throughput_per_s);
    let is_far = own
        .zip(published)
        .is_some_and(|(own, published)| published > FAR_ABOVE * own);
    CurveOptions {
        log_throughput: Some(options.log_throughput.unwrap_or(is_far)),
        ..options.clone()
    }
}

/// Lays published latencies under a chart of latencies. A chart that is empty takes their unit.
pub fn latency(spec: &mut ChartSpec, under: &[PublishedOverlay<'_>]) {
    let latencies = |point: &claims::PublishedPoint| point.latency_ns;
    let Some(longest) = highest(under, latencies) else {
        return;
    };
    if spec.is_empty() && spec.limit.is_none() {
        let old = TimeUnit::of_title(&spec.y.title).name;
        let rest = spec.y.title.strip_prefix(old).unwrap_or(" per batch");
        spec.y.title = format!("{}{rest}", TimeUnit::for_largest(longest).name);
    }
    let unit = TimeUnit::of_title(&spec.y.title).ns;
    add_published_series(spec, under, |point| point.latency_ns.map(|ns| ns / unit));
}

/// Lays published throughputs under a chart of throughputs.
pub fn throughput(spec: &mut ChartSpec, under: &[PublishedOverlay<'_>]) {
    add_published_series(spec, under, |point| point.throughput_per_s);
}

fn highest(
    under: &[PublishedOverlay<'_>],
    value: impl Fn(&claims::PublishedPoint) -> Option<f64>,
) -> Option<f64> {
    let points = under.iter().flat_map(|under| &under.curve.points);
    points.filter_map(value).reduce(f64::max)
}

fn add_published_series(
    spec: &mut ChartSpec,
    under: &[PublishedOverlay<'_>],
    value: impl Fn(&claims::PublishedPoint) -> Option<f64>,
) {
    let drawable =
        |point: &claims::PublishedPoint| value(point).filter(|v| v.is_finite() && *v > 0.0);
    let points = || under.iter().flat_map(|under| &under.curve.points);
    let values: Vec<f64> = points().filter_map(drawable).collect();
    if values.is_empty() {
        return;
    }
    let batches = points().filter(|point| drawable(point).is_some());
    extend_axes(spec, batches.map(|point| point.batch), &values);
    let (x, y) = (spec.x.scale, spec.y.scale);
    let series = under.iter().map(|under| {
        let all = under.curve.points.iter();
        let placed = all.clone().filter_map(|point| {
            Some(ChartPoint::new(
                x.to_coordinate(point.batch as f64),
                y.to_coordinate(drawable(point)?),
                point.batch as u64,
            ))
        });
        // A line does not go on over what the document leaves blank.
        let known: Vec<bool> = all.map(|point| drawable(point).is_some()).collect();
        let before = |place: usize| known[..place].iter().filter(|known| **known).count();
        let blanks = known.iter().enumerate().filter(|(_, known)| !**known);
        let mut gap_after: Vec<usize> = blanks
            .filter_map(|(place, _)| before(place).checked_sub(1))
            .collect();
        gap_after.dedup();
        Series {
            id: under.id,
            name: under.name.clone(),
            colour: under.colour,
            points: placed.collect(),
            gap_after,
            stroke: Stroke::Published,
        }
    });
    // First is at the back.
    let series: Vec<Series> = series.collect();
    spec.series.splice(0..0, series);
}

/// Makes the axes long enough for more batch sizes and values.
fn extend_axes(spec: &mut ChartSpec, more: impl Iterator<Item = usize>, values: &[f64]) {
    let measured = spec.series.iter().flat_map(|series| &series.points);
    let ends = measured.flat_map(|point| {
        let (low, high) = point.band.unwrap_or((point.y, point.y));
        [point.y, low, high]
    });
    let limit = spec.limit.iter().map(|limit| limit.y);
    let scale = spec.y.scale;
    let known = ends.chain(limit).map(|at| scale.to_number(at));
    let all = || values.iter().copied();
    let (low, high) = known
        .chain(all())
        .filter(|value| value.is_finite() && *value > 0.0)
        .fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), value| {
            (low.min(value), high.max(value))
        });
    let title = spec.y.title.clone();
    spec.y = if scale == AxisScale::Log10 {
        axis::logarithmic(&title, low, high)
    } else {
        axis::from_zero(&title, high)
    };
    // Every batch size of a plan has its tick, unless there are more than can be labelled.
    let ticks = spec
        .x
        .ticks
        .iter()
        .map(|tick| spec.x.scale.to_number(tick.at));
    let points = spec.series.iter().flat_map(|series| &series.points);
    let planned = ticks
        .map(|batch| batch.round() as usize)
        .chain(points.map(|point| point.tag as usize));
    spec.x = axis::batches(planned.chain(more).collect::<Vec<_>>());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing::{measure_near, session};
    use crate::analysis::{batch_curve, case_rows};
    use crate::chart::curves;

    fn point(batch: usize, ms: Option<f64>, rate: Option<f64>) -> claims::PublishedPoint {
        claims::PublishedPoint {
            batch,
            latency_ns: ms.map(|ms| ms * 1e6),
            throughput_per_s: rate,
        }
    }

    fn published() -> PublishedCurve {
        PublishedCurve {
            label: "theirs".to_owned(),
            points: vec![
                point(1, Some(200.0), Some(5.0)),
                point(2, None, Some(9.0)),
                point(4, Some(300.0), Some(13.3)),
                point(64, Some(1_200.0), None),
            ],
        }
    }

    fn under(curve: &PublishedCurve) -> [PublishedOverlay<'_>; 1] {
        [PublishedOverlay {
            id: SeriesId(9),
            name: "theirs, published".to_owned(),
            colour: 3,
            curve,
        }]
    }

    fn measured(draw: impl Fn(&[Overlay<'_>], &CurveOptions) -> ChartSpec) -> ChartSpec {
        let mut session = session(&["ort:cpu"], &[1, 8]);
        measure_near(&mut session, 0, 1, 4_000);
        measure_near(&mut session, 0, 8, 9_000);
        let curves = batch_curve::batch_curves(&case_rows::case_rows(&session));
        let overlay = Overlay {
            id: SeriesId(1),
            name: "mine".to_owned(),
            colour: 0,
            curve: &curves[0],
        };
        draw(&[overlay], &CurveOptions::default())
    }

    #[test]
    fn a_published_curve_lies_under_the_measured_on_axes_that_hold_both() {
        let mut spec = measured(curves::latency);
        let before = spec.series[0].clone();
        let curve = published();
        latency(&mut spec, &under(&curve));
        assert_eq!(spec.series[1], before, "what was measured stays as it is");
        let laid = &spec.series[0];
        assert_eq!(laid.stroke, Stroke::Published);
        assert_eq!(
            spec.y.title, "ms per batch",
            "the unit of what was measured"
        );
        let heights: Vec<f64> = laid
            .points
            .iter()
            .map(|p| spec.y.scale.to_number(p.y).round())
            .collect();
        assert_eq!(heights, [200.0, 300.0, 1200.0]);
        assert_eq!(laid.gap_after, [0], "batch 2 is blank");
        for series in &spec.series {
            for point in &series.points {
                assert!(spec.x.low <= point.x && point.x <= spec.x.high);
                assert!(spec.y.low <= point.y && point.y <= spec.y.high);
            }
        }
        let ticks: Vec<&str> = spec.x.ticks.iter().map(|tick| tick.text.as_str()).collect();
        assert_eq!(ticks, ["1", "4", "8", "64"]);
    }

    #[test]
    fn rates_far_above_ones_own_have_a_logarithmic_axis_unless_another_is_chosen() {
        let curve = |rate: f64| PublishedCurve {
            label: "theirs".to_owned(),
            points: vec![point(1, None, Some(rate)), point(8, None, Some(2.0))],
        };
        let scale = |rate: f64, log_throughput: Option<bool>| {
            let theirs = curve(rate);
            let draw = |overlays: &[Overlay<'_>], options: &CurveOptions| {
                let chosen = CurveOptions {
                    log_throughput,
                    ..options.clone()
                };
                let options = options_for(&chosen, overlays, &under(&theirs));
                curves::throughput(overlays, &options)
            };
            let mut spec = measured(draw);
            throughput(&mut spec, &under(&theirs));
            spec.y.scale
        };
        // One's own reach 8 ÷ 9 ms = 889 a second.
        assert_eq!(scale(6_000.0, None), AxisScale::Linear);
        assert_eq!(scale(27_000.0, None), AxisScale::Log10);
        assert_eq!(scale(27_000.0, Some(false)), AxisScale::Linear);
        assert_eq!(scale(6_000.0, Some(true)), AxisScale::Log10);
        let alone = options_for(&CurveOptions::default(), &[], &under(&curve(9e9)));
        assert_eq!(alone.log_throughput, Some(false), "nothing is flattened");
    }

    #[test]
    fn a_chart_of_published_curves_alone_has_their_unit() {
        let mut spec = curves::latency(&[], &CurveOptions::default());
        let curve = published();
        latency(&mut spec, &under(&curve));
        assert_eq!(spec.y.title, "s per batch");
        let mut rates = curves::throughput(&[], &CurveOptions::default());
        throughput(&mut rates, &under(&curve));
        assert_eq!((rates.series.len(), rates.series[0].points.len()), (1, 3));
        assert!(rates.y.low == 0.0 && rates.y.high > 13.3);
    }

    #[test]
    fn nothing_published_changes_nothing() {
        let before = measured(curves::throughput);
        let mut spec = before.clone();
        throughput(&mut spec, &[]);
        let blank = PublishedCurve {
            label: "blank".to_owned(),
            points: vec![point(1, None, None), point(2, Some(f64::NAN), Some(0.0))],
        };
        throughput(&mut spec, &under(&blank));
        latency(&mut spec, &under(&blank));
        assert_eq!(spec, before);
    }
}
