//! A list from the best to the worst whose own numbers go another way.

use super::{LintCheck, LintFinding, base_bounds, number};
use powerband_core::domain::claim::{
    ClaimMetric, ClaimedChange, ClaimedRanking, Improvement, Published,
};
use powerband_core::domain::written::WrittenBounds;

/// The order of a list against what each of its entries is said to bring.
pub(crate) const CHECK: LintCheck = LintCheck {
    id: "rankings",
    title: "Rankings",
    sentence: "What stands higher in a ranking is said to bring no less than what stands below.",
    find,
};

/// What an entry is said to bring.
struct StatedEffect {
    name: String,
    rank: usize,
    words: Vec<String>,
    /// Times as good, for all that the document states of it.
    factor: WrittenBounds,
}

fn find(published: &Published) -> Vec<LintFinding> {
    let changes = published.all_changes();
    let of_ranking = |ranking| {
        let effects = effects(ranking, &changes);
        let found = effects.iter().enumerate().filter_map(|(place, effect)| {
            finding(ranking, effects.get(..place).unwrap_or_default(), effect)
        });
        found.collect::<Vec<_>>()
    };
    published.rankings.iter().flat_map(of_ranking).collect()
}

/// Entries whose effect is stated, in the order of the list.
fn effects(ranking: &ClaimedRanking, changes: &[ClaimedChange]) -> Vec<StatedEffect> {
    let is_fitting = |metric: &ClaimMetric| {
        *metric == ranking.metric || (metric.is_speed() && ranking.metric.is_speed())
    };
    let effect = |(rank, name): (usize, &String)| {
        let of_name = changes
            .iter()
            .filter(|change| change.subject == *name && is_fitting(&change.metric));
        let stated: Vec<(String, WrittenBounds)> = of_name.filter_map(factor).collect();
        let bounds = || stated.iter().map(|(_, bounds)| bounds);
        // The widest of all that is stated of it, so that the order is wrong whichever is right.
        Some(StatedEffect {
            name: name.clone(),
            rank,
            factor: WrittenBounds {
                low: bounds().map(|bounds| bounds.low).reduce(f64::min)?,
                high: bounds().map(|bounds| bounds.high).reduce(f64::max)?,
            },
            words: stated.into_iter().map(|(words, _)| words).collect(),
        })
    };
    (1..).zip(&ranking.best_first).filter_map(effect).collect()
}

/// A change in its document's words, and times as good.
fn factor(change: &ClaimedChange) -> Option<(String, WrittenBounds)> {
    let is_better_high = change.metric.is_better_high()?;
    let bounds = match (&change.claimed, &change.before, &change.after) {
        (Some(Improvement::Times(times)), ..) => times.bounds(),
        (Some(Improvement::MoreBy(percent)), ..) if is_better_high => {
            let share = percent.bounds().times(0.01);
            WrittenBounds {
                low: 1.0 + share.low,
                high: 1.0 + share.high,
            }
        }
        (Some(Improvement::LessBy(percent)), ..) if !is_better_high => {
            let share = percent.bounds().times(0.01);
            WrittenBounds::exactly(1.0).over(WrittenBounds {
                low: 1.0 - share.high,
                high: 1.0 - share.low,
            })
        }
        (None, Some(before), Some(after)) if is_better_high => {
            base_bounds(after)?.over(base_bounds(before)?)
        }
        (None, Some(before), Some(after)) => base_bounds(before)?.over(base_bounds(after)?),
        _ => return None,
    };
    let words = match (&change.claimed, &change.before, &change.after) {
        (Some(claimed), ..) => claimed.gain_text(),
        (None, Some(before), Some(after)) => {
            format!("{} → {}", before.value_text(), after.value_text())
        }
        _ => return None,
    };
    Some((words, bounds))
}

fn finding(
    ranking: &ClaimedRanking,
    above: &[StatedEffect],
    effect: &StatedEffect,
) -> Option<LintFinding> {
    let weaker: Vec<&StatedEffect> = above
        .iter()
        .filter(|other| other.factor.high < effect.factor.low)
        .collect();
    let first = weaker.first()?;
    let stated = |effect: &StatedEffect| {
        format!(
            "{}. {}, {}",
            effect.rank,
            effect.name,
            effect.words.join(" and ")
        )
    };
    let all = weaker.iter().copied().chain([effect]);
    let names: Vec<&str> = weaker.iter().map(|other| other.name.as_str()).collect();
    let sums = weaker.iter().map(|other| {
        format!(
            "{} × < {} ×",
            number(other.factor.high),
            number(effect.factor.low)
        )
    });
    Some(
        LintFinding::contradiction(format!("{}, {}", effect.name, ranking.title))
            .claimed(all.map(stated).collect::<Vec<_>>().join("; "))
            .follows(format!(
                "the least of {} is more than the most of {}, so it belongs above rank {}",
                effect.name,
                powerband_core::base::humanize::list(&names),
                first.rank
            ))
            .sum(sums.collect::<Vec<_>>().join("; ")),
    )
}
