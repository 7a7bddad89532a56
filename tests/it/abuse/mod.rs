//! What a machine, its user and its libraries can do to the program: writes that fail, libraries that misbehave,
//! processes that are stopped, clocks that jump.

mod clocks;
mod display_ends;
mod ends;
mod faults;
mod files;
mod full_disk;
mod libraries;
mod own_files;
mod portal;
mod soak;
mod stops;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use tempfile::TempDir;

use crate::support::component;

/// Builds C sources of this folder into files of a temporary one that lives as long as the tests.
#[expect(
    clippy::disallowed_methods,
    reason = "the test is the user, who starts programs"
)]
pub(crate) fn compiled(name: &str, source: &Path, arguments: &[&str]) -> Option<PathBuf> {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| tempfile::tempdir().expect("a temporary folder"));
    let built = folder.path().join(name);
    let said = Command::new("cc")
        .args(["-O1", "-Wall", "-Wextra", "-o"])
        .arg(&built)
        .arg(source)
        .args(arguments)
        .output();
    let said = component(said.ok(), "a C compiler (apt-get install gcc)")?;
    assert!(
        said.status.success(),
        "{}",
        String::from_utf8_lossy(&said.stderr)
    );
    Some(built)
}

/// A source of this folder.
pub(crate) fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/it/abuse")
        .join(name)
}
