//! Actions on the history of a case.

use super::Following;

/// Actions on the history of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum History {
    /// Which case is followed.
    Follow(Following),
}
