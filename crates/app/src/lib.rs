//! The application without a window: its state, everything that can be asked of it, and the work behind it.
//!
//! A view reads [`App`] and returns [`action::Action`]s; [`App::act`] is the only way to change it. What
//! background threads report is taken in by [`App::receive`]. Nothing here knows what draws it.

pub mod action;
pub mod best;
pub mod claims;
pub mod command;
pub mod command_guards;
pub mod compare;
pub mod concurrent_runs;
pub mod curves;
mod curves_drawing;
mod curves_table;
mod duration_sources;
pub mod figures;
pub mod find;
pub mod graph;
pub mod history;
pub mod inbox;
pub mod jobs;
pub mod journey;
pub mod kernels;
pub mod keys;
mod legend_entry;
pub mod library;
pub mod machine;
pub mod notices;
pub mod palette_entries;
pub mod past_durations;
pub mod plan;
pub mod plans;
mod published;
mod receive;
mod report_subject;
pub mod reports;
pub mod run;
pub mod screen;
pub mod sessions;
pub mod settings;
pub mod shapes;
pub mod timeline;
mod trace_work;
pub mod trade_off;
mod update;
mod work;

use std::path::PathBuf;
use std::sync::Arc;

use compare::CompareState;
use curves::CurvesState;
use figures::Picture;
use history::HistoryState;
use jobs::{Jobs, Waker};
use journey::{ComparedSteps, JourneyState};
use kernels::KernelsState;
use library::LibraryState;
use machine::MachineState;
use notices::{Notices, Weight};
use plan::Planner;
use powerband_core::base::clock;
use powerband_core::domain::plan::Plan;
use powerband_core::domain::session::Session;
use powerband_core::domain::telemetry::DeviceKind;
use powerband_findings::analysis::case_rows::CaseRow;
use powerband_findings::analysis::comparison::{self, Side};
use powerband_measure::runner::default_benchmark;
pub use powerband_measure::runner::installation::Installation;
use powerband_measure::runner::prepare;
use powerband_measure::runner::request::RunRequest;
use powerband_measure::runner::request::preset_rules;
use powerband_measure::telemetry::sampler::USUAL_HZ;
use powerband_store::journal::Living;
use powerband_store::library::journals;
use run::LiveRun;
use screen::Screen;
use sessions::{LIVE, OpenSessions, SessionId};
use settings::Remembered;
use timeline::TimelineState;

/// What the application wants from whoever shows it.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// Put this on the clipboard.
    Copy(String),
    /// Put this picture on the clipboard.
    CopyPicture(Arc<Picture>),
    /// Put the cursor into the field of this name.
    Cursor(String),
    /// Hand in the figure that the user means.
    Figure(FigureWish),
    /// Ask the user for files.
    Ask(Ask),
    /// Go out of sight and stay alive.
    Hide,
    /// Come back into sight: there is something to decide.
    Show,
    /// Go.
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
    /// Which files of other tools to open.
    Trace,
    /// Where something is that engines need.
    Point(machine::Pointed),
    /// Where to save a session, with a whole path to begin with.
    SaveSession(SessionId, PathBuf),
    /// Where to save a figure, with a whole path to begin with.
    SaveFigure(Arc<figures::Shown>, PathBuf),
    /// Where to write a report, with a whole path to begin with.
    SaveReport(reports::Subject, PathBuf),
}

/// The whole application.
pub struct App {
    /// Folders and programs.
    pub place: Installation,
    /// The screen that is shown.
    pub screen: Screen,
    /// What is kept from one start to the next.
    pub remembered: Remembered,
    /// Whether the command palette is open.
    pub palette_open: bool,
    /// Whether the log is open.
    pub log_open: bool,
    /// Whether the library is shown beside the screen all the same where the window has no room for both;
    /// nothing where it has.
    library_in_narrow: Option<bool>,
    /// Whether the user is being asked what becomes of the run.
    pub closing: bool,
    /// This machine.
    pub machine: MachineState,
    /// The plan.
    pub planner: Planner,
    /// The run, while it goes on and after it.
    pub run: Option<LiveRun>,
    /// How many runs were begun in this window.
    pub n_runs: u32,
    /// Runs that other programs measure now.
    elsewhere: Vec<Living>,
    /// The open sessions.
    pub sessions: OpenSessions,
    /// The curves.
    pub curves: CurvesState,
    /// The comparison.
    pub compare: CompareState,
    /// The history of a case.
    pub history: HistoryState,
    /// The steps of a session.
    pub journey: JourneyState,
    /// Where the time of a profile went.
    pub kernels: KernelsState,
    /// The timeline of a trace.
    pub timeline: TimelineState,
    /// The library.
    pub library: LibraryState,
    /// Whether a figure is on the screen that could be copied.
    pub has_figure: bool,
    /// What the user should know.
    pub notices: Notices,
    /// What is wanted from whoever shows the application, oldest first.
    pub outputs: Vec<Output>,
    window_file: PathBuf,
    /// What was last written there, and when, on the monotonic clock.
    kept: (Remembered, u64),
    /// Which of the open sessions are built-in examples, each with its place among them.
    examples: std::collections::BTreeMap<SessionId, usize>,
    /// Files that are being read; they are remembered as if they were open.
    opening: std::collections::BTreeMap<SessionId, PathBuf>,
    /// Whether the next session that opens is shown at once: the user asked for it.
    shows_opened: bool,
    /// What earlier sessions took.
    learned: past_durations::Learned,
    jobs: Jobs,
}

impl App {
    /// An application that has looked at nothing yet but its own settings.
    pub fn new(place: Installation, waker: Waker) -> Self {
        let window_file = window_file(&place);
        let (remembered, said) = settings::read(&window_file);
        let mut app = Self {
            screen: remembered.screen,
            palette_open: false,
            log_open: false,
            library_in_narrow: None,
            closing: false,
            machine: MachineState::default(),
            planner: Planner::new(remembered.draft.clone()),
            run: None,
            n_runs: 0,
            elsewhere: Vec::new(),
            sessions: OpenSessions::default(),
            curves: CurvesState::default(),
            compare: CompareState::default(),
            history: HistoryState::default(),
            journey: JourneyState::default(),
            kernels: KernelsState::default(),
            timeline: TimelineState::default(),
            library: LibraryState::default(),
            has_figure: false,
            notices: Notices::default(),
            outputs: Vec::new(),
            jobs: Jobs::new(waker),
            examples: std::collections::BTreeMap::new(),
            opening: std::collections::BTreeMap::new(),
            learned: past_durations::Learned::default(),
            shows_opened: false,
            kept: (remembered.clone(), clock::monotonic_ns()),
            window_file,
            remembered,
            place,
        };
        app.curves.options.limit_ns = app.remembered.limit_ns;
        app.curves.options.log_y = !app.remembered.linear_latency;
        app.curves.options.log_throughput = app.remembered.log_throughput;
        app.curves.options.statistic = app.remembered.statistic;
        app.curves.options.efficiency = app.remembered.efficiency;
        if let Some(said) = said {
            app.notices
                .add(Weight::Trouble, said, None, clock::monotonic_ns());
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
            for path in again {
                self.open_session(path);
            }
            self.open_examples_again(&examples_again);
            self.open_traces_again(files_again);
        } else {
            self.act(action::Action::Sessions(action::Sessions::Open(files)));
        }
        self.look_for_engines();
        self.look_for_journals();
        self.list_plans();
        self.inspect_model();
    }

    /// Whether workers may be measuring.
    pub fn is_running(&self) -> bool {
        self.run.as_ref().is_some_and(|run| run.stage.is_going_on())
    }

    /// The setup that "add a setup" adds: the best engine that the plan does not have yet.
    pub fn next_setup(&self) -> String {
        let planned = self.planner.draft.setups.iter();
        self.machine
            .next_setup(planned.map(|setup| setup.spec.as_str()))
    }

    /// The keys of a command, as words; nothing for none.
    pub fn keys_of(&self, id: &str) -> String {
        let command = command::ALL.iter().find(|command| command.id == id);
        let keys = command.and_then(|command| command::keys(command, &self.remembered.shortcuts));
        keys.map(|keys| keys.on_keyboard()).unwrap_or_default()
    }

    /// The plan as it would be run, for an estimate; nothing where it makes no sense yet.
    pub fn planned(&self) -> Option<Plan> {
        Some(self.planned_of(self.planner.draft.request().ok()?))
    }

    /// Whether the library stands beside the screen.
    pub fn shows_library(&self) -> bool {
        self.library_in_narrow
            .unwrap_or(!self.remembered.library_folded)
    }

    /// Shows the library beside the screen or folds it; in a narrow window for as long as it is narrow.
    fn show_library(&mut self, shown: bool) {
        match &mut self.library_in_narrow {
            Some(in_narrow) => *in_narrow = shown,
            None => self.remembered.library_folded = !shown,
        }
    }

    /// Takes in whether the window has room for screen and library.
    pub fn fit(&mut self, is_narrow: bool) {
        if is_narrow != self.library_in_narrow.is_some() {
            self.library_in_narrow = is_narrow.then_some(false);
        }
    }

    /// What the large button measures, as far as it is known yet what this machine has.
    pub fn first_request(&self) -> RunRequest {
        let devices = self.machine.devices.iter().flat_map(|(found, _)| found);
        let kinds: Vec<DeviceKind> = devices.map(|device| device.kind).collect();
        default_benchmark::request(&self.machine.here(), &kinds)
    }

    /// A request as it would be run here, for an estimate.
    pub fn planned_of(&self, request: RunRequest) -> Plan {
        let mut setups = request.setups;
        if setups.is_empty() {
            let ready = self.machine.ready();
            let ids: std::collections::BTreeSet<&str> = ready.map(|engine| engine.id).collect();
            setups = ids.into_iter().filter_map(|id| id.parse().ok()).collect();
        }
        let mut rules = request
            .rules
            .unwrap_or_else(|| preset_rules(request.preset, &setups));
        if let Some(rounds) = request.rounds {
            rules.measure.rounds = rounds;
            rules.measure.target_ci95_rel = None;
        }
        if request.energy {
            let rate_hz = self.remembered.watching.rate_hz();
            rules.measure.allow_for_energy(rate_hz.unwrap_or(USUAL_HZ));
        }
        let batches = request
            .batches
            .unwrap_or_else(|| prepare::DEFAULT_BATCHES.to_vec());
        Plan {
            model: request.model,
            ladder: if request.journey {
                prepare::ladder(&setups, &request.looks, &batches)
            } else {
                Vec::new()
            },
            setups,
            looks: request.looks,
            batches,
            shapes: request.shapes,
            batch_axis: request.batch_axis,
            preset: request.preset,
            measure: rules.measure,
            warm_up: rules.warm_up,
            limits: rules.limits,
            seed: 0,
            load: request.load,
            keeping: request.keeping,
            judging: request.judging,
            profiling: request.profiling,
        }
    }

    /// A latency limit to begin with: the middle of what is drawn, to two digits.
    pub fn suggested_limit_ns(&self) -> Option<f64> {
        let mut medians: Vec<f64> = self
            .sessions
            .iter()
            .flat_map(|open| open.findings.curves.iter())
            .flat_map(|curve| curve.points.iter().map(|point| point.median_ns))
            .collect();
        medians.sort_by(f64::total_cmp);
        let middle = *medians.get(medians.len() / 2)?;
        let step = 10_f64.powf(middle.log10().floor() - 1.0);
        Some((middle / step).round() * step)
    }

    /// What is to be remembered, as things stand.
    pub fn to_remember(&self) -> Remembered {
        Remembered {
            screen: self.screen,
            open: self
                .sessions
                .iter()
                .filter_map(|open| open.path.clone())
                .chain(self.opening.values().cloned())
                .collect(),
            examples: self.open_examples(),
            files: self.unkept_files(),
            limit_ns: self.curves.options.limit_ns,
            linear_latency: !self.curves.options.log_y,
            log_throughput: self.curves.options.log_throughput,
            statistic: self.curves.options.statistic,
            efficiency: self.curves.options.efficiency,
            draft: self.planner.draft.clone(),
            ..self.remembered.clone()
        }
    }

    /// Keeps what is to be remembered. Called when the window closes.
    pub fn remember(&self) -> Result<(), String> {
        settings::write(&self.window_file, &self.to_remember())
    }

    /// Keeps it from time to time as well, for a window that does not get to close.
    fn remember_now_and_then(&mut self, now_ns: u64) {
        const EVERY_NS: u64 = 10_000_000_000;
        if now_ns.saturating_sub(self.kept.1) < EVERY_NS {
            return;
        }
        let remembered = self.to_remember();
        let is_news = remembered != self.kept.0;
        self.kept = (remembered, now_ns);
        if is_news {
            let (path, remembered) = (self.window_file.clone(), self.kept.0.clone());
            self.jobs.spawn("remember", move |_| {
                // The window's place is not worth a complaint in mid-work.
                drop(settings::write(&path, &remembered));
            });
        }
    }

    /// How long until something changes by itself, in nanoseconds.
    pub fn next_change_ns(&self) -> Option<u64> {
        let now = clock::monotonic_ns();
        let tick = self.is_running().then_some(1_000_000_000);
        [tick, self.notices.next_change_ns(now)]
            .into_iter()
            .flatten()
            .min()
    }

    fn say(&mut self, weight: Weight, text: impl Into<String>) {
        self.notices.add(weight, text, None, clock::monotonic_ns());
    }

    fn offer(
        &mut self,
        weight: Weight,
        text: impl Into<String>,
        button: &str,
        action: action::Action,
    ) {
        let offer = Some((button.to_owned(), action));
        self.notices.add(weight, text, offer, clock::monotonic_ns());
    }

    /// After the open sessions or what is found in them changed.
    fn sessions_changed(&mut self) {
        let files = self
            .sessions
            .iter()
            .filter_map(|open| open.path.clone())
            .collect();
        self.jobs.watch_files(files);
        self.curves.redraw(&self.sessions);
        self.compare_if_wanted();
        self.compare.redraw(&self.sessions, &self.curves.options);
        self.history.is_stale = true;
        self.follow_if_wanted();
        self.compare_steps_if_wanted();
        self.add_up_if_wanted();
    }

    /// A case is followed while its screen is shown: that means to read many files.
    fn follow_if_wanted(&mut self) {
        self.history.settle(&self.sessions);
        if self.screen != Screen::History {
            return;
        }
        let Some(following) = self.history.wanted() else {
            return;
        };
        let (followed, others): (Vec<_>, Vec<_>) = self
            .sessions
            .iter()
            .filter(|open| open.id != LIVE)
            .partition(|open| open.id == following.session);
        let search = work::Search {
            following,
            folder: self.place.paths.library.clone(),
            known: self.library.found.clone(),
            colour: self.sessions.colour(following.session, following.setup),
            open: followed
                .into_iter()
                .chain(others)
                .map(|open| (Arc::clone(&open.session), open.path.clone()))
                .collect(),
        };
        self.history.busy = Some(following);
        self.history.is_stale = false;
        self.jobs
            .spawn("history", move |outlet| work::follow(&search, outlet));
    }

    /// Steps are compared while their screen is shown. Those of a run that goes on are found on its own
    /// thread, because only that has the samples.
    fn compare_steps_if_wanted(&mut self) {
        self.journey.settle(&self.sessions);
        let wanted = self.journey.wanted(&self.sessions);
        let wanted = wanted.filter(|_| self.screen == Screen::Journey);
        if let Some((looking, open)) = wanted.and_then(|l| Some((l, self.sessions.get(l.session)?)))
        {
            let (session, rows) = (Arc::clone(&open.session), Arc::clone(&open.findings.rows));
            if open.id == LIVE {
                self.journey.result = open.findings.journey.clone().map(|journey| ComparedSteps {
                    looking,
                    session,
                    journey,
                });
            } else {
                self.journey.busy = Some(looking);
                self.jobs.spawn("journey", move |outlet| {
                    work::compare_steps(looking, session, &rows, outlet);
                });
            }
        }
        self.journey.redraw(&self.sessions);
    }

    /// The steps of a session were found.
    fn compared_steps(&mut self, found: ComparedSteps) {
        if self.journey.busy == Some(found.looking) {
            self.journey.busy = None;
        }
        if self.journey.looking == Some(found.looking) {
            self.journey.result = Some(found);
        }
        self.compare_steps_if_wanted();
    }

    fn compare_if_wanted(&mut self) {
        self.compare.settle(&self.sessions);
        let Some((before, after)) = self.compare.wanted() else {
            return;
        };
        let side = |pick: compare::Pick| {
            let open = self.sessions.get(pick.session)?;
            Some((Arc::clone(&open.session), Arc::clone(&open.findings.rows)))
        };
        let (Some(b), Some(a)) = (side(before), side(after)) else {
            return;
        };
        self.compare.busy = Some((before, after));
        self.jobs.spawn("compare", move |outlet| {
            let (first, second) = ((b.0, b.1, before), (a.0, a.1, after));
            let compare = if before.whole {
                comparison::compare_sessions
            } else {
                comparison::compare_setups
            };
            let result = compare(&as_side(&first), &as_side(&second));
            outlet.send(inbox::Message::Finding(inbox::FindingMessage::Compared(
                before,
                after,
                Arc::new(result),
            )));
        });
    }
}

type Held = (Arc<Session>, Arc<Vec<CaseRow>>, compare::Pick);

fn as_side((session, rows, pick): &Held) -> Side<'_> {
    Side {
        session,
        rows,
        setup: pick.setup,
        batch: pick.batch,
    }
}

/// Where the window's own state is kept: beside the settings.
pub fn window_file(place: &Installation) -> PathBuf {
    place.paths.settings.with_file_name("window.ron")
}
