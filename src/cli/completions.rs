//! `powerband completions`: what a shell needs to complete the command line.

use std::process::ExitCode;

use clap::CommandFactory as _;

use super::args::{Args, CompletionsArgs};
use super::output;

/// Prints the completions of one shell.
pub fn run(args: &CompletionsArgs) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "powerband", &mut script);
    output::answer(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_that_help_lists_is_completed() {
        let mut script = Vec::new();
        let mut command = Args::command();
        clap_complete::generate(
            clap_complete::Shell::Bash,
            &mut command,
            "powerband",
            &mut script,
        );
        let script = String::from_utf8(script).unwrap();
        for command in Args::command().get_subcommands() {
            let name = command.get_name();
            let is_completed = script.contains(&format!("powerband,{name})"));
            assert!(is_completed, "{name}");
        }
    }
}
