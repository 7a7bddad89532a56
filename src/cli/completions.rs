//! `powerband completions`: what a shell needs to complete the command line.

use std::process::ExitCode;

use clap::CommandFactory as _;
use clap_complete::Shell;

use super::args::{Args, CompletionsArgs};
use super::output;

/// Prints the completions of one shell.
pub(super) fn run(args: &CompletionsArgs) -> anyhow::Result<ExitCode> {
    output::answer(&script(args.shell))?;
    Ok(ExitCode::SUCCESS)
}

fn script(shell: Shell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "powerband", &mut script);
    String::from_utf8_lossy(&script).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_that_help_lists_is_completed() {
        let script = script(Shell::Bash);
        for command in Args::command().get_subcommands() {
            let name = command.get_name();
            let is_completed = script.contains(&format!("powerband,{name})"));
            assert!(is_completed, "{name}");
        }
    }
}
