//! Actions on detached runs.

/// Actions on detached runs, which are called by the number of their first job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Detached {
    /// Asks Slurm how far they are.
    Look,
    /// Saves what one measured as a session, and opens it.
    Collect(String),
    /// Cancels one; what was measured can be collected.
    Cancel(String),
}
