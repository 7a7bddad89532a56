//! `powerband` where there is no display: this machine, its engines, recent sessions, and a first command.

use std::process::ExitCode;

use super::TROUBLE;
use super::{Context, devices_text, engines, output};
use powerband_core::base::humanize;
use powerband_devices::machine;
use powerband_store::library;

/// How many recent sessions are listed.
const RECENT: usize = 5;

/// Prints the overview.
pub(super) fn run(context: &Context, reason: &str) -> anyhow::Result<ExitCode> {
    output::note(&format!("No window can be opened: {reason}"));
    let environment = machine::environment();
    let mut text = format!("Powerband {}\n\n", environment.program);
    text.push_str(&devices_text::processor(&environment.cpu));
    text.push_str(&format!(
        "Memory     {}\n\n",
        humanize::bytes(environment.memory.total_bytes)
    ));
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
