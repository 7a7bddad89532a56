//! Shares that do not add up to the whole.

use super::{LintCheck, LintFinding};
use powerband_core::base::humanize;
use powerband_core::domain::claim::{ClaimedShares, Published};
use powerband_core::domain::written::WrittenBounds;

/// The sum of shares against 100 %.
pub(crate) const CHECK: LintCheck = LintCheck {
    id: "shares",
    title: "Shares",
    sentence: "The shares of a whole add up to 100 %, and never to more.",
    find,
};

fn find(published: &Published) -> Vec<LintFinding> {
    published.shares.iter().filter_map(finding).collect()
}

fn finding(shares: &ClaimedShares) -> Option<LintFinding> {
    let sum = WrittenBounds::sum(shares.parts.iter().map(|part| part.value.bounds()));
    let is_whole = sum.meets(WrittenBounds::exactly(100.0));
    let is_too_much = sum.low > 100.0;
    let may_be_less = !shares.is_complete && !is_too_much;
    if shares.parts.is_empty() || is_whole || may_be_less {
        return None;
    }
    let parts: Vec<String> = shares
        .parts
        .iter()
        .map(|part| part.value.to_string())
        .collect();
    let named: Vec<String> = shares
        .parts
        .iter()
        .map(|part| format!("{} {} %", part.name, part.value))
        .collect();
    let ends: (f64, f64) = shares.parts.iter().fold((0.0, 0.0), |(low, high), part| {
        (low + part.value.low(), high + part.value.high())
    });
    let digits = |value: f64| humanize::significant(value, 3);
    let sum = if ends.0 == ends.1 {
        digits(ends.0)
    } else {
        format!("{} to {}", digits(ends.0), digits(ends.1))
    };
    let words = if is_too_much {
        format!("they add up to {sum} %, more than there is")
    } else {
        format!("they add up to {sum} %, and the rest is not stated")
    };
    Some(
        LintFinding::contradiction(shares.of.as_str())
            .claimed(named.join(", "))
            .follows(words)
            .sum(format!("{} = {sum} %", parts.join(" + "))),
    )
}
