//! The hidden `powerband remote`: what a program on another machine asks of this one over its connection.

use std::process::ExitCode;

use super::args::RemoteCommand;
use super::{Context, output};
use powerband_runner::jobs::work;
use powerband_worker::remote::{guard, sampling, serve};

pub(super) fn run(context: &Context, command: RemoteCommand) -> anyhow::Result<ExitCode> {
    match command {
        RemoteCommand::Describe => serve::describe()?,
        RemoteCommand::Watch { rate } => sampling::serve(rate)?,
        RemoteCommand::Locate { setups } => {
            let located = serve::locate(&context.place(), &setups).map_err(anyhow::Error::msg)?;
            output::answer(&located)?;
        }
        RemoteCommand::Job { folder, part } => {
            let ending = super::signals::listen()?;
            work::work(&context.place(), &folder, part, &ending).map_err(anyhow::Error::msg)?;
        }
        RemoteCommand::Hold => guard::hold()?,
        RemoteCommand::Worker { setup, runtime } => {
            let worker = serve::worker(&context.place(), setup.as_deref(), runtime.as_deref());
            let ending = guard::run(&worker.map_err(anyhow::Error::msg)?)?;
            output::note(&ending);
        }
    }
    Ok(ExitCode::SUCCESS)
}
