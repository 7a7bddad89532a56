//! Warnings about pairs of cases: batches that differ, and medians that disagree with the rounds.

use super::case_pair::CasePair;
use super::case_rows::CaseRow;
use powerband_core::domain::point::{self, Point};
use powerband_core::stats::bootstrap::Interval;

/// A ratio of the medians this near to the speed-up is called the same, whatever the interval.
const NEAR: f64 = 0.01;

/// All warnings.
pub(super) fn pair_warnings(pairs: &[CasePair]) -> Vec<String> {
    let found = [
        batch_warning(pairs),
        direction_warning(pairs),
        median_warning(pairs),
    ];
    let lags = pairs.iter().filter_map(lag_warning);
    found.into_iter().flatten().chain(lags).collect()
}

/// The warning that the starts of a pair are no independent draws, where they show it.
pub(super) fn lag_warning(pair: &CasePair) -> Option<String> {
    let estimate = pair.estimate.as_ref()?;
    (estimate.lag > 0.0).then(|| {
        format!(
            "At {} the ratio of a start resembles that of the start before (correlation {:.2} over {} starts): the interval is narrower than it should be. Rounds that lie further apart tell.",
            pair.before_point, estimate.lag, estimate.starts
        )
    })
}

fn batch_warning(pairs: &[CasePair]) -> Option<String> {
    let pair = pairs.iter().find(|pair| pair.is_per_item())?;
    Some(format!(
        "The batch sizes differ ({} and {}), so latencies are compared per item.",
        pair.before_point.batch(),
        pair.after_point.batch()
    ))
}

/// The median before over the median after; nothing where they are of batches that differ.
fn ratio_of_medians(pair: &CasePair) -> Option<f64> {
    let median = |row: &CaseRow| Some(row.latency_ns.as_ref()?.median);
    let ratio = median(&pair.before)? / median(&pair.after)?;
    (!pair.is_per_item()).then_some(ratio)
}

/// Whether paired rounds and the medians over all samples disagree in direction.
fn contradicts_rounds(pair: &CasePair) -> bool {
    let both = ratio_of_medians(pair).zip(pair.ratio);
    both.is_some_and(|(medians, ratio)| (medians - 1.0) * (ratio.speed_up - 1.0) < 0.0)
}

/// Whether the ratio of the medians is outside the interval of the rounds.
fn is_outside(pair: &CasePair) -> bool {
    let Some((medians, ratio)) = ratio_of_medians(pair).zip(pair.ratio) else {
        return false;
    };
    let is_near = (medians / ratio.speed_up - 1.0).abs() <= NEAR;
    let is_within = |interval: Interval| (interval.low..=interval.high).contains(&medians);
    !is_near && ratio.ci95.is_some_and(|interval| !is_within(interval))
}

fn points(pairs: &[CasePair], is_such: impl Fn(&CasePair) -> bool) -> Option<String> {
    let points: Vec<Point> = pairs
        .iter()
        .filter(|pair| is_such(pair))
        .map(|pair| pair.before_point)
        .collect();
    (!points.is_empty()).then(|| point::list(points))
}

fn direction_warning(pairs: &[CasePair]) -> Option<String> {
    let points = points(pairs, contradicts_rounds)?;
    Some(format!(
        "At {points} the medians over all samples point in the opposite direction of the speed-up, which is the geometric mean of the rounds' ratios: rounds differ more than the two sides do."
    ))
}

fn median_warning(pairs: &[CasePair]) -> Option<String> {
    let is_such = |pair: &CasePair| is_outside(pair) && !contradicts_rounds(pair);
    let points = points(pairs, is_such)?;
    Some(format!(
        "At {points} the ratio of the medians over all samples is outside the interval of the speed-up, which is the geometric mean of the rounds' ratios: rounds have unequal numbers of samples, or differ. The verdict follows the rounds."
    ))
}

#[cfg(test)]
mod tests {
    use crate::analysis::case_rows;
    use crate::analysis::comparison::{self, ComparedSide};
    use crate::analysis::testing::{measure, session};
    use powerband_core::domain::session::Session;

    /// The warnings of the first setup against a second one.
    fn warnings_against(session: &Session, other: usize) -> String {
        let rows = case_rows::case_rows(session);
        let side = |setup| ComparedSide {
            session,
            rows: &rows,
            setup,
            point: None,
        };
        comparison::compare_setups(&side(0), &side(other))
            .remarks
            .join(" ")
    }

    #[test]
    fn medians_that_point_the_other_way_are_told() {
        let mut session = session(&["ort:cpu", "tract:cpu"], &[1]);
        // One short round and a long one with more samples, against two alike.
        measure(&mut session, 0, 1, &[&[10], &[30, 30, 30]]);
        measure(&mut session, 1, 1, &[&[20], &[20, 20, 20]]);
        let rows = case_rows::case_rows(&session);
        let side = |setup| ComparedSide {
            session: &session,
            rows: &rows,
            setup,
            point: None,
        };
        let found = comparison::compare_setups(&side(0), &side(1));
        assert!(
            found.pairs[0]
                .ratio
                .is_some_and(|ratio| ratio.speed_up < 1.0)
        );
        let other = warnings_against(&session, 1);
        assert!(
            other.contains("At batch 1 the medians over all samples"),
            "{other}"
        );
        assert!(!warnings_against(&session, 0).contains("the opposite direction"));
    }

    #[test]
    fn medians_outside_of_the_interval_are_told() {
        let mut session = session(&["ort:cpu", "tract:cpu"], &[1]);
        // Twice as fast in each round, and most samples after are of the slow one.
        measure(&mut session, 0, 1, &[&[2_000; 3], &[4_000; 3], &[6_000; 3]]);
        let slow = [3_000; 20];
        measure(&mut session, 1, 1, &[&[1_000; 3], &[2_000; 3], &slow]);
        let outside = "At batch 1 the ratio of the medians over all samples is outside";
        let other = warnings_against(&session, 1);
        assert!(other.contains(outside), "{other}");
        assert!(!other.contains("the opposite direction"), "{other}");
        assert!(!warnings_against(&session, 0).contains("outside"));
    }
}
