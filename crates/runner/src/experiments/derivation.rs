//! What an experiment is: a change, and how a setup gets it.

use super::subject::{DerivedSetup, ExperimentSubject};
use powerband_core::domain::experiment::ExperimentChange;

/// An experiment.
pub(super) struct Derivation {
    /// What it changes.
    pub change: ExperimentChange,
    /// The setup with the change, or why it cannot be tried here and what the user can do instead.
    pub derive: fn(&ExperimentSubject<'_>) -> Result<DerivedSetup, String>,
}
