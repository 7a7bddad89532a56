//! Libraries in place of ONNX Runtime's that abort, loop, end the process or write to standard output: each is an
//! outcome with its reason, and other setups are measured.

use std::path::Path;

use super::{compiled, source};
use crate::models::good_model;
use crate::support::Home;

/// How a library misbehaves, the outcome, and words of its reason.
const LIBRARIES: [(&str, &str, &str); 4] = [
    ("ABORTS", "crashed", "signal 6"),
    ("EXITS", "crashed", "ended by itself"),
    // What it writes is no answer; that it has no interface is found after that.
    ("CHATTERS", "unsupported", "gives no interface"),
    ("LOOPS", "timed-out", "no answer for 4 s"),
];

#[test]
fn a_library_that_misbehaves_is_an_outcome() {
    for (how, outcome, words) in LIBRARIES {
        for moment in ["WHEN_LOADED", "WHEN_ASKED"] {
            let flags = [format!("-D{how}"), format!("-D{moment}")];
            let name = format!("{how}-{moment}.so");
            let built = compiled(
                &name,
                &source("library.c"),
                &["-shared", "-fPIC", &flags[0], &flags[1]],
            );
            let Some(library) = built else {
                return;
            };
            check(&library, outcome, words);
        }
    }
}

fn check(library: &Path, outcome: &str, words: &str) {
    let home = Home::new();
    home.write("good.onnx", good_model());
    let setup = format!("ort,runtime={}", library.display());
    let args = ["bench", "good.onnx", "--setup", &setup, "--setup", "fake"];
    let rest = ["--batch", "1", "--preset", "quick", "--rounds", "1"];
    let end = ["--timeout", "4", "--json"];
    let run = home.run(&[&args[..], &rest, &end].concat());
    let document = run.json();
    let [ort, fake] = [0, 1].map(|place| document["cases"][place].clone());
    assert_eq!(run.status, Some(2), "{}", run.err);
    assert_eq!(
        (&ort["outcome"], &fake["outcome"]),
        (&outcome.into(), &"finished".into()),
        "{ort}"
    );
    let reason = ort["reason"].as_str().unwrap_or_default();
    assert!(reason.contains(words), "{reason}");
}

#[test]
fn engines_that_are_asked_survive_a_library_that_misbehaves() {
    let built = compiled(
        "list.so",
        &source("library.c"),
        &["-shared", "-fPIC", "-DEXITS", "-DWHEN_LOADED"],
    );
    let Some(library) = built else {
        return;
    };
    let home = Home::new();
    let run = home.run_with(&["engines", "--json"], &[("ORT_DYLIB_PATH", &library)]);
    assert!(
        run.status.is_some() && !run.err.contains("panicked"),
        "{run:#?}"
    );
    let document = run.json().to_string();
    assert!(document.contains("ended by itself"), "{document}");
}
