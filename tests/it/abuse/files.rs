//! Files that change under the program: a plan's model between two rounds, a trace while it is imported.

use std::fs::{self, File};
use std::io::Write as _;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::models::{Dim, FLOAT, good_model, one_node};
use crate::support::{Home, ProgramRun};

/// Another model that takes the same inputs.
fn other_model() -> Vec<u8> {
    let dims = || [Dim::Name("N"), Dim::Size(8)];
    one_node("Sigmoid", &[("x", FLOAT, &dims())], (FLOAT, &dims()))
}

/// A run of some seconds whose first round is measured.
fn started(home: &Home, rest: &[&str]) -> Child {
    home.write("good.onnx", good_model());
    let setups = [
        "--setup",
        "fake,sleep=yes,fixed=2000",
        "--setup",
        "fake,sleep=yes",
    ];
    let args = ["bench", "good.onnx", "--batch", "1", "--json"];
    let preset = ["--preset", "quick", "--rounds", "3"];
    let mut command = home.command(&[&args[..], &setups, &preset, rest].concat());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let program = command.spawn().expect("the program starts");
    let deadline = Instant::now() + Duration::from_mins(1);
    let has_round = || {
        let journals = home.journals().into_iter();
        let mut texts = journals.filter_map(|journal| fs::read_to_string(journal).ok());
        texts.any(|text| text.matches("RoundFinished").count() >= 2)
    };
    while !has_round() {
        assert!(Instant::now() < deadline, "no round");
        thread::sleep(Duration::from_millis(20));
    }
    program
}

fn ended(program: Child) -> (ProgramRun, Value) {
    let run = ProgramRun::from_output(&program.wait_with_output().expect("the program ends"));
    let document = run.json();
    (run, document)
}

/// Words of the sentence, and what is done to the model.
type ModelChange = (&'static str, fn(&Home));

#[test]
fn a_model_that_changes_between_rounds_is_said_and_not_measured() {
    let home = Home::new();
    let hash = home.run(&[
        "model",
        &home.write("first.onnx", good_model()).display().to_string(),
        "--json",
    ]);
    let hash = hash.json()["sha256"].clone();
    let changes: [ModelChange; 2] = [
        ("changed after the run had begun", |home| {
            home.write("good.onnx", other_model());
        }),
        ("cannot be read any more", |home| {
            fs::remove_file(home.path("good.onnx")).expect("a file");
        }),
    ];
    for (words, change) in changes {
        // Workers that live have loaded the model, and go on.
        let home = Home::new();
        let program = started(&home, &[]);
        change(&home);
        let (run, document) = ended(program);
        assert_eq!(run.status, Some(0), "{}", run.err);
        let warnings = document["warnings"].to_string();
        assert_eq!(warnings.matches(words).count(), 1, "{warnings}");
        assert_eq!(document["model"]["sha256"], hash, "{document:#}");
        for case in document["cases"].as_array().expect("cases") {
            assert_eq!(
                (&case["outcome"], &case["rounds"]),
                (&"finished".into(), &3.into())
            );
        }
        // A worker that is started again would load another model.
        let home = Home::new();
        let program = started(&home, &["--one-at-a-time"]);
        change(&home);
        let (run, document) = ended(program);
        assert_eq!(run.status, Some(2), "{}", run.err);
        assert_eq!(document["model"]["sha256"], hash, "{document:#}");
        let cases = document["cases"].as_array().expect("cases");
        let failed: Vec<&Value> = cases
            .iter()
            .filter(|case| case["outcome"] == "failed")
            .collect();
        // The one whose worker lived goes on, since no other one takes its place any more.
        assert!(!failed.is_empty(), "{document:#}");
        for case in failed {
            let reason = case["reason"].as_str().unwrap_or_default();
            assert!(reason.contains(words), "{reason}");
            assert!(
                case["rounds"].as_u64().is_some_and(|rounds| rounds >= 1),
                "{case:#}"
            );
        }
    }
}

#[test]
fn a_trace_that_grows_while_it_is_read_is_read_as_it_was() {
    let home = Home::new();
    let slice = |number: u64| {
        format!("{{\"ph\":\"X\",\"name\":\"op\",\"pid\":1,\"tid\":1,\"ts\":{number}0,\"dur\":5}}")
    };
    let slices: Vec<String> = (0..50_000).map(slice).collect();
    let path = home.write("trace.json", format!("[{}", slices.join(",\n")));
    let grows = AtomicBool::new(true);
    let run = thread::scope(|scope| {
        scope.spawn(|| {
            let mut file = File::options().append(true).open(&path).expect("a file");
            while grows.load(Ordering::Relaxed) {
                let more = format!(",\n{}", slice(7));
                file.write_all(more.as_bytes()).expect("room on the disk");
                thread::sleep(Duration::from_millis(1));
            }
        });
        let run = home.run(&["import", "trace.json", "--out", "a.ron"]);
        grows.store(false, Ordering::Relaxed);
        run
    });
    assert_eq!(run.status, Some(0), "{run:#?}");
    assert!(run.err.contains("grew while it was read"), "{run:#?}");
    // What stands in the session says it too.
    let shown = home.run(&["show", "a.ron"]);
    assert!(shown.out.contains("grew while it was read"), "{shown:#?}");
}
