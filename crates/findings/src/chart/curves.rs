//! Latency, throughput and efficiency over the batch size, with a curve for each setup.

use super::axis::{self, TimeUnit};
use super::spec::{Axis, ChartPoint, ChartSpec, Limit, Mark, Series, SeriesId, Stroke};
use crate::analysis::batch_curve::{BatchCurve, CurvePoint, Efficiency, Statistic};
use crate::analysis::case_rounds::JointDraws;
use crate::analysis::energy::EnergyKind;
use powerband_core::base::humanize;
use powerband_core::domain::point::BATCH;
use powerband_core::stats::bootstrap::Interval;

/// Letters of a setup's name at its knee.
const KNEE_NAME: usize = 24;
/// More knees than these have no words on the chart: they would cover the curves, and the legend has them all.
const NAMED_KNEES: usize = 3;

/// A curve as a series of a chart.
#[derive(Clone, Debug)]
pub struct Overlay<'a> {
    /// Which series it becomes.
    pub id: SeriesId,
    /// Its name in the legend.
    pub name: String,
    /// Its palette index.
    pub colour: usize,
    /// The curve.
    pub curve: &'a BatchCurve,
}

/// What the curve charts show, and on which axes.
#[derive(Clone, Debug, PartialEq)]
pub struct CurveOptions {
    /// Which number stands for latency.
    pub statistic: Statistic,
    /// Whether the latency axis is logarithmic.
    pub log_y: bool,
    /// Whether the throughput axis is; where nothing is chosen, it is under published curves far above one's own.
    /// Efficiency always begins at zero.
    pub log_throughput: Option<bool>,
    /// The longest latency that is acceptable, in nanoseconds.
    pub limit_ns: Option<f64>,
    /// Which efficiency.
    pub efficiency: Efficiency,
    /// Which energy.
    pub energy: EnergyKind,
}

impl Default for CurveOptions {
    fn default() -> Self {
        Self {
            statistic: Statistic::default(),
            log_y: true,
            log_throughput: None,
            limit_ns: None,
            efficiency: Efficiency::default(),
            energy: EnergyKind::default(),
        }
    }
}

/// One curve with its points in the unit of the chart, before they become coordinates.
pub(super) struct CurveValues<'a> {
    overlay: &'a Overlay<'a>,
    values: Vec<(usize, f64, Option<Interval>)>,
}

/// Time of a batch over the batch size, with the limit and the best point within it.
pub fn latency(overlays: &[Overlay<'_>], options: &CurveOptions) -> ChartSpec {
    let limit_ns = options.limit_ns.filter(|limit| *limit > 0.0);
    let in_ns = curve_values(overlays, |point| {
        // The interval is that of the median, and of nothing else.
        let band = point
            .ci95_ns
            .filter(|_| options.statistic == Statistic::Median);
        Some((point.latency_ns(options.statistic)?, band))
    });
    // The unit is that of the times, so that it stays where a limit beyond them is dragged.
    let longest_ns = highest(&in_ns);
    let limit_or_zero = limit_ns.unwrap_or(0.0);
    let unit = if longest_ns > 0.0 {
        TimeUnit::for_largest(longest_ns)
    } else {
        TimeUnit::for_largest(limit_or_zero)
    };
    let drawn = scaled(in_ns, 1.0 / unit.ns);
    let title = match options.statistic {
        Statistic::Median => format!("{} per batch", unit.name),
        other => format!("{} per batch, {other}", unit.name),
    };
    let longest = longest_ns.max(limit_or_zero) / unit.ns;
    let limit = limit_ns.map(|limit| limit / unit.ns);
    let y = if options.log_y {
        let shortest = lowest(&drawn).min(limit.unwrap_or(f64::INFINITY));
        axis::logarithmic(&title, shortest, longest)
    } else {
        axis::from_zero(&title, longest)
    };
    let limit = limit.zip(limit_ns).map(|(limit, limit_ns)| Limit {
        y: y.scale.to_coordinate(limit),
        text: format!(
            "limit {}, {}",
            humanize::duration_ns(limit_ns),
            options.statistic.noun()
        ),
    });
    let mut spec = curve_chart("Latency", &drawn, y);
    spec.marks
        .extend(rings(&drawn, &spec, limit_ns, options.statistic));
    ChartSpec { limit, ..spec }
}

/// Items a second over the batch size, with knees and the best points within the latency limit.
pub fn throughput(overlays: &[Overlay<'_>], options: &CurveOptions) -> ChartSpec {
    let drawn = curve_values(overlays, |point| {
        Some((point.throughput_per_s?, point.throughput_ci95))
    });
    let title = "items per second";
    let y = if options.log_throughput == Some(true) {
        axis::logarithmic(title, lowest(&drawn), highest(&drawn))
    } else {
        axis::from_zero(title, highest(&drawn))
    };
    let mut spec = curve_chart("Throughput", &drawn, y);
    let knee = |one: &CurveValues<'_>| one.overlay.curve.settled_knee();
    let knees = drawn.iter().filter_map(knee).count();
    let have_words = knees <= NAMED_KNEES;
    let have_names = have_words && knees > 1;
    let knees = drawn.iter().filter_map(|drawn| {
        let batch = knee(drawn)?;
        Some(Mark::Drop {
            at: batch_coordinates(drawn, batch, &spec)?,
            series: drawn.overlay.id,
            text: if have_words {
                format!("knee, batch {batch}")
            } else {
                String::new()
            },
            name: have_names.then(|| humanize::shorten_middle(&drawn.overlay.name, KNEE_NAME)),
            legend: Some(format!("knee {batch}")),
        })
    });
    let knees: Vec<Mark> = knees.collect();
    let limit_ns = options.limit_ns.filter(|limit| *limit > 0.0);
    let rings = rings(&drawn, &spec, limit_ns, options.statistic);
    spec.marks.extend(knees.into_iter().chain(rings));
    spec
}

/// Efficiency of the chosen kind over the batch size, in percent.
pub fn efficiency(overlays: &[Overlay<'_>], options: &CurveOptions) -> ChartSpec {
    let kind = options.efficiency;
    let drawn = curve_values(overlays, |point| {
        Some((point.efficiency(kind)? * 100.0, None))
    });
    let title = match kind {
        Efficiency::OfBest => "% of best",
        Efficiency::Scaling => "% of perfect scaling",
        Efficiency::Busy => "% of the time",
        Efficiency::OfPeak => "% of the peak",
    };
    // A whole is the yardstick, so that it is on the chart even where no curve comes near.
    let y = axis::from_zero(title, highest(&drawn).max(100.0));
    curve_chart(&format!("Efficiency, {kind}"), &drawn, y)
}

/// Every curve's points by their number and its interval, where they have one.
pub(super) fn curve_values<'a>(
    overlays: &'a [Overlay<'a>],
    value: impl Fn(&CurvePoint) -> Option<(f64, Option<Interval>)>,
) -> Vec<CurveValues<'a>> {
    let of_point = |point: &CurvePoint| {
        let (value, band) = value(point)?;
        (value.is_finite() && value > 0.0).then_some((point.size, value, band))
    };
    overlays
        .iter()
        .map(|overlay| CurveValues {
            values: overlay.curve.points.iter().filter_map(of_point).collect(),
            overlay,
        })
        .collect()
}

pub(super) fn scaled(mut drawn: Vec<CurveValues<'_>>, factor: f64) -> Vec<CurveValues<'_>> {
    for (_, value, band) in drawn.iter_mut().flat_map(|drawn| &mut drawn.values) {
        *value *= factor;
        *band = band.map(|band| Interval {
            low: band.low * factor,
            high: band.high * factor,
        });
    }
    drawn
}

/// The top of the axis: what is highest, and intervals as far as curves stay readable.
pub(super) fn highest(drawn: &[CurveValues<'_>]) -> f64 {
    let values = || drawn.iter().flat_map(|drawn| &drawn.values);
    let highest = values().map(|(_, value, _)| *value).fold(0.0, f64::max);
    let ends = values().filter_map(|(.., band)| Some(band.as_ref()?.high));
    axis::upper_end(highest, ends.fold(highest, f64::max))
}

fn lowest(drawn: &[CurveValues<'_>]) -> f64 {
    let values = || drawn.iter().flat_map(|drawn| &drawn.values);
    let above_zero = |value: &f64| *value > 0.0;
    let lowest = values()
        .map(|(_, value, _)| *value)
        .filter(above_zero)
        .fold(f64::INFINITY, f64::min);
    let ends = values().filter_map(|(.., band)| Some(band.as_ref()?.low));
    axis::lower_end(lowest, ends.filter(above_zero).fold(lowest, f64::min))
}

/// The series and the failures, on an axis with every batch size of the plan.
pub(super) fn curve_chart(title: &str, drawn: &[CurveValues<'_>], y: Axis) -> ChartSpec {
    let planned = drawn.iter().flat_map(|drawn| {
        let curve = drawn.overlay.curve;
        let measured = curve.points.iter().map(|point| point.size);
        measured.chain(curve.missing.iter().copied())
    });
    let along = drawn.first().map(|drawn| drawn.overlay.curve.along);
    let x = axis::sizes(along.unwrap_or(BATCH), planned);
    ChartSpec {
        title: title.to_owned(),
        series: drawn.iter().map(|drawn| series(drawn, &x, &y)).collect(),
        marks: drawn.iter().flat_map(|drawn| failures(drawn, &x)).collect(),
        x,
        y,
        ..ChartSpec::default()
    }
}

fn series(drawn: &CurveValues<'_>, x: &Axis, y: &Axis) -> Series {
    let points = drawn.values.iter().map(|(batch, value, band)| {
        ChartPoint::new(
            x.scale.to_coordinate(*batch as f64),
            y.scale.to_coordinate(*value),
            *batch as u64,
        )
        .with_band(
            band.map(|band| {
                (
                    y.scale.to_coordinate(band.low),
                    y.scale.to_coordinate(band.high),
                )
            })
            .filter(|band| band.0.is_finite() && band.1.is_finite()),
        )
    });
    Series {
        id: drawn.overlay.id,
        name: drawn.overlay.name.clone(),
        colour: drawn.overlay.colour,
        points: points.collect(),
        gap_after: gaps(drawn),
        stroke: Stroke::Curve,
    }
}

/// After which points a batch size was planned that is not among them.
fn gaps(drawn: &CurveValues<'_>) -> Vec<usize> {
    let curve = drawn.overlay.curve;
    let planned: Vec<usize> = curve
        .points
        .iter()
        .map(|point| point.size)
        .chain(curve.missing.iter().copied())
        .collect();
    drawn
        .values
        .windows(2)
        .enumerate()
        .filter(|(_, pair)| {
            let (from, to) = (pair[0].0, pair[1].0);
            planned.iter().any(|batch| from < *batch && *batch < to)
        })
        .map(|(index, _)| index)
        .collect()
}

fn failures(drawn: &CurveValues<'_>, x: &Axis) -> Vec<Mark> {
    let overlay = drawn.overlay;
    let mark = |size: usize, why: String| Mark::Failed {
        x: x.scale.to_coordinate(size as f64),
        series: overlay.id,
        colour: overlay.colour,
        reason: format!("{} {size}: {why}", overlay.curve.along),
    };
    let failures = overlay.curve.failures.iter();
    failures
        .map(|failure| {
            let why = failure.outcome.sentence();
            mark(
                failure.size,
                why.unwrap_or_else(|| failure.outcome.name().to_owned()),
            )
        })
        .collect()
}

/// A ring around each curve's best point within the limit, where which one that is is settled.
fn rings(
    drawn: &[CurveValues<'_>],
    spec: &ChartSpec,
    limit_ns: Option<f64>,
    statistic: Statistic,
) -> Vec<Mark> {
    let Some(limit_ns) = limit_ns else {
        return Vec::new();
    };
    let mut joint = JointDraws::default();
    let ring = |drawn: &CurveValues<'_>| {
        let curve = drawn.overlay.curve;
        let best = curve.best_within(limit_ns, statistic, &mut joint).best?;
        Some(Mark::Ring {
            at: batch_coordinates(drawn, best.settled()?.size, spec)?,
            series: drawn.overlay.id,
        })
    };
    drawn.iter().filter_map(ring).collect()
}

fn batch_coordinates(
    drawn: &CurveValues<'_>,
    batch: usize,
    spec: &ChartSpec,
) -> Option<(f64, f64)> {
    let (_, value, _) = drawn.values.iter().find(|value| value.0 == batch)?;
    Some((
        spec.x.scale.to_coordinate(batch as f64),
        spec.y.scale.to_coordinate(*value),
    ))
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;
    use crate::analysis::testing::{end_case, measure_near, out_of_memory, session};
    use crate::analysis::{batch_curve, case_rows};
    use crate::chart::limit::limit_of;
    use crate::chart::mark::drop_words;
    use crate::chart::spec::AxisScale;
    use powerband_core::stats::joint::Statement;

    /// 4 ms and 1 ms an item; the second setup fails at batch 4 and at batch 16.
    fn curves() -> Vec<BatchCurve> {
        let mut session = session(&["ort:cpu", "tract:cpu"], &[1, 2, 4, 8, 16]);
        for batch in [1, 2, 4, 8, 16] {
            measure_near(&mut session, 0, batch, 4_000 + 1_000 * batch as u64);
        }
        for batch in [1, 2, 8] {
            measure_near(&mut session, 1, batch, 9_000 * batch as u64);
        }
        for batch in [4, 16] {
            end_case(&mut session, 1, batch, out_of_memory());
        }
        batch_curve::batch_curves(&case_rows::case_rows(&session))
    }

    fn overlays(curves: &[BatchCurve]) -> Vec<Overlay<'_>> {
        let overlay = |(index, curve)| Overlay {
            id: SeriesId(index as u64),
            name: format!("curve {index}"),
            colour: index,
            curve,
        };
        curves.iter().enumerate().map(overlay).collect()
    }

    fn ringed(spec: &ChartSpec) -> Vec<(f64, f64)> {
        let ring = |mark: &Mark| match mark {
            Mark::Ring { at, .. } => Some(*at),
            _ => None,
        };
        spec.marks.iter().filter_map(ring).collect()
    }

    #[test]
    fn latency_in_its_unit_with_limit_rings_and_gaps() {
        let curves = curves();
        let options = CurveOptions {
            limit_ns: Some(10e6),
            ..CurveOptions::default()
        };
        let spec = latency(&overlays(&curves), &options);
        assert_eq!(spec.y.title, "ms per batch");
        let first = spec.series[0].points[0];
        assert_eq!((first.x, first.tag), (0.0, 1));
        assert!((first.y - 5_f64.log10()).abs() < 1e-6, "{first:?}");
        let band = first.band.unwrap();
        assert!(band.0 <= first.y && first.y <= band.1);
        assert_eq!(spec.series[0].gap_after, [0; 0]);
        assert_eq!(spec.series[1].gap_after, [1], "batch 4 is missing");
        let limit = spec.limit.as_ref().unwrap();
        assert_eq!(
            (limit.text.as_str(), limit.y),
            ("limit 10.0 ms, median", 1.0)
        );
        // Within 10 ms: batch 4 in 8 ms, and batch 1 in 9 ms.
        let places: Vec<f64> = ringed(&spec).iter().map(|at| at.0).collect();
        assert_eq!(places, [2.0, 0.0]);
        let failed: Vec<&Mark> = spec
            .marks
            .iter()
            .filter(|mark| matches!(mark, Mark::Failed { .. }))
            .collect();
        assert_eq!(failed.len(), 2);
        assert!(matches!(failed[1], Mark::Failed { x, reason, .. }
            if *x == 4.0 && reason.starts_with("batch 16: out of memory")));
    }

    #[test]
    fn a_limit_far_away_is_on_the_chart() {
        let curves = curves();
        for log_y in [true, false] {
            for limit in [1e3, 3e10] {
                let options = CurveOptions {
                    limit_ns: Some(limit),
                    log_y,
                    ..CurveOptions::default()
                };
                let spec = latency(&overlays(&curves), &options);
                let at = spec.limit.as_ref().unwrap().y;
                assert!(
                    spec.y.low <= at && at <= spec.y.high,
                    "{limit} {:?}",
                    spec.y
                );
                assert!((limit_of(&spec, at) / limit - 1.0).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn a_dragged_limit_is_rounded() {
        let curves = curves();
        let spec = latency(&overlays(&curves), &CurveOptions::default());
        assert_eq!(limit_of(&spec, 12.3456_f64.log10()), 12_300_000.0);
        assert_eq!(limit_of(&spec, f64::NAN), 0.0);
    }

    #[test]
    fn a_limit_beyond_the_times_leaves_them_their_unit() {
        let curves = curves();
        let options = CurveOptions {
            limit_ns: Some(30e9),
            ..CurveOptions::default()
        };
        let [with, without] =
            [options, CurveOptions::default()].map(|options| latency(&overlays(&curves), &options));
        assert_eq!(with.y.title, without.y.title);
        assert_eq!(with.series, without.series);
    }

    #[test]
    fn several_knees_have_names() {
        let mut curves = curves();
        curves[0].knee = Some(Statement::Settled(Some(8)));
        let spec = throughput(&overlays(&curves), &CurveOptions::default());
        let expected = ["curve 0: knee, batch 8", "curve 1: knee, batch 1"];
        assert_eq!(knee_words(&spec), expected);
        let many: Vec<BatchCurve> = [&curves[..], &curves[..]].concat();
        let spec = throughput(&overlays(&many), &CurveOptions::default());
        assert_eq!(knee_words(&spec), [""; 4]);
    }

    fn knee_words(spec: &ChartSpec) -> Vec<String> {
        let words = spec.marks.iter().filter_map(|mark| match mark {
            Mark::Drop { text, name, .. } => drop_words(name.as_deref(), text).next(),
            _ => None,
        });
        words.map(Cow::into_owned).collect()
    }

    #[test]
    fn throughput_has_its_knee() {
        let curves = curves();
        let spec = throughput(&overlays(&curves), &CurveOptions::default());
        assert_eq!(spec.y.low, 0.0);
        // The second setup is level, so that its knee is at the first batch.
        assert_eq!(knee_words(&spec), ["knee, batch 1"]);
        assert!((spec.series[0].points[4].y - 800.0).abs() < 0.1);
    }

    #[test]
    fn throughput_on_a_logarithmic_axis_keeps_its_points_knees_and_rings() {
        let curves = curves();
        let overlays = overlays(&curves);
        let linear = CurveOptions {
            limit_ns: Some(10e6),
            ..CurveOptions::default()
        };
        let options = CurveOptions {
            log_throughput: Some(true),
            ..linear.clone()
        };
        let from_zero = throughput(&overlays, &linear);
        let spec = throughput(&overlays, &options);
        assert_eq!(spec.y.scale, AxisScale::Log10);
        assert_eq!(spec.y.title, from_zero.y.title);
        for (plain, logarithmic) in from_zero.series.iter().zip(&spec.series) {
            for (plain, point) in plain.points.iter().zip(&logarithmic.points) {
                assert!((spec.y.scale.to_number(point.y) / plain.y - 1.0).abs() < 1e-9);
                assert!(spec.y.low <= point.y && point.y <= spec.y.high);
            }
        }
        assert_eq!(spec.marks.len(), from_zero.marks.len());
        assert_eq!(ringed(&spec).len(), 2);
        for (_, y) in ringed(&spec) {
            assert!(spec.y.low <= y && y <= spec.y.high);
        }
        // The second chart has a switch of its own.
        assert_eq!(latency(&overlays, &options), latency(&overlays, &linear));
    }

    #[test]
    fn an_interval_that_says_nothing_does_not_flatten_the_curves() {
        let mut curves = curves();
        let point = &mut curves[0].points[1];
        point.ci95_ns = Some(Interval {
            low: 1.0,
            high: 1e15,
        });
        point.throughput_ci95 = Some(Interval {
            low: 0.0,
            high: 1e12,
        });
        let overlays = overlays(&curves);
        let options = CurveOptions::default();
        let (times, rates) = (
            latency(&overlays, &options),
            throughput(&overlays, &options),
        );
        assert!(
            times.y.scale.to_number(times.y.high) < 1_000.0,
            "{:?}",
            times.y
        );
        assert!(times.y.scale.to_number(times.y.low) > 1.0, "{:?}", times.y);
        assert!(rates.y.high < 2_500.0, "{:?}", rates.y);
    }

    #[test]
    fn efficiency_says_which() {
        let curves = curves();
        let best = efficiency(&overlays(&curves), &CurveOptions::default());
        assert_eq!(best.title, "Efficiency, of best");
        let shares = best.series[0].points.iter().map(|point| point.y);
        assert_eq!(shares.fold(0.0, f64::max), 100.0);
        let options = CurveOptions {
            efficiency: Efficiency::Scaling,
            ..CurveOptions::default()
        };
        let spec = efficiency(&overlays(&curves), &options);
        assert_eq!(spec.title, "Efficiency, scaling");
        assert_eq!(spec.series[0].points[0].y, 100.0);
        assert!(spec.y.high >= 100.0);
    }

    #[test]
    fn nothing_measured_is_an_empty_chart() {
        let session = session(&["ort:cpu"], &[1, 2]);
        let curves = batch_curve::batch_curves(&case_rows::case_rows(&session));
        let options = CurveOptions {
            limit_ns: Some(5e6),
            ..CurveOptions::default()
        };
        let logarithmic = CurveOptions {
            log_throughput: Some(true),
            ..options.clone()
        };
        for chart in [latency, throughput, efficiency] {
            for options in [&options, &logarithmic] {
                let spec = chart(&overlays(&curves), options);
                assert!(spec.is_empty() && spec.y.low < spec.y.high, "{spec:?}");
                assert_eq!(spec.x.ticks.len(), 2, "planned batch sizes");
                assert!(chart(&[], options).is_empty());
            }
        }
    }
}
