//! How a case ended, always with what the user needs to know.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What a worker was doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Phase {
    /// Being started, up to the handshake.
    Start,
    /// Loading and compiling the model.
    Load,
    /// Binding inputs and running for the first time.
    Open,
    /// Warming up.
    WarmUp,
    /// Measuring a round.
    Measure,
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Start => "starting",
            Self::Load => "loading the model",
            Self::Open => "running for the first time",
            Self::WarmUp => "warming up",
            Self::Measure => "measuring",
        })
    }
}

/// How a case ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// Not ended yet.
    #[default]
    Pending,
    /// Measured as planned.
    Finished,
    /// The engine, the device or the model cannot do this.
    Unsupported {
        /// What cannot be done.
        reason: String,
    },
    /// It did not fit into memory.
    OutOfMemory {
        /// How that showed.
        reason: String,
    },
    /// The worker said nothing for longer than allowed and was ended.
    TimedOut {
        /// What it was doing.
        phase: Phase,
        /// How long it was given, in milliseconds.
        limit_ms: u64,
    },
    /// The worker died.
    Crashed {
        /// What it was doing.
        phase: Phase,
        /// Exit status or signal.
        how: String,
        /// The end of what it wrote to standard error.
        stderr: String,
    },
    /// The connection to the machine of the setup broke off, or never came about.
    Lost {
        /// What the worker was doing.
        phase: Phase,
        /// What the connection's program said, and what helps.
        reason: String,
    },
    /// The time that a scheduler gave is over, or too short for another round.
    Walltime {
        /// How much was left, or what the scheduler said.
        reason: String,
    },
    /// A scheduler took the node for another job.
    Preempted {
        /// What the scheduler said.
        reason: String,
    },
    /// The run ended while its node was waited for in a scheduler's queue.
    Queued {
        /// Why the scheduler gave no node yet.
        reason: String,
    },
    /// The worker does not speak the protocol.
    Garbled {
        /// What it said instead.
        reason: String,
    },
    /// The engine reported an error.
    Failed {
        /// What it was doing.
        phase: Phase,
        /// The engine's message.
        reason: String,
    },
    /// The user stopped the run, or this case of it.
    Cancelled,
}

/// What a case is that the user left out, alone or with all that were still to come, on every screen and in every
/// document.
pub const SKIPPED: &str = "skipped";

impl Outcome {
    /// One word, the same in documents and tables.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Finished => "finished",
            Self::Unsupported { .. } => "unsupported",
            Self::OutOfMemory { .. } => "out-of-memory",
            Self::TimedOut { .. } => "timed-out",
            Self::Crashed { .. } => "crashed",
            Self::Lost { .. } => "lost",
            Self::Walltime { .. } => "walltime",
            Self::Preempted { .. } => "preempted",
            Self::Queued { .. } => "queued",
            Self::Garbled { .. } => "garbled",
            Self::Failed { .. } => "failed",
            Self::Cancelled => SKIPPED,
        }
    }

    /// Whether the case is over.
    pub fn is_final(&self) -> bool {
        *self != Self::Pending
    }

    /// Whether it ended badly, for reasons other than the user's request. What was measured before a scheduler ended
    /// the run is as good as what was measured before the user did.
    pub fn is_trouble(&self) -> bool {
        !matches!(self, Self::Pending | Self::Finished | Self::Cancelled) && !self.is_cut_short()
    }

    /// Whether a scheduler ended the run before it was measured in full.
    pub fn is_cut_short(&self) -> bool {
        matches!(
            self,
            Self::Walltime { .. } | Self::Preempted { .. } | Self::Queued { .. }
        )
    }

    /// Whether more rounds of the session measure the case again: those that were measured, and those that ended for
    /// a reason outside the case.
    pub fn is_reopened(&self) -> bool {
        matches!(self, Self::Finished | Self::Cancelled | Self::Lost { .. }) || self.is_cut_short()
    }

    /// Whether another try may end otherwise: it ended badly, and not because the engine or the model cannot do it.
    pub fn may_be_retried(&self) -> bool {
        self.is_trouble() && !matches!(self, Self::Unsupported { .. })
    }

    /// The outcome with the cause of a death: `killed by signal 9 (SIGKILL)`, `crashed: exit status 3`.
    pub fn short_cause(&self) -> String {
        match self {
            Self::Crashed { how, .. } if is_kill(how) => format!("killed by {how}"),
            Self::Crashed { how, .. } => format!("crashed: {how}"),
            other => other.name().to_owned(),
        }
    }

    /// What happened, in a sentence; nothing for an outcome that needs no words.
    pub fn sentence(&self) -> Option<String> {
        Some(match self {
            Self::Pending | Self::Finished => return None,
            Self::Unsupported { reason } => reason.clone(),
            Self::OutOfMemory { reason } => {
                format!(
                    "out of memory: {reason}; try a smaller batch, or give the worker more memory"
                )
            }
            Self::TimedOut { phase, limit_ms } => format!(
                "no answer for {:.0} s while {phase}, so the worker was ended; --timeout SECONDS gives it longer",
                *limit_ms as f64 / 1e3
            ),
            Self::Crashed { phase, how, stderr } if stderr.is_empty() => {
                death_sentence(how, &format!("while {phase}"))
            }
            Self::Crashed { phase, how, stderr } => format!(
                "{}. Its last words: {stderr}",
                death_sentence(how, &format!("while {phase}"))
            ),
            Self::Lost {
                phase: Phase::Start,
                reason,
            } => format!("no connection: {reason}"),
            Self::Lost { phase, reason } => format!(
                "the connection was lost while {phase}: {reason}. Rounds that were measured before are kept; --more measures the others"
            ),
            Self::Walltime { reason } => {
                format!(
                    "{reason}; rounds that were measured are kept, and --more measures the others in a new allocation"
                )
            }
            Self::Preempted { reason } => format!(
                "preempted, the scheduler took the node for another job: {reason}; rounds that were measured are kept, and --more measures the others in a new allocation"
            ),
            Self::Queued { reason } => format!(
                "the run ended while it waited for a node, and the request was taken back: {reason}"
            ),
            Self::Garbled { reason } => format!("the worker does not speak the protocol: {reason}"),
            Self::Failed { phase, reason } => format!("{phase} failed: {reason}"),
            Self::Cancelled => {
                format!("{SKIPPED}, or the run was stopped, before it was measured in full")
            }
        })
    }
}

/// How a worker died, in a sentence, from its exit status or signal: `signal 9 (SIGKILL)`.
///
/// The kernel's own OOM killer is counted by the kernel, and then the outcome is out of memory. A memory limit
/// of a container, systemd-oomd and earlyoom are not, and send the same signal.
pub fn death_sentence(how: &str, when: &str) -> String {
    if is_kill(how) {
        return format!(
            "the worker was killed by {how} {when}, probably out of memory: a memory limit or an \
             out-of-memory service such as earlyoom sends this signal; try a smaller batch"
        );
    }
    format!("the worker died {when}: {how}")
}

fn is_kill(how: &str) -> bool {
    how.starts_with("signal 9 ") || how == "signal 9"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_scheduler_ends_has_a_name_of_its_own_and_is_measured_again() {
        let reason = "the allocation ends in 41 s and a round takes 55 s".to_owned();
        let ended = [
            Outcome::Walltime {
                reason: reason.clone(),
            },
            Outcome::Preempted {
                reason: reason.clone(),
            },
            Outcome::Queued { reason },
        ];
        let names: Vec<&str> = ended.iter().map(Outcome::name).collect();
        assert_eq!(names, ["walltime", "preempted", "queued"]);
        for outcome in ended {
            assert!(outcome.is_final() && !outcome.is_trouble() && outcome.is_reopened());
            let sentence = outcome.sentence().unwrap();
            assert!(sentence.contains("ends in 41 s"), "{sentence}");
        }
        assert!(
            !Outcome::OutOfMemory {
                reason: String::new()
            }
            .is_reopened()
        );
    }

    #[test]
    fn a_kill_is_said_with_its_signal_and_its_probable_cause() {
        let crashed = |how: &str| Outcome::Crashed {
            phase: Phase::Measure,
            how: how.to_owned(),
            stderr: String::new(),
        };
        let killed = crashed("signal 9 (SIGKILL)");
        assert_eq!(killed.short_cause(), "killed by signal 9 (SIGKILL)");
        let sentence = killed.sentence().unwrap();
        let begin =
            "the worker was killed by signal 9 (SIGKILL) while measuring, probably out of memory";
        assert!(sentence.starts_with(begin), "{sentence}");
        let fault = crashed("signal 11 (SIGSEGV)");
        assert_eq!(fault.short_cause(), "crashed: signal 11 (SIGSEGV)");
        let sentence = fault.sentence().unwrap();
        assert_eq!(
            sentence,
            "the worker died while measuring: signal 11 (SIGSEGV)"
        );
        assert_eq!(Outcome::Finished.short_cause(), "finished");
    }
}
