//! The circumstances of a run: machine, system, versions. Kept in the session, so that two sessions
//! can be told apart by more than their numbers.

use serde::{Deserialize, Serialize};

use super::device::{Cpu, Gpu, MainMemory};

/// The circumstances of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Environment {
    /// Version of Powerband.
    pub program: String,
    /// Git commit that it was built from, where known.
    pub commit: Option<String>,
    /// Whether the program was built with optimisation.
    pub optimised_build: bool,
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
