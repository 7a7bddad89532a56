//! Arguments of `powerband jobs`.

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
