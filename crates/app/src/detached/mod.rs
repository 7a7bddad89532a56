//! Runs that measure in jobs of Slurm, without this window: how far they are, collecting and cancelling.

pub(crate) mod action;
pub(crate) mod commands;
pub(crate) mod palette;
mod update;
mod work;

/// A detached run, as far as it is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DetachedRun {
    /// The number of its first job.
    pub id: String,
    /// The session's name.
    pub name: String,
    /// Its state in words.
    pub state: String,
    /// Rounds that were measured, and all of them.
    pub rounds: (usize, usize),
    /// Whether Slurm still has a job of it.
    pub is_alive: bool,
}

/// The detached runs of this user.
#[derive(Debug, Default)]
pub struct DetachedState {
    /// Those that are not collected yet, the oldest first.
    pub runs: Vec<DetachedRun>,
    /// Why their states are unknown.
    pub trouble: Option<String>,
    /// Whether they are asked about, collected or cancelled right now.
    pub is_busy: bool,
}

impl DetachedState {
    /// Whether there is anything to show.
    pub fn has_any(&self) -> bool {
        !self.runs.is_empty() || self.trouble.is_some()
    }
}
