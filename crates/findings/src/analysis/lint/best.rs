//! A best throughput that is below what another one's own numbers give.

use super::{LintCheck, LintFinding, base_bounds, base_value, number, subject_text};
use powerband_core::domain::claim::{ClaimMetric, ClaimedExtreme, ClaimedFigure, Published};
use powerband_core::domain::written::WrittenBounds;

/// The best rate against the rates of everything else.
pub(crate) const CHECK: LintCheck = LintCheck {
    id: "best",
    title: "The best",
    sentence: "The best throughput is above what all other times give.",
    find,
};

fn find(published: &Published) -> Vec<LintFinding> {
    let figures: Vec<ClaimedFigure> = published
        .placed_figures()
        .into_iter()
        .map(|placed| placed.figure)
        .filter(|figure| !figure.value.is_range())
        .collect();
    let is_best = |figure: &&ClaimedFigure| {
        figure.metric == ClaimMetric::Throughput && figure.extreme == Some(ClaimedExtreme::Best)
    };
    let pairs = figures.iter().filter(is_best).flat_map(|best| {
        figures
            .iter()
            .filter(move |other| other.subject != best.subject)
            // The largest latency has a check of its own.
            .filter(|other| other.extreme != Some(ClaimedExtreme::Worst))
            .filter_map(move |other| finding(published, best, other))
    });
    pairs.collect()
}

fn finding(
    published: &Published,
    best: &ClaimedFigure,
    other: &ClaimedFigure,
) -> Option<LintFinding> {
    let batch = other.batch?;
    let exact = WrittenBounds::exactly(batch as f64);
    let (rate, bounds, sum) = match other.metric {
        ClaimMetric::Latency => {
            let rate = batch as f64 / base_value(other).filter(|seconds| *seconds > 0.0)?;
            let sum = format!(
                "{batch} ÷ {} = {} {}",
                other.value_text(),
                number(rate),
                best.unit
            );
            (rate, exact.over(base_bounds(other)?), sum)
        }
        ClaimMetric::Throughput => (base_value(other)?, base_bounds(other)?, other.value_text()),
        _ => return None,
    };
    let own = base_value(best).filter(|own| *own < rate)?;
    // Below the lowest bound of the second, it cannot be the best.
    let is_sure = base_bounds(best)?.high < bounds.low;
    // The best has to be seen above the baseline; others may be as good, for all that their digits say.
    if !is_sure && published.baseline.as_ref() != Some(&other.subject) {
        return None;
    }
    let finding = if is_sure {
        LintFinding::contradiction
    } else {
        LintFinding::doubt
    };
    Some(
        finding(format!("{}, best throughput", subject_text(best)))
            .claimed(format!("{} is the best", best.value_text()))
            .follows(format!(
                "{} does {} {} by its own {}: the best is {} % below, and no gain over it can be seen ({} to {} with rounding)",
                subject_text(other),
                number(rate),
                best.unit,
                other.value_text(),
                powerband_core::base::humanize::significant((1.0 - own / rate) * 100.0, 2),
                number(bounds.low),
                number(bounds.high),
            ))
            .sum(sum),
    )
}
