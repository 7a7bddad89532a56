//! Files and arguments that make no sense: each a clear sentence and the right exit status.

use std::fs;

use crate::models::{self, Dim, FLOAT, good_model};
use crate::support::{self, Home, Mount};

fn bench(home: &Home, model: &str, rest: &[&str]) -> support::ProgramRun {
    let args = [
        &["bench", model, "--preset", "quick", "--rounds", "1"],
        rest,
    ]
    .concat();
    home.run(&args)
}

#[test]
fn files_that_are_no_models() {
    let home = Home::new();
    bench(&home, "missing.onnx", &[]).fails_saying(&["missing.onnx"]);
    home.write("empty.onnx", "");
    bench(&home, "empty.onnx", &[]).fails_saying(&["empty.onnx", "empty"]);
    home.write(
        "text.onnx",
        "Dear reader,\nthis is a letter and not a network.\n".repeat(50),
    );
    bench(&home, "text.onnx", &[]).fails_saying(&["text.onnx"]);
    let whole = home.run(&["model", "resnet18@cifar", "--write", "whole.onnx"]);
    assert_eq!(whole.status, Some(0), "{whole:#?}");
    let bytes = fs::read(home.path("whole.onnx")).unwrap();
    home.write("cut.onnx", &bytes[..bytes.len() / 2]);
    bench(&home, "cut.onnx", &[]).fails_saying(&["cut.onnx"]);
    bench(&home, ".", &[]).fails_saying(&["folder"]);
    bench(&home, "resnet5000", &[]).fails_saying(&["resnet50", "densenet121"]);
}

#[test]
fn an_operator_that_the_engine_lacks() {
    let home = Home::new();
    let dims = || [Dim::Name("N"), Dim::Size(8)];
    home.write(
        "odd.onnx",
        models::one_node("Frobnicate", &[("x", FLOAT, &dims())], (FLOAT, &dims())),
    );
    let mut setups = vec!["rten".to_owned()];
    if let Some(library) = support::onnxruntime() {
        setups.push(format!("ort,runtime={}", library.display()));
    }
    for setup in setups {
        let made = bench(
            &home,
            "odd.onnx",
            &[
                "--setup", &setup, "--setup", "fake", "--batch", "1", "--json",
            ],
        );
        let document = made.json();
        assert_eq!(made.status, Some(2), "{made:#?}");
        assert_eq!(document["cases"][0]["outcome"], "unsupported", "{document}");
        assert!(
            document["cases"][0]["reason"]
                .as_str()
                .unwrap()
                .contains("Frobnicate"),
            "{document}"
        );
        assert_eq!(
            document["cases"][1]["outcome"], "finished",
            "the other setup is measured all the same"
        );
    }
}

#[test]
fn batches_that_make_no_sense() {
    let home = Home::new();
    home.write("good.onnx", good_model());
    for batch in [
        "-1",
        "0",
        "two",
        "1e9",
        "99999999999999999999",
        "4294967296",
    ] {
        bench(&home, "good.onnx", &["--setup", "fake", "--batch", batch])
            .fails_saying(&["no batch size"]);
    }
}

#[test]
fn a_batch_that_does_not_fit_into_memory_is_an_outcome() {
    let home = Home::new();
    let dims = || [Dim::Name("N"), Dim::Size(1 << 20)];
    home.write(
        "wide.onnx",
        models::one_node("Relu", &[("x", FLOAT, &dims())], (FLOAT, &dims())),
    );
    let made = bench(
        &home,
        "wide.onnx",
        &[
            "--setup",
            "rten,threads=1,memory=256MiB",
            "--batch",
            "1,4096",
            "--json",
        ],
    );
    let outcomes: Vec<String> = made
        .outcomes()
        .into_iter()
        .map(|(_, _, outcome)| outcome)
        .collect();
    assert_eq!(outcomes, ["finished", "out-of-memory"], "{made:#?}");
}

#[test]
fn shapes_that_do_not_fit() {
    let home = Home::new();
    let open = || [Dim::Name("N"), Dim::Name("length")];
    home.write(
        "open.onnx",
        models::one_node("Relu", &[("tokens", FLOAT, &open())], (FLOAT, &open())),
    );
    home.write(
        "fixed.onnx",
        models::one_node(
            "Relu",
            &[("x", FLOAT, &[Dim::Size(2), Dim::Size(8)])],
            (FLOAT, &[Dim::Size(2), Dim::Size(8)]),
        ),
    );
    home.write("good.onnx", good_model());
    let fake = ["--setup", "fake", "--batch", "4", "--json"];
    let with = |model: &str, shapes: &[&str]| bench(&home, model, &[&fake, shapes].concat());
    with("open.onnx", &[]).fails_saying(&["tokens", "length", "--shape tokens="]);
    assert_eq!(
        with("open.onnx", &["--shape", "tokens=1x128"]).status,
        Some(0)
    );
    with("open.onnx", &["--shape", "tokens=1x128x2"]).fails_saying(&["tokens"]);
    with("open.onnx", &["--shape", "words=1x128"]).fails_saying(&["words", "tokens"]);
    with("open.onnx", &["--shape", "tokens"]).fails_saying(&["tokens"]);
    with("good.onnx", &["--shape", "x=1x9"]).fails_saying(&["x", "8"]);
    with("fixed.onnx", &[]).fails_saying(&["fixed at 2"]);
    let kept = bench(&home, "fixed.onnx", &["--setup", "fake", "--json"]);
    assert_eq!(
        kept.json()["cases"][0]["batch"],
        2,
        "a fixed batch is what is measured by default"
    );
    assert!(kept.err.contains("fixed at 2"), "{kept:#?}");
    let mixed = bench(
        &home,
        "fixed.onnx",
        &["--setup", "fake", "--batch", "1,2", "--json"],
    );
    let outcomes: Vec<String> = mixed
        .outcomes()
        .into_iter()
        .map(|(_, _, outcome)| outcome)
        .collect();
    assert_eq!(
        (mixed.status, outcomes),
        (
            Some(2),
            vec!["unsupported".to_owned(), "finished".to_owned()]
        )
    );
}

#[test]
fn setups_that_make_no_sense() {
    let home = Home::new();
    home.write("good.onnx", good_model());
    let with = |setup: &str| bench(&home, "good.onnx", &["--setup", setup, "--batch", "1"]);
    with("rten,speed=11").fails_saying(&["speed", "threads, opt, task, memory"]);
    with("tensorrt").fails_saying(&["tensorrt", "ort, rten"]);
    with("rten:cuda:0").fails_saying(&["cpu alone"]);
    with("rten,threads=many").fails_saying(&["threads=many"]);
    with("rten,threads").fails_saying(&["key=value"]);
    with("ort,opt=most").fails_saying(&["opt=most", "none, basic, extended, all"]);
}

#[test]
fn places_that_cannot_be_written_are_told_before_the_work() {
    let home = Home::new();
    home.write("good.onnx", good_model());
    let to = |out: &str| {
        bench(
            &home,
            "good.onnx",
            &["--setup", "fake", "--batch", "1", "--out", out],
        )
    };
    to("no/such/folder/a.ron").fails_saying(&["no/such/folder/a.ron", "cannot write"]);
    to(".").fails_saying(&["not an ordinary file"]);
    to("/proc/a.ron").fails_saying(&["cannot write"]);
    home.write("there.ron", "(version: 1, session: ())");
    to("there.ron").fails_saying(&["exists already", "--force"]);
    home.write("later.ron", "(version: 99, something: \"new\")");
    let forced = bench(
        &home,
        "good.onnx",
        &[
            "--setup",
            "fake",
            "--batch",
            "1",
            "--out",
            "later.ron",
            "--force",
        ],
    );
    forced.fails_saying(&["newer Powerband"]);
    assert!(
        fs::read_to_string(home.path("later.ron"))
            .unwrap()
            .contains("99"),
        "what is newer stays"
    );
}

#[test]
fn a_run_that_measured_nothing_keeps_its_name_from_no_other() {
    let home = Home::new();
    home.write("good.onnx", good_model());
    let with = |setup: &str| {
        let args = ["--setup", setup, "--batch", "1", "--out", "a.ron"];
        bench(&home, "good.onnx", &args)
    };
    let failed = with("fake,fail=load-error");
    assert!(failed.err.contains("Saved to a.ron"), "{failed:#?}");
    let corrected = with("fake");
    assert_eq!(corrected.status, Some(0), "{corrected:#?}");
    with("fake").fails_saying(&["exists already", "--force"]);
}

#[test]
fn a_disk_that_is_full_when_the_run_ends() {
    let home = Home::new();
    home.write("good.onnx", good_model());
    let small = home.path("small");
    fs::create_dir(&small).unwrap();
    let Some(_mounted) = support::component(
        Mount::tmpfs(&small, 16),
        "the right to mount a small file system (root)",
    ) else {
        return;
    };
    let out = small.join("a.ron");
    let args = [
        "bench",
        "good.onnx",
        "--setup",
        "fake",
        "--batch",
        "1..64",
        "--preset",
        "quick",
        "--out",
        out.to_str().unwrap(),
    ];
    let made = home.run(&args);
    assert!(
        made.err.contains("cannot write") && made.err.contains("library instead"),
        "{made:#?}"
    );
    assert!(
        !out.exists() && support::files(&small).is_empty(),
        "no half of a file"
    );
    let kept = support::files(&home.path("home/sessions"));
    assert!(
        kept.iter()
            .any(|path| path.extension().is_some_and(|e| e == "ron")),
        "{kept:?}"
    );
}

#[test]
fn sessions_that_are_damaged() {
    let home = Home::new();
    let made = bench(
        &home,
        "resnet18@cifar",
        &["--setup", "fake", "--batch", "1,2", "--out", "whole.ron"],
    );
    assert_eq!(made.status, Some(0), "{made:#?}");
    let whole = fs::read_to_string(home.path("whole.ron")).unwrap();
    home.run(&["show", "missing.ron"])
        .fails_saying(&["missing.ron"]);
    home.write("empty.ron", "");
    home.run(&["show", "empty.ron"])
        .fails_saying(&["empty.ron", "empty"]);
    home.write("other.ron", "{\"a\": 1}");
    home.run(&["show", "other.ron"])
        .fails_saying(&["not a Powerband session"]);
    home.write("bytes.ron", [0xff, 0xfe, 0x00]);
    home.run(&["show", "bytes.ron"]).fails_saying(&["not text"]);
    for part in 1..8 {
        home.write("cut.ron", &whole[..whole.len() * part / 8]);
        home.run(&["show", "cut.ron"])
            .fails_saying(&["cut.ron", "damaged"]);
    }
}

#[test]
fn sessions_from_the_future() {
    let home = Home::new();
    bench(
        &home,
        "resnet18@cifar",
        &["--setup", "fake", "--batch", "1", "--out", "whole.ron"],
    );
    let whole = fs::read_to_string(home.path("whole.ron")).unwrap();
    home.write("changed.ron", "(version: 7, documents: [])");
    home.run(&["show", "changed.ron"])
        .fails_saying(&["newer Powerband", "version 7", "update"]);
    home.write(
        "more.ron",
        whole
            .replace("version: 2", "version: 3")
            .replace("notes: \"\",", "notes: \"\", colour: Some(\"red\"),"),
    );
    let shown = home.run(&["show", "more.ron"]);
    assert_eq!(shown.status, Some(0), "{shown:#?}");
    assert!(
        shown.err.contains("newer Powerband") && shown.out.contains("resnet18@cifar"),
        "{shown:#?}"
    );
}

#[test]
fn settings_that_make_no_sense() {
    let home = Home::new();
    fs::create_dir_all(home.path("home")).unwrap();
    home.write("home/settings.ron", "(onnxruntime: 3)");
    home.run(&["devices"]).fails_saying(&["settings.ron"]);
    // A slip, or a key of a later version that shares the file, is named and costs nothing else.
    home.write("home/settings.ron", "(onxruntime: 3)");
    let devices = home.run(&["devices"]);
    assert_eq!(devices.status, Some(0), "{devices:#?}");
    for word in ["settings.ron", "\"onxruntime\"", "mean \"onnxruntime\"?"] {
        assert!(devices.err.contains(word), "{devices:#?}");
    }
}
