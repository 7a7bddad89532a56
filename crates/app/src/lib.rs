//! The application without a window: its state, its actions and its background work.
//!
//! A view reads [`App`] and returns [`action::Action`]s; [`App::act`] is the only way to change it. What
//! background threads report is taken in by [`App::receive`]. Nothing here knows what draws it.

pub mod action;
pub mod charts;
pub mod command;
pub mod compare;
pub mod curves;
pub mod derived;
pub mod detached;
pub mod figures;
pub mod find;
pub mod fleet;
pub mod history;
pub mod items;
pub mod jobs;
pub mod journey;
pub mod kernels;
pub mod keys;
pub mod library;
pub mod machine;
pub mod notices;
mod option_names;
pub mod palette_entries;
mod parts;
pub mod plan;
pub mod reports;
pub mod roofs;
pub mod run;
pub mod screen;
pub mod sessions;
pub mod shell;
pub mod tables;
pub mod timeline;
pub mod why;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use action::{Action, Sessions, Shell};
use charts::ChartsState;
use compare::CompareState;
use curves::CurvesState;
use detached::DetachedState;
use figures::Picture;
use fleet::FleetState;
use history::HistoryState;
use jobs::{Jobs, Waker};
use journey::JourneyState;
use kernels::KernelsState;
use library::LibraryState;
use machine::MachineState;
use notices::{NoticeLevel, Notices};
use plan::Planner;
use powerband_core::base::clock;
use powerband_findings::chart::view::Zoom;
pub use powerband_measure::runner::installation::Installation;
use powerband_store::journal::JournalledRun;
use powerband_store::library::journals;
use roofs::RoofsState;
use run::LiveRun;
use screen::Screen;
use sessions::{OpenSessions, SessionId};
use shell::settings::{self, SavedState};
use shell::trail::Trail;
use tables::Tables;
use timeline::TimelineState;
use why::WhyState;

/// A request of the application to the window.
#[derive(Clone, Debug, PartialEq)]
pub enum WindowRequest {
    /// Put this text on the clipboard.
    Copy(String),
    /// Put this picture on the clipboard.
    CopyPicture(Arc<Picture>),
    /// Put the cursor into the field of this name.
    Cursor(String),
    /// Return the figure that the user means.
    Figure(FigureWish),
    /// Zoom the chart that the user means.
    Zoom(Zoom),
    /// Ask the user for files.
    Ask(Ask),
    /// Hide the window.
    Hide,
    /// Show the window: there is a question.
    Show,
    /// Close the window.
    Close,
}

/// What is wanted of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FigureWish {
    /// Its picture, on the clipboard.
    Copy,
    /// A file of it.
    Save,
}

/// A question whose answer is a file.
#[derive(Clone, Debug, PartialEq)]
pub enum Ask {
    /// Which files to open.
    Open,
    /// Which ONNX file to measure.
    Model,
    /// Which file a key of a setup of the plan names.
    KeyFile(usize, String),
    /// Which folder a key of a setup of the plan names.
    KeyFolder(usize, String),
    /// Which files of other tools to open.
    Trace,
    /// Where something is that engines need.
    Point(machine::PathSetting),
    /// Where to save a session, with a whole path to begin with.
    SaveSession(SessionId, PathBuf),
    /// Where to save a figure, with a whole path to begin with.
    SaveFigure(Arc<figures::ShownFigure>, PathBuf),
    /// Where to write a table, with a whole path to begin with.
    SaveTable(&'static str, PathBuf),
    /// Where to write a report, with a whole path to begin with.
    SaveReport(reports::ReportSubject, PathBuf),
}

/// The whole application.
pub struct App {
    /// Folders and programs.
    pub place: Installation,
    /// The screen that is shown.
    pub screen: Screen,
    /// The saved state of the window.
    pub remembered: SavedState,
    /// Whether the command palette is open.
    pub palette_open: bool,
    /// Whether the log is open.
    pub log_open: bool,
    /// Whether the library is shown beside the screen all the same where the window has no room for both;
    /// nothing where it has.
    library_in_narrow: Option<bool>,
    /// Whether the window has room for two screens.
    has_room_for_two: bool,
    /// The time of all frames, where a picture is taken of one moment; nothing where time passes.
    pub stopped_at_ns: Option<u64>,
    /// Where the user has been.
    pub trail: Trail,
    /// Whether the window asks what happens to the run.
    pub closing: bool,
    /// The programs that the window asks for before a run.
    pub programs: Option<run::programs::ProgramsQuestion>,
    /// This machine.
    pub machine: MachineState,
    /// What this machine reaches at most.
    pub roofs: RoofsState,
    /// Runs in jobs of Slurm.
    pub detached: DetachedState,
    /// The plan.
    pub planner: Planner,
    /// The run in progress, or the last one.
    pub run: Option<LiveRun>,
    /// How many runs were begun in this window.
    pub n_runs: u32,
    /// Runs that other programs measure now.
    elsewhere: Vec<JournalledRun>,
    /// The open sessions.
    pub sessions: OpenSessions,
    /// The curves.
    pub curves: CurvesState,
    /// The comparison.
    pub compare: CompareState,
    /// The machines of the open sessions.
    pub fleet: Box<FleetState>,
    /// The history of a case.
    pub history: HistoryState,
    /// The steps of a session.
    pub journey: JourneyState,
    /// The time of a profile by category, operator and kernel.
    pub kernels: KernelsState,
    /// Why a case is slow.
    pub why: WhyState,
    /// The timeline of a trace.
    pub timeline: TimelineState,
    /// The library.
    pub library: LibraryState,
    /// The tables of the screens, as they are arranged.
    pub tables: Tables,
    /// Whether a figure is on the screen that could be copied.
    pub has_figure: bool,
    /// Whether a chart is shown that can be zoomed.
    pub has_zoomable_chart: bool,
    /// What is seen of the charts.
    pub charts: ChartsState,
    /// What the user should know.
    pub notices: Notices,
    /// Requests to the window, oldest first.
    pub outputs: Vec<WindowRequest>,
    window_file: PathBuf,
    /// What was last written there, and when, on the monotonic clock.
    kept: (SavedState, u64),
    /// Which of the open sessions are built-in examples, each with its place among them.
    examples: std::collections::BTreeMap<SessionId, usize>,
    /// Files that are being read; they are remembered as if they were open.
    opening: std::collections::BTreeMap<SessionId, PathBuf>,
    /// Whether the next session that opens is shown at once: the user asked for it.
    shows_opened: bool,
    /// Whether sessions were opened of which nothing is made yet.
    has_opened: bool,
    /// What earlier sessions took.
    learned: plan::past_durations::PastDurationCache,
    jobs: Jobs,
}

impl App {
    /// An application that has read its own settings only.
    pub fn new(place: Installation, waker: Waker) -> Self {
        let window_file = settings::window_file(&place);
        let (remembered, said) = settings::read(&window_file);
        let mut app = Self {
            screen: remembered.screen,
            palette_open: false,
            log_open: false,
            library_in_narrow: None,
            has_room_for_two: false,
            stopped_at_ns: None,
            trail: Trail::default(),
            closing: false,
            programs: None,
            machine: MachineState::default(),
            roofs: RoofsState::default(),
            detached: DetachedState::default(),
            planner: Planner::new(remembered.draft.clone()),
            run: None,
            n_runs: 0,
            elsewhere: Vec::new(),
            sessions: OpenSessions::default(),
            curves: CurvesState::default(),
            compare: CompareState::default(),
            fleet: Box::default(),
            history: HistoryState::default(),
            journey: JourneyState::default(),
            kernels: KernelsState::default(),
            why: WhyState::default(),
            timeline: TimelineState::default(),
            library: LibraryState::default(),
            tables: Tables::arranged(remembered.tables.clone()),
            has_figure: false,
            has_zoomable_chart: false,
            charts: ChartsState::default(),
            notices: Notices::default(),
            outputs: Vec::new(),
            jobs: Jobs::new(waker),
            examples: std::collections::BTreeMap::new(),
            opening: std::collections::BTreeMap::new(),
            learned: plan::past_durations::PastDurationCache::default(),
            shows_opened: false,
            has_opened: false,
            kept: (remembered.clone(), clock::monotonic_ns()),
            window_file,
            remembered,
            place,
        };
        app.curves.options.limit_ns = app.remembered.limit_ns;
        app.curves.options.log_y = !app.remembered.linear_latency;
        app.curves.options.log_throughput = app.remembered.throughput_axis();
        app.curves.stacked = app.remembered.stacked_charts;
        app.curves.groups_by_model = app.remembered.charts_by_model;
        app.curves.options.statistic = app.remembered.statistic;
        app.curves.options.efficiency = app.remembered.efficiency;
        if let Some(said) = said {
            app.notices
                .add(NoticeLevel::Trouble, said, None, clock::monotonic_ns());
        }
        app
    }

    /// Begins to look around: the library, the engines, what was open last time or is asked for now.
    pub fn wake_up(&mut self, files: Vec<PathBuf>) {
        let again = std::mem::take(&mut self.remembered.open);
        let files_again = std::mem::take(&mut self.remembered.files);
        let examples_again = std::mem::take(&mut self.remembered.examples);
        let paths = &self.place.paths;
        self.jobs
            .watch_library(paths.library.clone(), journals(paths));
        if files.is_empty() {
            self.open_sessions(again);
            self.open_examples_again(&examples_again);
            self.open_traces_again(files_again);
        } else {
            self.act(Action::Sessions(Sessions::Open(files)));
        }
        self.look_for_engines();
        self.read_roofs();
        self.detached(action::Detached::Look);
        self.look_for_journals();
        self.list_plans();
        self.inspect_model();
    }

    /// Applies an action.
    pub fn act(&mut self, action: Action) {
        match action {
            Action::Shell(Shell::Earlier) => self.go_back(),
            Action::Shell(Shell::Later) => self.go_forward(),
            _ => self.with_trail(|app| app.apply(action)),
        }
    }

    fn apply(&mut self, action: Action) {
        match action {
            Action::Go(screen) => self.go(screen),
            Action::Back => self.back(),
            Action::Shell(shell) => self.shell(shell),
            Action::Machine(machine) => self.machine(machine),
            Action::Roofs(roofs) => self.roofs(roofs),
            Action::Detached(detached) => self.detached(detached),
            Action::Plan(edit) => self.plan(edit),
            Action::Run(run) => self.run(&run),
            Action::Sessions(sessions) => self.sessions(sessions),
            Action::Curves(curves) => self.curves(curves),
            Action::Charts(change) => self.charts(change),
            Action::Compare(compare) => self.compare(&compare),
            Action::Fleet(fleet) => self.fleet(fleet),
            Action::History(history) => self.history(&history),
            Action::Journey(journey) => self.journey(&journey),
            Action::Kernels(kernels) => self.kernels(kernels),
            Action::Why(change) => self.why(&change),
            Action::OpenTrace(path) => self.open_traces(vec![path]),
            Action::Timeline(change) => self.timeline(change),
            Action::Library(library) => self.library(library),
            Action::Figures(change) => self.figures(change),
            Action::Table(id, change) => self.table(id, change),
            Action::Report(subject, path) => self.report(subject, path),
        }
    }

    /// Takes in what background work reports, for at most `budget`; returns whether something is left.
    pub fn receive(&mut self, budget: Duration) -> bool {
        let begun = Instant::now();
        let mut is_more_left = false;
        while let Some(report) = self.jobs.next() {
            self.with_trail(report);
            if begun.elapsed() >= budget {
                is_more_left = true;
                break;
            }
        }
        self.with_trail(Self::all_opened);
        if is_more_left {
            return true;
        }
        let now = self.stopped_at_ns.unwrap_or_else(clock::monotonic_ns);
        self.notices.age(now);
        self.remember_now_and_then(now);
        if let Some(run) = &mut self.run {
            run.update_progress(now);
        }
        self.run_table();
        self.planned_table();
        self.refresh_curves();
        false
    }

    /// Whether workers may be measuring.
    pub fn is_running(&self) -> bool {
        self.run.as_ref().is_some_and(|run| run.stage.is_going_on())
    }

    /// The keys of a command, as words; nothing for none.
    pub fn keys_of(&self, id: &str) -> String {
        let command = command::ALL.iter().find(|command| command.id == id);
        let keys = command.and_then(|command| command::keys(command, &self.remembered.shortcuts));
        keys.map(|keys| keys.on_keyboard()).unwrap_or_default()
    }

    /// Nanoseconds until something changes by itself.
    pub fn next_change_ns(&self) -> Option<u64> {
        let now = clock::monotonic_ns();
        let tick = self.is_running().then_some(1_000_000_000);
        [tick, self.notices.next_change_ns(now)]
            .into_iter()
            .flatten()
            .min()
    }

    fn notify(&mut self, weight: NoticeLevel, text: impl Into<String>) {
        self.notices.add(weight, text, None, clock::monotonic_ns());
    }

    fn notify_with_button(
        &mut self,
        weight: NoticeLevel,
        text: impl Into<String>,
        button: &str,
        action: Action,
    ) {
        let offer = Some((button.to_owned(), action));
        self.notices.add(weight, text, offer, clock::monotonic_ns());
    }

    /// A file was written in the background: the message, and the file; or why it was not.
    fn file_written(&mut self, written: Result<(String, PathBuf), String>) {
        match written {
            Ok((text, path)) => {
                let open = Action::Shell(Shell::OpenFile(path));
                self.notify_with_button(NoticeLevel::Done, text, "Open", open);
                self.jobs.rescan_library();
            }
            Err(reason) => self.notify(NoticeLevel::Trouble, reason),
        }
    }
}
