//! Gains that are promised in general, against the document's own figures of the same thing.

use super::gains::{self, stated};
use super::{LintCheck, LintFinding};
use powerband_core::domain::claim::{
    ClaimMetric, ClaimedChange, ClaimedFigure, Improvement, Published,
};

/// What is promised of a thing against what its figures show.
pub(crate) const CHECK: LintCheck = LintCheck {
    id: "promises",
    title: "Promises",
    sentence: "What is promised of an optimisation shows in the document's own figures of it.",
    find,
};

fn find(published: &Published) -> Vec<LintFinding> {
    let changes = published.all_changes();
    let promises = changes
        .iter()
        .filter(|change| change.before.is_none() && change.after.is_none());
    let found = promises.flat_map(|promise| {
        evidence(published, &changes, promise)
            .into_iter()
            .filter_map(|(before, after)| finding(promise, &before, &after))
    });
    found.collect()
}

/// Two figures of what the promise is about: before and after, or the baseline's and its own.
fn evidence(
    published: &Published,
    changes: &[ClaimedChange],
    promise: &ClaimedChange,
) -> Vec<(ClaimedFigure, ClaimedFigure)> {
    let is_fitting = |metric: &ClaimMetric| {
        *metric == promise.metric
            || (metric.is_speed()
                && promise.metric.is_speed()
                && !matches!(promise.claimed, Some(Improvement::LessBy(_))))
    };
    let of_changes = changes.iter().filter_map(|change| {
        let (before, after) = (change.before.clone()?, change.after.clone()?);
        (change.subject == promise.subject && is_fitting(&change.metric)).then_some((before, after))
    });
    let placed = published.placed_figures();
    let mut found: Vec<(ClaimedFigure, ClaimedFigure)> = of_changes.collect();
    let Some(baseline) = &published.baseline else {
        return found;
    };
    for own in placed.iter().map(|placed| &placed.figure) {
        if own.subject != promise.subject || own.subject == *baseline || !is_fitting(&own.metric) {
            continue;
        }
        let same = |other: &&ClaimedFigure| {
            other.subject == *baseline
                && other.metric == own.metric
                && other.batch == own.batch
                && other.note == own.note
        };
        let before = placed.iter().map(|placed| &placed.figure).find(same);
        found.extend(before.map(|before| (before.clone(), own.clone())));
    }
    found
}

fn finding(
    promise: &ClaimedChange,
    before: &ClaimedFigure,
    after: &ClaimedFigure,
) -> Option<LintFinding> {
    let claimed = promise.claimed.as_ref()?;
    // More throughput by some percent is so many times the speed, whichever way it was measured.
    let as_times = before.metric != promise.metric;
    let (low, high, found) = match claimed {
        Improvement::MoreBy(more) if as_times => (
            1.0 + more.low() / 100.0,
            1.0 + more.high() / 100.0,
            gains::implied_gain(before, after, &Improvement::Times(more.clone()))?,
        ),
        claimed => (
            stated(claimed).low(),
            stated(claimed).high(),
            gains::implied_gain(before, after, claimed)?,
        ),
    };
    let is_kept = found.bounds.high >= low && found.bounds.low <= high;
    // A single figure is rounded by its author.
    if is_kept || (!stated(claimed).is_range() && stated(claimed).bounds().meets(found.bounds)) {
        return None;
    }
    let batch = after.batch.filter(|_| before.batch == after.batch);
    let at = batch.map_or_else(String::new, |batch| format!(" at batch {batch}"));
    Some(
        LintFinding::doubt(format!("{}, {}", promise.subject, promise.metric.title()))
            .claimed(claimed.gain_text())
            .follows(format!(
                "{}{at}, by the document's own {} and {}",
                found.words,
                before.value_text(),
                after.value_text()
            ))
            .sum(found.sum),
    )
}
