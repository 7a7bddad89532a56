//! Workers on other machines: one connection a machine, this program and the models sent along, and what the machine
//! says of itself.
//!
//! `link` is the connection, `folder` finds a place over there, `sending` brings files to it, `program` brings this
//! program and hears what the machine is, `sampling` reads its devices, `reached` is all of it for the run; `serve` and
//! `guard` are the other side, behind the hidden subcommand `remote`.

pub mod files;
pub mod folder;
pub mod guard;
pub mod link;
pub mod program;
pub mod reached;
pub mod sampling;
pub mod sending;
pub mod serve;

use crate::engines::EngineError;
use crate::protocol::VERSION;
use crate::supervisor::WorkerError;
use powerband_core::domain::environment::Environment;
use powerband_core::domain::event::UploadKind;
use powerband_core::domain::outcome::Outcome;
use powerband_core::domain::queue::QueueState;
use powerband_planning::transport::SetupMachine;
use powerband_planning::transport::script::quoted;
use serde::{Deserialize, Serialize};

/// Commands that are advised, which have the option `--on`.
const ADVISED: [&str; 2] = ["powerband engines install onnxruntime", "powerband roofs"];

/// What the program on another machine says, with the commands that it advises as they are called here.
pub fn advice_for(machine: &SetupMachine, text: &str) -> String {
    if !machine.can_be_named() || text.contains("--on ") {
        return text.to_owned();
    }
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.:@".contains(letter);
    let host = match machine.name.as_str() {
        name if name.chars().all(is_plain) => name.to_owned(),
        name => quoted(name),
    };
    ADVISED.iter().fold(text.to_owned(), |text, command| {
        text.replace(command, &format!("{command} --on {host}"))
    })
}

/// Why a machine cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RemoteError {
    /// There is no connection.
    #[error("{0}")]
    Lost(String),
    /// There is one, and something over there does not work.
    #[error("{0}")]
    Unfit(String),
    /// The scheduler that gave it ended the job.
    #[error("{}", .0.sentence().unwrap_or_default())]
    Ended(Outcome),
    /// The user wants to stop.
    #[error("cancelled")]
    Cancelled,
}

impl From<RemoteError> for WorkerError {
    fn from(error: RemoteError) -> Self {
        match error {
            RemoteError::Lost(reason) => Self::Lost(reason),
            RemoteError::Unfit(reason) => EngineError::Unsupported(reason).into(),
            RemoteError::Ended(outcome) => Self::Ended(outcome),
            RemoteError::Cancelled => Self::Cancelled,
        }
    }
}

/// Progress of a file that is being sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UploadProgress {
    /// What it is.
    pub what: UploadKind,
    /// Bytes that have gone, before they are compressed.
    pub done_bytes: u64,
    /// Bytes that there are.
    pub total_bytes: u64,
}

/// An event while a connection to a machine is opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RemoteEvent {
    /// The machine is waited for in a scheduler's queue.
    Queued(QueueState),
    /// A file is being sent.
    Sending(UploadProgress),
}

/// What the program over there says of itself and of its machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Described {
    /// Its version.
    pub program: String,
    /// The worker protocol that it speaks.
    pub protocol: u32,
    /// The name of the machine.
    pub host: String,
    /// As whom it runs.
    pub user: String,
    /// What tells its machine, since it was started, from every other one; empty where that is not known.
    #[serde(default)]
    pub boot: String,
    /// The machine's circumstances.
    pub environment: Environment,
}

impl Described {
    /// Whether both are one place: the same machine, seen by the same user, not from within another container.
    pub fn is_same_place(&self, other: &Self) -> bool {
        !self.boot.is_empty()
            && (&self.boot, &self.host, &self.user) == (&other.boot, &other.host, &other.user)
    }

    /// Why its workers cannot be used from here.
    fn misfit(&self) -> Option<String> {
        (self.protocol != VERSION).then(|| {
            format!(
                "the program over there, powerband {}, speaks version {} of the worker protocol, this program speaks version {VERSION}; install the same version there, or leave remote_program= out so that this one is sent",
                self.program, self.protocol
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_names_the_machine_that_it_is_for() {
        let machine = |text: &str| SetupMachine::find(text, &[]).unwrap().unwrap();
        let said = "no library was found; `powerband engines install onnxruntime` fetches one";
        assert_eq!(
            advice_for(&machine("ssh:gpu1"), said),
            "no library was found; `powerband engines install onnxruntime --on ssh:gpu1` fetches one"
        );
        assert_eq!(
            advice_for(&machine("ssh:gpu1"), "out of memory"),
            "out of memory"
        );
    }
}
