//! What can be asked for about this machine.

use std::path::PathBuf;

use super::Pointed;

/// About this machine.
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
    /// Uses what is there, from now on; nothing to use what is found.
    Point(Pointed, Option<PathBuf>),
}
