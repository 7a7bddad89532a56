//! Did it get faster? Comparisons, more rounds, load and history, as a user meets them.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use powerband_core::base::cancel::CancelToken;
use powerband_core::domain::plan::{Load, WarmUpRule};
use powerband_core::domain::point::Point;
use powerband_core::domain::setup::Setup;
use powerband_core::domain::tensor::{ElementType, TensorSpec};
use powerband_store::session_file;
use powerband_worker::protocol::{Reply, Request, RoundRule, WorkerCase};
use powerband_worker::supervisor::Worker;
use serde_json::Value;

use crate::support::{Home, ProgramRun};

/// A session on the engine that makes timings up.
pub(crate) fn measure(home: &Home, file: &str, setups: &[&str], rest: &[&str]) -> ProgramRun {
    let mut args = vec![
        "bench",
        "resnet18@cifar",
        "--preset",
        "quick",
        "--out",
        file,
    ];
    for setup in setups {
        args.extend(["--setup", setup]);
    }
    args.extend(rest);
    let run = home.run(&args);
    assert_eq!(run.status, Some(0), "{run:#?}");
    run
}

/// Changes the text of a session's file.
fn tamper(home: &Home, file: &str, from: &str, to: &str) -> PathBuf {
    let path = home.path(file);
    let text = fs::read_to_string(&path).expect("a document as it ought to be");
    assert!(text.contains(from), "no {from} in {file}");
    fs::write(&path, text.replace(from, to)).expect("a document as it ought to be");
    path
}

pub(crate) fn verdicts(run: &ProgramRun) -> Vec<String> {
    let document = run.json();
    let comparisons = document["comparisons"]
        .as_array()
        .expect("a document as it ought to be")
        .clone();
    let pairs = comparisons.iter().flat_map(|one| {
        one["pairs"]
            .as_array()
            .expect("a document as it ought to be")
            .clone()
    });
    pairs
        .map(|pair| {
            pair["verdict"]
                .as_str()
                .expect("a document as it ought to be")
                .to_owned()
        })
        .collect()
}

#[test]
fn setups_of_a_session_are_compared_and_the_status_tells() {
    let home = Home::new();
    let setups = ["fake", "fake,item=300", "fake,noise=1.01"];
    measure(
        &home,
        "a.ron",
        &setups,
        &["--batch", "1,8", "--rounds", "5"],
    );
    let compared = home.run(&["compare", "a.ron", "--json"]);
    assert_eq!(compared.status, Some(0), "{compared:#?}");
    assert_eq!(verdicts(&compared), ["slower", "slower", "same", "same"]);
    let pair = &compared.json()["comparisons"][0]["pairs"][0];
    // 1,000 µs before and 1,100 after.
    let speed_up = pair["speed_up"].as_f64().unwrap();
    assert!((speed_up - 1.0 / 1.1).abs() < 0.005, "{speed_up}");
    // 5 % after one start of a worker.
    assert!(pair["noise_floor"].as_f64().unwrap() > 0.009_9);

    let text = home.run(&["compare", "a.ron"]).out;
    for word in ["Verdict", "0.909 ×", "slower", "same", "· Options: "] {
        assert!(text.contains(word), "{word}: {text}");
    }
    let status = |limit: &str| home.run(&["compare", "a.ron", limit]).status;
    assert_eq!(status("--fail-if-slower"), Some(1));
    assert_eq!(status("--fail-if-slower=5"), Some(1));
    assert_eq!(status("--fail-if-slower=90"), Some(0));
    let reversed = [
        "compare",
        "a.ron",
        "--before",
        "fake,item=300",
        "--after",
        "1",
        "--fail-if-slower",
    ];
    assert_eq!(home.run(&reversed).status, Some(0));
    let run = home.run(&[
        "compare", "a.ron", "--before", "1", "--after", "2", "--junit", "v.xml",
    ]);
    assert_eq!(run.status, Some(0), "{run:#?}");
    let report = fs::read_to_string(home.path("v.xml")).expect("a report");
    assert!(
        report.contains("tests=\"2\" failures=\"2\" skipped=\"0\""),
        "{report}"
    );
    home.run(&["compare", "a.ron", "--junit", "nowhere/v.xml"])
        .fails_saying(&["cannot be written", "nowhere/v.xml"]);
    home.run(&["compare", "a.ron", "--fail-if-slower=-1"])
        .fails_saying(&["percentage"]);
    home.run(&["compare", "a.ron", "--fail-if-slower=abc"])
        .fails_saying(&["abc is no percentage", "2.5"]);
    home.run(&["compare", "a.ron", "--batch", "99"])
        .fails_saying(&["no batch 99; it has batch 1, 8"]);
    home.run(&["compare", "a.ron", "--before", "tract"])
        .fails_saying(&["no setup \"tract\"", "fake:cpu,item=300"]);
}

#[test]
fn sessions_are_compared_with_what_differs_above_the_numbers() {
    let home = Home::new();
    measure(
        &home,
        "a.ron",
        &["fake"],
        &["--batch", "1,2,4", "--rounds", "4"],
    );
    measure(
        &home,
        "b.ron",
        &["fake,fixed=100"],
        &["--batch", "1,2,8", "--rounds", "4"],
    );
    let compared = home.run(&["compare", "a.ron", "b.ron"]);
    assert_eq!(compared.status, Some(0), "{compared:#?}");
    let place = |word: &str| {
        compared
            .out
            .find(word)
            .unwrap_or_else(|| panic!("{word}: {compared:#?}"))
    };
    assert!(place("not interleaved") < place("Speed-up"));
    assert!(place("· Options: ") < place("3.33 ×"));
    assert!(place("2 faster") > place("Verdict"));
    assert!(place("· 2 cases: not interleaved; ") > place("2 faster"));
    let one = home.run(&["compare", "a.ron", "b.ron", "--batch", "2", "--json"]);
    assert_eq!(verdicts(&one), ["faster"]);
    assert_eq!(
        one.json()["comparisons"][0]["pairs"][0]["interleaved"],
        false
    );
}

#[test]
fn what_cannot_be_compared_gets_a_sentence() {
    let home = Home::new();
    let make = |file: &str, batch: &str, rounds: &str| {
        measure(
            &home,
            file,
            &["fake"],
            &["--batch", batch, "--rounds", rounds],
        );
    };
    make("a.ron", "1", "3");
    make("other.ron", "2", "3");
    make("once.ron", "1", "1");
    for file in ["profiled.ron", "model.ron", "zero.ron", "negative.ron"] {
        make(file, "1", "3");
    }
    let against = |file: &str| home.run(&["compare", "a.ron", file]);
    against("other.ron").fails_saying(&["No case in common", "batch 1 before and batch 2 after"]);
    home.run(&["compare", "a.ron"])
        .fails_saying(&["one setup only"]);
    home.run(&["compare", "a.ron", "none.ron"])
        .fails_saying(&["none.ron"]);

    tamper(
        &home,
        "profiled.ron",
        "profiler: None",
        "profiler: Some(\"rocprof\")",
    );
    let sha = sha256(&home.path("model.ron"));
    tamper(&home, "model.ron", &sha, &"0".repeat(sha.len()));
    without_times(&home.path("zero.ron"), "0");
    without_times(&home.path("negative.ron"), "-5");
    for (file, words) in [
        ("once.ron", "one round does not show"),
        ("profiled.ron", "profiler rocprof"),
        ("model.ron", "not the same file"),
        ("zero.ron", "times are zero"),
    ] {
        let run = against(file);
        assert_eq!(run.status, Some(0), "{run:#?}");
        assert!(run.out.contains(words), "{file}: {run:#?}");
        assert!(run.out.contains("inconclusive"), "{file}: {run:#?}");
        let document = home.run(&["compare", "a.ron", file, "--json"]).json();
        let pair = &document["comparisons"][0]["pairs"][0];
        assert_eq!(pair["ci95"], Value::Null, "{file}");
    }
    against("negative.ron").fails_saying(&["negative.ron"]);
}

fn sha256(path: &Path) -> String {
    let text = fs::read_to_string(path).expect("a document as it ought to be");
    let from = text
        .find("sha256: \"")
        .expect("a document as it ought to be")
        + 9;
    text[from..]
        .split('"')
        .next()
        .expect("a document as it ought to be")
        .to_owned()
}

/// Replaces every sample of a session's file.
fn without_times(path: &Path, time: &str) {
    let text = fs::read_to_string(path).expect("a document as it ought to be");
    let mut parts = text.split("samples_ns: \"");
    let mut changed = parts
        .next()
        .expect("a document as it ought to be")
        .to_owned();
    for part in parts {
        let (samples, rest) = part.split_once('"').expect("a document as it ought to be");
        let times = vec![time; samples.split(' ').count()].join(" ");
        changed += &format!("samples_ns: \"{times}\"{rest}");
    }
    fs::write(path, changed).expect("a document as it ought to be");
}

#[test]
fn rounds_are_added_to_the_same_session() {
    let home = Home::new();
    measure(
        &home,
        "a.ron",
        &["fake", "fake,item=210"],
        &["--batch", "1", "--rounds", "2"],
    );
    let before = home.run(&["show", "a.ron", "--json"]).json();
    let more = home.run(&["bench", "--more", "a.ron", "--rounds", "3", "--json"]);
    assert_eq!(more.status, Some(0), "{more:#?}");
    assert!(more.err.contains("3 rounds more"), "{more:#?}");
    let after = home.run(&["show", "a.ron", "--json"]).json();
    assert_eq!(after, more.json());
    for case in after["cases"].as_array().unwrap() {
        assert_eq!(case["rounds"], 5);
        assert_eq!(case["outcome"], "finished");
    }
    assert_eq!(after["sittings"][0]["first_round"], 2);
    let session = session_file::read(&home.path("a.ron")).expect("a session");
    for case in &session.session.cases {
        let starts = case.rounds.iter().map(|round| round.start);
        let expected = [0, 0, 1, 1, 1].map(Some);
        assert!(starts.eq(expected), "a worker of its own: {case:?}");
    }
    assert_eq!(after["created"], before["created"]);
    assert_eq!(
        after["plan"]["measure"]["rounds"], 2,
        "the plan is as it was"
    );
    assert_eq!(after["comparisons"][0]["pairs"][0]["rounds"], 5);
    let elapsed = |document: &Value| document["elapsed_s"].as_f64().unwrap();
    assert!(elapsed(&after) > elapsed(&before));
    assert!(
        home.run(&["show", "a.ron"])
            .out
            .contains("from 3 on were added")
    );
    assert!(home.journals().is_empty());

    // As many as would settle it, or the usual number.
    let unasked = home.run(&["bench", "--more", "a.ron"]);
    assert_eq!(unasked.status, Some(0), "{unasked:#?}");
    assert!(unasked.err.contains(" more, preset"), "{unasked:#?}");

    let sha = sha256(&home.path("a.ron"));
    tamper(&home, "a.ron", &sha, &"0".repeat(sha.len()));
    home.run(&["bench", "--more", "a.ron"])
        .fails_saying(&["is not the file any more", "measure it anew"]);
    home.run(&["bench", "--more", "a.ron", "--batch", "2"])
        .fails_saying(&["cannot be used with"]);
    home.run(&["bench"]).fails_saying(&["MODEL"]);
}

#[test]
fn requests_that_arrive_by_themselves_are_another_thing() {
    let home = Home::new();
    let open = measure(
        &home,
        "open.ron",
        &["fake"],
        &["--batch", "1", "--rate", "200", "--seed", "7", "--json"],
    );
    let case = &open.json()["cases"][0];
    let throughput = case["throughput_per_s"].as_f64().unwrap();
    // Arrivals are drawn by lot, the same ones for the same seed.
    assert!((150.0..215.0).contains(&throughput), "{throughput}");
    assert!(case["latency_ms"]["median"].as_f64().unwrap() >= 1.0);
    let flags = case["flags"].to_string();
    assert!(!flags.contains("overloaded"), "{flags}");
    // A run takes a millisecond, so that two thousand requests a second are too many.
    let full = measure(
        &home,
        "full.ron",
        &["fake"],
        &[
            "--batch",
            "1",
            "--rate",
            "2000",
            "--arrivals",
            "constant",
            "--json",
        ],
    );
    let case = &full.json()["cases"][0];
    assert!(case["flags"].to_string().contains("overloaded"), "{case}");
    assert!(
        case["latency_ms"]["median"].as_f64().unwrap() > 20.0,
        "{case}"
    );

    measure(&home, "closed.ron", &["fake"], &["--batch", "1"]);
    let compared = home.run(&["compare", "closed.ron", "open.ron"]);
    assert!(compared.out.contains("closed loop"), "{compared:#?}");
    assert!(compared.out.contains("inconclusive"), "{compared:#?}");
    assert!(
        home.run(&["show", "open.ron"])
            .out
            .contains("200 requests/s at random")
    );
    home.run(&["bench", "resnet18@cifar", "--rate", "0"])
        .fails_saying(&["requests a second"]);
    home.run(&["bench", "resnet18@cifar", "--rate", "nan"])
        .fails_saying(&["requests a second"]);
}

#[test]
fn a_setup_may_have_a_model_of_its_own() {
    let home = Home::new();
    for name in ["resnet18@cifar", "resnet34@cifar"] {
        let file = format!("{}.onnx", name.split('@').next().unwrap());
        let written = home.run(&["model", name, "--write", &file]);
        assert_eq!(written.status, Some(0), "{written:#?}");
    }
    let run = home.run(&[
        "bench",
        "resnet34.onnx",
        "--setup",
        "rten",
        "--setup",
        "rten,model=resnet18.onnx",
        "--batch",
        "1",
        "--preset",
        "quick",
        "--rounds",
        "3",
        "--out",
        "a.ron",
        "--json",
    ]);
    assert_eq!(run.status, Some(0), "{run:#?}");
    // The verdict is the machine's matter, but the smaller network takes about half the time.
    let found = home.run(&["compare", "a.ron", "--json"]);
    let speed_up = found.json()["comparisons"][0]["overall_speed_up"].as_f64();
    assert!(speed_up.is_some_and(|times| times > 1.0), "{found:#?}");
    let compared = home.run(&["compare", "a.ron"]);
    assert!(compared.out.contains("Model: resnet34"), "{compared:#?}");
    home.run(&["bench", "resnet34.onnx", "--setup", "rten,model=none.onnx"])
        .fails_saying(&["none.onnx"]);
}

#[test]
fn a_case_is_followed_through_sessions() {
    let home = Home::new();
    for (file, item) in [("a.ron", "200"), ("b.ron", "201"), ("c.ron", "2200")] {
        // The same setup over time: what changed is behind it.
        measure(
            &home,
            file,
            &[&format!("fake,item={item}")],
            &["--batch", "1", "--rounds", "4"],
        );
        tamper(
            &home,
            file,
            &format!("\"item\": \"{item}\""),
            "\"item\": \"200\"",
        );
    }
    let stamp = |file: &str, year: &str| {
        let text = fs::read_to_string(home.path(file)).unwrap();
        let from = text.find("created: \"").unwrap() + 10;
        let created = text[from..from + 4].to_owned();
        tamper(
            &home,
            file,
            &format!("created: \"{created}"),
            &format!("created: \"{year}"),
        );
    };
    stamp("a.ron", "2001");
    stamp("b.ron", "2002");
    stamp("c.ron", "2003");
    let run = home.run(&["history", "b.ron", "c.ron", "a.ron", "--json"]);
    assert_eq!(run.status, Some(0), "{run:#?}");
    let document = run.json();
    let points = document["cases"][0]["points"].as_array().unwrap().clone();
    let call = |point: &Value, against: &str| point[against]["verdict"].clone();
    assert_eq!(points.len(), 3);
    // Of how two sessions differ nothing is known.
    assert_eq!(call(&points[1], "since_last"), "inconclusive");
    assert_eq!(call(&points[1], "since_earlier"), "inconclusive");
    assert_eq!(call(&points[2], "since_earlier"), "slower");
    assert_eq!(points[2]["since_earlier"]["sessions"], 2);
    assert_eq!(call(&points[2], "since_last"), "slower");
    assert_eq!(call(&points[2], "since_first"), "slower");
    let text = home.run(&["history", "b.ron", "a.ron", "c.ron"]).out;
    assert!(
        text.contains("3 sessions: the last is slower than the mean of 2 sessions before it"),
        "{text}"
    );
    home.run(&["history", "a.ron", "--batch", "7"])
        .fails_saying(&["no such case"]);
    home.run(&["history", "a.ron", "none.ron"])
        .fails_saying(&["none.ron"]);
}

/// A worker that has loaded a network and opened its first case.
fn ready(home: &Home, spec: &str) -> Worker {
    let written = home.run(&["model", "resnet18@cifar", "--write", "r.onnx", "--json"]);
    assert_eq!(written.status, Some(0), "{written:#?}");
    let setup: Setup = spec.parse().expect("a document as it ought to be");
    let program = PathBuf::from(env!("CARGO_BIN_EXE_powerband"));
    let limit = Duration::from_mins(1);
    let cancel = CancelToken::default();
    let mut worker = Worker::start(&setup, None, &program, limit, &cancel)
        .expect("a document as it ought to be");
    let mut ask = |request| {
        worker
            .ask(&request, limit, &cancel)
            .expect("a document as it ought to be")
    };
    let runtime = std::env::var_os("ORT_DYLIB_PATH").map(PathBuf::from);
    ask(Request::Load {
        setup,
        model: home.path("r.onnx"),
        name: String::new(),
        runtime: runtime.filter(|_| spec.starts_with("ort")),
    });
    let input = TensorSpec::new("input", ElementType::F32, vec![1, 3, 32, 32]);
    ask(Request::Open {
        case: CASE,
        inputs: vec![input],
        seed: 1,
        feed: Vec::new(),
        generate: None,
    });
    worker
}

const CASE: WorkerCase = WorkerCase {
    setup: 0,
    point: Point::of_batch(1),
    whole: None,
};

fn measure_for(worker: &mut Worker, time: Duration) {
    let rule = RoundRule {
        wake_up_runs: 0,
        wake_up_ns: 0,
        min_samples: 1,
        min_ns: time.as_nanos() as u64,
        max_ns: 2 * time.as_nanos() as u64,
        max_samples: 100_000,
        load: Load::Closed,
        seed: 0,
        starts_at_ns: None,
    };
    let reply = worker.ask(
        &Request::Measure { case: CASE, rule },
        Duration::from_mins(1),
        &CancelToken::default(),
    );
    assert!(matches!(reply, Ok(Reply::Measured(_))), "{reply:?}");
}

/// Processor time that a process has used, in the kernel's ticks of 10 ms.
fn ticks(pid: u32) -> u64 {
    let stat =
        fs::read_to_string(format!("/proc/{pid}/stat")).expect("a document as it ought to be");
    let fields: Vec<&str> = stat
        .rsplit_once(')')
        .expect("a document as it ought to be")
        .1
        .split_whitespace()
        .collect();
    fields[11]
        .parse::<u64>()
        .expect("a document as it ought to be")
        + fields[12]
            .parse::<u64>()
            .expect("a document as it ought to be")
}

#[test]
fn a_worker_that_is_not_measured_sleeps() {
    let home = Home::new();
    let mut setups = vec!["rten"];
    if std::env::var_os("ORT_DYLIB_PATH").is_some() {
        setups.push("ort");
    }
    for spec in setups {
        let mut resting = ready(&home, spec);
        let mut measured = ready(&home, "rten");
        let warm = Request::WarmUp {
            case: CASE,
            rule: WarmUpRule {
                min_time_ms: 100,
                max_time_ms: 1_000,
                ..WarmUpRule::for_device(false)
            },
            limit: None,
        };
        let limit = Duration::from_mins(1);
        resting.ask(&warm, limit, &CancelToken::default()).unwrap();
        // Threads of an engine may spin for a moment after a run.
        std::thread::sleep(Duration::from_millis(200));
        let before = (ticks(resting.pid()), ticks(measured.pid()));
        measure_for(&mut measured, Duration::from_secs(1));
        let after = (ticks(resting.pid()), ticks(measured.pid()));
        let (rested, worked) = (after.0 - before.0, after.1 - before.1);
        assert!(worked >= 20, "the other one works");
        // One that waits by looking again and again would take as much as the one that works.
        assert!(
            rested * 5 <= worked,
            "{spec} used {rested} ticks beside {worked}"
        );
        resting.end();
        measured.end();
    }
}
