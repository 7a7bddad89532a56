//! What can be asked for about the history of a case.

use super::Following;

/// About the history of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum History {
    /// Which case is followed.
    Follow(Following),
}
