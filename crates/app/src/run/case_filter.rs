//! The filter of the cases of a run by their state.

use std::fmt;

use powerband_core::domain::outcome::SKIPPED;

/// Which cases the table of a run lists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CaseFilter {
    /// All of them.
    #[default]
    All,
    /// Those that could not run.
    Failed,
    /// Those that are measured.
    Finished,
    /// Those whose next round is still to come.
    Waiting,
    /// Those that the user skipped, or that were still to come when the run was stopped.
    Skipped,
}

impl CaseFilter {
    /// In the order in which they stand side by side.
    pub const ALL: [Self; 5] = [
        Self::All,
        Self::Failed,
        Self::Finished,
        Self::Waiting,
        Self::Skipped,
    ];
}

/// `failed`.
impl fmt::Display for CaseFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::All => "all",
            Self::Failed => "failed",
            Self::Finished => "finished",
            Self::Waiting => "waiting",
            Self::Skipped => SKIPPED,
        })
    }
}
