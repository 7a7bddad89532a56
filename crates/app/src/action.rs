//! Everything that a user can ask for. Views return these; `update` is the only place where they take effect.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use super::compare::Pick;
use super::figures::Shown;
use super::history::Following;
use super::journey::Looking;
use super::kernels::{Pick as ProfilePick, Shape};
use super::keys::Shortcut;
use super::machine::Pointed;
use super::plan::PlanEdit;
use super::reports::Subject;
use super::screen::Screen;
use super::sessions::{Pin, SessionId};
use super::settings::{Theme, Watching};
use super::timeline::TraceId;
use powerband_core::domain::case::CaseKey;
use powerband_findings::analysis::batch_curve::{Efficiency, Statistic};
use powerband_findings::analysis::breakdown::Level;
use powerband_findings::analysis::category::Category;
use powerband_findings::analysis::energy::EnergyKind;
use powerband_findings::analysis::timeline::stretch::Stretch;
use powerband_findings::analysis::trade_off::{At, Quality};
use powerband_findings::chart::spec::SeriesId;

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
}

/// About figures as pictures.
#[derive(Clone, Debug, PartialEq)]
pub enum Figures {
    /// Copies the picture of the figure that was last under the hand, or of the first one.
    CopyNear,
    /// Saves that figure.
    SaveNear,
    /// Copies the picture of this one.
    Copy(Arc<Shown>),
    /// Saves this one; asks where, unless that is said.
    Save(Arc<Shown>, Option<PathBuf>),
}

/// About the window itself.
#[derive(Clone, Debug, PartialEq)]
pub enum Shell {
    /// Opens or closes the command palette.
    Palette(bool),
    /// Opens or closes the log of notices.
    Log(bool),
    /// Shows or hides the library beside the rail.
    ToggleLibrary,
    /// Light, dark, or as the system has it.
    Theme(Theme),
    /// The next theme in turn.
    NextTheme,
    /// Everything a step larger (above 0), smaller (below 0) or back to its size (0).
    Zoom(i8),
    /// How often devices are read during the next run.
    Watching(Watching),
    /// Another shortcut for a command; nothing removes it.
    Shortcut(&'static str, Option<Shortcut>),
    /// Every shortcut as it was delivered.
    ResetShortcuts,
    /// Takes a notice down.
    Dismiss(u64),
    /// Takes the newest notice down.
    DismissNewest,
    /// To the clipboard.
    Copy(String),
    /// Puts the cursor into a field of the screen, by its name.
    Cursor(String),
    /// The user wants to close the window.
    AskClose,
    /// The answer to the question that closing in mid-run raises.
    Close(Closing),
}

/// What becomes of a run when its window closes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closing {
    /// The window stays.
    Stay,
    /// The window goes out of sight; the run goes on, is saved, and the program ends.
    Finish,
    /// The run stops, what was measured is saved, and the program ends.
    Stop,
}

/// About this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Machine {
    /// Looks again for engines.
    Rescan,
    /// Fetches ONNX Runtime with pip.
    InstallOnnxRuntime,
    /// Ends the fetching.
    StopInstall,
    /// Asks where something is.
    Choose(Pointed),
    /// Uses what is there, from now on; nothing to use what is found.
    Point(Pointed, Option<PathBuf>),
}

/// About the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Run {
    /// Measures the plan.
    Start,
    /// Measures ResNet-50 on the best that is here, with the quick preset: see `runner::first`.
    StartFirst,
    /// Rests after the visit that is going on.
    Pause,
    /// Goes on.
    Resume,
    /// Adds so many rounds to an open session, in its own file.
    More(SessionId, u32),
    /// Ends the run; what was measured is kept.
    Stop,
    /// Leaves a case out; asked a second time, ends its worker at once.
    Skip(CaseKey),
    /// Leaves out the case that is being measured.
    SkipCurrent,
    /// Saves what interrupted runs left behind.
    Recover,
    /// Begins a run although another program is measuring.
    Anyway(Box<Self>),
}

/// About the open sessions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sessions {
    /// Asks for files to open.
    Choose,
    /// Opens files: sessions, or an ONNX file for the plan.
    Open(Vec<PathBuf>),
    /// Opens one of the built-in examples, by its place.
    OpenExample(usize),
    /// Opens a session and closes all others.
    OpenOnly(PathBuf),
    /// Opens it, or closes it if it is open.
    Toggle(PathBuf),
    /// Closes one.
    Close(SessionId),
    /// Closes all.
    CloseAll,
    /// Reads a session again from its file.
    Reload(SessionId),
    /// Makes a session's plan the plan.
    RunAgain(SessionId),
    /// The same with a session that may not be open, by its file.
    RunFileAgain(PathBuf),
    /// Writes a session to a file of the user's choice; nothing stands for asking which.
    SaveAs(SessionId, Option<PathBuf>),
}

/// About the curves.
#[derive(Clone, Debug, PartialEq)]
pub enum Curves {
    /// Which latency is drawn.
    Statistic(Statistic),
    /// Which efficiency is drawn.
    Efficiency(Efficiency),
    /// Which energy is drawn.
    Energy(EnergyKind),
    /// Which quality is drawn beside the speed.
    Quality(Quality),
    /// At which batch size the speed counts there.
    At(At),
    /// Whose graph is shown.
    Examined(SeriesId),
    /// Logarithmic or linear latency.
    LogLatency(bool),
    /// Logarithmic or linear throughput.
    LogThroughput(bool),
    /// The latency limit in nanoseconds.
    Limit(Option<f64>),
    /// The same while it is dragged: the axis stays as it is until a `Limit` comes.
    DragLimit(f64),
    /// Shows or hides a series.
    ToggleSeries(SeriesId),
    /// Shows one series alone, or all again.
    OnlySeries(SeriesId),
    /// Shows every series.
    ShowAll,
    /// Brings a series forward while the hand is on it.
    Highlight(Option<SeriesId>),
    /// Pins a case, or unpins it.
    Pin(Option<Pin>),
    /// Pins the next (above 0) or the previous case of the table.
    PinStep(i8),
    /// Sorts the table by a column; the same again turns it round.
    Sort(usize),
    /// Shows rows with these words only.
    Filter(String),
    /// Copies the table, tab-separated.
    CopyTable,
}

/// About the comparison.
#[derive(Clone, Debug, PartialEq)]
pub enum Compare {
    /// What it is compared with.
    Before(Pick),
    /// What is compared.
    After(Pick),
    /// Turns it round.
    Swap,
    /// Copies the case-study table.
    CopyTable,
}

/// About the history of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum History {
    /// Which case is followed.
    Follow(Following),
    /// Copies the table, tab-separated.
    CopyTable,
}

/// About the steps of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Journey {
    /// Whose steps are shown.
    Look(Looking),
    /// Copies the table, tab-separated.
    CopyTable,
}

/// About where the time of a profile went.
#[derive(Clone, Debug, PartialEq)]
pub enum Kernels {
    /// Which profile is shown.
    Look(ProfilePick),
    /// Which one it is compared with; nothing for none.
    Before(Option<ProfilePick>),
    /// Before becomes after, and after before.
    Swap,
    /// What a row stands for.
    Level(Level),
    /// How the time is drawn.
    Shape(Shape),
    /// Shows rows with these words only, of the profile that is shown.
    Filter(String),
    /// Shows rows of at least this share only, from 0 to 1, of the profile that is shown.
    Over(f64),
    /// Shows all rows of the profile that is shown.
    AllRows,
    /// Sorts the table by a column; the same again turns it round.
    Sort(usize),
    /// Another pattern for a category, before all others.
    Categorise(Category, String),
    /// Takes one of the user's patterns away, by its place.
    Forget(usize),
    /// Sorts the counters by a column; the same again turns it round.
    SortCounters(usize),
    /// Copies the table, tab-separated.
    CopyTable,
    /// Shows the timeline of the profile that is shown.
    Timeline,
    /// Shows a pause on it: its start, counted from the first slice, and its length, in nanoseconds.
    Gap(u64, u64),
}

/// About the timeline. What is looked at, selected and found belongs to the trace that is shown.
#[derive(Clone, Debug, PartialEq)]
pub enum Timeline {
    /// Asks for a file.
    Choose,
    /// Shows another open trace.
    Show(TraceId),
    /// Closes a trace.
    Close(TraceId),
    /// Stops to read a file.
    StopReading(TraceId),
    /// Looks at a stretch of time.
    Look(Stretch),
    /// Makes what is seen so many times as long, around the time under the hand.
    Zoom(f64),
    /// Moves what is seen by a share of its length.
    Move(f64),
    /// Looks at what is selected; at everything where nothing is.
    Fit,
    /// Looks at everything.
    Whole,
    /// Scrolls the tracks to so many points from the top.
    Scroll(f32),
    /// Scrolls to what is selected; it is in sight then.
    Reveal(f32),
    /// Shows one row of a track alone, or all again.
    Fold(u32),
    /// Shows one row alone of every track, or all rows again.
    FoldAll(bool),
    /// Selects a slice, by the trace's index, or nothing.
    Select(Option<usize>),
    /// Selects a slice and brings it into sight.
    GoTo(usize),
    /// Selects a slice and looks at it alone.
    ZoomTo(usize),
    /// Selects a stretch of time on some rows, and adds up what ran there.
    Measure(Stretch, Range<usize>),
    /// Whether dragging measures in place of moving.
    Measuring(bool),
    /// From a launch to what it launched, and back.
    Partner,
    /// Looks for names with a text in them.
    Search(String),
    /// To the next hit, or to the one before.
    NextHit(bool),
    /// Puts the cursor into the search field.
    FocusSearch,
    /// The time under the hand.
    Hand(Option<f64>),
}

/// About the files of the library.
#[derive(Clone, Debug, PartialEq)]
pub enum Library {
    /// Shows sessions with these words only.
    Search(String),
    /// Puts the cursor into the search field.
    FocusSearch,
    /// Sorts the sessions by a column; the same again turns it round.
    Sort(usize),
    /// Shows a session's details.
    Select(Option<PathBuf>),
    /// The session's name.
    Rename(PathBuf, String),
    /// The session's tags.
    Tags(PathBuf, Vec<String>),
    /// The session's notes.
    Notes(PathBuf, String),
    /// A copy beside it.
    Duplicate(PathBuf),
    /// To the trash.
    Discard(PathBuf),
    /// Back from the trash, the last one first.
    Restore,
    /// The session that was in this file back from the trash.
    RestoreThis(PathBuf),
    /// Shows the file in the file manager.
    Reveal(PathBuf),
}
