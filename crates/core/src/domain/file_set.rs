//! Files of other tools that belong together.

use std::path::{Path, PathBuf};

use super::ranks::JobRank;

/// Files that become one profile: those of one process, or of several ranks of one job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileSet {
    pub processes: Vec<ProcessFiles>,
}

/// Files of one process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProcessFiles {
    /// Its rank, where there are several of one job.
    pub rank: Option<JobRank>,
    /// The files that were named.
    pub named: Vec<PathBuf>,
    /// Files that lie beside the first of them and were not named.
    pub companions: Vec<PathBuf>,
}

impl FileSet {
    pub fn of_process(process: ProcessFiles) -> Self {
        Self {
            processes: vec![process],
        }
    }

    /// The files that were named.
    pub fn named(&self) -> impl Iterator<Item = &Path> {
        let processes = self.processes.iter();
        processes.flat_map(|process| process.named.iter().map(PathBuf::as_path))
    }

    /// Those that lie beside them.
    pub fn companions(&self) -> impl Iterator<Item = &Path> {
        let processes = self.processes.iter();
        processes.flat_map(|process| process.companions.iter().map(PathBuf::as_path))
    }
}
