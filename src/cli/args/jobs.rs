//! Arguments of `powerband jobs` and `recover`, and those with which `bench` begins a detached run.

use std::path::PathBuf;

use clap::Subcommand;

/// Arguments of `jobs`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  powerband bench resnet50 --setup ort:cuda,where=slurm:gpu,slurm.gres=gpu:1 --detach
  powerband jobs                 the detached runs, with the state of their jobs
  powerband jobs collect 4711    save what was measured as a session
  powerband jobs cancel 4711     cancel its jobs")]
pub(crate) struct JobsArgs {
    /// What to do; without one, list them.
    #[command(subcommand)]
    pub command: Option<JobsCommand>,
    /// Print one JSON document.
    #[arg(long, global = true)]
    pub json: bool,
}

/// What can be done about detached runs.
#[derive(Debug, Subcommand)]
pub(crate) enum JobsCommand {
    /// List the detached runs.
    List,
    /// Save what a run measured as a session, once its jobs have ended, however they did.
    Collect {
        /// A number of one of its jobs; every run that has ended where none is given.
        id: Option<String>,
    },
    /// Cancel the jobs of a run; what was measured can be collected.
    Cancel {
        /// A number of one of its jobs.
        id: String,
    },
}

/// Where a run takes place.
#[derive(Debug, clap::Args)]
pub(crate) struct DetachArgs {
    /// Measure each setup on this machine: a name of the settings, a host of ssh, slurm, or here for this one; several
    /// are all combinations, as where= in each setup would say.
    #[arg(long, value_name = "HOST", requires = "setup")]
    pub on: Vec<String>,
    /// Measure in a job of Slurm that goes on without this program; powerband jobs lists and collects it. Every setup
    /// needs where=slurm.
    #[arg(long, conflicts_with_all = ["out", "force", "json", "telemetry", "replay", "wait_idle"])]
    pub detach: bool,
    /// With --detach: spread the points of the sweep over this number of tasks of an array. Setups take turns in each.
    #[arg(long, value_name = "TASKS", requires = "detach", default_value_t = 1)]
    pub array: usize,
    /// With --detach: the folder, shared with the nodes, in which the job works [default: the data folder].
    #[arg(long, value_name = "FOLDER", requires = "detach")]
    pub job_folder: Option<PathBuf>,
}

/// Arguments of `recover`.
#[derive(Debug, clap::Args)]
pub(crate) struct RecoverArgs {
    /// The journal [default: the only one there is].
    pub journal: Option<PathBuf>,
    /// Where to write the session [default: the library].
    #[arg(long, value_name = "FILE.ron")]
    pub out: Option<PathBuf>,
    /// List the journals of interrupted runs.
    #[arg(long, conflicts_with_all = ["journal", "out", "discard"])]
    pub list: bool,
    /// Delete the journal.
    #[arg(long, conflicts_with = "out")]
    pub discard: bool,
}
