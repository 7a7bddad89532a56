//! A throughput below what the largest latency gives.

use super::{
    LEEWAY, LintCheck, LintFinding, base_bounds, base_value, number, percent, subject_text,
};
use powerband_core::domain::claim::{ClaimMetric, ClaimedExtreme, ClaimedFigure, Published};
use powerband_core::domain::written::WrittenBounds;

/// No batch takes longer than the largest latency, so no rate is below the batch over that.
pub(crate) const CHECK: LintCheck = LintCheck {
    id: "worst",
    title: "The worst",
    sentence: "No throughput is below the batch size over the largest latency.",
    find,
};

fn find(published: &Published) -> Vec<LintFinding> {
    let placed = published.placed_figures();
    let figures = placed.iter().map(|placed| &placed.figure);
    let of_metric = |metric: ClaimMetric| {
        let figures = figures.clone();
        figures.filter(move |figure| figure.metric == metric && !figure.value.is_range())
    };
    let worst =
        of_metric(ClaimMetric::Latency).filter(|time| time.extreme == Some(ClaimedExtreme::Worst));
    worst
        .flat_map(|worst| {
            of_metric(ClaimMetric::Throughput).filter_map(|rate| finding(worst, rate))
        })
        .collect()
}

fn finding(worst: &ClaimedFigure, rate: &ClaimedFigure) -> Option<LintFinding> {
    let is_best = rate.extreme == Some(ClaimedExtreme::Best);
    // Time and rate of one thing are the business of other checks; the best is no lower at any batch size.
    if rate.subject == worst.subject
        || rate.note != worst.note
        || (rate.batch != worst.batch && !is_best)
    {
        return None;
    }
    let batch = worst.batch?;
    let least = batch as f64 / base_value(worst).filter(|seconds| *seconds > 0.0)?;
    let own = base_value(rate).filter(|own| *own < least)?;
    let bounds = WrittenBounds::exactly(batch as f64).over(base_bounds(worst)?);
    let is_sure = !bounds.wider(LEEWAY).meets(base_bounds(rate)?);
    // Within the digits, the best has yet to be seen above the worst; others may be as slow as that.
    if !is_sure && !is_best {
        return None;
    }
    let finding = if is_sure {
        LintFinding::contradiction
    } else {
        LintFinding::doubt
    };
    let best = if is_best { ", the best" } else { "" };
    Some(
        finding(format!("{}, throughput", subject_text(rate)))
            .claimed(format!(
                "{}{best}; {} ({}) is the largest latency",
                rate.value_text(),
                worst.value_text(),
                subject_text(worst)
            ))
            .follows(format!(
                "{batch} in no more than {} are no fewer than {} {} ({} to {} with rounding): {} is {} below that",
                worst.value_text(),
                number(least),
                rate.unit,
                number(bounds.low),
                number(bounds.high),
                rate.value_text(),
                percent(1.0 - own / least),
            ))
            .sum(format!(
                "{batch} ÷ {} = {} {} > {}",
                worst.value_text(),
                number(least),
                rate.unit,
                rate.value_text()
            )),
    )
}
