//! What an experiment is: a change, and how a setup gets it.

use super::subject::{Derived, Subject};
use powerband_core::domain::experiment::Change;

/// An experiment.
pub(super) struct Derivation {
    /// What it changes.
    pub change: Change,
    /// The setup with the change, or why it cannot be tried here and what the user can do instead.
    pub derive: fn(&Subject<'_>) -> Result<Derived, String>,
}
