//! NVIDIA's library without a card: built from its source when it is first needed.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The source of the library; its constants are what the tests below expect.
const FAKE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/fixtures/fake_nvml/nvml.rs"
);

/// Puts the library with its settings into a folder, and says where it is.
pub(crate) fn put(folder: &Path, settings: &str) -> PathBuf {
    static LIBRARY: OnceLock<Vec<u8>> = OnceLock::new();
    let path = folder.join("libnvidia-ml.so.1");
    fs::write(&path, LIBRARY.get_or_init(build)).expect("a library");
    fs::write(folder.join("settings"), settings).expect("its settings");
    path
}

#[expect(
    clippy::disallowed_methods,
    reason = "the test is the user, who starts programs"
)]
fn build() -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("libnvidia-ml.so.1");
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let built = std::process::Command::new(rustc)
        .args(["--edition", "2024", "--crate-type", "cdylib"])
        .args(["-C", "opt-level=1", "-C", "strip=symbols", "-o"])
        .args([&path, Path::new(FAKE)])
        .output()
        .expect("rustc starts");
    let said = String::from_utf8_lossy(&built.stderr);
    assert!(built.status.success() && said.is_empty(), "{said}");
    fs::read(&path).expect("a library")
}
