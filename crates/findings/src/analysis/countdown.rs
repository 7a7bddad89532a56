//! The remaining time of a run, as it is shown: it falls by the second, and where the estimate grows it
//! gives the reason.

use powerband_core::base::humanize;

/// An estimate that is later than the previous one by less than this share of it changes nothing.
const SLACK: f64 = 0.2;
/// The same in seconds.
const SLACK_S: f64 = 2.0;
/// How long the reason stands beside a time that has grown.
const REASON_NS: u64 = 10_000_000_000;
/// Shorter times are not shown.
pub(super) const LEAST_S: f64 = 1.0;

/// The remaining time and its reason.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RemainingTime {
    /// Seconds; nothing where they are not known.
    pub seconds: Option<f64>,
    /// Why the time has grown, or why there is none.
    pub note: Option<String>,
}

/// The time that was shown last.
#[derive(Clone, Debug, Default)]
pub(crate) struct Countdown {
    shown: Option<LastShown>,
    /// Whether the clock has gone on since and the run has not.
    rested: bool,
}

#[derive(Clone, Debug)]
struct LastShown {
    left_s: f64,
    at_ns: u64,
    /// Rounds in all, when it was shown.
    rounds: u64,
    /// Why it has grown, and when.
    grown: Option<(u64, String)>,
}

impl Countdown {
    /// Pauses the countdown while the run is paused.
    pub(super) fn pause(&mut self) {
        self.rested = true;
    }

    /// What to show for an estimate of a run that is to have so many rounds in all.
    pub(super) fn show(&mut self, estimate_s: f64, rounds: u64, now_ns: u64) -> RemainingTime {
        let rested = std::mem::take(&mut self.rested);
        let Some(before) = self.shown.take() else {
            return self.set_shown(LastShown {
                left_s: estimate_s,
                at_ns: now_ns,
                rounds,
                grown: None,
            });
        };
        let passed_ns = if rested {
            0
        } else {
            now_ns.saturating_sub(before.at_ns)
        };
        let passed_s = passed_ns as f64 / 1e9;
        let expected_s = before.left_s - passed_s;
        let slack_s = SLACK_S.max(estimate_s * SLACK);
        let holds = expected_s >= LEAST_S && estimate_s - expected_s <= slack_s;
        let grown = before
            .grown
            .filter(|(at_ns, _)| now_ns.saturating_sub(*at_ns) < REASON_NS);
        let next = if estimate_s <= expected_s || holds {
            LastShown {
                left_s: estimate_s.min(expected_s),
                grown,
                at_ns: now_ns,
                rounds: before.rounds,
            }
        } else {
            let reason = match rounds.saturating_sub(before.rounds) {
                0 => "longer than estimated".to_owned(),
                added => humanize::pluralised(added, "round") + " added",
            };
            LastShown {
                left_s: estimate_s,
                grown: Some((now_ns, reason)),
                at_ns: now_ns,
                rounds,
            }
        };
        self.set_shown(next)
    }

    fn set_shown(&mut self, shown: LastShown) -> RemainingTime {
        let is_told = shown.left_s >= LEAST_S;
        let reason = shown.grown.as_ref().map(|(_, reason)| reason.clone());
        let left = RemainingTime {
            seconds: is_told.then_some(shown.left_s),
            note: if is_told {
                reason
            } else {
                Some("the last rounds are being measured".to_owned())
            },
        };
        self.shown = Some(shown);
        left
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn the_time_falls_by_the_second_while_the_estimate_stands_still() {
        let mut countdown = Countdown::default();
        let mut last = f64::INFINITY;
        let mut grew = 0;
        for second in 0..28 {
            let left = countdown.show(20.0, 36, second * SECOND);
            let seconds = left.seconds.unwrap();
            if seconds >= last {
                grew += 1;
                assert_eq!(left.note.as_deref(), Some("longer than estimated"));
            }
            last = seconds;
        }
        assert!((1..8).contains(&grew), "{grew}");
    }

    #[test]
    fn added_rounds_are_the_reason_of_a_longer_time() {
        let mut countdown = Countdown::default();
        countdown.show(3.0, 36, 0);
        let left = countdown.show(12.0, 42, SECOND);
        assert_eq!(left.seconds, Some(12.0));
        assert_eq!(left.note.as_deref(), Some("6 rounds added"));
        let later = countdown.show(11.0, 42, 2 * SECOND);
        assert_eq!(later.seconds, Some(11.0));
        assert_eq!(later.note, left.note, "long enough to be read");
        let much_later = countdown.show(1.5, 42, 12 * SECOND);
        assert_eq!(much_later.note, None);
    }

    #[test]
    fn no_time_of_zero_is_shown() {
        let mut countdown = Countdown::default();
        countdown.show(2.0, 4, 0);
        for second in 2..16 {
            let left = countdown.show(0.0, 4, second * SECOND);
            assert_eq!(left.seconds, None);
            assert!(left.note.is_some());
        }
    }

    #[test]
    fn after_a_rest_nothing_has_grown() {
        let mut countdown = Countdown::default();
        countdown.show(20.0, 4, 0);
        countdown.pause();
        let left = countdown.show(20.0, 4, 600 * SECOND);
        assert_eq!((left.seconds, left.note), (Some(20.0), None));
    }
}
