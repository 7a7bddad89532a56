//! Actions on this machine.

use std::path::PathBuf;

use super::PathSetting;

/// Actions on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MachineAction {
    /// Looks again for engines.
    Rescan,
    /// Fetches ONNX Runtime with pip.
    InstallOnnxRuntime,
    /// Ends the fetching.
    StopInstall,
    /// Asks where something is.
    Choose(PathSetting),
    /// Uses this location from now on; `None` for the first one found.
    Point(PathSetting, Option<PathBuf>),
}
