//! Improvements that do not follow from what stands before and after.

use super::{LintCheck, LintFinding, base_bounds, base_value, number};
use powerband_core::domain::claim::{
    ClaimMetric, ClaimedChange, ClaimedFigure, Improvement, Published,
};
use powerband_core::domain::written::{Written, WrittenBounds};

/// A stated gain against the quotient of its own two numbers.
pub(crate) const CHECK: LintCheck = LintCheck {
    id: "gains",
    title: "Gains",
    sentence: "A stated improvement is the quotient of the values before and after.",
    find,
};

/// What two figures come to, in the terms of an improvement.
pub(super) struct ImpliedGain {
    /// What the digits of the two leave open.
    pub bounds: WrittenBounds,
    /// The number in words.
    pub words: String,
    /// The arithmetic behind it.
    pub sum: String,
}

/// What two figures come to; nothing where they cannot be divided.
pub(super) fn implied_gain(
    before: &ClaimedFigure,
    after: &ClaimedFigure,
    claimed: &Improvement,
) -> Option<ImpliedGain> {
    let (b, a) = (base_bounds(before)?, base_bounds(after)?);
    let (bv, av) = (base_value(before)?, base_value(after)?);
    let quotient = |above: &ClaimedFigure, below: &ClaimedFigure| {
        format!("{} ÷ {}", above.value_text(), below.value_text())
    };
    let (value, bounds, words, sum) = match claimed {
        Improvement::Times(_) => {
            let falls = before.metric.is_better_high() == Some(false);
            let (value, bounds, sum) = if falls {
                (bv / av, b.over(a), quotient(before, after))
            } else {
                (av / bv, a.over(b), quotient(after, before))
            };
            (value, bounds, format!("{} ×", number(value)), sum)
        }
        Improvement::LessBy(_) => {
            let share = a.over(b);
            let value = 100.0 * (1.0 - av / bv);
            let bounds = WrittenBounds {
                low: 100.0 * (1.0 - share.high),
                high: 100.0 * (1.0 - share.low),
            };
            let quotient = quotient(after, before);
            let sum = if value < 0.0 {
                format!("{quotient} − 1")
            } else {
                format!("1 − {quotient}")
            };
            (value, bounds, less(value), sum)
        }
        Improvement::MoreBy(_) => {
            let share = a.over(b);
            let value = 100.0 * (av / bv - 1.0);
            let bounds = WrittenBounds {
                low: 100.0 * (share.low - 1.0),
                high: 100.0 * (share.high - 1.0),
            };
            let sum = format!("{} − 1", quotient(after, before));
            (value, bounds, less(-value), sum)
        }
    };
    value.is_finite().then(|| ImpliedGain {
        bounds,
        sum: format!("{sum} = {words}"),
        words,
    })
}

/// A change in percent as text: less, or more where it is negative.
fn less(percent: f64) -> String {
    let word = if percent < 0.0 { "more" } else { "less" };
    format!("{:.0} % {word}", percent.abs())
}

/// The figure of an improvement.
pub(super) fn stated(claimed: &Improvement) -> &Written {
    match claimed {
        Improvement::Times(figure) | Improvement::LessBy(figure) | Improvement::MoreBy(figure) => {
            figure
        }
    }
}

fn find(published: &Published) -> Vec<LintFinding> {
    published.all_changes().iter().filter_map(finding).collect()
}

fn finding(change: &ClaimedChange) -> Option<LintFinding> {
    let (before, after) = (change.before.as_ref()?, change.after.as_ref()?);
    let claimed = change.claimed.as_ref()?;
    let found = implied_gain(before, after, claimed)?;
    if stated(claimed).bounds().meets(found.bounds) {
        return None;
    }
    // For other metrics the better direction is not known.
    if matches!(
        change.metric,
        ClaimMetric::Parameters | ClaimMetric::Other(_)
    ) && let Some(turned) = implied_gain(after, before, claimed)
        && stated(claimed).bounds().meets(turned.bounds)
    {
        return None;
    }
    let about = if change.subject.is_empty() {
        change.metric.title().to_owned()
    } else {
        format!("{}, {}", change.subject, change.metric.title())
    };
    Some(
        LintFinding::contradiction(about)
            .claimed(format!(
                "{} → {}: {}",
                before.value_text(),
                after.value_text(),
                claimed.gain_text()
            ))
            .follows(format!("{} follows from the two", found.words))
            .sum(found.sum),
    )
}
