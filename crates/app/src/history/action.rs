//! Actions on the history of a case.

use std::path::PathBuf;

use super::Following;

/// Actions on the history of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum History {
    /// Which case is followed.
    Follow(Following),
    /// Follows it through these sessions alone, by their files; nothing for all.
    Only(Option<Vec<PathBuf>>),
    /// Whether all cases of the session are shown, worst first, below the one that is followed.
    AllCases(bool),
}
