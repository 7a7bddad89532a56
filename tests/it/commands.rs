//! Any command as an engine: timed from outside, believed, or speaking the protocol itself.

use serde_json::Value;

use crate::support::{self, Home, Run};

/// Measures a small network by commands, at batch sizes 2 and 4.
fn bench(home: &Home, setups: &[&str], rest: &[&str]) -> Run {
    let mut args = vec![
        "bench",
        "resnet18@cifar",
        "--preset",
        "quick",
        "--rounds",
        "2",
        "--json",
    ];
    for setup in setups {
        args.extend(["--setup", setup]);
    }
    args.extend(rest);
    home.run(&args)
}

fn median_ms(case: &Value) -> f64 {
    case["latency_ms"]["median"].as_f64().expect("a median")
}

#[test]
fn a_command_is_timed_from_outside_without_its_start() {
    let home = Home::new();
    let run = bench(
        &home,
        &["command,run=\"sleep 0.0{batch}\""],
        &["--batch", "2,4"],
    );
    assert_eq!(run.status, Some(0), "{run:#?}");
    let document = run.json();
    let cases = document["cases"].as_array().expect("cases");
    for (case, least_ms) in cases.iter().zip([20.0, 40.0]) {
        // A sleep never ends early; what starting takes is taken off, give or take its own spread.
        let median = median_ms(case);
        assert!(
            median > least_ms - 2.0 && median < least_ms * 3.0,
            "{median} of {least_ms}"
        );
        assert_eq!(
            case["memory"],
            Value::Null,
            "the worker's memory is not the command's"
        );
    }
    let warnings = document["warnings"].to_string();
    assert!(
        warnings.contains("which starting an empty one takes, are taken off"),
        "{warnings}"
    );
}

#[test]
fn figures_that_a_command_prints_are_taken_as_they_are() {
    let home = Home::new();
    let known = "command,figures=aitemplate,run=\"echo batch_size: {batch}, latency: 3.41\"";
    let own = "command,run=\"echo did 800 items/s\",pattern=\"did (?<per_s>[0-9]+) items\"";
    let model = "command,run=\"test -s {model} && echo 2.5 us\",pattern=\"(?<us>[0-9.]+) us\"";
    let run = bench(&home, &[known, own, model], &["--batch", "4"]);
    assert_eq!(run.status, Some(0), "{run:#?}");
    let document = run.json();
    let cases = document["cases"].as_array().expect("cases");
    let found: Vec<f64> = cases.iter().map(median_ms).collect();
    assert_eq!(found, [3.41, 5.0, 0.0025]);
    let throughput = cases[0]["throughput_per_s"].as_f64().expect("a throughput");
    assert!(
        (throughput * 3.41 / 4_000.0 - 1.0).abs() < 1e-6,
        "{throughput}"
    );
    assert!(
        document["warnings"]
            .to_string()
            .contains("the command's own figures")
    );
}

#[test]
fn whatever_a_command_does_wrong_is_a_sentence() {
    let home = Home::new();
    let faults = [
        ("command,run=\"no-such-program -x\"", "failed", "not found"),
        (
            "command,run=\"echo hello\",figures=trtexec",
            "failed",
            "printed no figure",
        ),
        (
            "command,run=\"echo oops >&2; exit 3\"",
            "failed",
            "exit status 3",
        ),
        (
            "command,run=\"exec sleep 4711\"",
            "timed-out",
            "no answer for 2 s",
        ),
    ];
    let setups: Vec<&str> = faults.iter().map(|(setup, ..)| *setup).collect();
    let run = bench(&home, &setups, &["--batch", "1", "--timeout", "2"]);
    assert_eq!(run.status, Some(2), "{run:#?}");
    let document = run.json();
    let cases = document["cases"].as_array().expect("cases");
    for (case, (_, outcome, words)) in cases.iter().zip(faults) {
        assert_eq!(case["outcome"], outcome, "{case:#}");
        assert!(case["reason"].to_string().contains(words), "{case:#}");
    }
    assert_eq!(support::processes_with("sleep 4711"), Vec::<String>::new());
    bench(&home, &["command"], &[]).fails_saying(&["run= is missing", "python bench.py"]);
    bench(&home, &["command,run=x,figures=nsys"], &[]).fails_saying(&["trtexec, migraphx"]);
}

/// A worker of a few lines: what the guide shows.
const WORKER: &str = r#"
import json, sys, time

def say(document):
    print(json.dumps(document), flush=True)

say({"protocol": 1, "program": "a worker of my own"})
for line in sys.stdin:
    request = json.loads(line)
    kind, what = next(iter(request.items()))
    if kind == "Load":
        say({"Loaded": {"engine": "my engine 1.0", "library": None, "threads": 1, "start_ns": 0,
                        "library_ns": 0, "load_ns": 5, "empty_run_ns": 0, "clock_ns": 0, "notes": []}})
    elif kind == "Open":
        say({"Opened": {"open_ns": 1, "first_run_ns": 2_000_000, "feeding": "nothing is fed"}})
    elif kind == "WarmUp":
        say({"Warm": {"runs": 1, "spent_ns": 2_000_000, "settled": True}})
    elif kind == "Measure":
        batch = what["case"]["batch"]
        samples = [batch * 1_000_000] * 50
        say({"Measured": {"started_monotonic_ns": time.monotonic_ns(), "spent_ns": sum(samples),
                          "samples_ns": " ".join(map(str, samples))}})
    elif kind == "Close":
        say("Closed")
    else:
        say({"Refused": {"Unsupported": "not by this worker"}})
"#;

#[test]
fn a_command_may_be_a_worker_itself() {
    let home = Home::new();
    home.write("worker.py", WORKER);
    let setup = "command,run=\"python3 worker.py\",speaks=protocol";
    let run = bench(&home, &[setup], &["--batch", "1,8"]);
    assert_eq!(run.status, Some(0), "{run:#?}");
    let document = run.json();
    assert_eq!(document["setups"][0]["report"]["engine"], "my engine 1.0");
    let cases = document["cases"].as_array().expect("cases");
    let found: Vec<f64> = cases.iter().map(median_ms).collect();
    assert_eq!(found, [1.0, 8.0]);
}

#[test]
fn commands_are_told_of_but_never_measured_unasked() {
    let home = Home::new();
    let engines = home.run(&["engines"]).out;
    assert!(
        engines.contains("command run=") && engines.contains("figures="),
        "{engines}"
    );
    let run = home.run(&[
        "bench",
        "resnet18@cifar",
        "--preset",
        "quick",
        "--rounds",
        "1",
        "--batch",
        "1",
        "--json",
    ]);
    let setups = run.json()["setups"].to_string();
    assert!(!setups.contains("command"), "{setups}");
}
