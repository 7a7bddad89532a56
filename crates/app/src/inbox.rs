//! What background work reports. The window drains it for a few milliseconds a frame and never waits.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use super::compare::Pick;
use super::curves::{Pinned, TwoPinned};
use super::detached::DetachedRun;
use super::figures::Picture;
use super::fleet::FoundFleet;
use super::history::Followed;
use super::journey::ComparedSteps;
use super::kernels::{self, Found};
use super::machine::EngineState;
use super::plan::{CheckSubject, Draft, Sources};
use super::screen::Screen;
use super::sessions::{Findings, SessionId};
use super::timeline::{Measured, OpenTrace, TraceId};
use super::why;
use powerband_core::domain::environment::Environment;
use powerband_core::domain::event::{Beginning, Stamped};
use powerband_core::domain::model::ModelSummary;
use powerband_core::domain::plan::Profiler;
use powerband_core::domain::roofs::Roofs;
use powerband_core::domain::session::Session;
use powerband_core::domain::telemetry::{MissingSource, WatchedDevice};
use powerband_core::domain::trace::Trace;
use powerband_findings::analysis::comparison::Comparison;
use powerband_findings::analysis::instances::Instances;
use powerband_findings::analysis::past_durations::PastDurations;
use powerband_findings::analysis::timeline::find::Hits;
use powerband_findings::analysis::timeline::selection::Statistics;
use powerband_measure::runner::plan_check::PlanCheck;
use powerband_store::journal::Living;
use powerband_store::library::{Scanned, Stamp};
use powerband_store::trash::Discarded;

/// One report, by its subject. Each subject is taken in by one function that knows all of its variants.
#[derive(Debug)]
pub enum Message {
    /// This machine's devices and engines, and the installation of ONNX Runtime.
    Machine(MachineMessage),
    /// What this machine reaches at most.
    Roofs(RoofsMessage),
    /// About detached runs.
    Detached(DetachedMessage),
    /// About what is to be measured.
    Plan(PlanMessage),
    /// About files of sessions, open and in the library, and about journals.
    Session(SessionMessage),
    /// What was found in sessions.
    Finding(FindingMessage),
    /// About timelines.
    Trace(TraceMessage),
    /// About the run of this program.
    Run(RunMessage),
    /// The picture of a figure, for the clipboard.
    Picture(Arc<Picture>),
    /// A success message.
    Done(String),
    /// A file was written: the message, and the file.
    Written(String, PathBuf),
    /// A failure message.
    Failed(String),
    /// The window's state could not be saved for the next start: the reason.
    NotRemembered(String),
}

/// This machine's devices and engines, and the installation of ONNX Runtime.
#[derive(Debug)]
pub enum MachineMessage {
    /// Processor, memory, system.
    Environment(Box<Environment>),
    /// Devices with telemetry, and the sources that have none.
    Devices(Vec<WatchedDevice>, Vec<MissingSource>),
    /// Engines, ready ones first.
    Engines(Vec<EngineState>),
    /// The search for devices and engines failed, and why.
    NotSurveyed(String),
    /// What external profilers lack.
    MissingProfilers(Vec<(Profiler, String)>),
    /// A step of fetching ONNX Runtime.
    InstallStep(String, Option<f32>),
    /// Fetching is over, with what was installed.
    Installed(Result<String, String>),
}

/// About detached runs.
#[derive(Debug)]
pub enum DetachedMessage {
    /// Those that there are, and why their states are unknown.
    Found(Vec<DetachedRun>, Option<String>),
    /// One was saved, and why the folder of its jobs stays, where it does.
    Collected(PathBuf, Option<String>),
    /// One was submitted: its jobs, in words.
    Submitted(String),
    /// One could not be submitted, collected or cancelled.
    Failed(String),
}

/// What this machine reaches at most.
#[derive(Debug)]
pub enum RoofsMessage {
    /// What is kept and holds, and why the rest does not.
    Kept(Vec<Roofs>, Vec<String>),
    /// What is measured now, and the share that is done.
    Step(String, f32),
    /// All roofs, as they are kept from now on.
    Measured(Vec<Roofs>),
    /// Why they were not measured; nothing where the user stopped it.
    NotMeasured(Option<String>),
}

/// About what is to be measured.
#[derive(Debug)]
pub enum PlanMessage {
    /// The plan of a session, to be run again; or why there is none.
    Found(Result<Box<Draft>, String>),
    /// Facts of a model.
    Model(String, Result<Box<ModelSummary>, String>),
    /// What a run would refuse of a plan; and the message of an internal error, where there was one.
    Checked(Box<(CheckSubject, PlanCheck)>, Option<String>),
    /// Saved plans.
    Saved(Vec<(PathBuf, Draft)>),
}

/// The file and the name of a session, and what the trash did with it.
pub type Trashed = (PathBuf, String, Result<Discarded, String>);
/// A session's name, and what came of restoring it: why its timeline is missing, or why it was not restored.
pub type Restored = (String, Result<Option<String>, (Discarded, String)>);

/// About files of sessions, open and in the library, and about journals.
#[derive(Debug)]
pub enum SessionMessage {
    /// The library was looked through.
    Library(Result<BTreeMap<PathBuf, Scanned>, String>),
    /// Files of open sessions, as they are now; nothing for one that is gone.
    OnDisk(PathBuf, Option<Stamp>),
    /// A session was read.
    Opened(Box<Opened>),
    /// A file could not be opened.
    NotOpened(PathBuf, String),
    /// A change of a session's file was made, and what the file is now.
    Edited(PathBuf, Result<Stamp, String>),
    /// A session went to the trash, or did not.
    Discarded(PathBuf, String, Result<Discarded, String>),
    /// A session was restored from the trash, or was not.
    Restored(String, Result<Option<String>, (Discarded, String)>),
    /// Sessions that went to the trash together, or did not.
    DiscardedAll(Vec<Trashed>),
    /// Sessions that were restored together, or were not.
    RestoredAll(Vec<Restored>),
    /// A file was written, and is the session's own from now on.
    SavedAs(SessionId, PathBuf, Stamp, Arc<Session>),
    /// Journals of interrupted runs, with a description each.
    Abandoned(Vec<String>),
    /// What an interrupted run had measured was saved: the session's name, and its file.
    Recovered(String, PathBuf),
    /// Runs in progress, by their journals, including this program's own.
    Living(Vec<Living>),
}

/// What was found in sessions.
#[derive(Debug)]
pub enum FindingMessage {
    /// The pinned case's samples as charts.
    Pinned(Box<Pinned>),
    /// The samples of two pinned cases as charts.
    TwoPinned(Box<TwoPinned>),
    /// What these sessions took was looked up.
    Learned(Sources, Box<PastDurations>),
    /// Two sides were compared.
    Compared(Pick, Pick, Arc<Comparison>),
    /// A case was followed through the library.
    Followed(Box<Followed>),
    /// The machines of the open sessions were compared.
    MachinesCompared(Box<FoundFleet>),
    /// The steps of a session were compared.
    ComparedSteps(Box<ComparedSteps>),
    /// A profile was added up.
    AddedUp(Box<Found>),
    /// What limits a case was found.
    Limits(Box<why::Found>),
    /// The timeline of a profile was read for the instances of its kernels, or why not.
    TraceOfKernels(kernels::Pick, Result<Arc<Trace>, String>),
    /// Instances of a kernel were looked for.
    Instances(kernels::Pick, String, Option<Arc<Instances>>),
    /// The user's rules for categories were changed, or were not.
    RulesChanged(Result<(), String>),
}

/// About timelines.
#[derive(Debug)]
pub enum TraceMessage {
    /// A trace was read, or why not; nothing where the user stopped it.
    Read(TraceId, Result<Box<OpenTrace>, Option<String>>),
    /// Reading these traces broke off, and why.
    NotRead(Vec<TraceId>, String),
    /// A file without times was read; another screen shows its content.
    WithoutTimes(TraceId, Screen),
    /// Slices of a trace were looked for by name.
    Found(TraceId, Box<Hits>),
    /// What ran in a stretch of a trace was added up.
    Summed(TraceId, Measured, Box<Statistics>),
    /// Notes were written beside a trace, or why not.
    NotesWritten(TraceId, Result<(), String>),
}

/// About the run of this program.
#[derive(Debug)]
pub enum RunMessage {
    /// The run's plan is prepared.
    Began(Box<Beginning>),
    /// A finished run continues with this many more rounds; with what was found so far.
    WentOn(Box<Session>, u32, Findings),
    /// The run could not start.
    Refused(String),
    /// The run failed with an internal error.
    Broke(String),
    /// Something happened in the run.
    Event(Box<(Stamped, Option<Findings>)>),
    /// The run ended: where it was saved, and its remarks.
    Over(Box<RunOver>),
}

/// A session that was read.
#[derive(Debug)]
pub struct Opened {
    /// The number that it gets.
    pub id: SessionId,
    /// Its file; nothing for a built-in example.
    pub path: Option<PathBuf>,
    /// The session.
    pub session: Arc<Session>,
    /// What was found in it.
    pub findings: Findings,
    /// The file as it was.
    pub stamp: Option<Stamp>,
    /// The version of a file that is newer than this program.
    pub newer: Option<u32>,
}

/// The end of a run.
#[derive(Debug)]
pub struct RunOver {
    /// The whole session.
    pub session: Arc<Session>,
    /// What was found in it.
    pub findings: Findings,
    /// Its file, or why it was not saved.
    pub saved: Result<(PathBuf, Option<Stamp>), String>,
    /// Remarks.
    pub notes: Vec<String>,
}
