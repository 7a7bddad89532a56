//! Did it get faster? The answer, with *inconclusive* among the answers.
//!
//! From the 95 % interval of the ratio of rounds and a noise floor, which is 1 % or the spread of the
//! same setup against itself, whichever is more: *faster* or *slower* where the whole interval lies beyond
//! the floor, *same* where the whole interval lies within it, and *inconclusive* otherwise. Sameness is
//! never claimed for an interval that leaves 5 %, however restless the machine is.
//!
//! An interval that merely excludes 1 is not enough for a change: of many comparisons of a setup with
//! itself one in twenty has such an interval, and on a restless machine it is beyond the floor as well.

use std::fmt;

use powerband_core::base::humanize;
use powerband_core::stats::ratio::Estimate;

/// A change smaller than this is never called one.
pub(crate) const LEAST_FLOOR: f64 = 0.01;
/// Where a setup differs from itself by more than this, sameness is not claimed: it would be meaningless.
const MOST_FOR_SAME: f64 = 0.05;
/// Rounds are asked for with so much to spare, because the scatter is itself only estimated.
const TO_SPARE: f64 = 0.9;

/// The answer in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// After takes less time.
    Faster,
    /// After takes more time.
    Slower,
    /// They differ by less than the noise floor.
    Same,
    /// Inconclusive.
    Inconclusive,
}

impl Call {
    /// One word, the same in documents and tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::Same => "same",
            Self::Inconclusive => "inconclusive",
        }
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The answer with its grounds.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// In one word.
    pub call: Call,
    /// The change that is noise here, as a share; nothing where no interval could be made.
    pub floor: Option<f64>,
    /// Why it is inconclusive, or a warning.
    pub reason: Option<String>,
    /// How many more rounds would settle it, if rounds go on to scatter as they did.
    pub more_rounds: Option<u32>,
}

impl Verdict {
    /// No answer, and why.
    pub(crate) fn withheld(reason: impl Into<String>) -> Self {
        Self {
            call: Call::Inconclusive,
            floor: None,
            reason: Some(reason.into()),
            more_rounds: None,
        }
    }
}

/// The answer for an estimate.
pub fn verdict_of_estimate(estimate: &Estimate) -> Verdict {
    let call = call(estimate);
    let unsettled = call == Call::Inconclusive;
    let is_known = estimate.interval().tells_of(estimate.ratio());
    let more_rounds = (unsettled && is_known)
        .then(|| more_rounds(estimate))
        .flatten();
    Verdict {
        call,
        floor: Some(floor(estimate).exp_m1()),
        reason: unsettled.then(|| reason(estimate, more_rounds)),
        more_rounds,
    }
}

/// The change that is noise here, as a logarithm.
fn floor(estimate: &Estimate) -> f64 {
    estimate.spread.max(LEAST_FLOOR.ln_1p())
}

fn call(estimate: &Estimate) -> Call {
    let floor = floor(estimate);
    let (size, half) = (estimate.ln.abs(), estimate.half_width());
    if size - half > floor {
        if estimate.ln > 0.0 {
            Call::Faster
        } else {
            Call::Slower
        }
    } else if size + half <= floor.min(MOST_FOR_SAME.ln_1p()) {
        Call::Same
    } else {
        Call::Inconclusive
    }
}

/// With more rounds the interval narrows, and so does the spread, down to 1 %.
fn more_rounds(estimate: &Estimate) -> Option<u32> {
    let least = LEAST_FLOOR.ln_1p();
    // Whichever answer comes first: that there is a change, or that there is none.
    let is_settled = |then: &Estimate| {
        let size = then.ln.abs();
        let room = (size - floor(then)).max(least - size);
        then.half_width() <= room * TO_SPARE
    };
    let total = estimate.fewest_rounds(is_settled)?;
    Some(total - estimate.rounds)
}

fn reason(estimate: &Estimate, more: Option<u32>) -> String {
    let percent = |ln: f64| format!("±{:.1} %", ln.exp_m1() * 100.0);
    let (size, floor) = (estimate.ln.abs(), floor(estimate));
    let interval = estimate.interval();
    let noise = if estimate.spread > LEAST_FLOOR.ln_1p() {
        format!(
            "{}, by which this setup differs from itself here",
            percent(floor)
        )
    } else {
        format!("{}, which is never called a change", percent(floor))
    };
    let rounds = humanize::of_many(u64::from(estimate.rounds), "round");
    if !interval.tells_of(estimate.ratio()) {
        return format!(
            "after {rounds} its 95 % interval is not known: it reaches beyond 10 × either way; measure five rounds or more, close other programs, or measure longer a round"
        );
    }
    let [low, high] = [interval.low, interval.high].map(|end| humanize::significant(end, 4));
    let range = format!("after {rounds} it may be anything from {low} × to {high} ×");
    let seen = if size <= estimate.half_width() {
        range
    } else if size <= floor {
        format!("the change is within {noise}")
    } else {
        format!("{range}, which is not clear of {noise}")
    };
    match more {
        Some(more) => format!(
            "{seen}; about {} would settle it",
            humanize::of_many(u64::from(more), "more round")
        ),
        None => format!(
            "{seen}; more rounds would not settle it: close other programs, or measure longer a round"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(percent: f64, error: f64, spread: f64) -> Estimate {
        Estimate {
            ln: (percent / 100.0).ln_1p(),
            error: error / 100.0,
            freedom: 4.0,
            rounds: 5,
            is_paired: true,
            spread: spread / 100.0,
        }
    }

    fn call(percent: f64, error: f64, spread: f64) -> Call {
        super::call(&estimate(percent, error, spread))
    }

    #[test]
    fn a_change_counts_where_it_is_sure_and_beyond_the_floor() {
        assert_eq!(call(3.0, 0.5, 0.0), Call::Faster);
        assert_eq!(call(-3.0, 0.5, 0.0), Call::Slower);
        assert_eq!(
            call(3.0, 0.3, 4.0),
            Call::Same,
            "sure, but within what is noise here"
        );
        assert_eq!(call(3.0, 1.5, 0.0), Call::Inconclusive, "not sure");
        assert_eq!(
            call(3.0, 0.9, 0.0),
            Call::Inconclusive,
            "sure that it is none, and not that it is beyond the floor"
        );
        assert_eq!(
            call(0.9, 0.1, 0.0),
            Call::Inconclusive,
            "sure, and smaller than 1 %"
        );
    }

    #[test]
    fn sameness_must_be_shown_as_well() {
        assert_eq!(call(0.1, 0.2, 0.0), Call::Same);
        assert_eq!(call(0.0, 1.0, 0.0), Call::Inconclusive);
        assert_eq!(
            call(3.0, 1.0, 30.0),
            Call::Inconclusive,
            "anything would be the same"
        );
    }

    #[test]
    fn what_is_not_settled_says_how_many_rounds_are_missing() {
        let verdict = verdict_of_estimate(&estimate(3.0, 1.5, 0.0));
        let more = verdict.more_rounds.unwrap();
        assert_eq!(more, 12);
        let reason = verdict.reason.unwrap();
        assert!(
            reason.contains("after 5 rounds") && reason.contains("more rounds"),
            "{reason}"
        );
        // A verdict that was found needs no rounds.
        assert_eq!(
            verdict_of_estimate(&estimate(3.0, 0.5, 0.0)).more_rounds,
            None
        );
        // A change of exactly the floor is neither a change nor none.
        let hopeless = verdict_of_estimate(&estimate(1.0, 40.0, 0.0));
        assert_eq!(hopeless.more_rounds, None);
        assert!(hopeless.reason.unwrap().contains("close other programs"));
    }

    #[test]
    fn more_rounds_narrow_the_spread_too() {
        let verdict = verdict_of_estimate(&estimate(3.0, 0.1, 3.05));
        assert_eq!(verdict.call, Call::Inconclusive);
        assert!(verdict.more_rounds.is_some(), "{verdict:?}");
        assert!(verdict.reason.unwrap().contains("differs from itself"));
    }
}
