//! The samples of several cases in one chart: their distributions on the same columns, and the share of samples
//! up to each time.

use super::axis::{self, TimeUnit};
use super::spec::{Axis, ChartPoint, ChartSpec, Mark, Series, SeriesId, Stroke};
use powerband_core::stats::histogram::Histogram;
use powerband_core::stats::summary::median;

/// Columns of a chart of several distributions.
const COLUMNS: usize = 48;
/// Points of a line of shares at most.
const MOST_POINTS: usize = 400;

/// The samples of a case.
#[derive(Clone, Debug)]
pub struct Samples {
    /// Which series the case is of.
    pub id: SeriesId,
    /// What the case is called.
    pub name: String,
    /// The palette index of its series.
    pub colour: usize,
    /// Its samples in nanoseconds.
    pub ns: Vec<f64>,
}

/// The distributions as outlines over the same columns, in percent of the samples of each, with a divider at each
/// median. The first and the last column also hold what lies beyond them.
pub fn densities(cases: &[Samples]) -> ChartSpec {
    let title = "Latency distribution".to_owned();
    let Some((x, unit, (low, high))) = time_axis(cases) else {
        return empty(title, "% of samples");
    };
    let width = (high - low) / COLUMNS as f64;
    let columns = cases.iter().map(|case| shares(&case.ns, low, width));
    let columns: Vec<Vec<f64>> = columns.collect();
    let highest = columns.iter().flatten().copied().fold(0.0, f64::max);
    let outline = |shares: &[f64]| {
        let mut points = Vec::with_capacity(2 * shares.len());
        for (column, share) in (0..).map(f64::from).zip(shares) {
            for edge in [column, column + 1.0] {
                points.push(
                    ChartPoint::new((low + edge * width) / unit.ns, *share, column as u64)
                        .with_band(Some((0.0, *share))),
                );
            }
        }
        points
    };
    let series = cases.iter().zip(&columns);
    let series = series.map(|(case, shares)| series_of(case, outline(shares)));
    let medians = cases.iter().filter_map(|case| median(&case.ns));
    ChartSpec {
        title,
        x,
        y: axis::from_zero("% of samples", highest),
        series: series.collect(),
        marks: medians
            .map(|ns| Mark::Divider { x: ns / unit.ns })
            .collect(),
        ..ChartSpec::default()
    }
}

/// For each time the share of samples that took no longer.
pub fn cumulative(cases: &[Samples]) -> ChartSpec {
    let title = "Cumulative distribution".to_owned();
    let y_title = "% of samples up to this time";
    let Some((x, unit, (low, high))) = time_axis(cases) else {
        return empty(title, y_title);
    };
    let line = |ns: &[f64]| {
        let mut sorted = ns.to_vec();
        sorted.sort_by(f64::total_cmp);
        let count = sorted.len();
        let step = count.div_ceil(MOST_POINTS).max(1);
        let places = (0..count).filter(|place| (place + 1) % step == 0 || place + 1 == count);
        let point = |x: f64, share: f64, tag: u64| ChartPoint::new(x / unit.ns, share * 100.0, tag);
        let points = places.filter_map(|place| {
            let at = (*sorted.get(place)?).clamp(low, high);
            Some(point(at, (place + 1) as f64 / count as f64, place as u64))
        });
        let first = sorted
            .first()
            .map(|first| point(first.clamp(low, high), 0.0, 0));
        first.into_iter().chain(points).collect()
    };
    let series = cases.iter().map(|case| series_of(case, line(&case.ns)));
    ChartSpec {
        title,
        x,
        y: axis::from_zero(y_title, 100.0),
        series: series.collect(),
        ..ChartSpec::default()
    }
}

/// The times that all cases have in common: an axis, its unit and its ends in nanoseconds. Outliers do not
/// stretch it, as in the distribution of one case.
fn time_axis(cases: &[Samples]) -> Option<(Axis, TimeUnit, (f64, f64))> {
    let reaches = cases
        .iter()
        .filter_map(|case| Histogram::from_values(&case.ns));
    let ends = reaches.map(|one| (one.start, one.end()));
    let (low, high) = ends.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))?;
    let unit = TimeUnit::for_largest(high);
    let title = format!("{} per batch", unit.name);
    let axis = axis::between(&title, low / unit.ns, high / unit.ns);
    Some((axis, unit, (low, high)))
}

/// The share of samples in each column, in percent.
fn shares(ns: &[f64], low: f64, width: f64) -> Vec<f64> {
    let mut counts = vec![0_u32; COLUMNS];
    for value in ns {
        let column = ((value - low) / width).floor();
        let column = column.clamp(0.0, (COLUMNS - 1) as f64) as usize;
        if let Some(count) = counts.get_mut(column) {
            *count += 1;
        }
    }
    let all = ns.len().max(1) as f64;
    let share = |count: u32| f64::from(count) / all * 100.0;
    counts.into_iter().map(share).collect()
}

fn series_of(case: &Samples, points: Vec<ChartPoint>) -> Series {
    Series::new(
        case.id,
        case.name.clone(),
        case.colour,
        Stroke::Thin,
        points,
    )
}

fn empty(title: String, y_title: &str) -> ChartSpec {
    ChartSpec {
        title,
        x: axis::between("ms per batch", 0.0, 1.0),
        y: axis::from_zero(y_title, 1.0),
        ..ChartSpec::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(id: u64, from: f64, count: u32) -> Samples {
        Samples {
            id: SeriesId(id),
            name: format!("case {id}"),
            colour: id as usize,
            ns: (0..count).map(|i| from + f64::from(i % 50) * 1e4).collect(),
        }
    }

    #[test]
    fn two_distributions_share_their_columns_and_each_is_a_whole() {
        let cases = [samples(1, 5e6, 200), samples(2, 5.2e6, 900)];
        let spec = densities(&cases);
        assert_eq!(spec.x.title, "ms per batch");
        assert_eq!(spec.series.len(), 2);
        for series in &spec.series {
            let whole: f64 = series.points.iter().step_by(2).map(|point| point.y).sum();
            assert!((whole - 100.0).abs() < 1e-6, "{whole}");
        }
        let places = |place: usize| spec.series[place].points.iter().map(|point| point.x);
        assert!(places(0).eq(places(1)), "the same columns");
        assert_eq!(spec.marks.len(), 2, "both medians");
        assert_ne!(spec.series[0].colour, spec.series[1].colour);
    }

    #[test]
    fn shares_rise_to_all_of_them() {
        let spec = cumulative(&[samples(1, 5e6, 2_000), samples(2, 6e6, 20)]);
        for series in &spec.series {
            let ys: Vec<f64> = series.points.iter().map(|point| point.y).collect();
            assert!(
                ys.is_sorted() && ys.len() <= MOST_POINTS + 2,
                "{}",
                ys.len()
            );
            assert_eq!((ys.first(), ys.last()), (Some(&0.0), Some(&100.0)));
        }
        let median = spec.series[0].points.iter().find(|point| point.y >= 50.0);
        assert!((median.unwrap().x - 5.24).abs() < 0.02);
        assert!(cumulative(&[]).is_empty() && densities(&[]).is_empty());
    }
}
