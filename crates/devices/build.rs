//! Tells the program which commit it was built from, where that can be known.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // HEAD alone names a branch and stays as it is when that moves; its log has a line for every move.
    for name in ["HEAD", "logs/HEAD"] {
        let file = git(&["rev-parse", "--git-path", name]);
        if let Some(file) = file.filter(|file| Path::new(file).exists()) {
            println!("cargo::rerun-if-changed={file}");
        }
    }
    if let Some(commit) = git(&["rev-parse", "--short=12", "HEAD"]) {
        println!("cargo::rustc-env=POWERBAND_COMMIT={commit}");
    }
}

/// What git answers; nothing where this is no checkout of our own, such as an unpacked archive.
#[expect(
    clippy::disallowed_methods,
    reason = "a build script has no worker/process.rs"
)]
fn git(arguments: &[&str]) -> Option<String> {
    if !Path::new("../../.git").exists() {
        return None;
    }
    let output = Command::new("git").args(arguments).output().ok()?;
    let answer = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    output.status.success().then_some(answer)
}
