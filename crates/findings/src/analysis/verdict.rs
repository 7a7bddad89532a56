//! Did it get faster? The answer, with *inconclusive* among the answers.
//!
//! From the 95 % interval of the ratio of rounds and a noise floor, which is 1 % or the spread of the
//! same setup against itself, whichever is more: *faster* or *slower* where the whole interval lies beyond
//! the floor, *same* where the whole interval lies within it, and *inconclusive* otherwise. Sameness is
//! never claimed for an interval that leaves 5 %, however restless the machine is.
//!
//! With one start of the workers the floor is 5 %: how the next start would differ is not known then. Where the two were
//! not interleaved, the interval has what sessions differ by (`stats::session_spread`), more rounds would change nothing,
//! and the reason says so.
//!
//! An interval that merely excludes 1 is not enough for a change: of many comparisons of a setup with
//! itself one in twenty has such an interval, and on a restless machine it is beyond the floor as well.

use std::fmt;

use powerband_core::base::humanize;
use powerband_core::stats::prediction::{self, MoreRounds};
use powerband_core::stats::ratio::Estimate;
use powerband_core::stats::session_spread::{FEWEST_SESSIONS, NARROW_RATIO, SessionSpread};

/// A change smaller than this is never called one.
pub(crate) const LEAST_FLOOR: f64 = 0.01;
/// Where a setup differs from itself by more than this, sameness is not claimed: it would be meaningless.
const MOST_FOR_SAME: f64 = 0.05;
/// With one start a smaller change is never called one: a process is a draw, and two of them differ by some per cent.
pub(super) const ONE_START_FLOOR: f64 = 0.05;

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
    /// How many more rounds may settle it, and how likely they do.
    pub more_rounds: Option<MoreRounds>,
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

    /// The same with what more rounds promise, where a round takes so many seconds.
    pub(crate) fn with_round_time(mut self, round_s: Option<f64>) -> Self {
        if let Some(more) = &mut self.more_rounds {
            more.seconds = round_s.map(|seconds| seconds * f64::from(more.rounds));
            let reason = self.reason.get_or_insert_default();
            reason.push_str("; ");
            reason.push_str(&more.text());
        }
        self
    }
}

/// The answer for an estimate.
pub fn verdict_of_estimate(estimate: &Estimate) -> Verdict {
    let call = call(estimate);
    let unsettled = call == Call::Inconclusive;
    let is_known = estimate.interval().tells_of(estimate.ratio());
    let settles = |then: &Estimate, half: f64| call_within(then, half) != Call::Inconclusive;
    let is_carried = unsettled && carry_over_reason(estimate).is_some();
    let more_rounds = (unsettled && is_known && estimate.apart.is_none() && !is_carried)
        .then(|| prediction::more_rounds(estimate, settles))
        .flatten();
    let reason = match estimate.apart {
        Some(sessions) => Some(reason_apart(estimate, sessions, unsettled)),
        None => unsettled.then(|| reason(estimate, more_rounds.is_some())),
    };
    Verdict {
        call,
        floor: Some(floor(estimate).exp_m1()),
        reason,
        more_rounds,
    }
}

/// The change that is noise here, as a logarithm.
fn floor(estimate: &Estimate) -> f64 {
    noise(estimate).max(LEAST_FLOOR.ln_1p())
}

/// What a side differs from itself by, as a logarithm: a change within it is none, however small a limit is.
pub(super) fn noise(estimate: &Estimate) -> f64 {
    let one_start = if has_one_start(estimate) {
        ONE_START_FLOOR.ln_1p()
    } else {
        0.0
    };
    estimate.spread.max(one_start)
}

/// Whether the interval rests on rounds of one start. Between sessions it rests on how these differ.
fn has_one_start(estimate: &Estimate) -> bool {
    estimate.apart.is_none() && estimate.starts < 2
}

/// The answer in one word.
pub(super) fn call(estimate: &Estimate) -> Call {
    call_within(estimate, estimate.half_width())
}

/// The answer for an estimate with half the width of its interval; none where the first halves of the visits have another
/// one than the second halves.
fn call_within(estimate: &Estimate, half: f64) -> Call {
    let call = call_of_whole_visits(estimate, half);
    let ends = [estimate.carry_over / 2.0, -estimate.carry_over / 2.0];
    let is_of_both_halves = ends.iter().all(|by| {
        let of_half = Estimate {
            ln: estimate.ln + by,
            ..*estimate
        };
        call_of_whole_visits(&of_half, half) == call
    });
    if is_of_both_halves {
        call
    } else {
        Call::Inconclusive
    }
}

/// What carries over, in words, where nothing else leaves the verdict open.
fn carry_over_reason(estimate: &Estimate) -> Option<String> {
    let is_settled = call_of_whole_visits(estimate, estimate.half_width()) != Call::Inconclusive;
    is_settled.then(|| carry_over_text(estimate))
}

/// What carries over, in words.
pub(super) fn carry_over_text(estimate: &Estimate) -> String {
    let share = humanize::percent(estimate.carry_over.abs().exp_m1());
    format!(
        "the ratio just after a switch differs from that of the rest of a visit by {share}: what ran before carries over, or one side warms up; measure longer a round, as the preset publish does"
    )
}

fn call_of_whole_visits(estimate: &Estimate, half: f64) -> Call {
    let floor = floor(estimate);
    let size = estimate.ln.abs();
    if size - half > floor {
        if estimate.ln > 0.0 {
            Call::Faster
        } else {
            Call::Slower
        }
    } else if size + half <= floor.min(MOST_FOR_SAME.ln_1p()) && !seems_changed(estimate) {
        Call::Same
    } else {
        Call::Inconclusive
    }
}

/// Whether the one start that there was would be called a change if the next ones were like it.
fn seems_changed(estimate: &Estimate) -> bool {
    let least = estimate.spread.max(LEAST_FLOOR.ln_1p());
    has_one_start(estimate) && estimate.ln.abs() - estimate.half_width() > least
}

fn reason(estimate: &Estimate, more_settle_it: bool) -> String {
    if let Some(reason) = carry_over_reason(estimate) {
        return reason;
    }
    let percent = |ln: f64| format!("±{:.1} %", ln.exp_m1() * 100.0);
    let (size, floor) = (estimate.ln.abs(), floor(estimate));
    let interval = estimate.interval();
    let noise = if has_one_start(estimate) && floor > estimate.spread {
        format!(
            "{}, within which nothing is called a change after one start of a worker: its next ones may differ",
            percent(floor)
        )
    } else if estimate.spread > LEAST_FLOOR.ln_1p() {
        format!(
            "{}, by which this setup differs from itself here",
            percent(floor)
        )
    } else {
        format!("{}, which is never called a change", percent(floor))
    };
    let rounds = humanize::pluralised(u64::from(estimate.rounds), "round");
    if !interval.tells_of(estimate.ratio()) {
        return format!(
            "after {rounds} its 95 % interval is not known: it reaches beyond 10 × either way; measure five rounds or more, close other programs, or measure longer a round"
        );
    }
    let range = format!("after {rounds} {}", range_text(estimate));
    let seen = if size <= estimate.half_width() {
        range
    } else if size <= floor {
        format!("the change is within {noise}")
    } else {
        format!("{range}, which is not clear of {noise}")
    };
    if more_settle_it {
        return seen;
    }
    format!(
        "{seen}; more rounds would not settle it: close other programs, or measure longer a round"
    )
}

/// What a verdict between sessions rests on, and between what the ratio may lie where that does not settle it.
fn reason_apart(estimate: &Estimate, sessions: SessionSpread, unsettled: bool) -> String {
    let grounds = match sessions {
        SessionSpread::Known {
            deviation,
            sessions,
        } => format!(
            "{} here differ by {}",
            humanize::pluralised(u64::from(sessions), "session"),
            humanize::percent(deviation.exp_m1())
        ),
        SessionSpread::Assumed => format!(
            "fewer than {FEWEST_SESSIONS} earlier sessions show how much sessions differ here, so {} is assumed",
            humanize::percent(sessions.deviation())
        ),
        SessionSpread::Exceeded => {
            "the rounds of the two sides differ among themselves by more than sessions do"
                .to_owned()
        }
        SessionSpread::Narrow => format!(
            "a side was not measured in three starts over 15 s, so that nothing below {} is called a change",
            humanize::ratio(NARROW_RATIO)
        ),
    };
    if unsettled && !estimate.interval().tells_of(estimate.ratio()) {
        return format!("not interleaved; {grounds}; its interval reaches beyond 10 × either way");
    }
    if unsettled {
        return format!("not interleaved; {grounds}; {}", range_text(estimate));
    }
    format!("not interleaved; {grounds}")
}

fn range_text(estimate: &Estimate) -> String {
    let interval = estimate.interval();
    let [low, high] = [interval.low, interval.high].map(|end| humanize::significant(end, 4));
    format!("it may be anything from {low} × to {high} ×")
}

#[cfg(test)]
mod tests {
    use super::*;
    use powerband_core::stats::sequential::Look;

    fn estimate(percent: f64, error: f64, spread: f64) -> Estimate {
        Estimate {
            ln: (percent / 100.0).ln_1p(),
            error: error / 100.0,
            freedom: 4.0,
            rounds: 5,
            starts: 5,
            apart: None,
            spread: spread / 100.0,
            look: Look::Planned,
            carry_over: 0.0,
            lag: 0.0,
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
    fn what_holds_for_the_beginning_of_visits_alone_is_no_verdict() {
        let carried = |percent: f64, carry: f64| {
            verdict_of_estimate(&Estimate {
                carry_over: carry,
                lag: 0.0,
                ..estimate(percent, 0.2, 0.0)
            })
        };
        let open = carried(3.0, 0.06);
        assert_eq!(open.call, Call::Inconclusive);
        assert_eq!(open.more_rounds, None, "they would be like those");
        let reason = open.reason.unwrap();
        assert!(reason.contains("just after a switch differs"), "{reason}");
        assert_eq!(carried(3.0, -0.06).call, Call::Inconclusive);
        assert_eq!(carried(30.0, 0.06).call, Call::Faster, "of both halves");
        assert_eq!(carried(0.1, 0.004).call, Call::Same);
        assert_eq!(carried(0.1, 0.03).call, Call::Inconclusive);
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
        let verdict = verdict_of_estimate(&estimate(3.0, 1.5, 0.0)).with_round_time(Some(3.0));
        let more = verdict.more_rounds.unwrap();
        assert!(
            (5..=50).contains(&more.rounds) && more.probability >= 0.5,
            "{more:?}"
        );
        assert_eq!(more.seconds, Some(3.0 * f64::from(more.rounds)));
        let reason = verdict.reason.unwrap();
        assert!(
            reason.contains("after 5 rounds") && reason.ends_with(&more.text()),
            "{reason}"
        );
        // A verdict that was found needs no rounds.
        assert_eq!(
            verdict_of_estimate(&estimate(3.0, 0.5, 0.0)).more_rounds,
            None
        );
        // A change of exactly the floor is neither a change nor none.
        let hopeless = verdict_of_estimate(&Estimate {
            freedom: 4_999.0,
            rounds: 5_000,
            ..estimate(1.0, 0.04, 0.0)
        });
        assert_eq!(hopeless.more_rounds, None);
        assert!(hopeless.reason.unwrap().contains("close other programs"));
    }

    #[test]
    fn more_rounds_narrow_the_spread_too() {
        let verdict = verdict_of_estimate(&estimate(3.0, 0.1, 3.05));
        assert_eq!(verdict.call, Call::Inconclusive);
        assert!(verdict.more_rounds.is_some(), "{verdict:?}");
        assert!(verdict.reason.unwrap().contains("differs from itself"));
        let apart = Estimate {
            apart: Some(SessionSpread::Assumed),
            ..estimate(3.0, 1.5, 0.0)
        };
        assert_eq!(verdict_of_estimate(&apart).more_rounds, None);
    }

    #[test]
    fn one_start_shows_no_change_below_five_per_cent() {
        let of_one = |percent: f64| {
            verdict_of_estimate(&Estimate {
                starts: 1,
                ..estimate(percent, 0.2, 0.0)
            })
        };
        assert_eq!(call(4.5, 0.2, 0.0), Call::Faster, "several starts show it");
        let small = of_one(4.5);
        assert_eq!(small.call, Call::Inconclusive);
        let reason = small.reason.unwrap();
        assert!(
            reason.contains("±5.0 %") && reason.contains("one start"),
            "{reason}"
        );
        assert!(
            small.more_rounds.is_some(),
            "further rounds are further starts"
        );
        assert_eq!(of_one(6.0).call, Call::Faster);
        assert_eq!(of_one(-6.0).call, Call::Slower);
        assert_eq!(of_one(0.1).call, Call::Same);
        assert!((of_one(0.1).floor.unwrap() - 0.05).abs() < 1e-9);
    }

    #[test]
    fn what_is_not_interleaved_says_what_it_rests_on() {
        let apart = |percent: f64, sessions: SessionSpread| {
            verdict_of_estimate(&Estimate {
                freedom: 7.0,
                error: 2.0_f64.sqrt() * sessions.deviation(),
                apart: Some(sessions),
                ..estimate(percent, 0.0, 0.0)
            })
        };
        let known = SessionSpread::Known {
            deviation: 0.12_f64.ln_1p(),
            sessions: 8,
        };
        let open = apart(-20.0, known);
        assert_eq!((open.call, open.more_rounds), (Call::Inconclusive, None));
        assert_eq!(
            open.reason.as_deref(),
            Some(
                "not interleaved; 8 sessions here differ by 12.0 %; it may be anything from 0.4566 × to 1.402 ×"
            )
        );
        let sure = apart(100.0, known);
        assert_eq!(sure.call, Call::Faster);
        assert_eq!(
            sure.reason.as_deref(),
            Some("not interleaved; 8 sessions here differ by 12.0 %")
        );
        assert_eq!(apart(60.0, SessionSpread::Narrow).call, Call::Inconclusive);
        assert_eq!(apart(-45.0, SessionSpread::Narrow).call, Call::Slower);
        assert_eq!(apart(80.0, SessionSpread::Narrow).call, Call::Faster);
        let assumed = apart(80.0, SessionSpread::Assumed).reason.unwrap();
        assert!(assumed.contains("5.00 % is assumed"), "{assumed}");
        // What the rounds differ by is said where that is what the interval is of.
        let exceeded = apart(10.0, SessionSpread::Exceeded).reason.unwrap();
        assert!(exceeded.contains("differ among themselves"), "{exceeded}");
    }
}
