//! Journeys as a user meets them: which cases are measured, what each step gained, and the plans that
//! come ready.

use serde_json::Value;

use crate::support::{Home, ProgramRun};

/// Measures on the engine that makes timings up: 1000 µs, 500 µs and 250 µs at batch 1.
fn measure(home: &Home, file: &str, setups: &[&str], rest: &[&str]) -> ProgramRun {
    let mut args = vec![
        "bench",
        "resnet18@cifar",
        "--preset",
        "quick",
        "--rounds",
        "3",
        "--out",
        file,
        "--json",
    ];
    for setup in setups {
        args.extend(["--setup", setup]);
    }
    args.extend(rest);
    home.run(&args)
}

const STEPS: [&str; 3] = ["fake", "fake,fixed=300", "fake,fixed=150,item=100"];

fn steps(run: &ProgramRun) -> Vec<Value> {
    let steps = run.json()["steps"].as_array().cloned();
    steps.unwrap_or_else(|| panic!("no steps in {run:#?}"))
}

/// How many times as fast a step is, with its interval around it.
fn gain(step: &Value, over: &str) -> f64 {
    let found = |pointer: &str| {
        let pointer = format!("/{over}/{pointer}");
        let number = step.pointer(&pointer).and_then(Value::as_f64);
        number.unwrap_or_else(|| panic!("no {pointer} in {step:#}"))
    };
    let (speed_up, low, high) = (found("speed_up"), found("ci95/0"), found("ci95/1"));
    assert!(low <= speed_up && speed_up <= high, "{step:#}");
    speed_up
}

fn near(found: f64, wanted: f64) -> bool {
    (found / wanted - 1.0).abs() < 0.05
}

#[test]
fn a_journey_measures_its_steps_and_no_other_case() {
    let home = Home::new();
    let run = measure(&home, "j.ron", &STEPS, &["--journey", "--batch", "1,4,16"]);
    assert_eq!(run.status, Some(0), "{run:#?}");
    let cases: Vec<(String, u64)> = run
        .outcomes()
        .into_iter()
        .inspect(|(_, _, outcome)| assert_eq!(outcome, "finished"))
        .map(|(setup, batch, _)| (setup, batch))
        .collect();
    let last = "fake:cpu,fixed=150,item=100";
    let wanted = [
        ("fake:cpu", 1),
        ("fake:cpu,fixed=300", 1),
        (last, 1),
        (last, 4),
        (last, 16),
    ];
    assert_eq!(
        cases,
        wanted.map(|(setup, batch)| (setup.to_owned(), batch))
    );
}

#[test]
fn each_step_gains_over_the_one_before_and_over_the_start() {
    let home = Home::new();
    let run = measure(&home, "j.ron", &STEPS, &["--journey", "--batch", "1,4"]);
    assert_eq!(run.status, Some(0), "{run:#?}");
    let told = home.run(&["journey", "j.ron", "--json"]);
    assert_eq!(told.status, Some(0), "{told:#?}");
    let steps = steps(&told);
    let titles: Vec<&str> = steps
        .iter()
        .filter_map(|step| step["title"].as_str())
        .collect();
    assert_eq!(
        titles,
        [
            "fake:cpu",
            "fake:cpu,fixed=300",
            "fake:cpu,fixed=150,item=100",
            "Batch 4"
        ]
    );
    assert_eq!(steps[0]["over_before"], Value::Null);
    assert_eq!(steps[0]["over_start"], Value::Null);
    // 1000, 500 and 250 µs, then 550 µs for four.
    let wanted = [
        (2.0, 2.0),
        (2.0, 4.0),
        (4.0 * 250.0 / 550.0, 4.0 * 1000.0 / 550.0),
    ];
    for (step, (before, start)) in steps[1..].iter().zip(wanted) {
        let (over_before, over_start) = (gain(step, "over_before"), gain(step, "over_start"));
        assert!(near(over_before, before), "{over_before}, {before}");
        assert!(near(over_start, start), "{over_start}, {start}");
        assert_eq!(step["over_before"]["verdict"], "faster");
    }
    let per_item = |step: usize| steps[step]["over_before"]["per_item"].clone();
    assert_eq!((per_item(2), per_item(3)), (false.into(), true.into()));

    let text = home.run(&["journey", "j.ron"]).out;
    for word in [
        "vs. previous",
        "vs. baseline",
        "Batch 4",
        "2.00 ×",
        "faster",
    ] {
        assert!(text.contains(word), "no \"{word}\" in:\n{text}");
    }
    assert!(text.contains("compared by the time of an item"), "{text}");
    // In the order of the plan above, and by effect in a line of its own.
    assert!(text.contains("· By effect: 1"), "{text}");
    assert!(steps[0]["rank"].is_null() && steps[1]["rank"].is_array());
    let shown = home.run(&["show", "j.ron"]).out;
    assert!(shown.contains("vs. previous"), "{shown}");
}

#[test]
fn a_step_that_fails_keeps_its_place_and_the_next_looks_past_it() {
    let home = Home::new();
    let setups = ["fake", "fake,fail=load-unsupported", "fake,fixed=300"];
    let run = measure(&home, "j.ron", &setups, &["--journey", "--batch", "1"]);
    assert_eq!(run.status, Some(2), "{run:#?}");
    let told = home.run(&["journey", "j.ron", "--json"]);
    let steps = steps(&told);
    assert_eq!(steps.len(), 3);
    assert!(steps[1]["trouble"].is_string(), "{:#}", steps[1]);
    assert_eq!(steps[1]["over_before"], Value::Null);
    let over_before = gain(&steps[2], "over_before");
    assert!(near(over_before, 2.0), "{over_before}");
    assert_eq!(steps[2]["over_before"]["before"]["setup"], "fake:cpu");
    let text = home.run(&["journey", "j.ron"]).out;
    assert!(text.contains("was not measured:"), "{text}");
}

#[test]
fn setups_of_a_session_without_a_ladder_are_alternatives() {
    let home = Home::new();
    let run = measure(&home, "plain.ron", &STEPS, &["--batch", "1,4"]);
    assert_eq!(run.outcomes().len(), 6, "{run:#?}");
    let batches = |args: &[&str]| -> Vec<u64> {
        let told = home.run(&[&["journey", "plain.ron", "--json"], args].concat());
        let steps = steps(&told);
        steps
            .iter()
            .filter_map(|step| step["batch"].as_u64())
            .collect()
    };
    assert_eq!(batches(&[]), [1, 1, 1]);
    assert_eq!(batches(&["--batch", "4"]), [4, 4, 4]);
    let told = home.run(&["steps", "plain.ron", "--json"]);
    assert_eq!(told.json()["is_ladder"], false);
    let last = steps(&told).pop().expect("a setup");
    assert_eq!(last["over_before"], Value::Null);
    assert_eq!(last["pays_after_runs"], Value::Null);
    assert!(near(gain(&last, "over_start"), 4.0), "{last:#}");
    let text = home.run(&["steps", "plain.ron"]).out;
    for word in ["vs. previous", "Break-even", "Step"] {
        assert!(!text.contains(word), "\"{word}\" in:\n{text}");
    }
    assert!(
        text.contains("vs. baseline") && text.contains("are alternatives"),
        "{text}"
    );
    home.run(&["journey", "plain.ron", "--batch", "3"])
        .fails_saying(&["no batch 3", "1, 4"]);
    home.run(&["journey", "nowhere.ron"])
        .fails_saying(&["nowhere.ron"]);
}

#[test]
fn plans_that_come_ready_are_listed_where_none_is_meant() {
    let home = Home::new();
    home.run(&["bench", "--ladder", "nonesuch"]).fails_saying(&[
        "no ladder \"nonesuch\"",
        "resnet50-case-study",
        "densenet121-suite",
        "everything",
    ]);
    let mixed = home.run(&["bench", "--ladder", "everything", "--setup", "fake"]);
    mixed.fails_saying(&["--ladder", "--setup"]);
    assert!(home.run(&["bench"]).status == Some(2));
}
