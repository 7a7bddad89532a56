//! A throughput below what the largest latency gives.

use super::{Check, Finding, LEEWAY, about, number, percent, plain, value};
use powerband_core::domain::claim::{Extreme, Figure, Metric, Published};
use powerband_core::domain::written::Bounds;

/// No batch takes longer than the largest latency, so no rate is below the batch over that.
pub(crate) const CHECK: Check = Check {
    id: "worst",
    title: "The worst",
    sentence: "No throughput is below the batch size over the largest latency.",
    find,
};

fn find(published: &Published) -> Vec<Finding> {
    let placed = published.placed();
    let figures = placed.iter().map(|placed| &placed.figure);
    let of_metric = |metric: Metric| {
        let figures = figures.clone();
        figures.filter(move |figure| figure.metric == metric && !figure.value.is_range())
    };
    let worst = of_metric(Metric::Latency).filter(|time| time.extreme == Some(Extreme::Worst));
    worst
        .flat_map(|worst| of_metric(Metric::Throughput).filter_map(|rate| finding(worst, rate)))
        .collect()
}

fn finding(worst: &Figure, rate: &Figure) -> Option<Finding> {
    let is_best = rate.extreme == Some(Extreme::Best);
    // Time and rate of one thing are the business of other checks; the best is no lower at any batch size.
    if rate.subject == worst.subject
        || rate.note != worst.note
        || (rate.batch != worst.batch && !is_best)
    {
        return None;
    }
    let batch = worst.batch?;
    let least = batch as f64 / value(worst).filter(|seconds| *seconds > 0.0)?;
    let own = value(rate).filter(|own| *own < least)?;
    let bounds = Bounds::exactly(batch as f64).over(plain(worst)?);
    let is_sure = !bounds.wider(LEEWAY).meets(plain(rate)?);
    // Within the digits, the best has yet to be seen above the worst; others may be as slow as that.
    if !is_sure && !is_best {
        return None;
    }
    let finding = if is_sure {
        Finding::contradiction
    } else {
        Finding::doubt
    };
    let best = if is_best { ", the best" } else { "" };
    Some(
        finding(format!("{}, throughput", about(rate)))
            .claimed(format!(
                "{}{best}; {} ({}) is the largest latency",
                rate.words(),
                worst.words(),
                about(worst)
            ))
            .follows(format!(
                "{batch} in no more than {} are no fewer than {} {} ({} to {} with rounding): {} is {} below that",
                worst.words(),
                number(least),
                rate.unit,
                number(bounds.low),
                number(bounds.high),
                rate.words(),
                percent(1.0 - own / least),
            ))
            .sum(format!(
                "{batch} ÷ {} = {} {} > {}",
                worst.words(),
                number(least),
                rate.unit,
                rate.words()
            )),
    )
}
