//! The commands as a user meets them, on the engines that are always there.

use std::path::Path;
use std::process::Child;

use crate::models::{self, BOOL, Dim, FLOAT, FLOAT16, INT64};
use crate::support::{self, Home};

const FAST: [&str; 4] = ["--preset", "quick", "--rounds", "2"];

fn bench<'a>(rest: &[&'a str]) -> Vec<&'a str> {
    [&["bench"], rest, &FAST].concat()
}

#[test]
fn the_version_has_the_commit() {
    let run = Home::new().run(&["--version"]);
    let expect = concat!("powerband ", env!("CARGO_PKG_VERSION"), " (commit ");
    assert!(run.out.starts_with(expect), "{run:#?}");
}

#[test]
fn a_session_is_measured_saved_and_shown() {
    let home = Home::new();
    let made = home.run(&bench(&[
        "resnet18@cifar",
        "--setup",
        "fake",
        "--batch",
        "4,1",
        "--out",
        "a.ron",
        "--json",
    ]));
    assert_eq!(made.status, Some(0), "{made:#?}");
    let document = made.json();
    let case = &document["cases"][0];
    assert_eq!(
        (case["setup"].as_str(), case["batch"].as_u64()),
        (Some("fake:cpu"), Some(1))
    );
    assert_eq!(
        (case["outcome"].as_str(), case["rounds"].as_u64()),
        (Some("finished"), Some(2))
    );
    // The engine makes up 800 µs + 200 µs an item, spread upwards by half a normal of 1 %.
    let median = case["latency_ms"]["median"].as_f64().unwrap();
    assert!((1.0..1.03).contains(&median), "{median}");
    assert!(case["ci95_rel"].as_f64().unwrap() < 0.01);
    assert!(
        case["latency_ms"]["p99"].as_f64().is_some(),
        "over 662 samples"
    );
    let throughput = case["throughput_per_s"].as_f64().unwrap();
    assert!(
        (throughput * median / 1000.0 - 1.0).abs() < 0.02,
        "{throughput} {median}"
    );
    assert_eq!(document["made_up"], true);

    let shown = home.run(&["show", "a.ron", "--json"]);
    assert_eq!(
        shown.json(),
        document,
        "showing repeats what measuring said"
    );
    let text = home.run(&["show", "a.ron"]).out;
    for word in [
        "MADE UP",
        "resnet18@cifar",
        "fake:cpu",
        "11,173,962 parameters",
        "finished",
        "1.0",
    ] {
        assert!(text.contains(word), "no {word} in {text}");
    }
    assert!(home.journals().is_empty(), "a saved run needs no journal");
}

#[test]
fn without_a_place_a_session_goes_into_the_library() {
    let home = Home::new();
    let made = home.run(&bench(&[
        "resnet18@cifar",
        "--setup",
        "fake",
        "--batch",
        "1",
    ]));
    assert_eq!(made.status, Some(0), "{made:#?}");
    let kept = support::files(&home.path("home/sessions"));
    assert!(
        kept.iter()
            .any(|path| path.extension().is_some_and(|e| e == "ron")),
        "{kept:?}"
    );
    let overview = home.run(&[]);
    assert!(
        overview.out.contains("powerband show") && overview.out.contains("rten"),
        "{overview:#?}"
    );
}

#[test]
fn rten_measures_a_network_for_real() {
    let home = Home::new();
    let args = [
        "resnet18@cifar",
        "--setup",
        "rten,threads=1",
        "--batch",
        "1",
        "--json",
    ];
    let made = home.run(&bench(&args));
    assert_eq!(made.status, Some(0), "{made:#?}");
    let document = made.json();
    assert!(
        document["cases"][0]["latency_ms"]["median"]
            .as_f64()
            .unwrap()
            > 0.1
    );
    assert_eq!(document["setups"][0]["report"]["threads"], 1);
    assert_eq!(document["made_up"], false);
}

#[test]
fn engines_take_files_with_inputs_of_every_kind() {
    let home = Home::new();
    let batch = || [Dim::Name("N"), Dim::Size(3)];
    home.write(
        "where.onnx",
        models::one_node(
            "Where",
            &[
                ("c", BOOL, &batch()),
                ("a", FLOAT, &batch()),
                ("b", FLOAT, &batch()),
            ],
            (FLOAT, &batch()),
        ),
    );
    home.write(
        "half.onnx",
        models::one_node("Relu", &[("x", FLOAT16, &batch())], (FLOAT16, &batch())),
    );
    home.write(
        "whole.onnx",
        models::one_node(
            "Add",
            &[("a", INT64, &batch()), ("b", INT64, &batch())],
            (INT64, &batch()),
        ),
    );
    let outcome = |file: &str, setup: &str| {
        let made = home.run(&bench(&[file, "--setup", setup, "--batch", "2", "--json"]));
        made.outcomes()[0].2.clone()
    };
    for file in ["where.onnx", "whole.onnx"] {
        assert_eq!(outcome(file, "rten,threads=1"), "finished", "{file}");
    }
    // It would compute them in 32 bits, which is another network.
    assert_eq!(outcome("half.onnx", "rten,threads=1"), "unsupported");
    if let Some(library) = support::onnxruntime() {
        let setup = format!("ort,runtime={}", library.display());
        for file in ["where.onnx", "half.onnx", "whole.onnx"] {
            assert_eq!(outcome(file, &setup), "finished", "{file}");
        }
    }
}

#[test]
fn onnxruntime_measures_and_is_described() {
    let Some(library) = support::onnxruntime() else {
        return;
    };
    let home = Home::new();
    let setup = format!("ort:cpu,threads=1,runtime={}", library.display());
    let made = home.run(&bench(&[
        "resnet18@cifar",
        "--setup",
        &setup,
        "--setup",
        "rten",
        "--batch",
        "1,2",
        "--json",
    ]));
    assert_eq!(made.status, Some(0), "{made:#?}");
    let document = made.json();
    assert!(
        document["setups"][0]["report"]["engine"]
            .as_str()
            .unwrap()
            .starts_with("ONNX Runtime 1.")
    );
    assert_eq!(document["cases"].as_array().unwrap().len(), 4);

    let listed = home
        .command(&["engines", "--json"])
        .env("ORT_DYLIB_PATH", &library)
        .output()
        .unwrap();
    let engines = support::ProgramRun::from_output(&listed).json();
    let engine = &engines["engines"][0];
    assert_eq!(
        (engine["engine"].as_str(), engine["available"].as_bool()),
        (Some("ort"), Some(true)),
        "{engines}"
    );
    assert!(
        engine["providers"]
            .as_array()
            .unwrap()
            .iter()
            .any(|p| p == "CPU"),
        "{engines}"
    );
}

#[test]
fn nothing_is_kept_to_be_sent() {
    let Some(library) = support::onnxruntime() else {
        return;
    };
    let home = Home::new();
    let users = home.path("user");
    std::fs::create_dir_all(&users).unwrap();
    let variables = [
        ("ORT_DYLIB_PATH", library.as_path()),
        ("HOME", users.as_path()),
        ("XDG_CACHE_HOME", users.as_path()),
    ];
    for args in [
        &["engines"][..],
        &bench(&["resnet18@cifar", "--setup", "ort", "--batch", "1"])[..],
    ] {
        let run = home.run_with(args, &variables);
        assert_eq!(run.status, Some(0), "{run:#?}");
    }
    let left: Vec<_> = std::fs::read_dir(&users).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_library_that_is_none_is_an_answer_and_not_a_crash() {
    let home = Home::new();
    let fake = home.write("libonnxruntime.so.1.99.0", "not a library");
    let listed = home
        .command(&["engines", "--json"])
        .env("ORT_DYLIB_PATH", &fake)
        .output()
        .unwrap();
    let engines = support::ProgramRun::from_output(&listed).json();
    assert_eq!(engines["engines"][0]["available"], false, "{engines}");
    let setup = format!("ort,runtime={}", fake.display());
    let made = home.run(&bench(&[
        "resnet18@cifar",
        "--setup",
        &setup,
        "--setup",
        "fake",
        "--batch",
        "1",
        "--json",
    ]));
    let outcomes: Vec<String> = made
        .outcomes()
        .into_iter()
        .map(|(_, _, outcome)| outcome)
        .collect();
    assert_eq!(
        (made.status, outcomes),
        (
            Some(2),
            vec!["unsupported".to_owned(), "finished".to_owned()]
        )
    );
}

#[test]
fn models_are_described() {
    let home = Home::new();
    let document = home.run(&["model", "resnet50", "--json"]).json();
    assert_eq!(document["parameters"], 25_557_032);
    assert_eq!(document["operators"]["Conv"], 53);
    assert_eq!((document["macs"].as_f64().unwrap() / 1e7).round(), 409.0);
    assert_eq!(document["inputs"][0]["shape"][3], "224");
    let text = home.run(&["model", "resnet18@cifar", "--write", "copy.onnx"]);
    assert!(text.out.contains("Parameters   11,173,962"), "{text:#?}");
    let copy = home.run(&["model", "copy.onnx", "--json"]).json();
    assert_eq!(
        copy["parameters"], 11_173_962,
        "a written network is read like any file"
    );
}

#[test]
fn the_machine_is_described() {
    let home = Home::new();
    let document = home.run(&["devices", "--json"]).json();
    assert!(document["cpu"]["threads"].as_u64().unwrap() >= 1);
    assert!(document["memory"]["total_bytes"].as_u64().unwrap() > 1 << 28);
    assert!(home.run(&["devices"]).out.contains("Processor"));
}

#[test]
fn help_leads_on() {
    let home = Home::new();
    let help = home.run(&["--help"]);
    assert_eq!(help.status, Some(0));
    for word in [
        "bench resnet50",
        "engines install onnxruntime",
        "Exit status",
    ] {
        assert!(help.out.contains(word), "{}", help.out);
    }
    assert!(
        !help.out.contains("worker"),
        "the worker is not the user's business"
    );
    home.run(&["frobnicate"]).fails_saying(&["frobnicate"]);
    home.run(&["bench"])
        .fails_saying(&["powerband bench resnet50", "ONNX file"]);
    home.run(&["bench", "resnet50", "ort,threads=2"])
        .fails_saying(&["--setup ort,threads=2"]);
}

#[test]
fn the_order_follows_the_seed() {
    let home = Home::new();
    let order = |seed: &str| {
        let args = [
            "resnet18@cifar",
            "--setup",
            "fake",
            "--batch",
            "1..64",
            "--seed",
            seed,
        ];
        home.run(&bench(&args))
            .err
            .lines()
            .filter(|line| line.contains("round 1"))
            .map(|l| l.split(':').nth(1).unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let first = order("7");
    assert_eq!(first.len(), 7);
    assert_eq!(first, order("7"));
    assert_ne!(first, order("8"));
}

#[test]
fn more_rounds_are_added_until_the_interval_is_narrow() {
    let home = Home::new();
    let rounds = |noise: &str| {
        let setup = format!("fake,noise={noise},fixed=100000");
        let args = [
            "bench",
            "resnet18@cifar",
            "--setup",
            &setup,
            "--batch",
            "1",
            "--json",
        ];
        home.run(&args).json()["cases"][0]["rounds"]
            .as_u64()
            .unwrap()
    };
    assert_eq!(rounds("0.1"), 5);
    assert!(rounds("60") > 5);
}

#[test]
fn as_many_rounds_as_were_asked_for() {
    let home = Home::new();
    let args = [
        "bench",
        "resnet18@cifar",
        "--setup",
        "fake,noise=60,fixed=100000",
        "--batch",
        "1",
        "--rounds",
        "1",
        "--json",
    ];
    let document = home.run(&args).json();
    assert_eq!(
        (
            &document["cases"][0]["rounds"],
            &document["cases"][0]["ci95_rel"]
        ),
        (&1.into(), &serde_json::Value::Null)
    );
}

#[test]
fn a_session_that_appeared_meanwhile_is_not_replaced() {
    let home = Home::new();
    let slow = [
        "bench",
        "resnet18@cifar",
        "--setup",
        "fake,sleep=yes,fixed=20000",
        "--batch",
        "1",
        "--preset",
        "quick",
        "--out",
        "same.ron",
    ];
    let running = home
        .command(&slow)
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let deadline = std::time::Instant::now() + std::time::Duration::from_mins(1);
    while home.journals().is_empty() {
        assert!(std::time::Instant::now() < deadline, "the run never began");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    home.write("same.ron", "(version: 1, session: ())");
    let ended = support::ProgramRun::from_output(&running.wait_with_output().unwrap());
    assert!(
        ended.err.contains("exists already") && ended.err.contains("library instead"),
        "{ended:#?}"
    );
    assert_eq!(
        std::fs::read_to_string(home.path("same.ron")).unwrap(),
        "(version: 1, session: ())"
    );
}

#[test]
fn waiting_for_an_idle_machine_has_an_end() {
    let home = Home::new();
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    // Others that work until they are ended.
    let others = (0..processors).map(|_| {
        let mut shell = home.command_of(Path::new("sh"), &["-c", "while :; do :; done"]);
        shell.spawn()
    });
    let others: Vec<Child> = others.map(|other| other.expect("a shell")).collect();
    let words = ["bench", "resnet18@cifar", "--setup", "fake", "--batch", "1"];
    let wait = ["--wait-idle", "2s", "--spacing", "0s"];
    let run = home.run(&[&words[..], &wait].concat());
    for mut other in others {
        other.kill().expect("it works");
        other.wait().expect("it ended");
    }
    assert_eq!(run.status, Some(0), "{run:#?}");
    assert!(
        run.err.contains("of the processors; waiting for up to"),
        "{run:#?}"
    );
    assert!(run.err.contains("Other programs still use"), "{run:#?}");
}
