//! How a setup behaves as the batch grows: latency, throughput, efficiency, and what can be read
//! from their shape.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::case_rows::CaseRow;
use super::energy::Energy;
use super::memory::{Headroom, Need};
use powerband_core::base::humanize;
use powerband_core::domain::outcome::Outcome;
use powerband_core::domain::point::{BATCH, Point};
use powerband_core::stats::bootstrap::Interval;
use powerband_core::stats::fit::Line;

/// The knee is where the throughput reaches this share of the best.
const KNEE_SHARE: f64 = 0.9;
/// With fewer points a curve has no shape.
pub const FEWEST_POINTS: usize = 3;
/// Saturation is named only where this share of it was seen; below, it would be a guess.
const LEAST_SEEN_OF_SATURATION: f64 = 0.5;

/// Which number stands for a case's latency.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Statistic {
    /// Half of the runs are faster.
    #[default]
    Median,
    /// Arithmetic mean.
    Mean,
    /// 99 of 100 runs are faster; known only with enough samples.
    P99,
}

impl Statistic {
    /// Every one, in the order in which they are offered.
    pub const ALL: [Self; 3] = [Self::Median, Self::Mean, Self::P99];
}

impl fmt::Display for Statistic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Median => "Median",
            Self::Mean => "Mean",
            Self::P99 => "p99",
        })
    }
}

/// Which efficiency is meant. It has a name, and the name is always shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Efficiency {
    /// Against the best throughput of the curve.
    OfBest,
    /// Against a throughput that grows with the batch.
    #[default]
    Scaling,
    /// The share of the time in which the device computed, as it reports.
    Busy,
    /// Operations in a second against the peak that the device's maker publishes.
    OfPeak,
}

impl Efficiency {
    /// Every one, in the order in which they are offered.
    pub const ALL: [Self; 4] = [Self::OfBest, Self::Scaling, Self::Busy, Self::OfPeak];

    /// Its definition in one sentence.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::OfBest => "Throughput as a share of the best throughput of the same curve.",
            Self::Scaling => {
                "Throughput as a share of batch × throughput at batch 1, or at the smallest batch that was measured."
            }
            Self::Busy => {
                "Utilisation: share of the time in which the device that computes was busy, as it reports; of a processor with several cores, the mean of all."
            }
            Self::OfPeak => {
                "The network's multiplications and additions in a second, as a share of the peak that the card's maker publishes for that precision."
            }
        }
    }
}

impl fmt::Display for Efficiency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OfBest => "of best",
            Self::Scaling => "scaling",
            Self::Busy => "utilisation",
            Self::OfPeak => "of peak",
        })
    }
}

/// One point that was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct CurvePoint {
    /// The point of the sweep.
    pub point: Point,
    /// The size of the dimension that the curve runs along.
    pub size: usize,
    /// Median time of a batch, in nanoseconds.
    pub median_ns: f64,
    /// Mean time of a batch, in nanoseconds, where it is known.
    pub mean_ns: Option<f64>,
    /// 99th percentile, in nanoseconds, where there are enough samples.
    pub p99_ns: Option<f64>,
    /// 95 % interval of the median, in nanoseconds.
    pub ci95_ns: Option<Interval>,
    /// Items a second; nothing where the program that measured it does not report them.
    pub throughput_per_s: Option<f64>,
    /// 95 % interval of the throughput, from that of the median.
    pub throughput_ci95: Option<Interval>,
    /// Throughput as a share of the curve's best.
    pub of_best: Option<f64>,
    /// Throughput as a share of batch × throughput at batch 1; where that was not measured, the
    /// smallest batch stands in: throughput ÷ (batch ÷ smallest × throughput at the smallest).
    pub scaling: Option<f64>,
    /// Utilisation of the device, as it reports.
    pub busy: Option<f64>,
    /// Operations in a second as a share of the most that the device can do.
    pub of_peak: Option<f64>,
    /// Energy of one item, in joules, where it is known.
    pub j_per_item: Option<f64>,
    /// The same without what an idle machine would have drawn anyway.
    pub net_j_per_item: Option<f64>,
    /// The most memory that it needed.
    pub memory: Option<Need>,
    /// How many samples there are.
    pub samples: u64,
    /// Names of its flags.
    pub flags: Vec<&'static str>,
    /// How the case ended, or that it has not.
    pub outcome: Outcome,
}

impl CurvePoint {
    /// The latency by a statistic, in nanoseconds.
    pub fn latency_ns(&self, statistic: Statistic) -> Option<f64> {
        match statistic {
            Statistic::Median => Some(self.median_ns),
            Statistic::Mean => self.mean_ns,
            Statistic::P99 => self.p99_ns,
        }
    }

    /// The throughput for setting points in order: what is not known counts as none.
    pub fn rate_or_zero(&self) -> f64 {
        self.throughput_per_s.unwrap_or(0.0)
    }

    /// The efficiency of a kind, as a share.
    pub fn efficiency(&self, kind: Efficiency) -> Option<f64> {
        match kind {
            Efficiency::OfBest => self.of_best,
            Efficiency::Scaling => self.scaling,
            Efficiency::Busy => self.busy,
            Efficiency::OfPeak => self.of_peak,
        }
    }
}

/// One point that failed.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// The point of the sweep.
    pub point: Point,
    /// The size of the dimension that the curve runs along.
    pub size: usize,
    /// What happened.
    pub outcome: Outcome,
}

/// One setup along one dimension, the others fixed.
#[derive(Clone, Debug, PartialEq)]
pub struct BatchCurve {
    /// Index into the plan's setups.
    pub setup: usize,
    /// The setup as text, with the sizes that are fixed where there are several.
    pub label: String,
    /// The dimension that it runs along.
    pub along: &'static str,
    /// The sizes of the other dimensions, which are fixed.
    pub others: Vec<(&'static str, usize)>,
    /// What was measured, in full or so far, ascending in size. A failed case is not
    /// here even where it has samples.
    pub points: Vec<CurvePoint>,
    /// What failed, ascending in size.
    pub failures: Vec<Failure>,
    /// Every planned size without a point, ascending: failed, cancelled or not measured yet.
    pub missing: Vec<usize>,
    /// Median time as a fixed cost and a cost per item, in nanoseconds, where a line fits.
    pub line: Option<Line>,
    /// The smallest batch that reaches 90 % of the best throughput of the curve.
    ///
    /// Nothing with fewer than three points, and nothing where only the largest batch reaches it:
    /// the throughput is still rising there, and the knee is somewhere beyond.
    pub knee: Option<usize>,
    /// The throughput that the line tends to, in items a second; nothing where less than half of it
    /// was reached.
    pub saturation_per_s: Option<f64>,
    /// The largest size that was measured.
    pub largest: Option<usize>,
    /// The smallest size that ran out of memory.
    pub refused: Option<usize>,
    /// The memory estimate for batches that were not measured.
    pub headroom: Option<Headroom>,
}

/// The curves of the rows over the batch size.
pub fn batch_curves(rows: &[CaseRow]) -> Vec<BatchCurve> {
    curves_along(rows, BATCH)
}

/// One curve for each setup of the rows and each combination of the other dimensions' sizes, in their order. Rows
/// without the dimension are left out.
pub fn curves_along(rows: &[CaseRow], along: &'static str) -> Vec<BatchCurve> {
    let mut groups: Vec<(usize, Vec<(&'static str, usize)>)> = Vec::new();
    for row in rows.iter().filter(|row| row.point.get(along).is_some()) {
        let group = (row.setup, row.point.without(along));
        if !groups.contains(&group) {
            groups.push(group);
        }
    }
    let curve_of = |(setup, others): &(usize, Vec<_>)| {
        let own = rows.iter().filter(|row| row.setup == *setup);
        let own = own.filter(|row| row.point.get(along).is_some());
        let mut curve = curve(
            *setup,
            along,
            own.filter(|row| row.point.without(along) == *others)
                .collect(),
        );
        curve.others.clone_from(others);
        let is_varied = |(name, size): &&(&'static str, usize)| {
            let of_setup = groups.iter().filter(|(other, _)| other == setup);
            of_setup
                .flat_map(|(_, sizes)| sizes)
                .any(|other| other.0 == *name && other.1 != *size)
        };
        for (name, size) in others.iter().filter(is_varied) {
            curve.label.push_str(&format!(", {name} {size}"));
        }
        curve
    };
    groups.iter().map(curve_of).collect()
}

fn curve(setup: usize, along: &'static str, mut rows: Vec<&CaseRow>) -> BatchCurve {
    let size_of = |row: &CaseRow| row.point.get(along).unwrap_or_default();
    rows.sort_by_key(|row| size_of(row));
    let mut points: Vec<CurvePoint> = rows.iter().filter_map(|row| point(row, along)).collect();
    share_out(&mut points, along);
    let failures: Vec<Failure> = rows
        .iter()
        .filter(|row| row.outcome.is_trouble())
        .map(|row| Failure {
            point: row.point,
            size: size_of(row),
            outcome: row.outcome.clone(),
        })
        .collect();
    let measured = |size: usize| points.iter().any(|point| point.size == size);
    let times: Vec<(f64, f64)> = points
        .iter()
        .map(|point| (point.size as f64, point.median_ns))
        .collect();
    let line = Line::through(&times);
    let needs: Vec<(usize, Need)> = points
        .iter()
        .filter_map(|point| Some((point.size, point.memory?)))
        .collect();
    let refused = |failure: &&Failure| matches!(failure.outcome, Outcome::OutOfMemory { .. });
    let is_batch = along == BATCH;
    BatchCurve {
        setup,
        along,
        others: Vec::new(),
        label: rows
            .first()
            .map(|row| row.setup_label.clone())
            .unwrap_or_default(),
        missing: rows
            .iter()
            .map(|row| size_of(row))
            .filter(|size| !measured(*size))
            .collect(),
        knee: is_batch.then(|| knee(&points)).flatten(),
        saturation_per_s: line
            .filter(|_| is_batch)
            .and_then(|line| saturation(&line, &points)),
        line,
        largest: points.last().map(|point| point.size),
        refused: failures.iter().find(refused).map(|failure| failure.size),
        headroom: Headroom::of(&needs),
        points,
        failures,
    }
}

/// A row as a point, where it was measured; what it is a share of comes later.
fn point(row: &CaseRow, along: &str) -> Option<CurvePoint> {
    let latency = row
        .latency_ns
        .as_ref()
        .filter(|_| !row.outcome.is_trouble())?;
    let throughput = row.throughput_per_s.or(row.throughput_by_median);
    let energy = row.energy.as_ref().ok();
    // Throughput is one over latency, so that the interval's ends change places.
    let interval = |rate: f64| {
        let ci = row.ci95_ns.filter(|ci| ci.low > 0.0)?;
        let scaled = |bound: f64| rate * latency.median / bound;
        Some(Interval {
            low: scaled(ci.high),
            high: scaled(ci.low),
        })
    };
    Some(CurvePoint {
        point: row.point,
        size: row.point.get(along)?,
        median_ns: latency.median,
        mean_ns: row.mean_ns(),
        p99_ns: latency.p99,
        ci95_ns: row.ci95_ns,
        throughput_per_s: throughput,
        throughput_ci95: throughput.and_then(interval),
        of_best: None,
        scaling: None,
        busy: row.busy,
        of_peak: row.of_peak,
        j_per_item: energy.map(Energy::gross_j_per_item),
        net_j_per_item: energy.and_then(Energy::net_j_per_item),
        memory: row.memory,
        samples: row.samples,
        flags: row.flags.iter().map(|flag| flag.name).collect(),
        outcome: row.outcome.clone(),
    })
}

/// Fills in what each point's throughput is a share of. The points ascend in size.
fn share_out(points: &mut [CurvePoint], along: &str) {
    let best = best_throughput(points);
    let Some(first) = points.first() else { return };
    let smallest = first.point.batch();
    let per_batch = first.rate_or_zero() / smallest as f64;
    for point in points {
        let share = |of: f64| point.throughput_per_s.map(|rate| rate / of);
        let ideal = per_batch * point.point.batch() as f64;
        // A stand-in for batch 1 is no measure of itself.
        let is_stand_in = point.point.batch() == smallest && smallest > 1;
        let is_no_scaling = is_stand_in || along != BATCH;
        let of_best = share(best).filter(|_| best > 0.0);
        let scaling = share(ideal).filter(|_| ideal > 0.0 && !is_no_scaling);
        (point.of_best, point.scaling) = (of_best, scaling);
    }
}

fn best_throughput(points: &[CurvePoint]) -> f64 {
    points
        .iter()
        .map(CurvePoint::rate_or_zero)
        .fold(0.0, f64::max)
}

fn knee(points: &[CurvePoint]) -> Option<usize> {
    let enough = KNEE_SHARE * best_throughput(points);
    // Where the largest batch is the first to get there, the one before is at least 10 % slower.
    let (_, smaller) = points.split_last()?;
    let found = smaller
        .iter()
        .find(|point| point.throughput_per_s.is_some_and(|rate| rate >= enough))?;
    (points.len() >= FEWEST_POINTS).then_some(found.size)
}

fn saturation(line: &Line, points: &[CurvePoint]) -> Option<f64> {
    let limit = 1e9 / line.per_item;
    (best_throughput(points) >= LEAST_SEEN_OF_SATURATION * limit).then_some(limit)
}

impl BatchCurve {
    /// The point with the highest throughput among those that take no longer than a limit.
    pub fn best_within(&self, limit_ns: f64, statistic: Statistic) -> Option<&CurvePoint> {
        self.points
            .iter()
            .filter(|point| point.latency_ns(statistic).is_some_and(|ns| ns <= limit_ns))
            .max_by(|a, b| a.rate_or_zero().total_cmp(&b.rate_or_zero()))
    }

    /// What the shape says and what fitted into memory, in one sentence.
    pub fn explain(&self) -> String {
        let shape = self.shape();
        match (self.largest, self.refused) {
            (Some(largest), Some(refused)) => {
                format!(
                    "{shape}; {} {largest} fitted into memory, {refused} did not",
                    self.along
                )
            }
            _ => shape,
        }
    }

    fn shape(&self) -> String {
        if self.points.len() < FEWEST_POINTS {
            return format!(
                "{} measured: too few for the shape of a curve",
                humanize::of_many(self.points.len() as u64, "batch size")
            );
        }
        let mut parts = vec![match self.line {
            Some(line) if line.fixed > 0.0 => format!(
                "latency ≈ {} + {} × {}",
                humanize::duration_ns(line.fixed),
                humanize::duration_ns(line.per_item),
                self.along
            ),
            Some(line) => format!(
                "latency ≈ {} × {}",
                humanize::duration_ns(line.per_item),
                self.along
            ),
            None => "latency does not follow a straight line".to_owned(),
        }];
        if let Some(limit) = self.saturation_per_s {
            let rate = humanize::significant(limit, 3);
            parts.push(format!("saturates near {rate} items/s"));
        }
        parts.extend(match (self.knee, self.points.first()) {
            _ if self.along != BATCH => None,
            (Some(knee), Some(first)) if knee == first.size => {
                Some(format!("larger batches than {knee} gain little"))
            }
            (Some(knee), _) => Some(format!("knee at batch {knee}")),
            (None, _) => Some("throughput still rises at the largest batch".to_owned()),
        });
        if let (Some(largest), Some(refused)) = (self.largest, self.refused) {
            parts.push(format!(
                "{} {largest} fitted into memory, {refused} did not",
                self.along
            ));
        }
        parts.join("; ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::case_rows;
    use crate::analysis::testing::{end, measure_near, out_of_memory, session};

    const BATCHES: [usize; 7] = [1, 2, 4, 8, 16, 32, 64];

    /// One setup whose batches take this many microseconds.
    fn curve_of(micros: impl Fn(u64) -> u64) -> BatchCurve {
        let mut session = session(&["ort:cpu"], &BATCHES);
        for batch in BATCHES {
            measure_near(&mut session, 0, batch, micros(batch as u64));
        }
        batch_curves(&case_rows::case_rows(&session)).remove(0)
    }

    #[test]
    fn a_curve_that_saturates() {
        let curve = curve_of(|batch| 4_000 + 1_000 * batch);
        let line = curve.line.unwrap();
        assert!((line.fixed - 4e6).abs() < 1e4, "{line:?}");
        // Throughput 64 ÷ 68 ms is the best; 32 ÷ 36 ms is 94 % of it, 16 ÷ 20 ms is 85 %.
        assert_eq!(curve.knee, Some(32));
        let explained = curve.explain();
        assert!(
            explained
                .starts_with("latency ≈ 4.00 ms + 1.00 ms × batch; saturates near 1,000 items/s")
                && explained.ends_with("knee at batch 32"),
            "{explained}"
        );
        let first = &curve.points[0];
        assert_eq!(first.scaling, Some(1.0));
        assert!(first.of_best.unwrap() < 0.25);
        let scaling = curve.points[6].efficiency(Efficiency::Scaling).unwrap();
        assert!((scaling - 5.0 / 68.0).abs() < 1e-4, "{scaling}");
        let interval = first.throughput_ci95.unwrap();
        let rate = first.throughput_per_s.unwrap();
        assert!(interval.low <= rate && rate <= interval.high + 0.1);
    }

    #[test]
    fn no_knee_while_the_throughput_still_rises() {
        let rising = curve_of(|_| 5_000);
        assert_eq!((rising.knee, rising.line), (None, None));
        assert!(
            rising.explain().contains("still rises"),
            "{}",
            rising.explain()
        );
        let level = curve_of(|batch| 5_000 * batch);
        assert_eq!(level.knee, Some(1));
        assert!(level.explain().contains("gain little"));
    }

    #[test]
    fn the_best_within_a_limit() {
        let curve = curve_of(|batch| 4_000 + 1_000 * batch);
        let batch = |limit_ns| {
            let point = curve.best_within(limit_ns, Statistic::Median);
            point.map(|point| point.point.batch())
        };
        assert_eq!(batch(12.5e6), Some(8));
        assert_eq!(batch(1e9), Some(64));
        assert_eq!(batch(1e6), None);
        assert_eq!(
            curve.best_within(1e9, Statistic::P99),
            None,
            "too few samples"
        );
    }

    #[test]
    fn failures_and_gaps_are_told_apart_from_points() {
        let mut session = session(&["ort:cpu", "tract:cpu"], &[2, 4, 8]);
        measure_near(&mut session, 0, 2, 1_000);
        measure_near(&mut session, 0, 4, 1_500);
        measure_near(&mut session, 0, 8, 1_500);
        end(&mut session, 0, 8, out_of_memory());
        let curves = batch_curves(&case_rows::case_rows(&session));
        assert_eq!(curves.len(), 2);
        let (first, second) = (&curves[0], &curves[1]);
        assert_eq!((first.largest, first.refused), (Some(4), Some(8)));
        assert!(
            first
                .explain()
                .ends_with("; batch 4 fitted into memory, 8 did not")
        );
        assert!(!second.explain().contains("memory"));
        assert_eq!((first.failures.len(), &first.missing), (1, &vec![8]));
        // Batch 1 was not measured: twice the batch in one and a half times the time.
        let scaling = first.points[1].scaling.unwrap();
        assert!((scaling - 1.0 / 1.5).abs() < 1e-4, "{scaling}");
        assert!(second.points.is_empty() && second.missing == [2, 4, 8]);
        assert_eq!(
            second.explain(),
            "0 batch sizes measured: too few for the shape of a curve"
        );
    }
}
