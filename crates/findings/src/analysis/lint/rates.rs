//! Latency × throughput against the batch size.

use super::time_and_rate::{TimeAndRate, times_with_rates};
use super::{LintCheck, LintFinding, base_value, number, placed_subject_text, time, units};
use powerband_core::domain::claim::Published;

/// A batch of b items in t seconds is b ÷ t items a second.
pub(crate) const CHECK: LintCheck = LintCheck {
    id: "rates",
    title: "Latency against throughput",
    sentence: "A batch of so many items in so much time is so many items a second.",
    find,
};

fn find(published: &Published) -> Vec<LintFinding> {
    let contradicting = times_with_rates(published)
        .into_iter()
        .filter(|pair| !pair.is_consistent() && units::unit_mix_up(pair).is_none());
    contradicting.filter_map(|pair| finding(&pair)).collect()
}

fn finding(pair: &TimeAndRate) -> Option<LintFinding> {
    let (rate, implied) = (base_value(&pair.throughput)?, pair.implied()?);
    let off = (rate / implied - 1.0) * 100.0;
    let would_take = (rate > 0.0).then(|| {
        format!(
            "; {} would take {}",
            pair.throughput.value_text(),
            time(pair.batch as f64 / rate)
        )
    });
    Some(
        LintFinding::contradiction(placed_subject_text(&pair.latency))
            .claimed(pair.stated_text())
            .follows(format!(
                "{} in {} are {} {}{}; the two differ by {off:+.1} %",
                pair.batch,
                pair.latency.figure.value_text(),
                number(implied),
                pair.throughput.unit,
                would_take.unwrap_or_default(),
            ))
            .sum(pair.sum()),
    )
}
