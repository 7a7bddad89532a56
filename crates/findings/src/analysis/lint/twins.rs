//! One pair of numbers that is printed as two different things.

use super::{LintCheck, LintFinding};
use powerband_core::domain::claim::{ClaimMetric, Published};

/// The ends of ranges, and what stands before and after, against those of other metrics.
pub(crate) const CHECK: LintCheck = LintCheck {
    id: "twins",
    title: "Twins",
    sentence: "Two different things seldom have the same pair of numbers.",
    find,
};

/// Two numbers that belong together, and what they are said to be.
struct NumberPair {
    metric: ClaimMetric,
    unit: String,
    ends: (f64, f64),
    digits: String,
    words: String,
}

fn find(published: &Published) -> Vec<LintFinding> {
    let ranges = published.placed_figures().into_iter().filter_map(|placed| {
        let figure = placed.figure;
        figure.value.is_range().then(|| NumberPair {
            ends: (figure.value.low(), figure.value.high()),
            words: format!("{} {}", figure.metric.title(), figure.value_text()),
            digits: figure.value.to_string(),
            metric: figure.metric,
            unit: figure.unit,
        })
    });
    let changes = published.changes.iter().filter_map(|change| {
        let (before, after) = (change.before.as_ref()?, change.after.as_ref()?);
        Some(NumberPair {
            metric: change.metric.clone(),
            unit: before.unit.clone(),
            digits: format!("{} → {}", before.value, after.value),
            ends: (before.value.value(), after.value.value()),
            words: format!(
                "{} {} → {}",
                change.metric.title(),
                before.value_text(),
                after.value_text()
            ),
        })
    });
    let twins: Vec<NumberPair> = ranges.chain(changes).collect();
    let pairs = twins.iter().enumerate().flat_map(|(place, first)| {
        twins[place + 1..]
            .iter()
            .filter(move |second| is_repeated(first, second))
            .map(move |second| finding(first, second))
    });
    pairs.collect()
}

/// Shares go from none to all all the time; anything else does not.
fn is_repeated(first: &NumberPair, second: &NumberPair) -> bool {
    let is_share = first.unit == "%" && second.unit == "%";
    first.metric != second.metric && first.ends == second.ends && !is_share
}

fn finding(first: &NumberPair, second: &NumberPair) -> LintFinding {
    LintFinding::doubt(format!(
        "{} and {}",
        first.metric.title(),
        second.metric.title()
    ))
    .claimed(format!("{}; {}", first.words, second.words))
    .follows(format!(
        "{} stands for both, with two units; one of the two is most likely a copy",
        first.digits
    ))
    .sum(format!(
        "{} {} = {} {}, digit by digit",
        first.digits, first.unit, second.digits, second.unit
    ))
}
