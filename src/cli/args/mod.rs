//! The arguments of `powerband`, with their help.

mod bench;
mod detail;
mod engines;
mod fleet;
mod gate;
mod idle;
mod jobs;
mod machines;
mod mcp;
mod model;
mod out;
mod plan;
mod point;
mod repeat;
mod roofs;
mod serve;
mod why;

use std::path::PathBuf;

use clap::{Parser, Subcommand};

pub(crate) use bench::BenchArgs;
pub(super) use detail::Detail;
pub(super) use engines::{EnginesArgs, EnginesCommand, InstallArgs};
pub(super) use fleet::FleetArgs;
pub(crate) use gate::GateArgs;
pub(crate) use idle::time;
pub(super) use jobs::{JobsArgs, JobsCommand, RecoverArgs};
pub(super) use machines::{MachinesArgs, MachinesCommand, RemoteCommand};
pub(super) use mcp::McpArgs;
pub(super) use model::ModelArgs;
pub(super) use out::{ExportArgs, ReportArgs};
pub(crate) use point::PointArgs;
use powerband_devices::version;
pub(super) use repeat::RepeatArgs;
pub(super) use roofs::RoofsArgs;
pub(super) use serve::ServeArgs;
pub(crate) use why::WhyArgs;

/// How fast a neural network runs on this machine, why, and what changed.
#[derive(Debug, Parser)]
#[command(
    name = "powerband",
    version = version::TEXT.as_str(),
    max_term_width = 100,
    arg_required_else_help = false,
    args_conflicts_with_subcommands = true,
    override_usage = "powerband [SESSION]…\n       powerband <COMMAND>"
)]
#[command(after_help = "\
Start here:
  powerband                                     open the window
  powerband before.ron after.ron                open two sessions in it
  powerband bench resnet50                      measure a built-in network on every engine there is
  powerband bench model.onnx --setup ort:cpu    measure a network of your own
  powerband engines install onnxruntime         fetch the engine most people use
  powerband show r50.ron                        look at a saved session

Exit status: 0 fine, 1 a comparison found a regression or a check found something, 2 an error.")]
pub(super) struct Args {
    /// Sessions, or an ONNX file, to open in the window.
    #[arg(value_name = "SESSION")]
    pub files: Vec<PathBuf>,
    /// What to do without a window.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Measure a model's latency and throughput against batch size.
    Bench(Box<BenchArgs>),
    /// Did it get faster? Compare two sessions, or the setups of one.
    Compare(CompareArgs),
    /// Did a change make it slower? Measure two setups, commands or commits in turns until that is settled.
    Gate(Box<GateArgs>),
    /// Measure the plan of a session again here: is it reproduced, faster or slower?
    Repeat(RepeatArgs),
    /// Show the optimisation steps of a session: what each one gained and what it cost.
    #[command(visible_alias = "steps")]
    Journey(JourneyArgs),
    /// Open files of other tools: profiles, traces, benchmark reports
    Import(ImportArgs),
    /// Show the time of a profile by category, operator or kernel, alone or against another profile.
    Kernels(KernelsArgs),
    /// Ask why a case takes its time: change one thing at a time and measure what that costs.
    Why(WhyArgs),
    /// Follow the cases of a session through the sessions of the library.
    History(HistoryArgs),
    /// Compare the machines that ran one setup, and name the odd one out.
    Fleet(FleetArgs),
    /// Write a figure of a session as a picture or a table, or the session itself for other programs.
    Export(ExportArgs),
    /// Show a saved session.
    Show(ShowArgs),
    /// Check whether the numbers of a session agree with each other.
    Check(CheckArgs),
    /// Show sessions, or the library, in a browser of this machine or through ssh.
    Serve(ServeArgs),
    /// Write a report of one session, or of two: Markdown with pictures, or one HTML file.
    Report(ReportArgs),
    /// Show a model's inputs, outputs, size, cost and operators.
    Model(ModelArgs),
    /// Show the engines, or fetch one.
    Engines(EnginesArgs),
    /// Show what this machine has.
    Devices(DevicesArgs),
    /// List the machines that setups may run on, check one, or remove what was sent there.
    Machines(MachinesArgs),
    /// List the detached runs in jobs of Slurm, collect what they measured, or cancel them.
    Jobs(JobsArgs),
    /// Answer programs that speak the Model Context Protocol: sessions, verdicts, kernels, causes.
    Mcp(McpArgs),
    /// Measure what this machine and its engines reach at most: arithmetic, bandwidth, cost of a node.
    Roofs(RoofsArgs),
    /// Save what an interrupted run had measured.
    Recover(RecoverArgs),
    /// Print what a shell needs to complete these commands.
    Completions(CompletionsArgs),
    /// Write the man pages into a folder.
    Manual(ManualArgs),
    /// Measure on behalf of another process.
    #[command(hide = true)]
    Worker(WorkerArgs),
    /// Answer a Powerband on another machine.
    #[command(hide = true)]
    Remote {
        /// What it asks.
        #[command(subcommand)]
        command: RemoteCommand,
    },
}

/// Arguments of `worker`.
#[derive(Debug, clap::Args)]
pub(crate) struct WorkerArgs {
    /// What is done; measuring models where nothing is said.
    #[command(subcommand)]
    pub task: Option<WorkerTask>,
}

/// What a worker does other than measuring models.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum WorkerTask {
    /// Measure what the processor reaches.
    Processor {
        /// Leave instructions of this name out.
        #[arg(long)]
        without: Vec<String>,
        /// Measure only what has a title that begins so: `memory copy`.
        #[arg(long)]
        only: Option<String>,
    },
    /// Become another program, which ends when the one that started it does.
    Exec {
        /// The program and its arguments.
        #[arg(last = true, required = true)]
        command: Vec<std::ffi::OsString>,
    },
    /// Speak for a loop of a Python program, which listens on a socket.
    Relay,
    /// Be an agent of a run on another machine until standard input closes.
    Agent,
    /// Keep cores or the memory busy until standard input closes.
    Neighbour {
        /// A thread on each of these logical processors.
        cores: Vec<usize>,
    },
}

/// Arguments of `completions`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
  powerband completions bash > ~/.local/share/bash-completion/completions/powerband
  powerband completions zsh > ~/.zfunc/_powerband
  powerband completions fish > ~/.config/fish/completions/powerband.fish")]
pub(crate) struct CompletionsArgs {
    /// The shell.
    pub shell: clap_complete::Shell,
}

/// Arguments of `manual`.
#[derive(Debug, clap::Args)]
pub(crate) struct ManualArgs {
    /// Where the pages go, for example ~/.local/share/man/man1.
    pub folder: PathBuf,
}

/// Arguments of `compare`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
  powerband compare r50.ron                              the first setup vs. all others
  powerband compare r50.ron --before rten --after ort    two of its setups
  powerband compare before.ron after.ron                 identical setups
  powerband compare main.ron branch.ron --fail-if-slower=2

The verdict is faster or slower where the whole 95 % interval of the ratio lies beyond the noise floor
(1 %, or the spread of a setup against itself; 5 % after one start of a worker), same where it lies within
the floor, else inconclusive, with what more rounds promise. Two sessions were not
interleaved: their interval is as wide as earlier sessions of the library differ.

Exit status: 0 fine, 1 something is slower and --fail-if-slower was given, 2 nothing to compare.")]
pub(crate) struct CompareArgs {
    /// The session before; alone, its setups are compared with each other.
    pub before: PathBuf,
    /// The session after.
    pub after: Option<PathBuf>,
    /// The setup before: its spelling, its label, or its number from 1.
    #[arg(long = "before", value_name = "SETUP")]
    pub before_setup: Option<String>,
    /// The setup after.
    #[arg(long = "after", value_name = "SETUP")]
    pub after_setup: Option<String>,
    #[command(flatten)]
    pub point: PointArgs,
    /// End with status 1 where a case is called slower, by more than this percentage.
    #[arg(long, value_name = "PERCENT", num_args = 0..=1, require_equals = true, default_missing_value = "0", value_parser = percentage)]
    pub fail_if_slower: Option<f64>,
    /// Write the verdicts as JUnit XML for continuous integration: a case that is called slower, by more than
    /// --fail-if-slower says, is a failure, and an inconclusive one is skipped.
    #[arg(long, value_name = "FILE.xml")]
    pub junit: Option<PathBuf>,
    #[command(flatten)]
    pub detail: Detail,
    /// Print one JSON document.
    #[arg(long)]
    pub json: bool,
    /// Print tables as a part of an HTML page, such as a notebook.
    #[arg(long, conflicts_with = "json")]
    pub html: bool,
}

/// Arguments of `journey`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
  powerband bench --ladder resnet50-case-study     a ready-made plan of steps
  powerband bench resnet50 --journey --batch 1,32 \\
      --setup torch --setup torch,mode=amp-bf16 --setup ort --setup ort,precision=int8
  powerband journey SESSION.ron

Each step is compared with the last measured one before it, and with the baseline. Steps of
different batch sizes are compared by the time of an item. A session without a ladder has its setups
as steps, at the batch size that --batch names.")]
pub(crate) struct JourneyArgs {
    /// The session.
    pub session: PathBuf,
    #[command(flatten)]
    pub point: PointArgs,
    /// Print one JSON document.
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `kernels`.
#[derive(Debug, clap::Args)]
pub(crate) struct KernelsArgs {
    /// The session.
    pub session: PathBuf,
    /// What a row stands for: categories where nothing else is said; against another profile, what both
    /// sides have in common.
    #[arg(long, value_enum)]
    pub by: Option<RowsBy>,
    /// Show rows with these words only, with stars for anything.
    #[arg(long, value_name = "PATTERN", default_value = "")]
    pub filter: String,
    /// Show rows of at least this share only: 1% or 0.01.
    #[arg(long, value_name = "SHARE", default_value = "0", value_parser = share)]
    pub over: f64,
    /// Show this number of rows at most.
    #[arg(long, value_name = "N")]
    pub top: Option<usize>,
    /// Which profile of the session, by its number from 1 or its name.
    #[arg(long, value_name = "PROFILE", default_value = "1")]
    pub profile: String,
    /// Compare with a profile of this session, which is before.
    #[arg(long, value_name = "SESSION")]
    pub against: Option<PathBuf>,
    /// Which profile of that session, by its number from 1 or its name.
    #[arg(
        long,
        value_name = "PROFILE",
        default_value = "1",
        requires = "against"
    )]
    pub against_profile: String,
    /// Print one JSON document.
    #[arg(long)]
    pub json: bool,
}

/// What a row of `kernels` stands for.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum RowsBy {
    /// Categories.
    Category,
    /// Operators.
    Operator,
    /// Kernels by their whole names.
    Kernel,
}

/// A percentage; its range is checked where it is used.
fn percentage(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text);
    number.trim().parse().map_err(|_no_number| {
        format!("{text} is no percentage; write a number from 0, such as 2.5")
    })
}

fn share(text: &str) -> Result<f64, String> {
    let (number, scale) = text
        .strip_suffix('%')
        .map_or((text, 1.0), |number| (number, 0.01));
    let share: f64 = number
        .trim()
        .parse()
        .map_err(|_no_number| format!("{text} is no share; write 1% or 0.01"))?;
    let share = share * scale;
    if (0.0..=1.0).contains(&share) {
        Ok(share)
    } else {
        Err(format!("{text} is no share: it has to be from 0% to 100%"))
    }
}

/// Arguments of `history`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Exit status: 0 fine, 1 the session is slower and --fail-if-slower was given, 2 nothing to follow, or a case of it was not measured.")]
pub(crate) struct HistoryArgs {
    /// A session that has the cases.
    pub session: PathBuf,
    /// More sessions to look through, or folders of them [default: the library].
    #[arg(value_name = "SESSION|FOLDER")]
    pub among: Vec<PathBuf>,
    /// This setup only: its spelling, its label, or its number from 1.
    #[arg(long, value_name = "SETUP")]
    pub setup: Option<String>,
    #[command(flatten)]
    pub point: PointArgs,
    /// Exit with 1 if a case of the session is slower than earlier sessions at its level, or at the level before for the
    /// first three of a level.
    #[arg(long)]
    pub fail_if_slower: bool,
    /// Print one JSON document.
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `show`.
#[derive(Debug, clap::Args)]
pub(crate) struct ShowArgs {
    /// The session file.
    pub session: PathBuf,
    #[command(flatten)]
    pub detail: Detail,
    /// Print one JSON document.
    #[arg(long)]
    pub json: bool,
    /// Print tables and a chart as a part of an HTML page, such as a notebook.
    #[arg(long, conflicts_with = "json")]
    pub html: bool,
}

/// Arguments of `check`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
  powerband check sessions/published-resnet50-case-study.ron
  powerband check *.ron --json

Published and measured numbers are checked against each other: latency against throughput and batch,
gains against the values before and after, shares against 100 %, phases against their step, and more.
The rounding of each number's digits is allowed for.

Exit status: 0 nothing was found, 1 something was, 2 an error.")]
pub(crate) struct CheckArgs {
    /// The sessions.
    #[arg(required = true, value_name = "SESSION")]
    pub sessions: Vec<PathBuf>,
    /// Print one JSON document.
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `devices`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  powerband devices                         each device, its readings and the settings that limit it
  powerband devices --watch                 go on reading
  powerband devices --watch --json --rate 100 --seconds 5 > readings.jsonl

Clocks and limits come with the command that would change them; Powerband itself sets nothing.")]
pub(crate) struct DevicesArgs {
    /// The machine: a name of the settings, or a host of ssh [default: this one].
    #[arg(long, value_name = "HOST", conflicts_with = "replay")]
    pub on: Option<String>,
    /// Go on reading, until Ctrl-C.
    #[arg(long)]
    pub watch: bool,
    /// Readings a second while watching, from 1 to 100.
    #[arg(long, value_name = "HZ", default_value_t = 10.0, requires = "watch")]
    pub rate: f64,
    /// Stop watching after this number of seconds.
    #[arg(long, value_name = "N", requires = "watch")]
    pub seconds: Option<f64>,
    /// Play back the device readings of a session, in place of this machine's.
    #[arg(long, value_name = "SESSION.ron")]
    pub replay: Option<PathBuf>,
    /// Print one JSON document; while watching, one for each reading, a line each.
    #[arg(long)]
    pub json: bool,
}

/// What `import` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct ImportArgs {
    /// Files that other tools wrote, or - for standard input; those of one process become one profile
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Save what was read as a session, with its timelines beside it
    #[arg(long, value_name = "FILE.ron")]
    pub out: Option<PathBuf>,
    /// Replace a session that is there
    #[arg(long, requires = "out")]
    pub force: bool,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
    /// Read plain tables of timings: which column is what, as in time=latency,batch=n,name=case; also
    /// unit=ms where the column's name does not name the unit
    #[arg(long, value_name = "WHAT=COLUMN,…")]
    pub columns: Option<String>,
    /// The most that packed files may unpack to, in millions of bytes
    #[arg(long, value_name = "MB", default_value_t = 4000)]
    pub unpack_limit: u64,
}
