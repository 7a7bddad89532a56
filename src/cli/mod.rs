//! The command line: one file per subcommand, all over the same library as the window.
//!
//! Answers go to standard output, progress and remarks to standard error. Exit status as `diff` has
//! it: 0 fine, 1 a comparison found a regression or a check found something, 2 an error.

mod again;
mod args;
mod bench;
mod check;
mod compare;
mod completions;
mod devices;
mod engines;
mod export;
mod export_networks;
mod export_page;
mod export_timelines;
mod fleet;
mod gate;
mod heartbeat;
mod history;
mod home;
mod idle;
mod import;
mod jobs;
mod journey;
mod kernels;
mod machines;
mod manual;
mod mcp;
mod model;
mod output;
mod progress;
mod recover;
mod remote;
mod repeat;
mod report;
mod roofs;
mod serve;
mod show;
mod signals;
mod why;
mod why_elsewhere;

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Parser as _;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use args::{Args, Command, WorkerArgs, WorkerTask};
use powerband_core::base::ending::Ending;
use powerband_core::base::humanize;
use powerband_core::base::paths::Paths;
use powerband_core::domain::session::Session;
use powerband_runner::agent;
use powerband_runner::roofs::child as roofs_child;
use powerband_runner::roofs::neighbour;
use powerband_store::installation::Installation;
use powerband_store::settings::{self, Settings};
use powerband_store::{recoverable, session_file};
use powerband_worker::{child, relay};

/// Exit status of a comparison or a check with a finding.
const REGRESSION: u8 = 1;
/// Exit status of a run that did not end as planned.
const TROUBLE: u8 = 2;

/// The environment of every subcommand.
#[derive(Debug)]
struct Context {
    paths: Paths,
    settings: Settings,
    program: PathBuf,
}

impl Context {
    /// Where runs happen.
    fn place(&self) -> Installation {
        Installation::new(self.paths.clone(), &self.settings, self.program.clone())
    }
}

/// The outcome of the command line: an exit status, or a window to open.
#[derive(Debug)]
pub enum CliOutcome {
    /// Nothing: here is the exit status.
    Done(ExitCode),
    /// The window, with these files and warnings, until it is closed.
    Window(Box<Installation>, Vec<PathBuf>, Vec<String>, Ending),
}

/// Does what the arguments say, short of opening a window.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> CliOutcome {
    let args = match Args::try_parse_from(arguments) {
        Ok(args) => args,
        Err(error) => {
            let error = with_option_hint(error);
            let status = if error.use_stderr() { TROUBLE } else { 0 };
            // There is no way to report that even this cannot be printed.
            drop(error.print());
            return CliOutcome::Done(ExitCode::from(status));
        }
    };
    match dispatch(args) {
        Ok(wanted) => wanted,
        Err(error) => CliOutcome::Done(status_of(&error)),
    }
}

/// Adds a hint to the error about a setup in the place of an argument: the option to use.
fn with_option_hint(mut error: clap::Error) -> clap::Error {
    let Some(ContextValue::String(found)) = error.get(ContextKind::InvalidArg) else {
        return error;
    };
    let names_engine = found
        .split([':', ','])
        .next()
        .is_some_and(|name| powerband_worker::engines::find(name).is_some());
    if error.kind() == ErrorKind::UnknownArgument && names_engine {
        let tip = format!("a setup is given with its option: --setup {found}");
        error.insert(
            ContextKind::Suggested,
            ContextValue::StyledStrs(vec![tip.into()]),
        );
    }
    error
}

/// The reason why there is no window, and what works without one.
pub fn without_window(reason: &str) -> ExitCode {
    let told = context_of_window()
        .and_then(|(context, warnings)| without_window_in(&context, &warnings, reason));
    told.unwrap_or_else(|error| status_of(&error))
}

fn without_window_in(
    context: &Context,
    warnings: &[String],
    reason: &str,
) -> anyhow::Result<ExitCode> {
    for warning in warnings {
        output::note(&format!("powerband: {warning}"));
    }
    home::run(context, reason)
}

/// What is said and returned where the display ended while the window was open.
pub fn window_lost(sentence: &str) -> ExitCode {
    output::note(&format!("powerband: {sentence}"));
    ExitCode::from(TROUBLE)
}

fn status_of(error: &anyhow::Error) -> ExitCode {
    if is_broken_pipe(error) {
        return ExitCode::SUCCESS;
    }
    output::note(&format!("powerband: {}", whole_reason(error)));
    ExitCode::from(TROUBLE)
}

/// An error with its causes. Many errors already say their cause in their own sentence, so a cause is
/// added only where nothing before it has said it.
fn whole_reason(error: &anyhow::Error) -> String {
    let mut whole = String::new();
    for cause in error.chain() {
        let words = cause.to_string();
        if whole.is_empty() {
            whole = words;
        } else if !whole.contains(&words) {
            whole.push_str(": ");
            whole.push_str(&words);
        }
    }
    whole
}

fn context() -> anyhow::Result<Context> {
    let settings = settings::read(&Paths::for_user().settings).map_err(anyhow::Error::msg)?;
    context_with(settings)
}

/// The window opens without settings where they cannot be read, and shows why.
fn context_of_window() -> anyhow::Result<(Context, Vec<String>)> {
    match settings::read(&Paths::for_user().settings) {
        Ok(settings) => Ok((context_with(settings)?, Vec::new())),
        Err(reason) => {
            let reason = humanize::capitalised(&reason);
            let warning =
                format!("{reason}. Default settings are used, and the file stays as it is.");
            Ok((context_with(Settings::default())?, vec![warning]))
        }
    }
}

fn context_with(settings: Settings) -> anyhow::Result<Context> {
    let paths = Paths::for_user();
    for warning in settings::unknown_keys(&paths.settings) {
        output::note(&format!("powerband: {warning}"));
    }
    let program = std::env::current_exe().context("cannot find the path of this program")?;
    Ok(Context {
        paths,
        settings,
        program,
    })
}

/// The window is opened where there is a display; missing files are reported before.
fn window(files: Vec<PathBuf>) -> anyhow::Result<CliOutcome> {
    for file in &files {
        if !file.exists() {
            anyhow::bail!(
                "there is no file {0}, and no command of that name; powerband --help lists the commands",
                file.display()
            );
        }
    }
    let (context, warnings) = context_of_window()?;
    let has_display = ["DISPLAY", "WAYLAND_DISPLAY"]
        .iter()
        .any(|name| std::env::var_os(name).is_some_and(|display| !display.is_empty()));
    if !has_display {
        let mut reason =
            "neither DISPLAY nor WAYLAND_DISPLAY is set, so there is no display.".to_owned();
        for file in files
            .iter()
            .filter(|file| file.extension().is_some_and(|end| end == "ron"))
        {
            reason.push_str(&format!(" powerband show {} prints it.", file.display()));
        }
        return without_window_in(&context, &warnings, &reason).map(CliOutcome::Done);
    }
    let files = files
        .into_iter()
        .map(|file| std::path::absolute(&file).unwrap_or(file))
        .collect();
    let ending = signals::listen()?;
    let place = Box::new(context.place());
    Ok(CliOutcome::Window(place, files, warnings, ending))
}

fn worker(args: &WorkerArgs) -> anyhow::Result<()> {
    match &args.task {
        None => child::run()?,
        Some(WorkerTask::Processor { without, only }) => {
            roofs_child::run(without, only.as_deref())?;
        }
        Some(WorkerTask::Exec { command }) => child::become_program(command)?,
        Some(WorkerTask::Relay) => relay::run()?,
        Some(WorkerTask::Agent) => agent::serve(&std::env::current_exe()?)?,
        Some(WorkerTask::Neighbour { cores }) => neighbour::run(cores)?,
    }
    Ok(())
}

fn dispatch(args: Args) -> anyhow::Result<CliOutcome> {
    match &args.command {
        Some(Command::Worker(args)) => {
            worker(args)?;
            return Ok(CliOutcome::Done(ExitCode::SUCCESS));
        }
        // Packages are made where there are no settings.
        Some(Command::Completions(args)) => return completions::run(args).map(CliOutcome::Done),
        Some(Command::Manual(args)) => return manual::run(args).map(CliOutcome::Done),
        _ => {}
    }
    if args.command.is_none() {
        return window(args.files);
    }
    let context = context()?;
    if let Some(Command::Remote { command }) = args.command {
        return remote::run(&context, command).map(CliOutcome::Done);
    }
    if !matches!(args.command, Some(Command::Recover(_))) {
        offer_journals(&context);
    }
    let status = match args.command {
        None
        | Some(
            Command::Worker(_)
            | Command::Remote { .. }
            | Command::Completions(_)
            | Command::Manual(_),
        ) => Ok(ExitCode::SUCCESS),
        Some(Command::Bench(args)) => match args.again.as_slice() {
            [before, after] => again::run(&context, &args, before, after),
            _ => bench::run(&context, &args),
        },
        Some(Command::Compare(args)) => compare::run(&context, &args),
        Some(Command::Gate(args)) => gate::run(&context, &args),
        Some(Command::Repeat(args)) => repeat::run(&context, &args),
        Some(Command::Journey(args)) => journey::run(&args),
        Some(Command::Import(args)) => import::run(&context, &args),
        Some(Command::Kernels(args)) => kernels::run(&context, &args),
        Some(Command::Why(args)) => why::run(&context, &args),
        Some(Command::History(args)) => history::run(&context, &args),
        Some(Command::Fleet(args)) => fleet::run(&args),
        Some(Command::Export(args)) => export::run(&context, &args),
        Some(Command::Show(args)) => show::run(&args),
        Some(Command::Check(args)) => check::run(&args),
        Some(Command::Serve(args)) => serve::run(&context, &args),
        Some(Command::Report(args)) => report::run(&context, &args),
        Some(Command::Model(args)) => model::run(&context, &args),
        Some(Command::Engines(args)) => engines::run(&context, &args),
        Some(Command::Devices(args)) => devices::run(&context, &args),
        Some(Command::Machines(args)) => machines::run(&context, &args),
        Some(Command::Jobs(args)) => jobs::run(&context, &args),
        Some(Command::Mcp(args)) => mcp::run(&context, &args),
        Some(Command::Roofs(args)) => roofs::run(&context, &args),
        Some(Command::Recover(args)) => recover::run(&context, &args),
    };
    status.map(CliOutcome::Done)
}

/// A session with measurements: published numbers are never among them.
fn measured(path: &Path) -> anyhow::Result<Session> {
    let session = session_file::read(path)?.session;
    is_measured(path, &session)?;
    Ok(session)
}

/// Refuses a session that has published numbers alone.
fn is_measured(path: &Path, session: &Session) -> anyhow::Result<()> {
    if session.is_published_only() {
        anyhow::bail!(
            "{0} holds numbers that were published, not measured, and get no verdict; powerband show {0} prints them, and powerband check {0} checks whether they agree with each other",
            path.display()
        );
    }
    Ok(())
}

/// An interrupted run gets a note at the next start of any command.
fn offer_journals(context: &Context) {
    let abandoned = recoverable::all(&context.paths);
    if let [first, ..] = abandoned.as_slice() {
        output::note(&match abandoned.len() {
            1 => format!(
                "A run was interrupted before it was saved: {}\nSave its measurements with: powerband recover",
                first.display()
            ),
            n => format!(
                "{n} runs were interrupted before they were saved.\nList them with: powerband recover --list"
            ),
        });
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause
            .downcast_ref::<io::Error>()
            .is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_is_said_once() {
        let missing = session_file::read(Path::new("/nowhere/a.ron")).unwrap_err();
        let said = missing.to_string();
        assert_eq!(said.matches("os error").count(), 1, "{said}");
        let error = anyhow::Error::from(missing);
        assert_eq!(whole_reason(&error), said);
        let around = error.context("the report was not written");
        assert_eq!(
            whole_reason(&around),
            format!("the report was not written: {said}")
        );
        let plain = anyhow::Error::from(io::Error::other("the disk is full"));
        assert_eq!(
            whole_reason(&plain.context("a.svg cannot be written")),
            "a.svg cannot be written: the disk is full"
        );
    }

    /// Options of `bench` that are no fields of a plan, with what the window has in their place.
    const BESIDE_PLAN: [(&str, &str); 16] = [
        ("ladder", "the ready-made plans"),
        (
            "more",
            "more rounds are asked for beside a verdict that is not settled",
        ),
        (
            "retry",
            "the plan of a session is run again, or the command tries alone what failed",
        ),
        ("again", "measured again in turns from Compare and History"),
        (
            "wait-idle",
            "the window says beside the run what others use",
        ),
        ("commit", "what is measured from the window is no commit"),
        (
            "telemetry",
            "the window reads as often as the charts of a run need",
        ),
        (
            "replay",
            "readings of another session stand in for none of this machine's",
        ),
        ("on", "the control of a setup's machine"),
        ("detach", "the run's button"),
        ("array", "jobs are submitted by the command alone"),
        ("job-folder", "jobs are submitted by the command alone"),
        ("allow-commands", "the window shows the programs and asks"),
        (
            "out",
            "a run is saved in the library, and Save as copies it",
        ),
        ("force", "the window asks"),
        ("json", "a screen is no document"),
    ];

    #[test]
    fn what_can_be_asked_on_the_command_line_can_be_asked_in_the_window() {
        use clap::CommandFactory as _;
        use powerband_planning::form::fields::{self, OptionForm};
        let fields = fields::ALL.iter();
        let options_of_fields = fields.filter(|info| info.form != OptionForm::Argument);
        let known = options_of_fields.map(|info| info.option);
        let known = known.chain(BESIDE_PLAN.map(|(name, _)| name));
        let command = Args::command();
        let bench = command.find_subcommand("bench").unwrap();
        let options: Vec<&str> = bench.get_opts().filter_map(clap::Arg::get_long).collect();
        assert_eq!(options, known.collect::<Vec<_>>());
    }
}
