//! Everything that a user can ask for. Views return these, and `App::act` hands each to the folder that it is about.

use std::path::PathBuf;

pub use super::compare::action::Compare;
pub use super::curves::action::Curves;
pub use super::figures::action::Figures;
pub use super::history::action::History;
pub use super::journey::action::Journey;
pub use super::kernels::action::Kernels;
pub use super::library::action::Library;
pub use super::machine::action::Machine;
use super::plan::PlanEdit;
use super::reports::Subject;
pub use super::run::action::Run;
use super::screen::Screen;
pub use super::sessions::action::Sessions;
pub use super::shell::action::{Closing, Shell};
use super::tables::action::Change;
pub use super::timeline::action::Timeline;

/// One request.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// To another screen.
    Go(Screen),
    /// One step out of whatever is open.
    Back,
    /// About the window itself.
    Shell(Shell),
    /// About this machine and its engines.
    Machine(Machine),
    /// About the plan.
    Plan(PlanEdit),
    /// About the run.
    Run(Run),
    /// About the open sessions.
    Sessions(Sessions),
    /// About the curves.
    Curves(Curves),
    /// About the comparison.
    Compare(Compare),
    /// About the history of a case.
    History(History),
    /// About the steps of a session.
    Journey(Journey),
    /// About where the time of a profile went.
    Kernels(Kernels),
    /// Opens a file of another tool and shows it on the timeline.
    OpenTrace(PathBuf),
    /// About the timeline.
    Timeline(Timeline),
    /// About the files of the library.
    Library(Library),
    /// Writes a report to a file; nothing stands for asking which.
    Report(Subject, Option<PathBuf>),
    /// About figures as pictures.
    Figures(Figures),
    /// About a table, by its id.
    Table(&'static str, Change),
}
