//! Arguments of `bench`.

use std::path::PathBuf;

use super::idle::IdleArgs;
use super::jobs::DetachArgs;
use super::plan::{FieldOptions, PlanFields};

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
    #[command(flatten)]
    pub plan: FieldOptions<PlanFields>,
    /// Measure a plan that comes ready: resnet50-case-study, densenet121-suite, everything.
    #[arg(long, value_name = "NAME", conflicts_with = "on")]
    pub ladder: Option<String>,
    /// Add rounds to a session that was measured here, as many as probably settle its comparisons or as
    /// --rounds says, and save it in the same file.
    #[arg(long, value_name = "SESSION.ron", group = "of_sessions", conflicts_with_all = ["ladder", "out", "force", "on"])]
    pub more: Option<PathBuf>,
    /// With --more: try the cases again, too, that ended badly, as by a crash or a lack of memory.
    #[arg(long, value_name = "WHICH", value_enum, requires = "more", conflicts_with_all = ["model", "ladder", "again"])]
    pub retry: Option<RetriedCases>,
    /// Measure two sessions again, in turns: the setups and points that both have, or the one setup of each, as a
    /// session of its own; and compare them.
    #[arg(long, num_args = 2, value_names = ["BEFORE.ron", "AFTER.ron"], group = "of_sessions", conflicts_with_all = ["ladder", "detach", "on", "array", "job_folder"])]
    pub again: Vec<PathBuf>,
    #[command(flatten)]
    pub idle: IdleArgs,
    /// The commit of your project that is measured, as in $(git rev-parse HEAD): Over time and history put it below the axis.
    #[arg(long, value_name = "COMMIT", conflicts_with_all = ["more", "again"])]
    pub commit: Option<String>,
    /// Device readings per second during the run, from 1 to 100; 0 for none.
    #[arg(long, value_name = "HZ", default_value_t = 10.0)]
    pub telemetry: f64,
    /// Play back the device readings of another session, in place of this machine's.
    #[arg(long, value_name = "SESSION.ron")]
    pub replay: Option<PathBuf>,
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
    /// Print one JSON document on standard output, and nothing else there.
    #[arg(long)]
    pub json: bool,
}

/// Which cases more rounds try again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum RetriedCases {
    /// Those that ended badly; what the engine or the model cannot do stays unsupported.
    Failed,
}
