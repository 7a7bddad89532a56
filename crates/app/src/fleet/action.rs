//! Actions on the comparison of machines.

use std::path::PathBuf;

use super::CaseChoice;

/// Actions on the comparison of machines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fleet {
    /// Which case is shown.
    Show(CaseChoice),
    /// Compares the machines of these sessions alone, by their files; nothing for all open ones.
    Only(Option<Vec<PathBuf>>),
    /// Whether each session counts as a machine; else sessions of the same hardware count as one.
    EachSession(bool),
}
