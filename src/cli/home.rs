//! `powerband` where there is no display: this machine, its engines, recent sessions, and a first command.

use std::process::ExitCode;

use super::TROUBLE;
use super::{Context, engines, output};
use powerband_core::base::humanize;
use powerband_devices::machine;
use powerband_findings::export::terminal;
use powerband_findings::report::{document::Block, machine as machine_facts};
use powerband_store::library;

/// How many recent sessions are listed.
const RECENT: usize = 5;

/// Prints the overview.
pub(super) fn run(context: &Context, reason: &str) -> anyhow::Result<ExitCode> {
    output::note(&format!("No window can be opened: {reason}"));
    let environment = machine::environment();
    let mut text = format!("Powerband {}\n\n", environment.program);
    let mut facts = machine_facts::processor(&environment.cpu);
    let memory = humanize::bytes(environment.memory.total_bytes);
    facts.push(("Memory".to_owned(), memory.into()));
    text.push_str(&terminal::write(&[Block::Facts(facts)]));
    text.push('\n');
    text.push_str(&engines::brief(&engines::survey(context)));
    let recent = library::list(&context.paths);
    if !recent.is_empty() {
        text.push_str("\nRecent sessions\n");
    }
    for path in recent.iter().take(RECENT) {
        text.push_str(&format!("  powerband show {}\n", path.display()));
    }
    text.push_str(
        "\nBegin with\n  powerband bench resnet50 --preset quick\n\nOnly the window needs a display; powerband --help names every command.\n",
    );
    output::answer(&text)?;
    Ok(ExitCode::from(TROUBLE))
}
