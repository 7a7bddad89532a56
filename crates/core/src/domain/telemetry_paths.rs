//! Where sources of telemetry look on this machine, and how often they may read.
//!
//! The samplers look there; benches, tests and `devices` name other places.

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::sync::Arc;

use super::telemetry::Telemetry;
use crate::base::paths::path_variable;

/// Readings a second by default.
pub const USUAL_HZ: f64 = 10.0;
/// Readings a second that can be asked for.
pub const RATES_HZ: RangeInclusive<f64> = 1.0..=100.0;

/// Paths of telemetry sources; all can be redirected to read a recorded machine.
#[derive(Clone, Debug, PartialEq)]
pub struct TelemetryPaths {
    /// The folder below which `/proc` and `/sys` are looked for.
    pub root: PathBuf,
    /// NVIDIA's library, where it is not in its usual place.
    pub nvml: Option<PathBuf>,
    /// AMD's library, where it is not in its usual place.
    pub rocm_smi: Option<PathBuf>,
    /// What is played back in place of this machine's telemetry.
    pub replay: Option<Arc<Telemetry>>,
}

impl TelemetryPaths {
    /// This machine, with libraries and files where the environment says: `POWERBAND_NVML` and
    /// `POWERBAND_ROCM_SMI` name a library, `POWERBAND_ROOT` the folder that has `proc` and `sys`.
    pub fn of_user() -> Self {
        Self {
            root: path_variable("POWERBAND_ROOT").unwrap_or_else(|| PathBuf::from("/")),
            nvml: path_variable("POWERBAND_NVML"),
            rocm_smi: path_variable("POWERBAND_ROCM_SMI"),
            replay: None,
        }
    }
}

impl Default for TelemetryPaths {
    /// This machine.
    fn default() -> Self {
        Self {
            root: PathBuf::from("/"),
            nvml: None,
            rocm_smi: None,
            replay: None,
        }
    }
}
