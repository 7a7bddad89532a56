//! Steps by their effect, the largest first: ranks of gains whose verdict holds, stated where joint draws agree.

use super::case_pair::CasePair;
use super::case_rounds::{JointDraws, RoundStatistic};
use super::verdict::Call;
use powerband_core::stats::joint::{RankedValue, Statement, ranks};

/// The rank of each gain, 1 for the largest; nothing for one whose verdict is open.
pub(super) fn gain_ranks(gains: &[Option<&CasePair>]) -> Vec<Option<Statement<usize>>> {
    let mut joint = JointDraws::default();
    let mut found: Vec<Option<Statement<usize>>> = vec![None; gains.len()];
    let mut ranked = 0;
    // Verdicts that hold are in this order already.
    for call in [Call::Faster, Call::Same, Call::Slower] {
        let of_call = gains.iter().enumerate().filter_map(|(place, pair)| {
            let pair = pair.filter(|pair| pair.verdict.call == call)?;
            let contender = RankedValue {
                shown: pair.ratio?.speed_up.ln(),
                draws: gain_draws(&mut joint, pair, true),
            };
            Some((place, contender))
        });
        let (places, contenders): (Vec<usize>, Vec<RankedValue>) = of_call.unzip();
        for (&place, rank) in places.iter().zip(ranks(&contenders)) {
            found[place] = Some(rank.map(|rank| ranked + rank));
        }
        ranked += places.len();
    }
    found
}

/// Draws of the logarithm of a pair's speed-up, by the time of an item.
pub(super) fn gain_draws(
    joint: &mut JointDraws,
    pair: &CasePair,
    is_one_run: bool,
) -> Option<Vec<f64>> {
    let items = pair.after_point.batch() as f64 / pair.before_point.batch() as f64;
    let before = joint.draws(0, &pair.before.by_round, RoundStatistic::Median)?;
    let run = usize::from(!is_one_run);
    let after = joint.draws(run, &pair.after.by_round, RoundStatistic::Median)?;
    let gains = before.into_iter().zip(after);
    Some(
        gains
            .map(|(before, after)| before - after + items.ln())
            .collect(),
    )
}
