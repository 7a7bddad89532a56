//! Tells the program which commit it was built from, where that can be known.

use std::path::Path;
use std::process::Command;

#[expect(
    clippy::disallowed_methods,
    reason = "a build script has no worker/process.rs"
)]
fn main() {
    println!("cargo::rerun-if-changed=.git/HEAD");
    println!("cargo::rerun-if-changed=build.rs");
    if !Path::new(".git").exists() {
        return;
    }
    let git = Command::new("git")
        .args(["rev-parse", "--short=12", "HEAD"])
        .output();
    if let Ok(output) = git
        && output.status.success()
    {
        let commit = String::from_utf8_lossy(&output.stdout);
        println!("cargo::rustc-env=POWERBAND_COMMIT={}", commit.trim());
    }
}
