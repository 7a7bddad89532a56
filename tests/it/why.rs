//! Experiments on a case: what is tried, what is not and why, what they leave behind.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::{self, Home, ProgramRun};

/// The program under a name that only this test has, so that its children can be told from others'.
fn own_program(home: &Home) -> PathBuf {
    let program = home.path("powerband-of-this-test");
    fs::copy(env!("CARGO_BIN_EXE_powerband"), &program).expect("a copy of the program");
    program
}

fn why(home: &Home, program: &Path, args: &[&str]) -> ProgramRun {
    let mut command = home.command_of(program, args);
    if let Some(library) = support::onnxruntime() {
        command.env("ORT_DYLIB_PATH", library);
    }
    ProgramRun::from_output(&command.output().expect("the program starts"))
}

fn rows(answer: &Value, list: &str) -> Vec<Value> {
    let rows = answer[list].as_array().cloned();
    rows.unwrap_or_else(|| panic!("no {list} in {answer:#}"))
}

/// The reason why a change was not tried.
fn reason(answer: &Value, change: &str) -> String {
    let untried = rows(answer, "untried");
    let found = untried.iter().find(|one| one["change"] == change);
    let found = found.unwrap_or_else(|| panic!("{change} was tried: {answer:#}"));
    found["reason"].as_str().unwrap_or_default().to_owned()
}

fn neighbours(program: &Path) -> Vec<String> {
    let all = support::processes_with(&program.display().to_string());
    all.into_iter()
        .filter(|line| line.contains(" worker neighbour "))
        .collect()
}

/// On a restless machine three rounds may lie too far apart for a cost.
fn has_a_cost_or_a_reason(row: &Value) {
    assert!(row["median_ms"].is_number(), "{row:#}");
    let (cost, interval) = (&row["cost"], &row["cost_ci95"]);
    if cost.is_null() {
        let reason = row["trouble"].as_str().unwrap_or_default();
        assert!(reason.contains("too far apart"), "{row:#}");
        return;
    }
    assert!(interval[0].as_f64() <= cost.as_f64(), "{row:#}");
    assert!(cost.as_f64() <= interval[1].as_f64(), "{row:#}");
}

#[test]
fn a_case_of_onnx_runtime_gets_its_experiments_and_an_answer() {
    if support::onnxruntime().is_none() {
        return;
    }
    let home = Home::new();
    let program = own_program(&home);
    let args = [
        "why",
        "resnet18@cifar",
        "--setup",
        "ort,threads=2",
        "--rounds",
        "3",
        "--no-roofs",
        "--out",
        "why.ron",
        "--json",
    ];
    let run = why(&home, &program, &args);
    assert_eq!(run.status, Some(0), "{run:#?}");
    let answer = run.json();
    assert_eq!(neighbours(&program), [""; 0], "neighbours outlive the run");
    assert!(reason(&answer, "clock-cap").contains("cpupower frequency-set"));
    assert!(reason(&answer, "graph-capture").contains("processor"));
    let tried = rows(&answer, "experiments");
    let row = |change: &str| tried.iter().find(|row| row["change"] == change);
    has_a_cost_or_a_reason(row("optimisation-off").expect("ONNX Runtime can leave optimising out"));
    if thread::available_parallelism().map_or(1, usize::from) >= 2 {
        for change in ["half-threads", "streaming-neighbour", "computing-neighbour"] {
            has_a_cost_or_a_reason(
                row(change).unwrap_or_else(|| panic!("no {change} in {answer:#}")),
            );
        }
    }
    let found = &answer["answer"];
    let weights = rows(found, "weights");
    let sum: f64 = weights
        .iter()
        .filter_map(|one| one["weight"].as_f64())
        .sum();
    assert!((sum - 1.0).abs() < 1e-9, "{found:#}");
    let limits = rows(found, "limit");
    assert!((1..=2).contains(&limits.len()), "{found:#}");
    let sentence = found["sentence"].as_str().unwrap_or_default();
    assert_eq!(
        limits[0] == "unknown",
        sentence.starts_with("Not settled"),
        "{found:#}"
    );
    assert!(!rows(found, "evidence").is_empty(), "{found:#}");
    // The saved session says the same again, and measures nothing for it.
    let again = why(&home, &program, &["why", "why.ron", "--json"]);
    assert_eq!((again.status, again.json()), (Some(0), answer.clone()));
    let text = why(&home, &program, &["why", "why.ron", "--show"]).out;
    for words in ["optimisation off", "Not tried", "a capped clock: "] {
        assert!(text.contains(words), "no {words} in {text}");
    }
    let session = why(&home, &program, &["show", "why.ron", "--json"]).json();
    assert!(
        session["name"]
            .as_str()
            .unwrap_or_default()
            .starts_with("why resnet18@cifar")
    );
    let asked = session
        .pointer("/plan/experiments/setup")
        .and_then(Value::as_u64);
    assert_eq!(asked, Some(0), "{session:#}");
}

/// Starts experiments and waits until a neighbour works.
fn disturbed(home: &Home, program: &Path) -> Child {
    let args = [
        "why",
        "resnet18@cifar",
        "--setup",
        "rten,threads=1",
        "--only",
        "streaming-neighbour",
        "--rounds",
        "40",
        "--no-roofs",
        "--out",
        "w.ron",
    ];
    let mut child = home
        .command_of(program, &args)
        .spawn()
        .expect("the program starts");
    let deadline = Instant::now() + Duration::from_mins(2);
    while neighbours(program).is_empty() {
        if let Ok(Some(status)) = child.try_wait() {
            panic!("it ended before a neighbour came: {status}");
        }
        assert!(Instant::now() < deadline, "no neighbour comes");
        thread::sleep(Duration::from_millis(20));
    }
    child
}

#[test]
fn neighbours_end_with_a_run_that_is_stopped_or_killed() {
    if thread::available_parallelism().map_or(1, usize::from) < 2 {
        support::skipped("two cores");
        return;
    }
    for signal in ["-INT", "-KILL"] {
        let home = Home::new();
        let program = own_program(&home);
        let mut child = disturbed(&home, &program);
        let number = child.id().to_string();
        let killed = home
            .command_of(Path::new("kill"), &[signal, &number])
            .status();
        assert!(killed.expect("kill").success());
        child.wait().expect("it ends");
        let deadline = Instant::now() + Duration::from_secs(20);
        while !neighbours(&program).is_empty() {
            assert!(
                Instant::now() < deadline,
                "{signal}: {:?}",
                neighbours(&program)
            );
            thread::sleep(Duration::from_millis(20));
        }
    }
}

#[test]
fn a_profile_of_another_program_is_answered() {
    let home = Home::new();
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/import");
    let file = format!("{fixtures}/kineto/resnet50-v100-train.pt.trace.json.gz");
    let import = home.run(&["import", &file, "--out", "v100.ron"]);
    assert_eq!(import.status, Some(0), "{import:#?}");
    let answer = home.run(&["why", "v100.ron", "--json"]).json();
    let limits = rows(&answer["answer"], "limit");
    assert!((1..=2).contains(&limits.len()), "{answer:#}");
    let kinds = rows(&answer["answer"], "evidence");
    assert!(
        kinds.iter().any(|line| line["kind"] == "idle"),
        "{answer:#}"
    );
    let text = home.run(&["why", "v100.ron"]).out;
    for words in ["How sure that is: ", "Nothing computes in", "By the model"] {
        assert!(text.contains(words), "no {words} in {text}");
    }
}

#[test]
fn what_cannot_be_tried_says_why() {
    let home = Home::new();
    let made_up = home.run(&[
        "why",
        "resnet18@cifar",
        "--setup",
        "fake",
        "--out",
        "w.ron",
        "--json",
    ]);
    assert_eq!(made_up.status, Some(0), "{made_up:#?}");
    let answer = made_up.json();
    assert!(reason(&answer, "half-threads").contains("no option"));
    assert!(answer["answer"].is_null(), "{answer:#}");

    let short = [
        "why",
        "resnet18@cifar",
        "--setup",
        "fake,fixed=3,item=1",
        "--out",
        "s.ron",
    ];
    let short = home.run(&short);
    assert_eq!(short.status, Some(0), "{short:#?}");
    assert!(short.out.contains("a run takes 4."), "{short:#?}");
    assert!(short.out.contains("larger batch"), "{short:#?}");

    let failing = [
        "why",
        "resnet18@cifar",
        "--setup",
        "fake,fail=open-error",
        "--out",
        "f.ron",
    ];
    let failing = home.run(&failing);
    assert_eq!(failing.status, Some(2), "{failing:#?}");
    assert!(
        failing.out.contains("The case itself was not measured"),
        "{failing:#?}"
    );
}

#[test]
fn one_thread_and_one_core_are_reasons() {
    let home = Home::new();
    let program = env!("CARGO_BIN_EXE_powerband");
    let why = [
        "why",
        "resnet18@cifar",
        "--setup",
        "rten,threads=1",
        "--rounds",
        "2",
        "--no-roofs",
        "--json",
    ];
    let held = [&["-c", "0", program], &why[..], &["--out", "w.ron"]].concat();
    let Ok(output) = home.command_of(Path::new("taskset"), &held).output() else {
        support::skipped("taskset");
        return;
    };
    let run = ProgramRun::from_output(&output);
    assert_eq!(run.status, Some(0), "{run:#?}");
    let answer = run.json();
    assert!(reason(&answer, "half-threads").contains("one thread"));
    assert!(reason(&answer, "twice-threads").contains("one core"));
    for change in ["streaming-neighbour", "computing-neighbour"] {
        assert!(reason(&answer, change).contains("one core"), "{answer:#}");
    }
    assert_eq!(answer["answer"]["limit"][0], "unknown", "{answer:#}");
}

#[test]
fn a_batch_size_leaves_other_dimensions_at_their_usual_sizes() {
    let home = Home::new();
    let args = [
        "why",
        "minilm",
        "--setup",
        "fake",
        "--batch",
        "1",
        "--rounds",
        "3",
        "--no-roofs",
        "--json",
    ];
    let run = home.run(&args);
    assert_eq!(run.status, Some(0), "{run:#?}");
    let answer = run.json();
    assert_eq!(answer["point"]["sequence"], 128, "{answer:#}");
}

#[test]
fn questions_without_an_answer_are_refused() {
    let home = Home::new();
    let bench = [
        "bench",
        "resnet18@cifar",
        "--preset",
        "quick",
        "--out",
        "two.ron",
    ];
    let setups = [
        "--setup",
        "fake",
        "--setup",
        "fake,noise=2",
        "--batch",
        "1,2",
    ];
    assert_eq!(home.run(&[&bench[..], &setups].concat()).status, Some(0));
    home.run(&["why", "two.ron"])
        .fails_saying(&["several setups", "--setup"]);
    home.run(&["why", "two.ron", "--setup", "1"])
        .fails_saying(&["several points", "--batch"]);
    home.run(&["why", "two.ron", "--setup", "ort"])
        .fails_saying(&["no such setup"]);
    home.run(&["why", "two.ron", "--setup", "1", "--batch", "7"])
        .fails_saying(&["no batch 7"]);
    home.run(&["why", "two.ron", "--show"])
        .fails_saying(&["has no experiments"]);
    home.run(&["why", "resnet18@cifar", "--show"])
        .fails_saying(&["is a model"]);
    home.run(&["why", "nonesuch", "--setup", "fake"])
        .fails_saying(&["no network"]);
    home.run(&[
        "why",
        "resnet18@cifar",
        "--setup",
        "rten,cores=0,neighbour=stream",
    ])
    .fails_saying(&["has a neighbour already"]);
    let one = home.run(&[
        "why", "two.ron", "--setup", "1", "--batch", "2", "--out", "w.ron", "--json",
    ]);
    assert_eq!(one.status, Some(0), "{one:#?}");
    assert_eq!(one.json()["batch"], 2);
    // A session of experiments is shown, and another case of it is asked about anew.
    home.run(&["why", "w.ron", "--batch", "7"])
        .fails_saying(&["no batch 7"]);
}
