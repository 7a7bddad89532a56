//! A wall clock that jumps while a run goes on, as when it is set: no time that is measured is of that clock.

use super::{compiled, source};
use crate::models::good_model;
use crate::support::Home;
use powerband_core::base::clock;

/// Minutes since the beginning of a month.
fn minutes(moment: &str) -> u32 {
    let part = |from: usize| -> u32 { moment[from..from + 2].parse().expect("digits") };
    (part(8) * 24 + part(11)) * 60 + part(14)
}

#[test]
fn a_wall_clock_that_jumps_changes_no_measurement() {
    let flags = ["-shared", "-fPIC", "-ldl"];
    let Some(shim) = compiled("clocks.so", &source("clocks.c"), &flags) else {
        return;
    };
    let home = Home::new();
    home.write("good.onnx", good_model());
    let setup = "fake,sleep=yes,fixed=2000,item=0";
    let args = ["bench", "good.onnx", "--setup", setup, "--batch", "1"];
    let rest = ["--preset", "quick", "--rounds", "3", "--out", "a.ron"];
    let args = [&args[..], &rest, &["--json"]].concat();
    let run = home.run_with(&args, &[("LD_PRELOAD", &shim)]);
    assert_eq!(run.status, Some(0), "{}", run.err);
    let document = run.json();
    // The shim has an effect: the session is from an hour ahead or from yesterday.
    let created = document["created"].as_str().expect("a moment");
    let apart = minutes(created).abs_diff(minutes(&clock::now_utc()));
    assert!(apart > 30, "{created}");
    let case = &document["cases"][0];
    assert_eq!(case["rounds"], 3, "{case}");
    // Each run sleeps for two milliseconds; a jump would be hours.
    for name in ["min", "median", "max"] {
        let ms = case["latency_ms"][name].as_f64().expect("a time");
        assert!((2.0..2_000.0).contains(&ms), "{name}: {case}");
    }
    let warnings = document["warnings"].to_string();
    assert!(!warnings.contains("suspended"), "{warnings}");
    let shown = home.run(&["show", "a.ron"]);
    let head = shown.out.lines().find(|line| line.contains("quick preset"));
    let head = head.unwrap_or_default();
    assert!(head.ends_with(" s"), "the whole took seconds: {head}");
    // More rounds join it, though it may be from tomorrow.
    let more = home.run_with(
        &["bench", "--more", "a.ron", "--rounds", "1", "--json"],
        &[("LD_PRELOAD", &shim)],
    );
    assert_eq!(more.json()["cases"][0]["rounds"], 4, "{}", more.err);
}
