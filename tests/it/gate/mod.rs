//! `powerband gate`: two sides in turns until it is settled, of setups, commands and commits, and the search for a commit.

mod commits;

use std::fs;

use powerband_store::session_file;
use serde_json::Value;

use crate::support::{self, Home, ProgramRun};

const MODEL: &str = "resnet18@cifar";

fn gate(home: &Home, args: &[&str]) -> ProgramRun {
    let mut words = vec!["gate", MODEL];
    words.extend(args);
    home.run(&words)
}

fn json(run: &ProgramRun) -> Value {
    serde_json::from_str(&run.out).unwrap_or_else(|error| panic!("{error}: {run:#?}"))
}

#[test]
fn a_side_that_is_slower_fails_and_is_written_down_for_others() {
    let home = Home::new();
    let sides = [
        "--base",
        "fake,fixed=800",
        "--new",
        "fake,fixed=1200",
        "--batch",
        "1,4",
    ];
    let (junit, markdown) = (home.path("gate.xml"), home.write("summary.md", "# Build\n"));
    let mut words = sides.to_vec();
    words.extend(["--junit", junit.to_str().expect("a path")]);
    words.extend(["--markdown", markdown.to_str().expect("a path")]);
    let run = gate(&home, &words);
    assert_eq!(run.status, Some(1), "{run:#?}");
    assert!(run.out.contains("Failed: 2 of 2 got worse"), "{run:#?}");
    let junit = fs::read_to_string(junit).expect("a report");
    assert!(
        junit.contains("tests=\"2\" failures=\"2\" skipped=\"0\""),
        "{junit}"
    );
    let summary = fs::read_to_string(markdown).expect("a summary");
    assert!(
        summary.starts_with("# Build\n# Failed: 2 of 2"),
        "{summary}"
    );
    assert!(summary.contains("| Latency | batch 1 |"), "{summary}");
    let mut words = sides.to_vec();
    words.push("--json");
    let document = json(&gate(&home, &words));
    assert_eq!(document["gate"]["result"], "failed");
    assert_eq!(document["rounds"], 5, "no more than it takes");
    let row = &document["gate"]["rows"][0];
    let loss = row["loss_percent"].as_f64().expect("a number");
    assert!((30.0..50.0).contains(&loss), "{row:#}");
    let least = row["loss_interval"][0].as_f64().expect("an interval");
    assert!(least > 5.0 && least < loss, "{row:#}");
}

#[test]
fn a_side_that_is_as_fast_passes() {
    let home = Home::new();
    let faster = [
        "--base",
        "fake,fixed=1200",
        "--new",
        "fake,fixed=800",
        "--batch",
        "1",
    ];
    let run = gate(&home, &faster);
    assert_eq!(run.status, Some(0), "{run:#?}");
    assert!(run.out.contains("Passed: 1 of 1"), "{run:#?}");
    let alike = [
        "--base",
        "fake,noise=0.2",
        "--new",
        "fake,noise=0.2",
        "--batch",
        "1",
    ];
    let run = gate(&home, &alike);
    assert_eq!(run.status, Some(0), "{run:#?}");
    assert!(run.out.contains("Passed: 1 of 1"), "{run:#?}");
}

#[test]
fn every_kind_of_metric_has_a_limit() {
    let home = Home::new();
    let limits = [
        "latency=500",
        "throughput=90",
        "peak memory=500",
        "set-up time=1000",
        "worst cosine=1",
        "same choice=1",
        "kernel conv=500",
    ];
    let mut words = vec!["--base", "rten", "--new", "rten,threads=1", "--batch", "1"];
    words.extend(["--spacing", "200ms", "--budget", "1min", "--json"]);
    words.extend(limits.iter().flat_map(|limit| ["--limit", limit]));
    let document = json(&gate(&home, &words));
    let rows = document["gate"]["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), limits.len(), "{document:#}");
    for row in rows {
        assert_eq!(row["result"], "passed", "{row:#}");
        assert!(row["base"].is_string() && row["new"].is_string(), "{row:#}");
        // What has rounds or starts has an interval, and the rest is one number a side.
        let metric = row["metric"].as_str().expect("a name");
        let repeats = ["latency", "throughput", "peak memory", "set-up time"];
        let has_interval = row["loss_interval"].is_array();
        assert_eq!(has_interval, repeats.contains(&metric), "{row:#}");
    }
}

#[test]
fn blocks_measure_each_side_longer_before_the_other() {
    let home = Home::new();
    let words = ["--base", "fake", "--new", "fake", "--batch", "1", "--json"];
    let samples = |more: &[&str]| {
        let file = home.path(if more.is_empty() {
            "usual.ron"
        } else {
            "blocks.ron"
        });
        let mut all = words.to_vec();
        all.extend(["--out", file.to_str().expect("a path")]);
        all.extend(more);
        let run = gate(&home, &all);
        assert!(run.status.is_some_and(|status| status < 2), "{run:#?}");
        let session = session_file::read(&file).expect("a session").session;
        session.cases[0].rounds[0].samples_ns.len()
    };
    let (usual, longer) = (samples(&[]), samples(&["--blocks"]));
    assert!(longer > 3 * usual, "{longer} and {usual}");
}

#[test]
fn rounds_are_added_until_the_budget_is_used_up() {
    let home = Home::new();
    // By turns one side is three times as slow as the other, so that no number of rounds settles it.
    let starts =
        "touch $name-$PPID; n=$(ls | grep -c ^$name-); sleep 0.0$(((n + $add) % 2 * 2 + 1))";
    let script = home.write("side.sh", starts);
    let folder = script.parent().expect("a folder").display();
    let side = |name, add| format!("cd {folder}; name={name}; add={add}; . ./side.sh");
    let (base, new) = (side("base", 0), side("new", 1));
    let mut words = vec!["--base", &base, "--new", &new, "--batch", "1"];
    words.extend([
        "--limit",
        "latency=0",
        "--budget",
        "10s",
        "--spacing",
        "200ms",
        "--json",
    ]);
    let run = gate(&home, &words);
    assert_eq!(run.status, Some(0), "{run:#?}");
    let document = json(&run);
    assert_eq!(document["gate"]["result"], "open", "{document:#}");
    assert!(document["rounds"].as_u64() > Some(8), "{document:#}");
    let reason = &document["gate"]["rows"][0]["reason"];
    assert!(
        reason
            .as_str()
            .is_some_and(|it| it.contains("it may be anything from")),
        "{reason}"
    );
    assert!(run.err.contains("The budget is used up"), "{run:#?}");
    // More rounds by hand are a later look at the same session.
    let sessions = support::files(&home.path("home/sessions"));
    let session = sessions
        .iter()
        .find(|path| path.extension().is_some_and(|end| end == "ron"));
    let text = fs::read_to_string(session.expect("a session")).expect("a session");
    assert!(text.contains("until_settled: true"));
}

#[test]
fn other_metrics_have_limits_of_their_own() {
    let home = Home::new();
    let sides = [
        "--base",
        "fake,fixed=800",
        "--new",
        "fake,fixed=1200",
        "--batch",
        "1",
        "--json",
    ];
    let mut words = sides.to_vec();
    words.extend([
        "--limit",
        "latency=80",
        "--limit",
        "Throughput=10",
        "--limit",
        "first run=900",
    ]);
    let run = gate(&home, &words);
    assert_eq!(run.status, Some(1), "{run:#?}");
    let document = json(&run);
    let rows = document["gate"]["rows"].as_array().expect("rows");
    let results: Vec<&str> = rows
        .iter()
        .filter_map(|row| row["result"].as_str())
        .collect();
    assert_eq!(results, ["passed", "failed", "passed"]);
}

#[test]
fn a_side_that_does_not_run_is_an_error_and_no_open_gate() {
    let home = Home::new();
    let (junit, markdown) = (home.path("gate.xml"), home.path("gate.md"));
    let files = ["--junit", junit.to_str().expect("a path")];
    let mut words = vec!["--base", "fake", "--new", "sh ./nowhere", "--batch", "1"];
    words.extend(files);
    let run = gate(&home, &words);
    assert_eq!(run.status, Some(2), "{run:#?}");
    assert!(run.out.contains("Not measured: 1 of 1"), "{run:#?}");
    assert!(
        run.out.contains("the base alone was measured: "),
        "{run:#?}"
    );
    assert!(!run.err.contains("nothing failed"), "{run:#?}");
    let written = fs::read_to_string(&junit).expect("a report");
    assert!(written.contains("skipped=\"0\" errors=\"1\""), "{written}");
    // What cannot even begin is written down as well.
    let mut words = vec!["--base", "fake", "--new", "ortt"];
    words.extend(files);
    words.extend(["--markdown", markdown.to_str().expect("a path")]);
    let run = gate(&home, &words);
    assert_eq!(run.status, Some(2), "{run:#?}");
    let written = fs::read_to_string(&junit).expect("a report");
    assert!(
        written.contains("errors=\"1\"") && written.contains("ortt"),
        "{written}"
    );
    let written = fs::read_to_string(&markdown).expect("a summary");
    assert!(
        written.starts_with("# Not measured") && written.contains("ortt"),
        "{written}"
    );
}

#[test]
fn a_budget_that_is_too_short_for_the_planned_rounds_settles_nothing() {
    let home = Home::new();
    let words = [
        "--base",
        "sleep 0.02",
        "--new",
        "sleep 0.06",
        "--batch",
        "1",
    ];
    let run = gate(&home, &[&words[..], &["--budget", "1s", "--json"]].concat());
    assert_eq!(run.status, Some(0), "{run:#?}");
    let row = &json(&run)["gate"]["rows"][0];
    assert_eq!(row["result"], "open", "{row:#}");
    let reason = row["reason"].as_str().expect("a reason");
    assert!(
        reason.contains("of 5 planned rounds were measured"),
        "{reason}"
    );
}

#[test]
fn what_is_typed_goes_before_the_plan_metric_by_metric() {
    let home = Home::new();
    home.write(
        "powerband.ron",
        "(model: \"resnet18@cifar\", base: \"fake\", new: \"fake\", batch: \"1\", limits: {\"latency\": 90, \"throughput\": 9})",
    );
    let run = home.run(&["gate", "--limit", "throughput=80", "--json"]);
    let document = json(&run);
    let rows = document["gate"]["rows"].as_array().expect("rows");
    let limits: Vec<Option<f64>> = rows
        .iter()
        .map(|row| row["limit_percent"].as_f64())
        .collect();
    assert_eq!(limits, [Some(90.0), Some(80.0)], "{document:#}");
    assert!(run.err.contains("The plan is powerband.ron"), "{run:#?}");
}

#[test]
fn what_a_plan_names_is_started_where_that_is_allowed() {
    let home = Home::new();
    home.write(
        "powerband.ron",
        "(model: \"resnet18@cifar\", base: \"sleep 0.02\", new: \"sleep 0.03\", batch: \"1\", limits: {\"latency\": 10})",
    );
    let run = home.run(&["gate", "--spacing", "0s"]);
    assert_eq!(run.status, Some(2), "{run:#?}");
    assert!(run.err.contains("sleep 0.02"), "{run:#?}");
    let run = home.run(&["gate", "--spacing", "0s", "--allow-commands"]);
    assert_eq!(run.status, Some(1), "{run:#?}");
    assert!(run.out.contains("Failed: 1 of 1"), "{run:#?}");
    home.write("powerband.ron", "(modle: \"resnet18@cifar\")");
    let run = home.run(&["gate"]);
    assert_eq!(run.status, Some(2), "{run:#?}");
    assert!(
        run.err.contains("powerband.ron is no plan of a gate"),
        "{run:#?}"
    );
}

#[test]
fn what_cannot_be_a_gate_is_refused_with_what_to_do() {
    let home = Home::new();
    for (words, said) in [
        (&["gate"][..], "MODEL is missing"),
        (&["gate", MODEL], "say what is compared"),
        (&["gate", MODEL, "--base", "ort"], "--new"),
        (&["gate", MODEL, "--base-ref", "main"], "--setup is missing"),
        (
            &["gate", MODEL, "--base-ref", "main", "--setup", "x y"],
            "--setup has no {dir}",
        ),
        (
            &["gate", MODEL, "--base-ref", "main", "--setup", "{dir}/x y"],
            "no repository of git",
        ),
        (
            &[
                "gate",
                MODEL,
                "--base",
                "fake",
                "--new",
                "fake",
                "--limit",
                "peek memory=5",
            ],
            "did you mean peak memory?",
        ),
        (
            &[
                "gate",
                MODEL,
                "--base",
                "sleep 1",
                "--new",
                "sleep 1",
                "--limit",
                "peak memory=5",
            ],
            "tells no peak memory",
        ),
        (
            &[
                "gate",
                MODEL,
                "--base",
                "sleep 1",
                "--new",
                "sleep 1",
                "--limit",
                "kernel conv=5",
            ],
            "a kernel cannot have a limit",
        ),
        (&["gate", "--plan", "nowhere.ron"], "nowhere.ron: "),
        (&["gate", MODEL, "--base", "ortt", "--new", "ort"], "ortt"),
        (
            &[
                "gate", MODEL, "--base", "fake", "--new", "fake", "--limit", "latency",
            ],
            "as in latency=3",
        ),
        (
            &[
                "gate", MODEL, "--base", "fake", "--new", "fake", "--budget", "5",
            ],
            "as in 90s or 5min",
        ),
    ] {
        let run = home.run(words);
        assert_eq!(run.status, Some(2), "{words:?}: {run:#?}");
        assert!(run.err.contains(said), "{words:?}: {run:#?}");
    }
}
