//! Sizes at which an engine takes another path than at the size before, stated where joint draws agree.

use powerband_core::base::humanize;
use powerband_core::stats::joint::{self, AGREEMENT};

use super::bound::Basis;
use super::finding::LimitFinding;
use crate::analysis::batch_curve::{BatchCurve, CurvePoint};
use crate::analysis::case_rounds::{JointDraws, RoundStatistic};

/// Splitting a batch into smaller ones has to save at least this share, or the engine takes no other path.
const LEAST_SPLIT: f64 = 1.05;

/// Sizes at which a run takes more than so many times as long as it has more items than the size before. The more sizes
/// a curve has, the more of the draws have to agree on each, so that a curve without such a size has one named in at
/// most 5 % of the sessions.
pub(super) fn other_paths(curve: &BatchCurve) -> Vec<LimitFinding> {
    let mut joint = JointDraws::default();
    let pairs = curve.points.windows(2);
    let share = (1.0 - AGREEMENT) / pairs.len().max(1) as f64;
    pairs
        .filter_map(|pair| match pair {
            [smaller, larger] => other_path(&mut joint, smaller, larger, share),
            _ => None,
        })
        .collect()
}

/// The statement about a size where its ratio is high enough in all draws but this share.
fn other_path(
    joint: &mut JointDraws,
    smaller: &CurvePoint,
    larger: &CurvePoint,
    share: f64,
) -> Option<LimitFinding> {
    let items = larger.size as f64 / smaller.size as f64;
    let [before, after] =
        [smaller, larger].map(|point| joint.draws(0, &point.by_round, RoundStatistic::Median));
    let ratios = before?.into_iter().zip(after?);
    let ratios: Vec<f64> = ratios
        .map(|(before, after)| (after - before).exp())
        .collect();
    let low = joint::quantile(&ratios, share)?;
    let at_least = joint::quantile(&ratios, 1.0 - AGREEMENT)?;
    let ratio = larger.median_ns / smaller.median_ns;
    let split = ratio / items;
    let is_stated = low > items * LEAST_SPLIT && split > LEAST_SPLIT && split.is_finite();
    is_stated.then(|| LimitFinding {
        sentence: format!(
            "The engine takes another path at batch {}: a run takes {} the time at batch {} (at least {} with 95 % confidence), and has {} the items.",
            larger.size,
            humanize::ratio(ratio),
            smaller.size,
            humanize::ratio(at_least.min(ratio)),
            humanize::ratio(items)
        ),
        basis: Basis::Curve,
        bound: None,
        at_most_here: Some(split),
        at_most_overall: None,
        line: format!("several runs at batch {}", smaller.size),
        formula: format!(
            "time at {} ÷ ({} × time at {}) = {} ÷ ({} × {})",
            larger.size,
            humanize::value(items),
            smaller.size,
            humanize::duration_ns(larger.median_ns),
            humanize::value(items),
            humanize::duration_ns(smaller.median_ns)
        ),
        nodes: Vec::new(),
        is_whole: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::batch_curve::batch_curves;
    use crate::analysis::case_rows::case_rows;
    use crate::analysis::testing::{measure, session};

    /// The sizes that are named, with five rounds each of these medians in microseconds.
    fn named(medians: &[(usize, [u64; 5])]) -> Vec<String> {
        let batches: Vec<usize> = medians.iter().map(|(batch, _)| *batch).collect();
        let mut session = session(&["ort:cpu,threads=1"], &batches);
        for (batch, medians) in medians {
            let rounds = medians.map(|micros| vec![micros * 1_000; 9]);
            let rounds: Vec<&[u64]> = rounds.iter().map(Vec::as_slice).collect();
            measure(&mut session, 0, *batch, &rounds);
        }
        let curve = batch_curves(&case_rows(&session)).remove(0);
        let found = other_paths(&curve).into_iter();
        found.map(|finding| finding.sentence).collect()
    }

    #[test]
    fn a_restless_machine_is_no_other_path() {
        // Batch 2 took 2.5 × the time of batch 1, from 1.2 to 4.
        let restless = named(&[
            (1, [1_000, 980, 1_020, 1_000, 990]),
            (2, [3_900, 1_200, 2_500, 4_000, 1_300]),
            (4, [4_300, 4_000, 3_800, 4_100, 4_000]),
        ]);
        assert!(restless.is_empty(), "{restless:?}");
        // Twice the items in 2.02 × the time, for certain: splitting gains nothing.
        let straight = named(&[
            (1, [1_000, 1_001, 999, 1_000, 1_000]),
            (2, [2_020, 2_021, 2_019, 2_020, 2_020]),
            (4, [4_080, 4_081, 4_082, 4_080, 4_079]),
        ]);
        assert!(straight.is_empty(), "{straight:?}");
    }

    #[test]
    fn what_rounds_share_hides_no_other_path() {
        let restless = [100, 160, 90, 130, 210];
        let times = |micros: [u64; 5]| {
            let mut rounds = restless.into_iter().zip(micros);
            std::array::from_fn(|_| rounds.next().map_or(0, |(common, own)| common * own / 100))
        };
        let found = named(&[
            (1, times([1_000, 1_005, 996, 1_002, 1_000])),
            (2, times([2_600, 2_602, 2_590, 2_611, 2_600])),
            (4, times([5_200, 5_190, 5_210, 5_205, 5_200])),
        ]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(
            found[0].contains("another path at batch 2: a run takes 2.6"),
            "{found:?}"
        );
    }
}
