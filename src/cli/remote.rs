//! The hidden `powerband remote`: what a program on another machine asks of this one over its connection.

use std::process::ExitCode;

use super::args::RemoteCommand;
use super::{Context, TROUBLE, output};
use powerband_core::base::process_spec::ProcessSpec;
use powerband_core::domain::setup::Setup;
use powerband_runner::agent;
use powerband_runner::jobs::work;
use powerband_runner::roofs::kept;
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
        RemoteCommand::Roofs { setups } => {
            let setups = setups.iter().map(|setup| setup.parse());
            let setups: Vec<Setup> = setups.collect::<Result<_, _>>()?;
            let kept = kept::for_setups(&context.place(), &setups);
            output::answer(&serde_json::to_string(&kept)?)?;
        }
        RemoteCommand::Command { words } => {
            let command = ProcessSpec::new(&context.program).args(words);
            let ending = guard::run(&command)?;
            return Ok(if ending.success {
                ExitCode::SUCCESS
            } else {
                ExitCode::from(TROUBLE)
            });
        }
        RemoteCommand::Agent => {
            output::note(&agent::guarded(&context.program)?);
        }
        RemoteCommand::Worker { setup, runtime } => {
            let worker = serve::worker(&context.place(), setup.as_deref(), runtime.as_deref());
            let ending = guard::run(&worker.map_err(anyhow::Error::msg)?)?;
            output::note(&ending.farewell);
        }
    }
    Ok(ExitCode::SUCCESS)
}
