//! The command line: one file per subcommand, all over the same library as the window.
//!
//! Answers go to standard output, progress and remarks to standard error. Exit status as `diff` has
//! it: 0 fine, 1 a comparison found a regression, 2 trouble.

mod args;
mod bench;
mod devices;
mod engines;
mod home;
mod model;
mod output;
mod progress;
mod recover;
mod session_text;
mod show;

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Parser as _;

use crate::base::cancel::CancelToken;
use crate::base::paths::Paths;
use crate::store::settings::{self, Settings};
use crate::store::{journal, library};
use crate::worker::child;
use args::{Args, Command};

/// Exit status of a run that ended otherwise than asked for.
const TROUBLE: u8 = 2;

/// What every subcommand may need.
#[derive(Debug)]
struct Context {
    paths: Paths,
    settings: Settings,
    program: PathBuf,
}

/// Does what the arguments say.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let args = match Args::try_parse_from(arguments) {
        Ok(args) => args,
        Err(error) => {
            let status = if error.use_stderr() { TROUBLE } else { 0 };
            // Nothing is left to be done where even this cannot be printed.
            drop(error.print());
            return ExitCode::from(status);
        }
    };
    match dispatch(args) {
        Ok(status) => status,
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            output::note(&format!("powerband: {error:#}"));
            ExitCode::from(TROUBLE)
        }
    }
}

fn dispatch(args: Args) -> anyhow::Result<ExitCode> {
    if matches!(args.command, Some(Command::Worker)) {
        child::run()?;
        return Ok(ExitCode::SUCCESS);
    }
    let paths = Paths::for_user();
    let settings = settings::read(&paths.settings).map_err(anyhow::Error::msg)?;
    let program = std::env::current_exe().context("cannot tell where this program is")?;
    let context = Context {
        paths,
        settings,
        program,
    };
    if !matches!(args.command, Some(Command::Recover(_))) {
        offer_journals(&context);
    }
    match args.command {
        None => home::run(&context),
        Some(Command::Bench(args)) => bench::run(&context, &args),
        Some(Command::Show(args)) => show::run(&args),
        Some(Command::Model(args)) => model::run(&context, &args),
        Some(Command::Engines(args)) => engines::run(&context, &args),
        Some(Command::Devices(args)) => devices::run(&args),
        Some(Command::Recover(args)) => recover::run(&context, &args),
        Some(Command::Worker) => Ok(ExitCode::SUCCESS),
    }
}

/// A run that was cut short is worth a remark at the next start, whatever that start is for.
fn offer_journals(context: &Context) {
    let abandoned = journal::abandoned(&library::journals(&context.paths));
    if let [first, ..] = abandoned.as_slice() {
        let which = match abandoned.len() {
            1 => "A run was interrupted".to_owned(),
            n => format!("{n} runs were interrupted, the first"),
        };
        output::note(&format!(
            "{which} before it was saved: {}\nWhat it measured can be kept: powerband recover",
            first.display()
        ));
    }
}

/// A token that Ctrl-C raises. The first one ends the work cleanly; a second one ends the program as if
/// there were no handler.
fn cancel_on_signals() -> io::Result<CancelToken> {
    let cancel = CancelToken::default();
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register_conditional_default(signal, cancel.flag())?;
        signal_hook::flag::register(signal, cancel.flag())?;
    }
    Ok(cancel)
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause
            .downcast_ref::<io::Error>()
            .is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    })
}
