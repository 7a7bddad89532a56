//! The real ROCm SMI on simulated cards: the program in a mount namespace in which they are this machine's.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::cards::FakeAmdCards;
use crate::support::{self, Home};

/// Where the library is on the systems that have it.
const LIBRARIES: [&str; 3] = [
    "/usr/lib/librocm_smi64.so.1",
    "/usr/lib/x86_64-linux-gnu/librocm_smi64.so.1",
    "/opt/rocm/lib/librocm_smi64.so",
];

/// The program on a machine with these cards; nothing where this user may not make a namespace, or
/// ROCm SMI is not here.
pub(crate) fn command(cards: &FakeAmdCards, home: &Home, args: &[&str]) -> Option<Command> {
    let library = LIBRARIES.iter().find(|path| Path::new(path).exists());
    support::component(library, "ROCm SMI (librocm-smi64-1)")?;
    if !may_unshare() {
        return None;
    }
    let whole = cards.unshared(env!("CARGO_BIN_EXE_powerband"), args);
    let whole: Vec<&str> = whole.iter().map(String::as_str).collect();
    Some(home.command_of(Path::new("unshare"), &whole))
}

#[expect(
    clippy::disallowed_methods,
    reason = "the test asks the system what it allows"
)]
pub(crate) fn may_unshare() -> bool {
    let asked = Command::new("unshare")
        .args(["--mount", "mount", "--bind", "/tmp", "/tmp"])
        .stderr(Stdio::null())
        .status();
    let may = asked.is_ok_and(|status| status.success());
    if !may {
        // What the system does not allow cannot be installed either.
        support::skipped("a mount namespace, which root may make");
    }
    may
}
