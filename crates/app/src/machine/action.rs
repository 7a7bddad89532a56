//! Actions on this machine.

use std::path::PathBuf;

use super::Pointed;

/// Actions on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Machine {
    /// Looks again for engines.
    Rescan,
    /// Fetches ONNX Runtime with pip.
    InstallOnnxRuntime,
    /// Ends the fetching.
    StopInstall,
    /// Asks where something is.
    Choose(Pointed),
    /// Uses this location from now on; `None` for the first one found.
    Point(Pointed, Option<PathBuf>),
}
