//! How far a run is.

use std::path::PathBuf;

/// The stage of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The model is being opened and the engines are looked up.
    Preparing,
    /// Workers are measuring.
    Measuring,
    Paused,
    /// Asked to stop; the workers are being ended.
    Stopping,
    /// Over and saved.
    Saved(PathBuf),
    /// Over, and why it could not be saved.
    NotSaved(String),
    /// Never began, and why.
    Refused(String),
}

impl Stage {
    /// Whether workers may still be measuring.
    pub fn is_going_on(&self) -> bool {
        matches!(
            self,
            Self::Preparing | Self::Measuring | Self::Paused | Self::Stopping
        )
    }
}
