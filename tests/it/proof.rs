//! `scripts/prove-on-gpu` on the processor: the checks that need neither a card nor PyTorch.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::{Home, component};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/prove-on-gpu");

fn has_python(home: &Home) -> bool {
    let asked = home
        .command_of(Path::new("python3"), &["--version"])
        .output();
    component(asked.ok(), "python3").is_some()
}

#[test]
fn a_dry_proof_has_a_line_for_each_claim_and_keeps_what_it_measured() {
    let home = Home::new();
    if !has_python(&home) {
        return;
    }
    let (document, kept) = (home.path("proof.json"), home.path("kept"));
    let words = [
        "--dry",
        "--only",
        "throttling,telemetry",
        "--program",
        env!("CARGO_BIN_EXE_powerband"),
        "--json",
        document.to_str().expect("a path in UTF-8"),
        "--keep",
        kept.to_str().expect("a path in UTF-8"),
    ];
    let done = home.command_of(Path::new(SCRIPT), &words).output();
    let done = done.expect("python3 starts it");
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    let text = fs::read_to_string(&document).unwrap_or_else(|_| panic!("no document: {said}"));
    let proof: Value = serde_json::from_str(&text).expect("JSON");
    let lines = proof["lines"].as_array().expect("lines");
    let verdicts = |check: &str| -> Vec<&str> {
        let of = lines.iter().filter(|line| line["check"] == check);
        of.filter_map(|line| line["verdict"].as_str()).collect()
    };
    assert_eq!(verdicts("throttling"), ["not run"], "{said}");
    // How much is kept depends on what else the machine does.
    assert_eq!(verdicts("telemetry").len(), 5, "{said}");
    assert_eq!(proof["counts"]["broke"], 0, "{said}");
    let not_kept = proof["counts"]["NOT kept"].as_u64().expect("a count");
    assert_eq!(done.status.code(), Some(i32::from(not_kept > 0)), "{said}");
    for name in ["telemetry-10.ron", "telemetry-100.ron"] {
        assert!(kept.join(name).is_file(), "{name} in {kept:?}");
    }
}

#[test]
fn what_a_machine_without_a_network_needs_is_packed() {
    let home = Home::new();
    if !has_python(&home) {
        return;
    }
    let folder = home.path("proof");
    let program = ["--program", env!("CARGO_BIN_EXE_powerband")];
    let words = ["--pack", folder.to_str().expect("a path in UTF-8")];
    let words: Vec<&str> = program.into_iter().chain(words).collect();
    let packed = home.command_of(Path::new(SCRIPT), &words).output();
    assert!(packed.expect("python3 starts it").status.success());
    // The script in the folder finds the program and the published peaks beside itself.
    let there = folder.join("prove-on-gpu");
    let words = ["--dry", "--only", "throttling"];
    let done = home.command_of(&there, &words).output().expect("it starts");
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(done.status.success(), "{said}");
    assert!(said.contains("1 not run, 0 broke"), "{said}");
    assert!(folder.join("devices.txt").is_file());
}
