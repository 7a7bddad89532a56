//! `powerband export`: figures, sessions and timelines as files.

use std::fs;
use std::path::PathBuf;

use crate::support::Home;

/// A home with a session of a made-up engine.
fn home() -> (Home, String) {
    let home = Home::new();
    let session = home.path("run.ron").display().to_string();
    let measured = home.run(&[
        "bench",
        "resnet18@cifar",
        "--preset",
        "quick",
        "--rounds",
        "1",
        "--setup",
        "fake",
        "--setup",
        "fake,fixed=4000",
        "--batch",
        "1,2,4",
        "--out",
        &session,
    ]);
    assert_eq!(measured.status, Some(0), "{}", measured.err);
    (home, session)
}

fn file(home: &Home, name: &str) -> (PathBuf, String) {
    let path = home.path(name);
    let text = path.display().to_string();
    (path, text)
}

#[test]
fn a_figure_is_written_as_every_kind_of_file() {
    let (home, session) = home();
    for (name, begins) in [
        ("a.svg", b"<svg".as_slice()),
        ("a.png", b"\x89PNG"),
        ("a.pdf", b"%PDF"),
        ("a.csv", b"series,batch size,"),
        ("a.json", b"{"),
    ] {
        let (path, to) = file(&home, name);
        let run = home.run(&["export", &session, "--chart", "latency", "--to", &to]);
        assert_eq!(run.status, Some(0), "{}", run.err);
        assert_eq!(run.out, "");
        let bytes = fs::read(&path).expect("a file");
        assert!(bytes.starts_with(begins), "{name}");
    }
    let (path, to) = file(&home, "limit.svg");
    let run = home.run(&[
        "export", &session, "--chart", "latency", "--limit", "2ms", "--to", &to,
    ]);
    assert_eq!(run.status, Some(0), "{}", run.err);
    let drawn = fs::read_to_string(path).expect("a figure");
    assert!(drawn.contains("2.00 ms"), "{drawn}");
    let table = fs::read_to_string(home.path("a.csv")).expect("a table");
    assert_eq!(table.lines().count(), 1 + 2 * 3, "{table}");
    let (path, to) = file(&home, "column.svg");
    let run = home.run(&[
        "export",
        &session,
        "--chart",
        "throughput",
        "--preset",
        "column",
        "--to",
        &to,
    ]);
    assert_eq!(run.status, Some(0), "{}", run.err);
    let svg = fs::read_to_string(path).expect("a picture");
    assert!(svg.contains("width=\"336\"") && svg.contains("stroke-dasharray"));
}

#[test]
fn a_session_is_written_for_other_programs() {
    let (home, session) = home();
    let (path, to) = file(&home, "s.csv");
    assert_eq!(home.run(&["export", &session, "--to", &to]).status, Some(0));
    let table = fs::read_to_string(&path).expect("a table");
    assert_eq!(table.lines().count(), 1 + 6);
    assert!(table.starts_with("setup,label,batch,outcome,"));
    let all = home.run(&["export", &session, "--samples", "--to", &to]);
    assert_eq!(all.status, Some(0), "{}", all.err);
    let table = fs::read_to_string(&path).expect("a table");
    assert!(table.lines().count() > 6 * 10, "a line for each sample");
    let (path, to) = file(&home, "s.json");
    assert_eq!(home.run(&["export", &session, "--to", &to]).status, Some(0));
    let document: serde_json::Value =
        serde_json::from_slice(&fs::read(path).expect("a document")).expect("JSON");
    assert_eq!(document["cases"].as_array().map(Vec::len), Some(6));
}

#[test]
fn what_cannot_be_written_is_said_in_a_sentence() {
    let (home, session) = home();
    let (_, svg) = file(&home, "a.svg");
    let (_, png) = file(&home, "a.png");
    let (_, text) = file(&home, "a.txt");
    let (_, json) = file(&home, "a.json");
    let fails = |arguments: &[&str], says: &[&str]| {
        let all = [&["export", session.as_str()], arguments].concat();
        home.run(&all).fails_saying(says);
    };
    fails(
        &["--chart", "latencies", "--to", &svg],
        &["no figure \"latencies\"", "throughput"],
    );
    fails(&["--to", &svg], &["--chart", "latency"]);
    fails(&["--chart", "latency", "--to", &text], &["a.txt", ".svg"]);
    fails(
        &["--chart", "latency", "--to", "/nowhere/at/all/a.svg"],
        &["/nowhere/at/all/a.svg", "cannot be written"],
    );
    fails(
        &["--chart", "latency", "--size", "5x5", "--to", &svg],
        &["900x500"],
    );
    fails(
        &["--chart", "latency", "--scale", "9", "--to", &png],
        &["--scale 9"],
    );
    fails(
        &["--chart", "samples", "--setup", "tract", "--to", &svg],
        &["no setup", "fake"],
    );
    fails(
        &["--chart", "latency", "--limit", "8", "--to", &svg],
        &["as in 20ms"],
    );
    fails(
        &["--chart", "samples", "--batch", "64", "--to", &svg],
        &["there is no batch 64"],
    );
    fails(&["--chart", "breakdown", "--to", &svg], &["has no profile"]);
    for option in [["--limit", "20ms"], ["--against", session.as_str()]] {
        let idle = format!("{} has no effect on the figure samples", option[0]);
        fails(
            &[&["--chart", "samples", "--to", &svg], &option[..]].concat(),
            &[&idle],
        );
    }
    fails(
        &[
            "--chart", "latency", "--preset", "page", "--theme", "dark", "--to", &svg,
        ],
        &["for paper"],
    );
    fails(
        &["--timeline", "--to", &json],
        &["has no profile", "import the file"],
    );
    fails(&["--to", &session], &["is the session itself"]);
    assert!(!home.path("a.svg").exists() && !home.path("a.txt").exists());
    let help = home.run(&["export", "--help"]);
    assert!(help.out.contains("trade-off") && help.out.contains("over the batch size"));
    assert!(help.out.contains("heat-map-efficiency  how"), "{help:#?}");
}

#[test]
fn a_timeline_is_written_as_it_lies_beside_its_session() {
    let home = Home::new();
    let trace = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/fixtures/import/kineto/alexnet-cuda.trace.json.gz"
    );
    let (_, session) = file(&home, "t.ron");
    let taken = home.run(&["import", trace, "--out", &session]);
    assert_eq!(taken.status, Some(0), "{}", taken.err);
    let (path, to) = file(&home, "t.json");
    let run = home.run(&["export", &session, "--timeline", "--to", &to]);
    assert_eq!(run.status, Some(0), "{}", run.err);
    let document: serde_json::Value =
        serde_json::from_slice(&fs::read(path).expect("a trace")).expect("JSON");
    let events = document["traceEvents"].as_array().expect("events");
    assert!(events.iter().any(|event| event["ph"] == "X"));
    let (path, to) = file(&home, "t.json.gz");
    assert_eq!(
        home.run(&["export", &session, "--timeline", "--to", &to])
            .status,
        Some(0)
    );
    assert!(fs::read(path).expect("a trace").starts_with(&[0x1f, 0x8b]));
    let csv = file(&home, "part.csv").1;
    let part = ["--chart", "timeline", "--between", "0ms..2ms", "--to", &csv];
    let run = home.run(&[&["export", &session], part.as_slice()].concat());
    assert_eq!(run.status, Some(0), "{}", run.err);
    let table = fs::read_to_string(home.path("part.csv")).expect("a table");
    assert!(
        table.starts_with("group,track,depth,kind,name,start_ns,"),
        "{table}"
    );
    for (between, told) in [
        ("3ms..1ms", "the earlier first"),
        ("900s..901s", "nothing ran in that range"),
    ] {
        let part = ["--chart", "timeline", "--between", between, "--to", &csv];
        let run = home.run(&[&["export", &session], part.as_slice()].concat());
        assert_eq!(run.status, Some(2), "{}", run.err);
        assert!(run.err.contains(told), "{}", run.err);
    }
    let (path, to) = file(&home, "timeline.svg");
    let run = home.run(&["export", &session, "--chart", "timeline", "--to", &to]);
    assert_eq!(run.status, Some(0), "{}", run.err);
    let svg = fs::read_to_string(path).expect("a picture");
    assert!(svg.contains("class=\"run\"") && svg.contains(">40 s</text>"));
    for chart in ["breakdown", "kernels", "treemap"] {
        let (path, to) = file(&home, &format!("{chart}.svg"));
        let run = home.run(&["export", &session, "--chart", chart, "--to", &to]);
        assert_eq!(run.status, Some(0), "{}", run.err);
        assert!(
            fs::read_to_string(path)
                .expect("a picture")
                .contains(" %</text>")
        );
    }
}
