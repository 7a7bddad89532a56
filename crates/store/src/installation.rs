//! The installation that runs are started from, with what its user chose.

use std::path::PathBuf;

use powerband_core::base::environment_roots::EnvironmentRoots;
use powerband_core::base::paths::Paths;
use powerband_core::domain::machine::NamedMachine;
use powerband_core::domain::telemetry_paths::{TelemetryPaths, USUAL_HZ};

use crate::settings::Settings;

/// How a run is watched.
#[derive(Clone, Debug, PartialEq)]
pub struct WatchRequest {
    /// Readings a second.
    pub rate_hz: f64,
    /// Where sources look.
    pub places: TelemetryPaths,
    /// Whether each case is measured for so long that its energy can be measured.
    pub for_energy: bool,
}

/// This installation, and what its user chose.
#[derive(Clone, Debug)]
pub struct Installation {
    /// The installation's folders.
    pub paths: Paths,
    /// The ONNX Runtime library to use where a setup names none.
    pub onnxruntime: Option<PathBuf>,
    /// A Python to look for libraries in before the others.
    pub python: Option<PathBuf>,
    /// Our own executable, which is the worker.
    pub program: PathBuf,
    /// Machines that the user gave names.
    pub machines: Vec<NamedMachine>,
    /// How devices are watched during a run; nothing for not at all.
    pub watch: Option<WatchRequest>,
    /// Where Python environments to offer are looked for.
    pub environment_roots: EnvironmentRoots,
}

impl Installation {
    /// The installation that the settings describe.
    pub fn new(paths: Paths, settings: &Settings, program: PathBuf) -> Self {
        Self {
            paths,
            onnxruntime: settings.onnxruntime.clone(),
            python: settings.python.clone(),
            program,
            machines: settings.machines.clone(),
            watch: Some(WatchRequest {
                rate_hz: USUAL_HZ,
                places: TelemetryPaths::of_user(),
                for_energy: false,
            }),
            environment_roots: EnvironmentRoots::of_user(),
        }
    }
}
