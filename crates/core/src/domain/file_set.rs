//! Files of other tools that belong together.

use std::path::PathBuf;

/// Files of one process, which become one profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileSet {
    /// The files that were named.
    pub named: Vec<PathBuf>,
    /// Files that lie beside the first of them and were not named.
    pub companions: Vec<PathBuf>,
}
