//! What this machine has to run networks on.

use serde::{Deserialize, Serialize};

use super::telemetry::WatchedDevice;

/// The processor.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cpu {
    /// Marketing name.
    pub model: String,
    /// Physical cores, where known.
    pub cores: Option<usize>,
    /// Hardware threads that this process may use.
    pub threads: usize,
    /// Instruction sets that matter to neural networks.
    pub features: Vec<String>,
    /// Clock governor of the first core, where the system reports it.
    pub governor: Option<String>,
    /// Whether the processor may raise its clock by itself, where the system reports it.
    pub boost: Option<bool>,
    /// Highest clock in MHz, where the system reports it.
    pub max_mhz: Option<f64>,
}

/// Main memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MainMemory {
    /// All of it, in bytes; a container's limit where that is lower.
    pub total_bytes: u64,
    /// What could be had at the time, in bytes.
    pub available_bytes: u64,
}

/// A graphics processor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gpu {
    /// Marketing name.
    pub name: String,
    /// Memory in bytes, where known.
    pub memory_bytes: Option<u64>,
    /// Driver version, where known.
    pub driver: Option<String>,
}

impl Gpu {
    /// What of a watched card belongs to the circumstances of a run.
    pub fn from_watched(device: &WatchedDevice) -> Self {
        Self {
            name: device.name.clone(),
            memory_bytes: device.memory_bytes,
            driver: device.driver.clone(),
        }
    }
}
