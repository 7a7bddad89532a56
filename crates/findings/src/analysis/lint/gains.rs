//! Improvements that do not follow from what stands before and after.

use super::{Check, Finding, number, plain, value};
use powerband_core::domain::claim::{Change, Figure, Improvement, Metric, Published};
use powerband_core::domain::written::{Bounds, Written};

/// A stated gain against the quotient of its own two numbers.
pub(crate) const CHECK: Check = Check {
    id: "gains",
    title: "Gains",
    sentence: "A stated improvement is the quotient of the values before and after.",
    find,
};

/// What two figures come to, in the terms of an improvement.
pub(super) struct Outcome {
    /// What the digits of the two leave open.
    pub bounds: Bounds,
    /// The number in words.
    pub words: String,
    /// The arithmetic behind it.
    pub sum: String,
}

/// What two figures come to; nothing where they cannot be divided.
pub(super) fn outcome(before: &Figure, after: &Figure, claimed: &Improvement) -> Option<Outcome> {
    let (b, a) = (plain(before)?, plain(after)?);
    let (bv, av) = (value(before)?, value(after)?);
    let quotient =
        |above: &Figure, below: &Figure| format!("{} ÷ {}", above.words(), below.words());
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
            let bounds = Bounds {
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
            let bounds = Bounds {
                low: 100.0 * (share.low - 1.0),
                high: 100.0 * (share.high - 1.0),
            };
            let sum = format!("{} − 1", quotient(after, before));
            (value, bounds, less(-value), sum)
        }
    };
    value.is_finite().then(|| Outcome {
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

fn find(published: &Published) -> Vec<Finding> {
    published.all_changes().iter().filter_map(finding).collect()
}

fn finding(change: &Change) -> Option<Finding> {
    let (before, after) = (change.before.as_ref()?, change.after.as_ref()?);
    let claimed = change.claimed.as_ref()?;
    let found = outcome(before, after, claimed)?;
    if stated(claimed).bounds().meets(found.bounds) {
        return None;
    }
    // For other metrics the better direction is not known.
    if matches!(change.metric, Metric::Parameters | Metric::Other(_))
        && let Some(turned) = outcome(after, before, claimed)
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
        Finding::contradiction(about)
            .claimed(format!(
                "{} → {}: {}",
                before.words(),
                after.words(),
                claimed.words()
            ))
            .follows(format!("{} follows from the two", found.words))
            .sum(found.sum),
    )
}
