//! How a setup behaves as the batch grows: latency, throughput, efficiency, and what can be read
//! from their shape.

use super::best_point::{self, LimitedPoint};
pub use super::best_point::{FEWEST_POINTS, Knee, knees_text};
use super::case_rounds::{CaseRounds, JointDraws, RoundStatistic};
use super::case_rows::CaseRow;
use super::curve_figures;
pub use super::curve_figures::{Efficiency, Statistic};
use super::energy::Energy;
use super::memory::{Headroom, MemoryNeed};
use powerband_core::base::humanize;
use powerband_core::domain::outcome::Outcome;
use powerband_core::domain::point::{BATCH, Point};
use powerband_core::stats::bootstrap::Interval;
use powerband_core::stats::fit::LinearFit;
use powerband_core::stats::joint::Statement;

/// Saturation is named only where this share of it was seen; below, it would be a guess.
const LEAST_SEEN_OF_SATURATION: f64 = 0.5;

/// One point that was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct CurvePoint {
    pub point: Point,
    /// The size of the dimension that the curve runs along.
    pub size: usize,
    /// Median time of a batch, in nanoseconds.
    pub median_ns: f64,
    /// Mean time of a batch, in nanoseconds, where it is known.
    pub mean_ns: Option<f64>,
    /// 90th percentile of the time of a batch, in nanoseconds, with enough samples.
    pub p90_ns: Option<f64>,
    /// 99th percentile, in nanoseconds, where there are enough samples.
    pub p99_ns: Option<f64>,
    /// 95 % interval of the median, in nanoseconds.
    pub ci95_ns: Option<Interval>,
    /// Items a second; nothing where the program that measured it does not report them.
    pub throughput_per_s: Option<f64>,
    /// 95 % interval of the throughput, from that of the median.
    pub throughput_ci95: Option<Interval>,
    /// Throughput as a share of the curve's best; nothing where the curve is one point.
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
    /// Peak memory use.
    pub memory: Option<MemoryNeed>,
    pub samples: u64,
    pub flags: Vec<&'static str>,
    /// How the case ended, or that it has not.
    pub outcome: Outcome,
    /// Figures of each round.
    pub by_round: CaseRounds,
}

/// The best point of a curve within a limit.
#[derive(Clone, Debug, PartialEq)]
pub struct BestWithin<'a> {
    /// The highest throughput among the points that are within the limit with 95 % confidence; nothing where none is.
    pub best: Option<Statement<&'a CurvePoint>>,
    /// The points that would be better and may be within the limit, each with the end of its interval in nanoseconds,
    /// where that is known; the best first.
    pub perhaps: Vec<(&'a CurvePoint, Option<f64>)>,
}

impl CurvePoint {
    /// The latency by a statistic, in nanoseconds.
    pub fn latency_ns(&self, statistic: Statistic) -> Option<f64> {
        match statistic {
            Statistic::Median => Some(self.median_ns),
            Statistic::Mean => self.mean_ns,
            Statistic::P90 => self.p90_ns,
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
    pub point: Point,
    /// The size of the dimension that the curve runs along.
    pub size: usize,
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
    /// Every planned size without a point, ascending: failed, skipped or not measured yet.
    pub missing: Vec<usize>,
    /// Median time as a fixed cost and a cost per item, in nanoseconds, where a line fits.
    pub line: Option<LinearFit>,
    /// The smallest batch that reaches 90 % of the best throughput of the curve; nothing with fewer than three
    /// points.
    pub knee: Option<Knee>,
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
    let mut joint = JointDraws::default();
    let mut groups: Vec<(usize, Vec<(&'static str, usize)>)> = Vec::new();
    for row in rows.iter().filter(|row| row.point.get(along).is_some()) {
        let group = (row.setup, row.point.without(along));
        if !groups.contains(&group) {
            groups.push(group);
        }
    }
    let mut curve_of = |(setup, others): &(usize, Vec<_>)| {
        let own = rows.iter().filter(|row| row.setup == *setup);
        let own = own.filter(|row| row.point.get(along).is_some());
        let mut curve = curve(
            *setup,
            along,
            own.filter(|row| row.point.without(along) == *others)
                .collect(),
            &mut joint,
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
    groups.iter().map(&mut curve_of).collect()
}

fn curve(
    setup: usize,
    along: &'static str,
    mut rows: Vec<&CaseRow>,
    joint: &mut JointDraws,
) -> BatchCurve {
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
    let line = LinearFit::through(&times);
    let needs: Vec<(usize, MemoryNeed)> = points
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
        knee: is_batch.then(|| knee(&points, joint)).flatten(),
        saturation_per_s: line
            .filter(|_| is_batch)
            .and_then(|line| saturation(&line, &points)),
        line,
        largest: points.last().map(|point| point.size),
        refused: failures.iter().find(refused).map(|failure| failure.size),
        headroom: Headroom::from_needs(&needs),
        points,
        failures,
    }
}

/// The curve point of a measured row; `share_out` fills in its shares.
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
        p90_ns: latency.p90,
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
        by_round: row.by_round.clone(),
    })
}

/// Fills in what each point's throughput is a share of. The points ascend in size.
fn share_out(points: &mut [CurvePoint], along: &str) {
    let rates: Vec<Option<f64>> = points.iter().map(|point| point.throughput_per_s).collect();
    let of_best = curve_figures::shares_of_best(&rates);
    let Some(first) = points.first() else { return };
    let smallest = first.point.batch();
    let per_batch = first.rate_or_zero() / smallest as f64;
    for (point, of_best) in points.iter_mut().zip(of_best) {
        let share = |of: f64| point.throughput_per_s.map(|rate| rate / of);
        let ideal = per_batch * point.point.batch() as f64;
        // A stand-in for batch 1 is no measure of itself.
        let is_stand_in = point.point.batch() == smallest && smallest > 1;
        let is_no_scaling = is_stand_in || along != BATCH;
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

fn knee(points: &[CurvePoint], joint: &mut JointDraws) -> Option<Knee> {
    let rates = points.iter().filter_map(|point| {
        let rate = point.throughput_per_s?;
        Some((
            point.size,
            joint.contender(0, &point.by_round, RoundStatistic::Rate, rate),
        ))
    });
    best_point::knee(&rates.collect::<Vec<_>>())
}

fn saturation(line: &LinearFit, points: &[CurvePoint]) -> Option<f64> {
    let limit = 1e9 / line.per_item;
    (best_throughput(points) >= LEAST_SEEN_OF_SATURATION * limit).then_some(limit)
}

impl BatchCurve {
    /// The knee where one is stated: nothing where it is not settled, or beyond the largest batch.
    pub fn settled_knee(&self) -> Option<usize> {
        *self.knee.as_ref()?.settled()?
    }

    /// The points with the highest throughput among those that take no longer than a limit.
    pub fn best_within(
        &self,
        limit_ns: f64,
        statistic: Statistic,
        joint: &mut JointDraws,
    ) -> BestWithin<'_> {
        let points = self.points.iter().map(|point| {
            let latency_ns = point.latency_ns(statistic);
            // The end of what is beyond the limit anyway is of no interest.
            let shown = latency_ns.filter(|ns| *ns <= limit_ns);
            let figure = statistic.round_statistic();
            LimitedPoint {
                end_ns: shown.and_then(|ns| joint.upper_end(&point.by_round, figure, ns)),
                rate: joint.contender(
                    0,
                    &point.by_round,
                    RoundStatistic::Rate,
                    point.rate_or_zero(),
                ),
                latency_ns,
            }
        });
        let points: Vec<LimitedPoint> = points.collect();
        let found = best_point::best_under_limit(&points, limit_ns);
        let perhaps = found.perhaps.into_iter();
        BestWithin {
            best: found.best.map(|best| best.map(|place| &self.points[place])),
            perhaps: perhaps
                .map(|place| (&self.points[place], points[place].end_ns))
                .collect(),
        }
    }

    /// One sentence about the shape of the curve and the largest batch that fits into memory.
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
                humanize::pluralised(self.points.len() as u64, "batch size")
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
        parts.extend(self.knee.as_ref().map(|knee| self.knee_text(knee)));
        if let (Some(largest), Some(refused)) = (self.largest, self.refused) {
            parts.push(format!(
                "{} {largest} fitted into memory, {refused} did not",
                self.along
            ));
        }
        parts.join("; ")
    }

    fn knee_text(&self, knee: &Knee) -> String {
        match knee {
            Statement::Settled(Some(knee))
                if self.points.first().map(|one| one.size) == Some(*knee) =>
            {
                format!("larger batches than {knee} gain little")
            }
            Statement::Settled(Some(knee)) => format!("knee at batch {knee}"),
            Statement::Settled(None) => "throughput still rises at the largest batch".to_owned(),
            Statement::NotSettled(candidates) => {
                format!("knee not settled: {}", knees_text(candidates))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::case_rows;
    use crate::analysis::testing::{end_case, measure, measure_near, out_of_memory, session};

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
        assert_eq!(curve.settled_knee(), Some(32));
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
        assert_eq!(
            (&rising.knee, rising.line),
            (&Some(Statement::Settled(None)), None)
        );
        assert!(
            rising.explain().contains("still rises"),
            "{}",
            rising.explain()
        );
        let level = curve_of(|batch| 5_000 * batch);
        assert_eq!(level.settled_knee(), Some(1));
        assert!(level.explain().contains("gain little"));
    }

    #[test]
    fn the_best_within_a_limit() {
        let curve = curve_of(|batch| 4_000 + 1_000 * batch);
        let mut joint = JointDraws::default();
        let mut batch = |limit_ns, statistic| {
            let best = curve.best_within(limit_ns, statistic, &mut joint).best?;
            best.settled().map(|point| point.point.batch())
        };
        assert_eq!(batch(12.5e6, Statistic::Median), Some(8));
        assert_eq!(batch(1e9, Statistic::Median), Some(64));
        assert_eq!(batch(1e6, Statistic::Median), None);
        assert_eq!(batch(1e9, Statistic::P99), None, "too few samples");
    }

    #[test]
    fn restless_rounds_leave_knee_and_limit_open() {
        let mut session = session(&["ort:cpu"], &[1, 2, 4]);
        let rounds =
            |factors: [u64; 5], micros: u64| factors.map(|factor| vec![factor * micros * 10; 9]);
        for (batch, factors, micros) in [
            (1, [100, 101, 99, 100, 100], 1_000),
            (2, [100, 60, 150, 90, 80], 1_800),
            (4, [100, 99, 100, 101, 100], 3_500),
        ] {
            let rounds = rounds(factors, micros);
            let rounds: Vec<&[u64]> = rounds.iter().map(Vec::as_slice).collect();
            measure(&mut session, 0, batch, &rounds);
        }
        let curve = batch_curves(&case_rows::case_rows(&session)).remove(0);
        assert_eq!(curve.settled_knee(), None, "{:?}", curve.knee);
        let said = curve.explain();
        assert!(
            said.contains("knee not settled: batch 2 or beyond the largest"),
            "{said}"
        );
        // The median of batch 2 is 1.62 ms, within the limit, and its rounds range from 1.08 to 2.7 ms.
        let found = curve.best_within(2e6, Statistic::Median, &mut JointDraws::default());
        let best = found.best.unwrap();
        assert_eq!(best.settled().map(|point| point.size), Some(1));
        let [(perhaps, Some(end))] = found.perhaps[..] else {
            panic!("{:?}", found.perhaps)
        };
        assert!(perhaps.size == 2 && end > 2e6, "{end}");
    }

    #[test]
    fn failures_and_gaps_are_told_apart_from_points() {
        let mut session = session(&["ort:cpu", "tract:cpu"], &[2, 4, 8]);
        measure_near(&mut session, 0, 2, 1_000);
        measure_near(&mut session, 0, 4, 1_500);
        measure_near(&mut session, 0, 8, 1_500);
        end_case(&mut session, 0, 8, out_of_memory());
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
