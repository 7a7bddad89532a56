//! The circumstances of a run: machine, system, versions. Kept in the session, so that two sessions
//! can be told apart by more than their numbers.

use serde::{Deserialize, Serialize};

use super::device::{Cpu, Gpu, MainMemory};

/// So much of a commit is shown.
const COMMIT_DIGITS: usize = 9;

/// The circumstances of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Environment {
    /// Version of Powerband.
    pub program: String,
    /// Git commit that it was built from, where known.
    pub commit: Option<String>,
    /// Whether the program was built with optimisation.
    pub optimised_build: bool,
    /// The commit of the user's project that was measured, where that was told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_commit: Option<String>,
    /// Operating system and version.
    pub os: String,
    /// Kernel version.
    pub kernel: String,
    /// Processor architecture.
    pub arch: String,
    /// The processor.
    pub cpu: Cpu,
    /// Main memory.
    pub memory: MainMemory,
    /// Graphics processors.
    pub gpus: Vec<Gpu>,
    /// Load average over the last minute when the run began: what others were doing.
    pub load_before: Option<f64>,
}

impl Environment {
    /// The circumstances of another machine, for the same project of the user.
    pub fn on_machine(&self, machine: &Self) -> Self {
        Self {
            project_commit: self.project_commit.clone(),
            ..machine.clone()
        }
    }

    /// The first digits of the commit of the user's project, which tell it from others.
    pub fn short_project_commit(&self) -> Option<&str> {
        let commit = self.project_commit.as_deref()?;
        Some(commit.get(..COMMIT_DIGITS).unwrap_or(commit))
    }
}
