//! Actions on the run.

use super::case_filter::CaseFilter;
use crate::compare::side::{ComparisonSide, SideChoice};
use crate::sessions::{Pin, SessionId};
use powerband_core::domain::case::CaseKey;
use powerband_core::domain::experiment::ExperimentChange;

/// Actions on the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunAction {
    /// Measures the plan.
    Start,
    /// Measures the plan in jobs of Slurm, which go on without this window.
    Detach,
    /// Queues a copy of the plan behind the run in progress.
    Queue,
    /// Takes a plan out of the queue, by its place.
    Unqueue(usize),
    /// Starts the next plan of the queue.
    StartNext,
    /// Measures ResNet-50 on the best that is here, with the quick preset: see `runner::first`.
    StartFirst,
    /// Pauses after the current round.
    Pause,
    /// Resumes.
    Resume,
    /// Adds rounds to an open session, in its own file.
    More(SessionId, u32),
    /// Measures two sides of a comparison again, in turns, as a session of its own.
    Again(SideChoice, SideChoice),
    /// Measures the last two sessions of *History* again, in turns, as a session of its own.
    AgainInHistory(Box<[ComparisonSide; 2]>),
    /// Measures experiments on a case, to see what limits it; or one change alone, to see what it brings.
    Why(Pin, Option<ExperimentChange>),
    /// Ends the run; its measurements are saved.
    Stop,
    /// Skips a case; a second time ends its worker at once.
    Skip(CaseKey),
    /// Takes a case back that was left out: it is measured in the rounds that are left.
    Unskip(CaseKey),
    /// Whether the table follows the active case.
    Follow(bool),
    /// Lists the cases of this state alone.
    List(CaseFilter),
    /// Skips the current case.
    SkipCurrent,
    /// Recovers interrupted runs.
    Recover,
    /// Starts a run although another program is measuring.
    Anyway(Box<Self>),
    /// Whether the programs that the window asks for may run.
    AllowPrograms(bool),
}

/// A run that waits for an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramsQuestion {
    /// What would be run or loaded, a line each.
    pub lines: Vec<String>,
    /// The folder that it would be started from.
    pub folder: String,
    /// The run.
    pub run: RunAction,
}
