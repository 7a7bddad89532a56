//! What can be asked for about the steps of a session.

use super::Looking;

/// About the steps of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Journey {
    /// Whose steps are shown.
    Look(Looking),
}
