//! Sweeps over several dimensions, from the command line to the session and back.

use crate::models::{self, Dim, FLOAT};
use crate::support::{Home, ProgramRun};
use serde_json::{Value, json};

/// A network over `batch×seq×64`; the second dimension goes by another name in some.
fn home(sequence: &'static str) -> Home {
    let home = Home::new();
    let dims = [Dim::Name("batch"), Dim::Name(sequence), Dim::Size(64)];
    let bytes = models::one_node("Relu", &[("x", FLOAT, &dims)], (FLOAT, &dims));
    home.write("net.onnx", bytes);
    home
}

fn bench(home: &Home, more: &[&str]) -> ProgramRun {
    let plan = [
        "bench", "net.onnx", "--setup", "rten", "--preset", "quick", "--rounds", "1",
    ];
    home.run(&[&plan, more].concat())
}

/// The points of a document's cases, as JSON has them.
fn points(document: &Value) -> Vec<Value> {
    let cases = document["cases"].as_array().expect("cases");
    cases.iter().map(|case| case["point"].clone()).collect()
}

#[test]
fn a_product_is_measured_kept_and_compared() {
    let home = home("seq");
    let out = [
        "--batch", "1,2", "--sweep", "seq=8,16", "--json", "--out", "a.ron",
    ];
    let run = bench(&home, &out);
    assert_eq!(run.status, Some(0), "{run:#?}");
    let all: Vec<Value> = [(1, 8), (1, 16), (2, 8), (2, 16)]
        .map(|(batch, seq)| json!({ "batch": batch, "seq": seq }))
        .into();
    assert_eq!(points(&run.json()), all);
    assert!(!run.json()["cases"][3]["latency_ms"].is_null(), "{run:#?}");
    // The session says them again, and is compared with itself point by point.
    assert_eq!(points(&home.run(&["show", "a.ron", "--json"]).json()), all);
    let text = std::fs::read_to_string(home.path("a.ron")).expect("a session");
    assert!(text.contains("{\"batch\": 2, \"seq\": 16}"), "{text}");
    let pairs = |more: &[&str]| {
        let run = home.run(&[&["compare", "a.ron", "a.ron", "--json"], more].concat());
        assert_eq!(run.status, Some(0), "{run:#?}");
        run.json()["comparisons"][0]["pairs"]
            .as_array()
            .expect("pairs")
            .len()
    };
    assert_eq!(pairs(&[]), 4);
    assert_eq!(pairs(&["--at", "seq=8"]), 2);
    assert_eq!(pairs(&["--batch", "2", "--at", "seq=8"]), 1);
    home.run(&["compare", "a.ron", "a.ron", "--at", "seq=9"])
        .fails_saying(&["seq 9", "seq 16"]);
    home.run(&[
        "export", "a.ron", "--chart", "samples", "--batch", "2", "--to", "s.svg",
    ])
    .fails_saying(&["2 points have batch 2", "--at"]);
    let written = home.run(&["report", "a.ron", "--to", "a.md"]);
    assert_eq!(written.status, Some(0), "{written:#?}");
    let report = std::fs::read_to_string(home.path("a.md")).expect("a report");
    assert!(report.contains("--sweep seq=8,16"), "{report}");
}

#[test]
fn a_map_over_two_of_three_dimensions_is_drawn_at_a_size_of_the_third() {
    let home = Home::new();
    let dims = ["batch", "seq", "width"].map(Dim::Name);
    let bytes = models::one_node("Relu", &[("x", FLOAT, &dims)], (FLOAT, &dims));
    home.write("net.onnx", bytes);
    let run = bench(
        &home,
        &[
            "--batch",
            "1,2",
            "--sweep",
            "seq=8,16",
            "--sweep",
            "width=4,32",
            "--out",
            "a.ron",
        ],
    );
    assert_eq!(run.status, Some(0), "{run:#?}");
    let map = |at: &str| {
        let args = ["export", "a.ron", "--chart", "heat-map", "--at", at];
        home.run(&[&args[..], &["--to", "map.json"]].concat())
    };
    let drawn = map("batch=1");
    assert_eq!(drawn.status, Some(0), "{drawn:#?}");
    let text = std::fs::read_to_string(home.path("map.json")).expect("a figure");
    assert!(text.contains("seq") && text.contains("width"), "{text}");
    map("batch=3").fails_saying(&["there is no batch 3"]);
}

#[test]
fn pairs_go_together_and_names_are_given() {
    let home = home("time");
    let run = bench(
        &home,
        &[
            "--sweep",
            "seq=16,8+batch=1,2",
            "--dim",
            "time=seq",
            "--json",
        ],
    );
    assert_eq!(run.status, Some(0), "{run:#?}");
    assert_eq!(
        points(&run.json()),
        [
            json!({ "batch": 1, "seq": 16 }),
            json!({ "batch": 2, "seq": 8 })
        ]
    );
}

#[test]
fn what_a_model_cannot_take_is_said_by_its_dimensions() {
    let home = home("seq");
    bench(&home, &["--sweep", "length=8"])
        .fails_saying(&["\"length\" that no input of the model has", "batch, seq"]);
    bench(&home, &["--sweep", "seq=8", "--shape", "x=Nx16x64"])
        .fails_saying(&["8 for the dimension \"seq\"", "has 16 there"]);
    bench(&home, &["--sweep", "seq=8,9+batch=1"])
        .fails_saying(&["seq has 2 sizes where batch has 1"]);
    bench(&home, &["--sweep", "seq"]).fails_saying(&["cannot read the sweep"]);
    // One point that is too large does not end the others.
    let run = bench(
        &home,
        &["--sweep", "batch=1,1048576+seq=8,1048576", "--json"],
    );
    let document = run.json();
    let large = document["cases"]
        .as_array()
        .expect("cases")
        .iter()
        .find(|case| case["point"] == json!({ "batch": 1_048_576, "seq": 1_048_576 }));
    let large = large.expect("the largest point");
    assert_ne!(large["outcome"], "finished", "{large:#}");
    let reason = large["reason"].to_string();
    assert!(
        reason.contains("batch 1048576, seq 1048576 would need"),
        "{reason}"
    );
    assert_eq!(document["cases"][0]["outcome"], "finished", "{document:#}");
}
