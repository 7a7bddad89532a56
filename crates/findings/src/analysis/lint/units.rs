//! Units that were mixed up: milliseconds for seconds, the time of an item for that of a batch.

use super::time_and_rate::{TimeAndRate, times_with_rates};
use super::{LEEWAY, LintCheck, LintFinding, placed_subject_text};
use powerband_core::domain::claim::Published;

/// A time and a rate that differ by exactly what two units differ by.
pub(crate) const CHECK: LintCheck = LintCheck {
    id: "units",
    title: "Units",
    sentence: "Where time and rate differ by 1000, or by the batch size, a unit was mixed up.",
    find,
};

/// What was mixed up, where time and rate do not agree and a unit explains it.
pub(crate) fn unit_mix_up(pair: &TimeAndRate) -> Option<&'static str> {
    let factor = pair.factor().filter(|_| !pair.is_consistent())?;
    let is_near = |expected: f64| (factor / expected - 1.0).abs() <= LEEWAY;
    if is_near(1e-3) {
        return Some(
            "the time fits if it is in seconds where milliseconds are written, or so much less",
        );
    }
    if is_near(1e3) {
        return Some(
            "the time fits if it is in microseconds where milliseconds are written, or so much more",
        );
    }
    if pair.batch > 1 && is_near(1.0 / pair.batch as f64) {
        return Some("they fit if the time is that of one item, or the rate counts batches");
    }
    None
}

fn find(published: &Published) -> Vec<LintFinding> {
    let found = times_with_rates(published).into_iter().filter_map(|pair| {
        let why = unit_mix_up(&pair)?;
        Some(
            LintFinding::contradiction(placed_subject_text(&pair.latency))
                .claimed(pair.stated_text())
                .follows(why)
                .sum(pair.sum()),
        )
    });
    found.collect()
}
