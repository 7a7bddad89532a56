//! The arguments of `powerband fleet`.

use std::path::PathBuf;

/// Arguments of `fleet`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
  powerband bench resnet50 --setup ort,where=n1 --setup ort,where=n2 --setup ort,where=n3 --out racks.ron
  powerband fleet racks.ron              the machines of one session
  powerband fleet n1.ron n2.ron n3.ron   sessions that were measured on a machine each

A setup is the same on two machines where its options are, apart from those that say where it runs.
Three machines that measured a case are needed to name an odd one out.")]
pub(crate) struct FleetArgs {
    /// The sessions.
    #[arg(required = true, value_name = "SESSION")]
    pub sessions: Vec<PathBuf>,
    /// Print one JSON document.
    #[arg(long)]
    pub json: bool,
}
