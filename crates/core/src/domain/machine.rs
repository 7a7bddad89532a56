//! Machines other than this one: those that the user named in the settings, and those that setups of a session ran
//! on, as they describe themselves.

use serde::{Deserialize, Serialize};

use super::environment::Environment;
use super::roofs::Roofs;
use crate::base::humanize;

/// A machine that the user gave a name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct NamedMachine {
    /// What `where=` calls it.
    pub name: String,
    /// How it is reached, as `where=` takes it: `ssh:HOST`. Empty where `via` says it.
    #[serde(rename = "where")]
    pub place: String,
    /// Words in front of a command that run it over there: `kubectl exec -i pod --`.
    pub via: String,
    /// A line for the shell over there before the program starts, such as `module load rocm`.
    pub before: String,
    /// This program over there, where it is not to be sent.
    pub remote_program: String,
    /// Groups that it belongs to; `--on` takes their names, too.
    pub groups: Vec<String>,
}

/// A machine that setups of a session ran on, as it describes itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RemoteMachine {
    /// What the setups call it: a name of the settings, or `ssh:HOST`.
    pub name: String,
    /// What it calls itself.
    pub host: String,
    /// As whom the workers ran there.
    pub user: String,
    /// The setups that ran there, by their places in the plan.
    pub setups: Vec<usize>,
    /// Its circumstances.
    pub environment: Environment,
    /// How its clock compares with this machine's.
    #[serde(default)]
    pub clock: ClockOffset,
    /// What its devices were measured to reach, as it knew when the run began.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub roofs: Vec<Roofs>,
}

impl RemoteMachine {
    /// What answers, in a line: `rack: gpu1 as me, AMD EPYC 9654, clock ± 0.120 ms`.
    pub fn in_short(&self) -> String {
        let cpu = &self.environment.cpu.model;
        let clock = self.clock.uncertainty();
        format!(
            "{}: {} as {}, {cpu}, clock {clock}",
            self.name, self.host, self.user
        )
    }
}

/// How the monotonic clock of another machine compares with this machine's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockOffset {
    /// How far it is ahead, in nanoseconds.
    pub ahead_ns: i64,
    /// The shortest round trip, in nanoseconds: half of it is how far `ahead_ns` may be off.
    pub round_trip_ns: u64,
}

impl ClockOffset {
    /// How far a moment of the other clock may be off on this one: `± 0.120 ms`.
    pub fn uncertainty(self) -> String {
        format!(
            "± {}",
            humanize::duration_ns(self.round_trip_ns as f64 / 2.0)
        )
    }

    /// Converts a moment of the other machine's clock to this machine's.
    pub fn to_local(self, there_ns: u64) -> u64 {
        there_ns.saturating_add_signed(self.ahead_ns.saturating_neg())
    }

    /// Converts a moment of this machine's clock to the other machine's.
    pub fn to_remote(self, here_ns: u64) -> u64 {
        here_ns.saturating_add_signed(self.ahead_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_go_there_and_back() {
        let behind = ClockOffset {
            ahead_ns: -5_000,
            round_trip_ns: 10,
        };
        assert_eq!(behind.to_local(1_000), 6_000);
        assert_eq!(behind.to_remote(behind.to_local(1_000)), 1_000);
        let far = ClockOffset {
            ahead_ns: 0,
            round_trip_ns: 50_000_000,
        };
        assert_eq!(far.uncertainty(), "± 25.0 ms");
    }
}
