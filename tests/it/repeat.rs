//! `powerband repeat`: the plan of a session once more.

use serde_json::Value;

use crate::support::Home;

const MODEL: &str = "resnet18@cifar";

#[test]
fn a_plan_is_measured_again_and_held_against_what_came_before() {
    let home = Home::new();
    let bench = [
        "bench",
        MODEL,
        "--setup",
        "fake,noise=0.5",
        "--batch",
        "1,2",
        "--out",
        "first.ron",
        "--spacing",
        "4s",
    ];
    let first = home.run(&bench);
    assert_eq!(first.status, Some(0), "{first:#?}");
    let again = home.run(&["repeat", "first.ron", "--out", "second.ron"]);
    assert_eq!(again.status, Some(0), "{again:#?}");
    assert_eq!(
        again.out.matches(": reproduced within ").count(),
        2,
        "{again:#?}"
    );
    assert!(
        again.out.contains("geometric mean of the speed-ups"),
        "{again:#?}"
    );
    let json = home.run(&["repeat", "first.ron", "--json"]);
    let document: Value = serde_json::from_str(&json.out).expect("one document");
    let within = document["cases"][0]["result"]["reproduced"].as_f64();
    assert!(
        within.is_some_and(|within| (0.0..0.5).contains(&within)),
        "{document:#}"
    );
}

#[test]
fn what_became_slower_is_said_and_is_a_status() {
    let home = Home::new();
    let bench = [
        "bench",
        MODEL,
        "--setup",
        "fake,fixed=500",
        "--batch",
        "1",
        "--out",
        "first.ron",
    ];
    assert_eq!(home.run(&bench).status, Some(0));
    // The same plan on a machine that is slower now.
    let text = std::fs::read_to_string(home.path("first.ron")).expect("a session");
    home.write(
        "first.ron",
        text.replace("fixed\": \"500\"", "fixed\": \"5000\""),
    );
    let again = home.run(&["repeat", "first.ron"]);
    assert_eq!(again.status, Some(1), "{again:#?}");
    assert!(again.out.contains("batch 1: slower"), "{again:#?}");
}

#[test]
fn what_was_not_measured_here_has_no_plan() {
    let home = Home::new();
    let sessions = concat!(env!("CARGO_MANIFEST_DIR"), "/sessions");
    let published = format!("{sessions}/published-densenet121-suite.ron");
    let run = home.run(&["repeat", &published]);
    assert_eq!(run.status, Some(2), "{run:#?}");
    let run = home.run(&["repeat", "nowhere.ron"]);
    assert_eq!(run.status, Some(2), "{run:#?}");
    assert!(run.err.contains("nowhere.ron"), "{run:#?}");
}
