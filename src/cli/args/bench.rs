//! Arguments of `bench`.

use std::path::PathBuf;

use super::InputArgs;
use super::jobs::DetachArgs;
use super::turns::TurnArgs;
use powerband_core::domain::input_sizes::NamedDim;
use powerband_core::domain::plan::{PresetName, Profiler, SetupStyle};
use powerband_core::domain::request::RunRequest;

/// Arguments of `bench`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A SETUP is ENGINE[:DEVICE][,key=value]…, for example
  rten,threads=1
  ort:cpu,opt=none
  ort:cpu,threads=2,runtime=1.22
  ort:cpu,memory=4GiB
`powerband engines` lists the engines and the keys they know.

Setups are interleaved: round by round, in an order shuffled anew each round, so that temperature and
other programs affect all of them alike. The session keeps every sample.

Two versions of a network are interleaved as well: --setup ort --setup ort,model=after.onnx

With --rate the loop is open: requests arrive independently of the runs, and times count from the
arrival. This response time is not comparable with the service time of a closed loop.")]
pub(crate) struct BenchArgs {
    /// A built-in network or an ONNX file; built in are resnet18, resnet34, resnet50, densenet121 (each also
    /// @cifar), mobilenetv2, efficientnet-b0, vit-b16, unet, bert-base, minilm, gpt2 and llama-tiny (both
    /// also -past).
    pub model: Option<String>,
    /// Add rounds to a session that was measured here, as many as probably settle its comparisons or as
    /// --rounds says, and save it in the same file.
    #[arg(long, value_name = "SESSION.ron", group = "of_sessions", conflicts_with_all = ["model", "ladder", "journey", "setups", "batch", "sweeps", "dims", "preset", "shapes", "inputs", "batch_axis", "out", "name", "seed", "rate", "one_at_a_time", "energy", "accuracy", "samples", "profile", "profile_starts", "timeout", "force", "on", "arrivals", "blocks"])]
    pub more: Option<PathBuf>,
    /// With --more: try the cases again, too, that crashed, failed or ran out of memory.
    #[arg(long, value_name = "WHICH", value_enum, requires = "more", conflicts_with_all = ["model", "ladder", "again"])]
    pub retry: Option<RetriedCases>,
    /// Measure two sessions again, in turns: the setups and points that both have, or the one setup of each, as a
    /// session of its own; and compare them.
    #[arg(long, num_args = 2, value_names = ["BEFORE.ron", "AFTER.ron"], group = "of_sessions", conflicts_with_all = ["model", "ladder", "journey", "setups", "batch", "sweeps", "dims", "preset", "shapes", "inputs", "batch_axis", "rate", "one_at_a_time", "accuracy", "samples", "detach", "on", "arrivals", "array", "job_folder"])]
    pub again: Vec<PathBuf>,
    /// Measure a plan that comes ready: resnet50-case-study, densenet121-suite, everything.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["model", "setups", "on"])]
    pub ladder: Option<String>,
    /// Each setup is a step after the previous one, at the first batch size; the last one also runs at all others.
    #[arg(long)]
    pub journey: bool,
    /// One way to run it; give it several times to measure several [default: every engine there is].
    #[arg(long = "setup", value_name = "SETUP")]
    pub setups: Vec<String>,
    /// What the setups are called in tables and charts, in the order of --setup.
    #[arg(long = "label", value_name = "TEXT", requires = "setups")]
    pub labels: Vec<String>,
    /// Batch sizes: 1,2,4,8, or 1..64 for the powers of two between [default: 1,2,4,8,16].
    #[arg(long, value_name = "LIST", allow_hyphen_values = true)]
    pub batch: Option<String>,
    /// Sizes of another dimension, as in seq=128,256 or seq=128..2048; several are all combinations, and dimensions
    /// with + between go together: seq=128,256+batch=8,4.
    #[arg(long = "sweep", value_name = "DIM=SIZES")]
    pub sweeps: Vec<String>,
    /// Preset: quick (a second per case, spread over 15 s), standard (5 s and more), publish (a minute and more).
    #[arg(long, value_name = "NAME", default_value = "standard")]
    pub preset: PresetName,
    /// Rounds of each case, instead of the preset's.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub rounds: Option<u32>,
    #[command(flatten)]
    pub turns: TurnArgs,
    /// Open loop: requests arrive at this rate, in place of one run after another.
    #[arg(long, value_name = "REQUESTS/S")]
    pub rate: Option<f64>,
    /// How requests arrive.
    #[arg(long, value_enum, default_value_t = Arrivals::Poisson, requires = "rate")]
    pub arrivals: Arrivals,
    /// The commit of your project that is measured, as in $(git rev-parse HEAD): Over time and history put it below the axis.
    #[arg(long, value_name = "COMMIT", conflicts_with_all = ["more", "again"])]
    pub commit: Option<String>,
    /// Device readings per second during the run, from 1 to 100; 0 for none.
    #[arg(long, value_name = "HZ", default_value_t = 10.0)]
    pub telemetry: f64,
    /// Measure each case for at least ten seconds, which is what energies need.
    #[arg(long)]
    pub energy: bool,
    /// Compare the outputs of each setup with the network in floats, on this number of inputs [default: 64].
    #[arg(long, value_name = "INPUTS", num_args = 0..=1, require_equals = true, default_missing_value = "64")]
    pub accuracy: Option<u64>,
    /// The same on inputs of your own: pictures in a folder for each class, a CSV of file,label, .npy files,
    /// or a folder of .npz files with an array for each input. With labels the top-1 and top-5 accuracies are measured as well.
    #[arg(long, value_name = "PATH")]
    pub samples: Option<PathBuf>,
    /// Profile each case in a separate run after everything was measured: its time by node or by kernel.
    /// Profiling slows a run, so profiled runs are never among the measurements. With the engine's own
    /// profiler, or rocprofv3, rocprof or nsys around the worker [default: engine].
    #[arg(long, value_name = "PROFILER", num_args = 0..=1, require_equals = true, default_missing_value = "engine")]
    pub profile: Option<Profiler>,
    /// Profile each case in so many starts, in turns, so that differences of its nodes between two profiles have
    /// verdicts [default: 1].
    #[arg(long, value_name = "N", requires = "profile", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub profile_starts: Option<u32>,
    /// Play back the device readings of another session, in place of this machine's.
    #[arg(long, value_name = "SESSION.ron")]
    pub replay: Option<PathBuf>,
    /// Keep one worker alive at a time: each is restarted for each of its rounds.
    #[arg(long)]
    pub one_at_a_time: bool,
    /// What the sweep calls a dimension: n=batch, or an input and the place of its dimension counted from 0, x:1=seq.
    #[arg(long = "dim", value_name = "DIM=NAME")]
    pub dims: Vec<NamedDim>,
    #[command(flatten)]
    pub fed: InputArgs,
    /// On which machines, and whether it goes on without this program.
    #[command(flatten)]
    pub detaching: DetachArgs,
    /// With --more and --again: run the commands, and load the libraries, that the sessions name, though they were
    /// not started from this folder before. Without it they are listed, and nothing is started.
    #[arg(long, requires = "of_sessions", conflicts_with_all = ["model", "ladder"])]
    pub allow_commands: bool,
    /// Where to write the session [default: the library].
    #[arg(long, value_name = "FILE.ron")]
    pub out: Option<PathBuf>,
    /// Replace the session file if it is there.
    #[arg(long, requires = "out")]
    pub force: bool,
    /// Name of the session [default: the model's name].
    #[arg(long, value_name = "TEXT")]
    pub name: Option<String>,
    /// Seed of the order of cases and of the input values [default: the time].
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// End a worker that does not respond for this long beyond its time limit.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub timeout: Option<u64>,
    /// Print one JSON document on standard output, and nothing else there.
    #[arg(long)]
    pub json: bool,
}

impl BenchArgs {
    /// The request with what the options say of how it is measured.
    pub(crate) fn applied_to(&self, request: RunRequest) -> RunRequest {
        RunRequest {
            journey: self.journey || request.journey,
            rounds: self.rounds.or(request.rounds),
            spacing: self.turns.spacing.or(request.spacing),
            blocks: self.turns.blocks,
            timeout_s: self.timeout,
            seed: self.seed,
            energy: self.energy,
            profiling: self.profile.or(request.profiling),
            profile_starts: self.profile_starts.or(request.profile_starts),
            name: self.name.clone().or(request.name),
            looks: if self.labels.is_empty() {
                request.looks
            } else {
                let labels = self.labels.iter().cloned();
                let look = |label| SetupStyle {
                    label: Some(label),
                    colour: None,
                };
                labels.map(look).collect()
            },
            ..request
        }
    }
}

/// Which cases more rounds try again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum RetriedCases {
    /// Those that ended badly; what the engine or the model cannot do stays unsupported.
    Failed,
}

/// How requests arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Arrivals {
    /// At a fixed rate.
    Constant,
    /// At random, independently of each other.
    Poisson,
}
