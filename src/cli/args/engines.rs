//! The arguments of `engines`.

use std::path::PathBuf;

use clap::Subcommand;

use super::Detail;

/// Arguments of `engines`.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct EnginesArgs {
    /// What to do about them; without one, list them.
    #[command(subcommand)]
    pub command: Option<EnginesCommand>,
    /// The machine: a name of the settings, or a host of ssh [default: this one].
    #[arg(long, value_name = "HOST")]
    pub on: Option<String>,
    #[command(flatten)]
    pub detail: Detail,
    /// Print one JSON document.
    #[arg(long)]
    pub json: bool,
}

/// What can be done about engines.
#[derive(Debug, Subcommand)]
pub(crate) enum EnginesCommand {
    /// Fetch an engine's library with your own pip, and check that it loads.
    Install(InstallArgs),
}

/// Arguments of `engines install`.
#[derive(Debug, clap::Args)]
pub(crate) struct InstallArgs {
    /// Which engine: onnxruntime.
    pub engine: String,
    /// Which build: cpu, cuda, rocm, migraphx, openvino or directml.
    #[arg(long, value_name = "NAME", default_value = "cpu")]
    pub flavor: String,
    /// The machine to install it on: a name of the settings, or a host of ssh [default: this one].
    #[arg(long, value_name = "HOST")]
    pub on: Option<String>,
    /// Where the machine has no network: fetch it here and send it.
    #[arg(long, requires = "on")]
    pub offline: bool,
    /// Take this wheel, which was fetched before, in place of fetching one.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["version", "python", "on"])]
    pub wheel: Option<PathBuf>,
    /// Which version [default: the newest that pip offers].
    #[arg(long, value_name = "X.Y.Z")]
    pub version: Option<String>,
    /// The Python whose pip is used [default: the first of the usual ones].
    #[arg(long, value_name = "PATH")]
    pub python: Option<PathBuf>,
}
