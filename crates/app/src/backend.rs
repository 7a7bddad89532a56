//! What the application asks of the machine: to find devices and engines, to measure, to read other tools' files.
//!
//! The program that has the window implements it; the application itself starts no process and reads no device.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use crate::detached::DetachedRun;
use powerband_core::base::cancel::CancelToken;
use powerband_core::base::paths::Paths;
use powerband_core::control::Control;
use powerband_core::domain::again::SessionPart;
use powerband_core::domain::case::CaseKey;
use powerband_core::domain::environment::Environment;
use powerband_core::domain::event::{RunStart, TimedEvent};
use powerband_core::domain::experiment::ExperimentChange;
use powerband_core::domain::file_set::FileSet;
use powerband_core::domain::plan::{Plan, Profiler};
use powerband_core::domain::recorded_run::RecordedRun;
use powerband_core::domain::request::{ProgramTrust, RunRequest};
use powerband_core::domain::roofs::Roofs;
use powerband_core::domain::session::Session;
use powerband_core::domain::setup::Setup;
use powerband_core::domain::telemetry::{MissingSource, WatchedDevice};
use powerband_core::domain::telemetry_paths::TelemetryPaths;
use powerband_core::domain::trace::Trace;
use powerband_findings::analysis::category::Rules;
use powerband_planning::engine_options::{EngineInfo, OfferedEnvironment};
use powerband_planning::plan_check::{NamedSize, PlanCheck};
use powerband_store::installation::Installation;
use powerband_store::library::Stamp;
use powerband_store::roofs_file::KnownRoofs;
use powerband_store::trace_file;

/// The roofs that are to be measured.
#[derive(Clone, Debug, PartialEq)]
pub enum WantedRoofs {
    /// What is missing of this machine and its usual engines.
    Missing,
    /// All of these again.
    Again,
    /// What is missing for a setup.
    Of(Setup),
}

/// A session that goes into a page of results.
#[derive(Clone, Debug)]
pub struct PageSource {
    pub session: Arc<Session>,
    /// Its file, beside which its timelines lie.
    pub path: Option<PathBuf>,
    /// Timelines of its profiles that are open.
    pub timelines: Vec<(usize, Arc<Trace>)>,
}

impl PartialEq for PageSource {
    fn eq(&self, other: &Self) -> bool {
        let traces = |source: &Self| -> Vec<(usize, *const Trace)> {
            let open = source.timelines.iter();
            open.map(|(profile, trace)| (*profile, Arc::as_ptr(trace)))
                .collect()
        };
        Arc::ptr_eq(&self.session, &other.session)
            && self.path == other.path
            && traces(self) == traces(other)
    }
}

impl Eq for PageSource {}

impl PageSource {
    /// Its file, else what it is called.
    pub fn name(&self) -> String {
        match &self.path {
            Some(path) => path.display().to_string(),
            None => self.session.name.clone(),
        }
    }
}

/// What a page of results would have in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageFacts {
    /// `2 sessions, 1 timeline`.
    pub contents: String,
    /// The paths and names in it that say whose it is.
    pub private: String,
    /// What is left out, and why.
    pub notes: Vec<String>,
}

/// What measures, reads devices and starts programs.
pub trait Backend: Send + Sync {
    /// Whether there is a machine at all: devices, files, programs and threads. Where there is none, what needs one is
    /// not offered.
    fn has_machine(&self) -> bool {
        true
    }

    /// What the machine is.
    fn environment(&self) -> Environment;

    /// The devices that can be read, and the sources that are not available.
    fn devices(&self, places: &TelemetryPaths) -> (Vec<WatchedDevice>, Vec<MissingSource>);

    /// Whether a source of readings, by its title, reports cards.
    fn reports_cards(&self, source: &str) -> bool;

    /// Every offered engine, and every library of those that have several. Takes a second or more.
    fn engines(&self, place: &Installation) -> Vec<FoundEngine>;

    /// Profilers of other programs that are not here, and why.
    fn missing_profilers(&self) -> Vec<(Profiler, String)>;

    /// Fetches a build of ONNX Runtime, and returns what it calls itself. `tell` hears how far it is.
    fn install_onnxruntime(
        &self,
        place: &Installation,
        flavor: &str,
        cancel: &CancelToken,
        tell: &mut dyn FnMut(InstallProgress),
    ) -> Result<String, String>;

    /// How long measuring the roofs of the processor and of so many engines takes at least and at most, in seconds.
    fn roof_seconds(&self, engines: usize) -> (f64, f64);

    /// The kept roofs of the devices that are here.
    fn kept_roofs(&self, place: &Installation) -> KnownRoofs;

    /// Measures roofs; returns all that are kept from now on, and nothing where it was cancelled. `tell` hears what is
    /// measured and how much of it is done, from 0 to 1; nothing where none is missing.
    fn measure_roofs(
        &self,
        place: &Installation,
        wanted: &WantedRoofs,
        cancel: &CancelToken,
        tell: &mut dyn FnMut(String, f32),
    ) -> Result<Option<Vec<Roofs>>, String>;

    /// What a run of a plan would refuse; `offered` are sizes that the user may add to it.
    fn check_plan(&self, place: &Installation, plan: &Plan, offered: &[NamedSize]) -> PlanCheck;

    /// Prepares a run: opens the model and chooses libraries. Nothing is measured before [`ReadyRun::record`].
    fn prepare(
        &self,
        place: &Installation,
        subject: RunSubject<'_>,
    ) -> Result<Box<dyn ReadyRun>, String>;

    /// The detached runs of this user, and why they are unknown.
    fn detached_runs(&self, paths: &Paths) -> (Vec<DetachedRun>, Option<String>);

    /// Saves what a detached run measured: its file, and why the folder of its jobs stays, where it does.
    fn collect(&self, paths: &Paths, id: &str) -> Result<(PathBuf, Option<String>), String>;

    /// Submits a plan to Slurm; returns its jobs.
    fn submit(&self, place: &Installation, request: &RunRequest) -> Result<Vec<String>, String>;

    /// Cancels a detached run.
    fn cancel_detached(&self, paths: &Paths, id: &str) -> Result<(), String>;

    /// The files of other tools, those of one process together.
    fn file_sets(&self, files: &[PathBuf]) -> Vec<FileSet>;

    /// Where the timeline lies that a session calls by a name; nothing where it is missing.
    fn timeline_path(&self, session: Option<&Path>, name: &str) -> Option<PathBuf> {
        trace_file::found(session, name)
    }

    /// Reads a set of files as a timeline; the reason is missing where it was cancelled.
    fn read_timeline(
        &self,
        set: &FileSet,
        progress: &FileProgress<'_>,
    ) -> Result<ReadTimeline, Option<String>>;

    /// Reads a set of files as a session; the reason is missing where it was cancelled.
    fn read_session(
        &self,
        set: &FileSet,
        progress: &FileProgress<'_>,
    ) -> Result<(Session, ReadTimeline), Option<String>>;

    /// What a page of some sessions would have in it; or why no page can be written. Timelines that are read for
    /// it are open afterwards.
    fn page_facts(&self, sources: &mut [PageSource]) -> Result<PageFacts, String>;

    /// The page of some sessions, which any browser shows.
    fn page(
        &self,
        sources: &[PageSource],
        is_anonymous: bool,
        rules: &Rules,
    ) -> Result<String, String>;

    /// Shows a folder, or the folder of a file, in the desktop's file manager.
    fn show_folder(&self, path: &Path) -> io::Result<()>;

    /// Opens a file where the desktop opens it.
    fn open_file(&self, path: &Path) -> io::Result<()>;
}

/// What a run is to measure.
#[derive(Clone, Debug)]
pub enum RunSubject<'a> {
    /// A plan.
    Plan(&'a RunRequest),
    /// Experiments on a case of a session: all, or one change alone.
    Experiments(&'a Session, CaseKey, Option<ExperimentChange>, ProgramTrust),
    /// Two sessions once more, in turns.
    Again([SessionPart<'a>; 2], ProgramTrust),
    /// More rounds of a session, in the same file.
    MoreRounds {
        /// The session's file.
        path: PathBuf,
        /// The file as it was read.
        stamp: Stamp,
        /// So many rounds more of each case.
        rounds: u32,
        /// Which programs of its plan may run.
        programs: ProgramTrust,
    },
}

/// A run that can begin.
pub trait ReadyRun: Send {
    /// The plan and its circumstances.
    fn beginning(&self) -> &RunStart;

    /// The session that gets more rounds, as it is at the beginning of this run, and so many rounds; nothing for a new one.
    fn earlier(&self) -> Option<(Session, u32)>;

    /// Makes a journal, measures to the end, and saves. Blocks until all that is done.
    fn record(
        self: Box<Self>,
        paths: &Paths,
        control: &Control,
        observer: &mut dyn FnMut(&TimedEvent, &Session),
    ) -> RecordedRun;
}

/// How far reading files is, and whether it is to go on.
#[derive(Debug, Default)]
pub struct FileProgress<'a> {
    /// Ends the reading.
    pub cancel: CancelToken,
    /// Bytes that were read of the file that is being read.
    pub bytes: Option<&'a AtomicU64>,
    /// Bytes of the files before that one.
    pub before: Option<&'a AtomicU64>,
}

/// A timeline that was read from files.
#[derive(Clone, Debug, Default)]
pub struct ReadTimeline {
    /// The timeline; empty where the files have no times.
    pub trace: Arc<Trace>,
    /// What the user should know of the files.
    pub notes: Vec<String>,
}

/// An engine that was looked for: available with its library, or why not.
#[derive(Clone, Debug)]
pub struct FoundEngine {
    /// What a setup calls it.
    pub id: &'static str,
    /// What people call it.
    pub title: &'static str,
    /// Its library or interpreter, for an engine that has one.
    pub runtime: Option<PathBuf>,
    /// What it says of itself, or what is missing.
    pub answer: Result<EngineInfo, String>,
    /// Environments that have it and were not searched, the likeliest first.
    pub offers: Vec<OfferedEnvironment>,
}

/// How far installing is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstallProgress {
    /// pip begins.
    Begins,
    /// So many bytes are here, of so many where that is known.
    Downloaded {
        /// Bytes that are here.
        bytes: u64,
        /// Bytes that there will be.
        total: Option<u64>,
    },
    /// What was downloaded is taken apart.
    Unpacking,
    /// The library is loaded once.
    Checking,
}
