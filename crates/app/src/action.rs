//! All actions. Views return them, and `App::act` hands each to its folder.

use std::path::PathBuf;

pub use super::charts::action::Charts;
pub use super::compare::action::Compare;
pub use super::curves::action::Curves;
pub use super::detached::action::Detached;
pub use super::figures::action::FigureAction;
pub use super::fleet::action::Fleet;
pub use super::history::action::History;
pub use super::journey::action::Journey;
pub use super::kernels::action::Kernels;
pub use super::library::action::Library;
pub use super::machine::action::MachineAction;
pub use super::network::action::Network;
pub use super::page::action::PageAction;
use super::plan::action::PlanEdit;
use super::reports::{ReportSubject, ReportTarget};
pub use super::roofs::action::Roofs;
pub use super::run::action::RunAction;
use super::screen::Screen;
pub use super::sessions::action::Sessions;
pub use super::shell::action::{Closing, Shell};
use super::tables::action::TableChange;
pub use super::timeline::action::Timeline;
pub use super::why::action::Why;

/// One request.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// To another screen.
    Go(Screen),
    /// One step out of whatever is open.
    Back,
    /// Actions on the window itself.
    Shell(Shell),
    /// About this machine and its engines.
    Machine(MachineAction),
    /// About detached runs.
    Detached(Detached),
    /// About the roofs of this machine.
    Roofs(Roofs),
    /// About the plan.
    Plan(PlanEdit),
    /// Actions on the run.
    Run(RunAction),
    /// Actions on the open sessions.
    Sessions(Sessions),
    /// Actions on the curves.
    Curves(Curves),
    /// Actions on what is seen of charts.
    Charts(Charts),
    /// Actions on the comparison.
    Compare(Compare),
    /// Actions on the comparison of machines.
    Fleet(Fleet),
    /// Actions on the history of a case.
    History(History),
    /// Actions on the steps of a session.
    Journey(Journey),
    /// Actions on the kernels of a profile.
    Kernels(Kernels),
    /// Actions on the picture of a network.
    Network(Network),
    /// Actions on the question why a case is slow.
    Why(Why),
    /// Opens a file of another tool and shows it on the timeline.
    OpenTrace(PathBuf),
    /// About the timeline.
    Timeline(Timeline),
    /// Actions on the files of the library.
    Library(Library),
    /// Writes a report to a file; nothing stands for asking which.
    Report(ReportSubject, ReportTarget),
    /// Sessions as a page that any browser shows.
    Page(PageAction),
    /// Actions on figures as pictures.
    Figures(FigureAction),
    /// About a table, by its id.
    Table(&'static str, TableChange),
}
