//! A best throughput that is below what another one's own numbers give.

use super::{Check, Finding, about, number, plain, value};
use powerband_core::domain::claim::{Extreme, Figure, Metric, Published};
use powerband_core::domain::written::Bounds;

/// The best rate against the rates of everything else.
pub(crate) const CHECK: Check = Check {
    id: "best",
    title: "The best",
    sentence: "The best throughput is above what all other times give.",
    find,
};

fn find(published: &Published) -> Vec<Finding> {
    let figures: Vec<Figure> = published
        .placed()
        .into_iter()
        .map(|placed| placed.figure)
        .filter(|figure| !figure.value.is_range())
        .collect();
    let is_best = |figure: &&Figure| {
        figure.metric == Metric::Throughput && figure.extreme == Some(Extreme::Best)
    };
    let pairs = figures.iter().filter(is_best).flat_map(|best| {
        figures
            .iter()
            .filter(move |other| other.subject != best.subject)
            // The largest latency has a check of its own.
            .filter(|other| other.extreme != Some(Extreme::Worst))
            .filter_map(move |other| finding(published, best, other))
    });
    pairs.collect()
}

fn finding(published: &Published, best: &Figure, other: &Figure) -> Option<Finding> {
    let batch = other.batch?;
    let exact = Bounds::exactly(batch as f64);
    let (rate, bounds, sum) = match other.metric {
        Metric::Latency => {
            let rate = batch as f64 / value(other).filter(|seconds| *seconds > 0.0)?;
            let sum = format!(
                "{batch} ÷ {} = {} {}",
                other.words(),
                number(rate),
                best.unit
            );
            (rate, exact.over(plain(other)?), sum)
        }
        Metric::Throughput => (value(other)?, plain(other)?, other.words()),
        _ => return None,
    };
    let own = value(best).filter(|own| *own < rate)?;
    // Below the lowest bound of the second, it cannot be the best.
    let is_sure = plain(best)?.high < bounds.low;
    // The best has to be seen above the baseline; others may be as good, for all that their digits say.
    if !is_sure && published.baseline.as_ref() != Some(&other.subject) {
        return None;
    }
    let finding = if is_sure {
        Finding::contradiction
    } else {
        Finding::doubt
    };
    Some(
        finding(format!("{}, best throughput", about(best)))
            .claimed(format!("{} is the best", best.words()))
            .follows(format!(
                "{} does {} {} by its own {}: the best is {} % below, and no gain over it can be seen ({} to {} with rounding)",
                about(other),
                number(rate),
                best.unit,
                other.words(),
                powerband_core::base::humanize::significant((1.0 - own / rate) * 100.0, 2),
                number(bounds.low),
                number(bounds.high),
            ))
            .sum(sum),
    )
}
