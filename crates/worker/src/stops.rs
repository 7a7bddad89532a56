//! Stops while an answer is waited for: of the worker by a signal, of this program, of the whole machine.
//!
//! The kernel reports each stop and each continuation of a child to its parent, also those between two looks. A sample
//! in which a process was stopped says nothing about the network.

use std::time::{Duration, Instant};

use super::protocol::MeasuredRound;
use powerband_core::base::clock;
use powerband_core::base::humanize;

/// A machine whose clocks run apart by less was not suspended: they are read one after the other.
const SUSPENDED: Duration = Duration::from_millis(100);
/// A pause in a round is as long as a stop of this program, where both were stopped together.
const AS_LONG: f64 = 0.9;

/// What the kernel reports of a child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChildChange {
    /// A signal stopped it.
    Stopped,
    /// A signal let it go on.
    Continued,
}

/// The stops of one worker since they were last taken.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stops {
    /// How often the worker went on after a stop.
    continued: u32,
    /// How long it was stopped, as far as that was seen.
    stopped: Duration,
    /// Since when it is seen to be stopped.
    since: Option<Instant>,
    /// How long this program was stopped.
    own: Duration,
    /// How long the machine was suspended.
    machine: Duration,
}

impl Stops {
    /// Takes in what the kernel reports.
    pub(crate) fn take_in(&mut self, change: ChildChange) {
        match change {
            ChildChange::Stopped => self.since = self.since.or_else(|| Some(Instant::now())),
            ChildChange::Continued => {
                self.continued += 1;
                let since = self.since.take();
                self.stopped += since.map_or(Duration::ZERO, |since| since.elapsed());
            }
        }
    }

    /// Takes in that this program was stopped itself.
    pub(crate) fn take_in_own(&mut self, stop: Duration) {
        self.own += stop;
    }

    /// Takes in by how much the clock that goes on while the machine is suspended ran ahead.
    pub(crate) fn take_in_suspension(&mut self, before_ns: u64) {
        let ahead = Duration::from_nanos(clock::suspended_ns().saturating_sub(before_ns));
        if ahead > SUSPENDED {
            self.machine += ahead;
        }
    }

    /// Whether the worker is stopped now.
    pub(crate) fn is_stopped(&self) -> bool {
        self.since.is_some()
    }

    /// All so far; a stop that goes on stays.
    pub fn take(&mut self) -> Self {
        let taken = *self;
        *self = Self {
            since: self.since,
            ..Self::default()
        };
        taken
    }

    /// Those of two workers that were asked together.
    pub fn and(self, other: Self) -> Self {
        Self {
            continued: self.continued + other.continued,
            stopped: self.stopped.max(other.stopped),
            since: self.since.or(other.since),
            own: self.own.max(other.own),
            machine: self.machine.max(other.machine),
        }
    }

    /// What stopped the worker during a question, in words that follow its name.
    pub fn stop_text(&self) -> Option<String> {
        if self.machine > Duration::ZERO {
            return Some(format!(
                "the machine was suspended for {}",
                words_for(self.machine)
            ));
        }
        (self.continued > 0).then(|| {
            let time = if self.stopped.is_zero() {
                String::new()
            } else {
                format!(" for {}", words_for(self.stopped))
            };
            format!("its worker was stopped by a signal{time} and continued")
        })
    }

    /// Why a round says nothing about the network.
    pub fn spoils(&self, round: &MeasuredRound) -> Option<String> {
        self.stop_text().or_else(|| {
            let longest = round.samples_ns.iter().copied().max().unwrap_or_default();
            let between = round
                .spent_ns
                .saturating_sub(round.samples_ns.iter().sum::<u64>());
            let pause = longest.max(between) as f64;
            let own = self.own.as_nanos() as f64;
            (own > 0.0 && pause >= own * AS_LONG).then(|| {
                format!(
                    "Powerband and its worker were stopped together for {}",
                    words_for(self.own)
                )
            })
        })
    }
}

fn words_for(time: Duration) -> String {
    humanize::duration_ns(time.as_nanos() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(samples_ns: &[u64]) -> MeasuredRound {
        MeasuredRound {
            spent_ns: samples_ns.iter().sum(),
            samples_ns: samples_ns.to_vec(),
            ..MeasuredRound::default()
        }
    }

    #[test]
    fn a_stop_between_two_looks_counts() {
        let mut stops = Stops::default();
        assert_eq!(stops.stop_text(), None);
        stops.take_in(ChildChange::Continued);
        let words = stops.stop_text().unwrap();
        assert_eq!(words, "its worker was stopped by a signal and continued");
        assert!(stops.take().spoils(&round(&[5])).is_some());
        assert_eq!(stops.stop_text(), None, "taken");
        stops.take_in(ChildChange::Stopped);
        assert!(stops.is_stopped() && stops.take().is_stopped() && stops.is_stopped());
        stops.take_in(ChildChange::Continued);
        assert!(!stops.is_stopped());
    }

    #[test]
    fn a_stop_of_the_program_alone_spoils_nothing() {
        let mut stops = Stops::default();
        stops.take_in_own(Duration::from_secs(3));
        let second = 1_000_000_000;
        assert_eq!(stops.spoils(&round(&[second / 100; 500])), None);
        let together = round(&[second / 100, 3 * second]);
        let words = stops.spoils(&together).unwrap();
        assert!(
            words.contains("were stopped together for 3.00 s"),
            "{words}"
        );
        let between = MeasuredRound {
            spent_ns: 4 * second,
            ..round(&[second / 100; 10])
        };
        assert!(stops.spoils(&between).is_some());
        assert_eq!(
            stops.stop_text(),
            None,
            "what is asked otherwise has no samples"
        );
    }

    #[test]
    fn a_suspension_is_the_clocks_that_run_apart() {
        let mut stops = Stops::default();
        stops.take_in_suspension(clock::suspended_ns());
        assert_eq!(stops.stop_text(), None, "none here");
        stops.machine = Duration::from_mins(3);
        let words = stops.spoils(&round(&[5])).unwrap();
        assert!(words.contains("suspended for"), "{words}");
    }
}
