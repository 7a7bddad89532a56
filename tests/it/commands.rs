//! Any command as an engine: timed from outside, believed, or speaking the protocol itself.

use powerband_store::session_file;
use serde_json::Value;

use crate::support::{self, Home, ProgramRun};

/// Measures a small network by commands, at batch sizes 2 and 4.
fn bench(home: &Home, setups: &[&str], rest: &[&str]) -> ProgramRun {
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
    let setups = ["command,run=\"sleep 0.0{batch}\"", "command,run=\":\""];
    let run = bench(&home, &setups, &["--batch", "2,4"]);
    let document = run.json();
    // Loading is twenty starts of a shell that does nothing, the median of which is taken off: half of
    // them took as long at least.
    let load_ms = |setup: usize| {
        let ns = document["setups"][setup]["report"]["load_ns"].as_f64();
        ns.expect("a time") / 1e6
    };
    let cases = document["cases"].as_array().expect("cases");
    for (case, least_ms) in cases.iter().zip([20.0, 40.0]) {
        // A sleep never ends early.
        let median = median_ms(case);
        assert!(
            median + load_ms(0) / 10.0 >= least_ms,
            "{median} of {least_ms}"
        );
        assert_eq!(
            case["memory"],
            Value::Null,
            "the worker's memory is not the command's"
        );
    }
    assert_eq!(run.status, Some(2), "{run:#?}");
    for empty in &cases[2..] {
        assert_eq!(empty["outcome"], "failed", "{empty:#}");
        let reason = empty["reason"].to_string();
        assert!(reason.contains("cannot be told"), "{reason}");
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

/// The worker that the guide shows.
pub(crate) fn worker_of_the_guide() -> &'static str {
    let guide = include_str!("../../docs/commands.md");
    let (_, after) = guide.split_once("```python\n").expect("a worker in Python");
    after.split_once("```").expect("its end").0
}

#[test]
fn a_command_may_be_a_worker_itself() {
    let home = Home::new();
    home.write("worker.py", worker_of_the_guide());
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
    let engines = home.run(&["engines", "--verbose"]).out;
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

/// Copies share each batch, begin together, and are compared with one.
#[test]
fn copies_share_a_batch_and_begin_together() {
    share("copies=2");
}

/// The same with threads of one worker.
#[test]
fn streams_share_a_batch_and_begin_together() {
    share("streams=2");
}

fn share(how: &str) {
    let home = Home::new();
    let several = format!("rten,threads=1,{how}");
    let specs = ["rten,threads=1", &several];
    let mut args = vec!["bench", "resnet18@cifar", "--batch", "1,2", "--rounds", "2"];
    args.extend(["--preset", "quick", "--out", "c.ron", "--json"]);
    for spec in &specs {
        args.extend(["--setup", spec]);
    }
    let document = home.run(&args).json();
    let cases = document["cases"].as_array().expect("cases");
    let case = |setup: &str, batch: u64| {
        let found = cases.iter().find(|case| {
            case["setup"].as_str().expect("a text").contains(setup) && case["batch"] == batch
        });
        found.expect("a case")
    };
    assert_eq!(case(how, 1)["outcome"], "unsupported");
    assert_eq!(case(how, 2)["outcome"], "finished");
    let gain = &document["scaling"][0];
    assert_eq!(gain["copies"], 2);
    assert_eq!(gain["gains"][0]["batch"], 2);
    assert!(gain["gains"][0]["efficiency"].as_f64().expect("a number") > 0.1);
    let session = session_file::read(&home.path("c.ron")).expect("a session");
    let rounds = session.session.cases.iter().flat_map(|case| &case.rounds);
    let shared: Vec<_> = rounds
        .filter_map(|round| Some((round.starts_within_ns?, round.spent_ns)))
        .collect();
    assert_eq!(shared.len(), 2, "one for each round of the copies");
    // One after the other they would be a whole round apart.
    let is_together = |(apart, spent): &(u64, u64)| apart * 2 < *spent;
    assert!(shared.iter().all(is_together), "{shared:?}");
}

#[test]
fn what_crashed_is_tried_again_where_that_is_asked() {
    let home = Home::new();
    let repaired = home.path("repaired");
    let body = format!("test -e {} || exit 3; sleep 0.02", repaired.display());
    let script = home.script("sometimes.sh", &body);
    let setup = format!("command,run=\"{}\"", script.display());
    let first = bench(
        &home,
        &[&setup, "fake"],
        &["--batch", "1", "--out", "a.ron"],
    );
    assert_eq!(first.json()["cases"][0]["outcome"], "failed", "{first:#?}");
    let more = ["bench", "--more", "a.ron", "--rounds", "2", "--json"];
    let retry = [&more[..], &["--retry", "failed"]].concat();
    std::fs::write(&repaired, "").expect("it is written");
    let usual = home.run(&more).json();
    assert_eq!(
        usual["cases"][0]["outcome"], "failed",
        "only where that is asked"
    );
    let again = home.run(&retry);
    let document = again.json();
    assert_eq!(document["cases"][0]["outcome"], "finished", "{again:#?}");
    assert_eq!(document["cases"][0]["rounds"], 2);
    assert_eq!(document["cases"][1]["rounds"], 6);
    assert!(
        document["warnings"]
            .to_string()
            .contains("tried again; it had ended before (failed)")
    );
    home.run(&retry)
        .fails_saying(&["no case of a.ron failed", "--retry"]);
    home.run(&["bench", "resnet18@cifar", "--retry", "failed"])
        .fails_saying(&["--retry"]);
}

#[test]
fn a_loop_without_its_python_program_is_refused() {
    let home = Home::new();
    let bench = ["bench", "resnet18@cifar", "--batch", "1", "--json"];
    let setup = ["--setup", "command,loop=mine", "--label", "my own"];
    let run = home.run(&[&bench[..], &setup].concat());
    assert_eq!(run.status, Some(2), "{run:#?}");
    let case = &run.json()["cases"][0];
    assert_eq!(case["outcome"], "unsupported", "{case}");
    let reason = case["reason"].as_str().unwrap_or_default();
    assert!(reason.contains("run that program again"), "{reason}");
    home.run(&[&bench[..], &setup, &["--label", "another"]].concat())
        .fails_saying(&["2 labels for 1 setup;", "--label another"]);
}
