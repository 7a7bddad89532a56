//! Arguments of `powerband machines`, and of the hidden `powerband remote`.

use std::path::PathBuf;

use clap::Subcommand;

/// Arguments of `machines`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  powerband machines check gpu1             connect with ssh, send this program, and say what the machine is
  powerband bench resnet50 --setup ort:cuda,where=ssh:gpu1
  powerband engines --on gpu1               the engines over there
  powerband machines clean gpu1             remove the program and the models that were sent

ssh is called without a terminal: ssh HOST has to work without a question. No password is asked for or kept.")]
pub(crate) struct MachinesArgs {
    /// What to do; without one, list them.
    #[command(subcommand)]
    pub command: Option<MachinesCommand>,
    /// Print one JSON document.
    #[arg(long, global = true)]
    pub json: bool,
}

/// What can be done about machines.
#[derive(Debug, Subcommand)]
pub(crate) enum MachinesCommand {
    /// List the machines of the settings.
    List,
    /// Connect to a machine, send this program where it is not there, and say what the machine is.
    Check {
        /// A name of the settings, or a host of ssh.
        host: String,
    },
    /// Remove what was sent to a machine, and list it.
    Clean {
        /// A name of the settings, or a host of ssh.
        host: String,
    },
}

/// What a program on another machine asks.
#[derive(Debug, Subcommand)]
pub(crate) enum RemoteCommand {
    /// Say what this machine is, then what its clock shows for each line.
    Describe,
    /// Read the devices until the connection closes.
    Watch {
        /// Readings a second.
        #[arg(long)]
        rate: f64,
    },
    /// Say which libraries setups run on.
    Locate {
        /// The setups.
        setups: Vec<String>,
    },
    /// Measure one part of a detached run.
    Job {
        /// The folder of its jobs.
        folder: PathBuf,
        /// Which part, from 0.
        part: usize,
    },
    /// Hold the connection open until it closes or is silent.
    Hold,
    /// Say what the devices of setups reach, as it is kept.
    Roofs {
        /// The setups.
        setups: Vec<String>,
    },
    /// Run another command until the connection closes.
    Command {
        /// Its words.
        #[arg(last = true)]
        words: Vec<String>,
    },
    /// Be an agent of a run until the connection closes.
    Agent,
    /// Run the worker of a setup until the connection closes.
    Worker {
        /// The setup.
        #[arg(long)]
        setup: Option<String>,
        /// Its library.
        #[arg(long)]
        runtime: Option<PathBuf>,
    },
}
