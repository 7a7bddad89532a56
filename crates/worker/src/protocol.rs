//! What a worker and its supervisor say to each other: one JSON document a line.
//!
//! The worker speaks first, with a `Hello`. After that each [`Request`] has exactly one [`Reply`].
//! Any program that keeps to this page can be a worker. Times are whole nanoseconds; points in time
//! are on the monotonic clock of the worker's machine.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::engines::EngineError;
use crate::engines::generate::Generate;
use powerband_core::domain::case::{
    CaseKey, CaseOpening, CpuContention, Epoch, PhaseSamples, WarmUp,
};
use powerband_core::domain::examination::Examination;
use powerband_core::domain::generation::Generation;
use powerband_core::domain::plan::{Load, Profiler, TimeLimits, WarmUpRule};
use powerband_core::domain::point::Point;
use powerband_core::domain::profile::Profile;
use powerband_core::domain::setup::Setup;
use powerband_core::domain::setup_report::SetupReport;
use powerband_core::domain::tensor::TensorSpec;
use powerband_core::schedule::warm_up::WarmUpLimit;
use powerband_planning::engine_options::EngineInfo;

/// Raised whenever a line changes its meaning. Both sides must have the same.
pub(crate) const VERSION: u32 = 2;

/// The longest line that is read: beyond it a worker counts as garbled.
pub const LONGEST_LINE: usize = 16 << 20;

/// A worker's first line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Hello {
    /// The protocol it speaks.
    pub protocol: u32,
    /// Which program it is, for messages.
    pub program: String,
    /// Its process number, where it runs.
    #[serde(default)]
    pub pid: Option<u32>,
}

/// A case as a worker knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct WorkerCase {
    /// Index into the plan's setups.
    pub setup: usize,
    /// The point that this worker runs: the case's, or with its share of the batch.
    pub point: Point,
    /// The case's batch size, where several workers share it: shares of several batches may be alike.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whole: Option<usize>,
}

impl From<CaseKey> for WorkerCase {
    fn from(case: CaseKey) -> Self {
        Self {
            setup: case.setup,
            point: case.point,
            whole: None,
        }
    }
}

/// When a round is over. All amounts are for this round.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RoundRule {
    /// Runs before the first sample, to wake up caches and clocks after the other cases' turns.
    pub wake_up_runs: u64,
    /// Runs go on unmeasured until so much time has passed.
    #[serde(default)]
    pub wake_up_ns: u64,
    /// At least this many samples.
    pub min_samples: u64,
    /// At least this much time, unless `max_samples` come first.
    pub min_ns: u64,
    /// No sample starts once the samples add up to this much time.
    pub max_ns: u64,
    /// At most this many samples.
    pub max_samples: u64,
    /// When runs start.
    #[serde(default)]
    pub load: Load,
    /// Seed of random arrivals.
    #[serde(default)]
    pub seed: u64,
    /// When the first sample begins, on the monotonic clock, so that several workers begin together;
    /// at once where there is none.
    #[serde(default)]
    pub starts_at_ns: Option<u64>,
}

/// What a worker is asked to do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Request {
    /// Say what the engine is, without a model.
    Probe {
        /// Its identifier.
        engine: String,
        /// Its library.
        runtime: Option<PathBuf>,
    },
    /// Load a model.
    Load {
        /// How it is to run.
        setup: Setup,
        /// The ONNX file.
        model: PathBuf,
        /// The model as the plan names it, for a worker that has networks of its own.
        #[serde(default)]
        name: String,
        /// The engine's library, or its interpreter.
        runtime: Option<PathBuf>,
    },
    /// Bind inputs, and run once where they are seeded.
    Open {
        /// Which case.
        case: WorkerCase,
        /// The inputs with every dimension known.
        inputs: Vec<TensorSpec>,
        /// Seed of their values.
        seed: u64,
        /// NumPy files with the inputs, in their order; empty for seeded values.
        #[serde(default)]
        feed: Vec<PathBuf>,
        /// What each run asks of a language model, in place of a run of the network on `inputs`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        generate: Option<Generate>,
    },
    /// Run until warm.
    WarmUp {
        /// Which case.
        case: WorkerCase,
        /// When it is warm.
        rule: WarmUpRule,
        /// When it is measured as it is, beside the rule's own limit.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<WarmUpLimit>,
    },
    /// Measure a round.
    Measure {
        /// Which case.
        case: WorkerCase,
        /// When the round is over.
        rule: RoundRule,
    },
    /// Run once and give the outputs, so that what engines compute can be compared.
    Outputs {
        /// Which case.
        case: WorkerCase,
    },
    /// Say what the engine makes of a model and where its nodes run. Asked in a process of its own.
    Examine {
        /// How it is run.
        setup: Setup,
        /// The ONNX file.
        model: PathBuf,
        /// The engine's library.
        runtime: Option<PathBuf>,
        /// The inputs with every dimension known.
        inputs: Vec<TensorSpec>,
        /// Seed of their values.
        seed: u64,
        /// What each run asks of a language model: then its first step after the prompt is looked at.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        generate: Option<Generate>,
    },
    /// Run a few times, watched, and leave what was seen in a folder. Asked in a process of its own.
    Profile {
        /// How it is run.
        setup: Setup,
        /// The ONNX file.
        model: PathBuf,
        /// The model as the plan names it, for a worker that has networks of its own.
        name: String,
        /// The engine's library, or its interpreter.
        runtime: Option<PathBuf>,
        /// The inputs with every dimension known.
        inputs: Vec<TensorSpec>,
        /// Seed of their values.
        seed: u64,
        /// Where the files belong.
        folder: PathBuf,
        /// What each run asks of a language model: then its first step after the prompt is watched.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        generate: Option<Generate>,
    },
    /// Asked of this program on another machine alone, which is an agent of the run there.
    Agent(AgentRequest),
    /// Run once and write each output as a NumPy file, `0.npy` and so on in the model's order.
    Save {
        /// Which case.
        case: WorkerCase,
        /// Where to.
        folder: PathBuf,
    },
    /// Write a network that the worker knows by name as an ONNX file.
    Export {
        /// How it is run.
        setup: Setup,
        /// The model as the plan names it.
        name: String,
        /// An ONNX file with weights to take over where they fit; empty for none.
        model: PathBuf,
        /// Inputs to trace it with.
        inputs: Vec<TensorSpec>,
        /// The file to write.
        to: PathBuf,
    },
    /// Run once and report the range of each output.
    Observe {
        /// Which case.
        case: WorkerCase,
    },
    /// Let go of a case and its memory.
    Close {
        /// Which case.
        case: WorkerCase,
    },
}

/// What a worker answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Reply {
    /// To `Probe`.
    Probed(EngineInfo),
    /// To `Load`.
    Loaded(SetupReport),
    /// To `Open`.
    Opened(CaseOpening),
    /// To `WarmUp`.
    Warm(WarmUp),
    /// To `Measure`.
    Measured(MeasuredRound),
    /// To `Outputs`, in the model's order.
    Outputs(Vec<RunOutput>),
    /// To `Examine`.
    Examined(Box<Examination>),
    /// To `Save`: the files, in the model's order.
    Saved(Vec<PathBuf>),
    /// To `Export`.
    Exported(ExportedModel),
    /// To `Profile`.
    Profiled {
        /// What was seen, in files that importers know.
        files: Vec<PathBuf>,
        /// Runs that they hold, where the files do not say it themselves.
        #[serde(default)]
        runs: Option<u64>,
        /// When the first of them began, without those that only warm up, on the machine's monotonic clock.
        #[serde(default)]
        began_ns: Option<u64>,
        /// Runs in the files before it.
        #[serde(default)]
        warm_up: Option<u64>,
    },
    /// To `Agent`.
    Agent(AgentReply),
    /// To `Observe`.
    Observed(Vec<OutputRange>),
    /// To `Close`.
    Closed,
    /// To any request: the engine cannot, or will not.
    Refused(EngineError),
}

/// What an agent on another machine is asked. Files lie in a folder of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum AgentRequest {
    /// Have a case run a few times, watched, and read what was seen.
    Watch(Box<WatchOrder>),
    /// Begin one of the program's own commands.
    Command {
        /// Its words.
        words: Vec<String>,
    },
    /// Wait a moment for its end.
    Wait,
    /// Make a folder.
    Folder {
        /// Its name.
        name: String,
    },
    /// Take a piece of a file.
    Put {
        /// The file.
        to: String,
        /// The place of its first byte.
        from: u64,
        /// The bytes in base64.
        bytes: String,
    },
    /// Give a piece of a file back.
    Take {
        /// The file.
        file: PathBuf,
        /// The place of its first byte.
        from: u64,
    },
}

/// What an agent answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum AgentReply {
    /// To `Watch`.
    Watched(Box<WatchedProfile>),
    /// To `Command`: the file in which its standard error is.
    Began(PathBuf),
    /// To `Wait`, where it goes on.
    GoesOn,
    /// To `Wait`.
    Ended {
        /// Whether it was successful.
        success: bool,
        /// How it ended.
        how: String,
        /// What it wrote to standard output.
        stdout: String,
    },
    /// To `Folder`: its whole path.
    Folder(PathBuf),
    /// To `Put`: the whole path of the file.
    Stored(PathBuf),
    /// To `Take`: bytes in base64; empty behind the end of the file.
    Piece(String),
}

/// A case that is to be run once more, watched.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WatchOrder {
    pub case: WorkerCase,
    /// What watches; the engine itself where it is nothing that is put around a worker.
    pub profiler: Option<Profiler>,
    pub setup: Setup,
    /// The ONNX file.
    pub model: PathBuf,
    /// The model as the plan names it, for a worker that has networks of its own.
    pub name: String,
    /// The engine's library, or its interpreter.
    pub runtime: Option<PathBuf>,
    /// The inputs with every dimension known.
    pub inputs: Vec<TensorSpec>,
    /// Seed of their values.
    pub seed: u64,
    /// What each run asks of a language model.
    pub generate: Option<Generate>,
    pub limits: TimeLimits,
}

/// What was seen of a case, but for its timeline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WatchedProfile {
    pub profile: Profile,
    /// When its timeline begins, on the monotonic clock of its machine.
    pub begins_ns: Option<u64>,
    /// How the worker ended, where it did so badly.
    pub death: Option<String>,
}

/// One output of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunOutput {
    /// Its type and shape.
    pub spec: TensorSpec,
    /// Its elements, row by row.
    pub values: Vec<f64>,
}

/// A network that was written as an ONNX file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ExportedModel {
    /// The largest difference between its outputs and those of the network itself, where it was run.
    pub worst: Option<f64>,
    /// What the user should know.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// How far the elements of an output reach.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutputRange {
    /// The output.
    pub name: String,
    /// The smallest element.
    pub low: f32,
    /// The largest element.
    pub high: f32,
}

/// A round, as the worker saw it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MeasuredRound {
    /// When the first sample began, on the monotonic clock.
    pub started_monotonic_ns: u64,
    /// From there to the end of the last.
    pub spent_ns: u64,
    /// Each run's time, in order: whole numbers divided by spaces. From the intended start where
    /// requests arrive by themselves.
    #[serde(with = "powerband_core::base::serde_u64_list")]
    pub samples_ns: Vec<u64>,
    /// How much other programs used the processor during the round, where the system reports it.
    #[serde(default)]
    pub company: Option<CpuContention>,
    /// What each run consists of, where the worker reports it.
    #[serde(default)]
    pub parts: Vec<PhaseSamples>,
    /// What was learned, epoch by epoch.
    #[serde(default)]
    pub epochs: Vec<Epoch>,
    /// The requests token by token, where a language model generated.
    #[serde(default)]
    pub generation: Option<Generation>,
    /// The most memory of the device that the engine had, in bytes, where it reports that.
    #[serde(default)]
    pub device_peak_bytes: Option<u64>,
    /// How much later than the first of several copies the last one began, in nanoseconds.
    #[serde(default)]
    pub starts_within_ns: Option<u64>,
}
