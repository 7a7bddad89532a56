//! Actions on the steps of a session.

use super::Looking;

/// Actions on the steps of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Journey {
    /// Whose steps are shown.
    Look(Looking),
}
