//! Latency × throughput against the batch size.

use super::time_and_rate::{Pair, pairs};
use super::{Check, Finding, about_placed, number, time, units, value};
use powerband_core::domain::claim::Published;

/// A batch of b items in t seconds is b ÷ t items a second.
pub(crate) const CHECK: Check = Check {
    id: "rates",
    title: "Latency against throughput",
    sentence: "A batch of so many items in so much time is so many items a second.",
    find,
};

fn find(published: &Published) -> Vec<Finding> {
    let contradicting = pairs(published)
        .into_iter()
        .filter(|pair| !pair.agrees() && units::mixed_up(pair).is_none());
    contradicting.filter_map(|pair| finding(&pair)).collect()
}

fn finding(pair: &Pair) -> Option<Finding> {
    let (rate, implied) = (value(&pair.throughput)?, pair.implied()?);
    let off = (rate / implied - 1.0) * 100.0;
    let would_take = (rate > 0.0).then(|| {
        format!(
            "; {} would take {}",
            pair.throughput.words(),
            time(pair.batch as f64 / rate)
        )
    });
    Some(
        Finding::contradiction(about_placed(&pair.latency))
            .claimed(pair.words())
            .follows(format!(
                "{} in {} are {} {}{}; the two differ by {off:+.1} %",
                pair.batch,
                pair.latency.figure.words(),
                number(implied),
                pair.throughput.unit,
                would_take.unwrap_or_default(),
            ))
            .sum(pair.sum()),
    )
}
