//! The samples of one case: the latency distribution, and latency over time.

use super::axis::{self, TimeUnit};
use super::spec::{ChartPoint, ChartSpec, Mark, Series, SeriesId, Stroke};
use powerband_core::base::humanize;
use powerband_core::domain::case::Case;
use powerband_core::stats::downsample;
use powerband_core::stats::histogram::Histogram;
use powerband_core::stats::summary::median;

/// Up to so many samples are dots; more would be a smear.
const MOST_DOTS: usize = 400;
/// The time axis of a strip reaches at least this share of the median to both sides, so that a
/// steady case looks steady.
const LEAST_REACH: f64 = 0.05;

/// The latency distribution, with a divider at the median.
pub fn histogram(samples_ns: &[f64], colour: usize) -> ChartSpec {
    let title = "Latency distribution".to_owned();
    let (Some(histogram), Some(median)) = (Histogram::from_values(samples_ns), median(samples_ns))
    else {
        return ChartSpec {
            title,
            x: axis::between("ms per batch", 0.0, 1.0),
            y: axis::counts_from_zero("samples", 0),
            ..ChartSpec::default()
        };
    };
    let unit = TimeUnit::for_largest(histogram.end());
    let place = |column: f64| (histogram.start + column * histogram.width) / unit.ns;
    let points = (0..)
        .zip(&histogram.counts)
        .map(|(column, count): (u64, _)| {
            ChartPoint::new(place(column as f64 + 0.5), *count as f64, column)
        });
    let most = histogram.counts.iter().copied().max().unwrap_or(0);
    let x_title = format!("{} per batch{}", unit.name, beyond(&histogram));
    ChartSpec {
        title,
        x: axis::between(&x_title, place(0.0), histogram.end() / unit.ns),
        y: axis::counts_from_zero("samples", most),
        series: vec![series(points.collect(), colour, Stroke::Bars)],
        marks: vec![Mark::Divider {
            x: median / unit.ns,
        }],
        limit: None,
        bar_width: histogram.width / unit.ns,
    }
}

/// How long the instances of a kernel took, with a divider at the median.
pub fn of_instances(durations_ns: &[f64]) -> ChartSpec {
    let mut spec = histogram(durations_ns, 0);
    "Durations of the instances".clone_into(&mut spec.title);
    spec.x.title = spec.x.title.replace(" per batch", "");
    "instances".clone_into(&mut spec.y.title);
    spec
}

/// The samples over the time spent measuring, rounds put end to end, at most two points for each of
/// `buckets` stretches of time; a divider where each round but the first begins, a level at the median.
pub fn strip(case: &Case, colour: usize, buckets: usize) -> ChartSpec {
    let mut begins_s = Vec::with_capacity(case.n_samples() as usize);
    // Where each round but the first begins: its first sample, and when.
    let mut breaks: Vec<(usize, f64)> = Vec::new();
    let mut offset_ns = 0;
    for round in &case.rounds {
        if !begins_s.is_empty() {
            breaks.push((begins_s.len(), offset_ns as f64 / 1e9));
        }
        let mut begin_ns = offset_ns;
        for sample in &round.samples_ns {
            begins_s.push(begin_ns as f64 / 1e9);
            begin_ns += sample;
        }
        offset_ns += round.spent_ns;
    }
    let samples: Vec<f64> = case.samples_ns().map(|ns| ns as f64).collect();
    let mut spec = over_time(&samples, &begins_s, colour, buckets);
    spec.x = axis::from_zero("s of measuring", offset_ns as f64 / 1e9);
    // The rounds fill the width; labels beyond their end are of no use.
    if offset_ns > 0 {
        spec.x.high = offset_ns as f64 / 1e9;
        let end = spec.x.high;
        spec.x.ticks.retain(|tick| tick.at <= end);
    }
    for series in &mut spec.series {
        series.gap_after = gaps(&series.points, &breaks);
    }
    let dividers = breaks.into_iter().map(|(_, x)| Mark::Divider { x });
    spec.marks = dividers.chain(spec.marks).collect();
    spec
}

/// Samples at their places; the x axis is left to the caller.
fn over_time(samples: &[f64], places: &[f64], colour: usize, buckets: usize) -> ChartSpec {
    let title = "Latency over time".to_owned();
    let Some(median_ns) = median(samples) else {
        return ChartSpec {
            title,
            y: axis::from_zero("ms per batch", 0.0),
            ..ChartSpec::default()
        };
    };
    let reach = median_ns * LEAST_REACH;
    let lowest = samples.iter().copied().fold(median_ns - reach, f64::min);
    let highest = samples.iter().copied().fold(median_ns + reach, f64::max);
    let unit = TimeUnit::for_largest(highest);
    let numbered: Vec<(f64, f64)> = (0..).map(f64::from).zip(samples.iter().copied()).collect();
    let (kept, stroke) = if samples.len() <= MOST_DOTS {
        (numbered, Stroke::Dots)
    } else {
        (downsample::min_max(&numbered, buckets.max(1)), Stroke::Thin)
    };
    let points = kept.into_iter().filter_map(|(index, ns)| {
        Some(ChartPoint::new(
            *places.get(index as usize)?,
            ns / unit.ns,
            index as u64,
        ))
    });
    ChartSpec {
        title,
        y: axis::between(
            &format!("{} per batch", unit.name),
            lowest / unit.ns,
            highest / unit.ns,
        ),
        series: vec![series(points.collect(), colour, stroke)],
        marks: vec![Mark::Level {
            y: median_ns / unit.ns,
            text: format!("median {}", humanize::duration_ns(median_ns)),
        }],
        ..ChartSpec::default()
    }
}

fn series(points: Vec<ChartPoint>, colour: usize, stroke: Stroke) -> Series {
    Series::new(SeriesId::ONLY, "samples", colour, stroke, points)
}

/// After which points another round begins.
fn gaps(points: &[ChartPoint], breaks: &[(usize, f64)]) -> Vec<usize> {
    let crossed = |from: u64, to: u64| {
        let between = |first: u64| from < first && first <= to;
        breaks.iter().any(|(first, _)| between(*first as u64))
    };
    let pairs = points.windows(2).enumerate();
    pairs
        .filter(|(_, pair)| crossed(pair[0].tag, pair[1].tag))
        .map(|(index, _)| index)
        .collect()
}

/// What the first and the last column also hold, in words for the axis title.
fn beyond(histogram: &Histogram) -> String {
    match (histogram.underflow, histogram.overflow) {
        (0, 0) => String::new(),
        (0, above) => format!(
            "; last column: {} and longer",
            humanize::pluralised(above, "outlier")
        ),
        (below, 0) => format!(
            "; first column: {} and shorter",
            humanize::pluralised(below, "outlier")
        ),
        (below, above) => format!(
            "; first and last column: also {} beyond",
            humanize::pluralised(below + above, "outlier")
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing::{measure, session};

    fn case(rounds: &[&[u64]]) -> Case {
        let mut session = session(&["ort:cpu"], &[1]);
        measure(&mut session, 0, 1, rounds);
        session.cases.remove(0)
    }

    fn dividers(spec: &ChartSpec) -> Vec<f64> {
        let divider = |mark: &Mark| match mark {
            Mark::Divider { x } => Some(*x),
            _ => None,
        };
        spec.marks.iter().filter_map(divider).collect()
    }

    #[test]
    fn a_histogram_in_its_unit() {
        let samples: Vec<f64> = (0..200).map(|i| 5e6 + f64::from(i % 50) * 1e4).collect();
        let spec = histogram(&samples, 2);
        assert!(spec.x.title.starts_with("ms per batch"));
        assert_eq!(spec.series[0].stroke, Stroke::Bars);
        let counted: f64 = spec.series[0].points.iter().map(|point| point.y).sum();
        assert_eq!(counted, 200.0);
        assert!((dividers(&spec)[0] - 5.245).abs() < 1e-9);
        let first = spec.series[0].points[0];
        assert!((first.x - spec.bar_width / 2.0 - 5.0).abs() < 1e-9);
        assert!(spec.x.low < 5.0 && spec.x.high > 5.49);
        assert!(histogram(&[], 0).is_empty());
    }

    #[test]
    fn a_far_outlier_is_named_below_the_histogram() {
        let mut samples: Vec<f64> = (0..200).map(|i| 5e6 + f64::from(i % 50) * 1e4).collect();
        samples.push(9e9);
        let spec = histogram(&samples, 2);
        assert_eq!(
            spec.x.title,
            "ms per batch; last column: 1 outlier and longer"
        );
    }

    #[test]
    fn a_strip_puts_rounds_end_to_end() {
        let second = 1_000_000_000;
        let spec = strip(&case(&[&[second, second], &[2 * second, second]]), 1, 100);
        let points = &spec.series[0].points;
        let places: Vec<f64> = points.iter().map(|point| point.x).collect();
        assert_eq!(places, [0.0, 1.0, 2.0, 4.0]);
        assert_eq!(dividers(&spec), [2.0]);
        assert_eq!(spec.series[0].gap_after, [1]);
        assert_eq!(spec.series[0].stroke, Stroke::Dots);
        assert_eq!(spec.x.high, 5.0);
        assert!(matches!(spec.marks.last(), Some(Mark::Level { y, text })
            if *y == 1.0 && text == "median 1.00 s"));
        assert!(strip(&case(&[]), 1, 100).is_empty());
    }

    #[test]
    fn a_long_strip_keeps_its_peaks() {
        let mut round = vec![1_000_000; 5_000];
        round[1_234] = 9_000_000;
        let spec = strip(&case(&[&round, &round]), 0, 200);
        let series = &spec.series[0];
        assert_eq!(series.stroke, Stroke::Thin);
        assert!(series.points.len() <= 400);
        assert!(
            series
                .points
                .iter()
                .any(|point| point.tag == 1_234 && point.y == 9.0)
        );
        assert_eq!(series.gap_after.len(), 1);
    }
}
