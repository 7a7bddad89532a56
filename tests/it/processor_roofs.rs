//! The child processes that measure the processor and that keep it busy, as the program starts them.

use std::path::Path;
use std::time::{Duration, Instant};

use powerband_core::base::cancel::CancelToken;
use powerband_runner::roofs::neighbour::{self, BackgroundLoadKind};
use powerband_runner::roofs::{self, RoofError};

use crate::support::{Home, processes_with};

fn program() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_powerband"))
}

fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_mins(1);
    while !done() {
        assert!(Instant::now() < deadline, "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_roof_comes_as_lines_and_instructions_can_be_left_out() {
    let home = Home::new();
    let only = ["worker", "processor", "--only", "fp32 peak, 1 thread"];
    let all = home.run(&only);
    assert_eq!(all.status, Some(0), "{all:#?}");
    if !cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) {
        return;
    }
    let of = |text: &str| {
        let lines = text.lines().map(|line| -> serde_json::Value {
            serde_json::from_str(line).expect("each line is JSON")
        });
        let roofs: Vec<serde_json::Value> = lines
            .filter_map(|line| line.get("Compute").cloned())
            .collect();
        assert_eq!(roofs.len(), 1, "{text}");
        roofs[0].clone()
    };
    let best = of(&all.out);
    assert_eq!(
        (&best["numbers"], &best["threads"]),
        (&"F32".into(), &1.into())
    );
    assert!(
        all.out
            .trim_end()
            .lines()
            .last()
            .unwrap()
            .starts_with("{\"Done\"")
    );
    let code = best["code"].as_str().unwrap();
    if code != "SSE" && code != "NEON" {
        let rest = home.run(&[&only[..], &["--without", code]].concat());
        assert_ne!(of(&rest.out)["code"], best["code"]);
    }
}

#[test]
fn measuring_can_be_cancelled_and_leaves_nothing_running() {
    let cancel = CancelToken::default();
    let mut steps = Vec::new();
    let ended = roofs::measure_processor(program(), &cancel, &mut |progress| {
        cancel.cancel();
        steps.push(progress);
    });
    assert!(matches!(ended, Err(RoofError::Cancelled)), "{ended:?}");
    let [first, ..] = steps.as_slice() else {
        panic!("no progress");
    };
    assert_eq!(
        (first.done, first.what.as_str()),
        (0, "memory copy, 1 thread")
    );
    assert!(first.of > 10, "{first:?}");
}

#[test]
fn a_neighbour_works_until_it_is_dropped() {
    for kind in BackgroundLoadKind::ALL {
        // No other test has this order of processors.
        let words = "worker neighbour 0 0 0";
        let mut neighbour = neighbour::start(program(), &[0, 0, 0]).unwrap();
        neighbour.switch_to(Some(kind)).unwrap();
        assert!(neighbour.is_working());
        assert_eq!(processes_with(words).len(), 1);
        drop(neighbour);
        wait_until("it is gone", || processes_with(words).is_empty());
    }
}

#[test]
fn a_neighbour_does_not_outlive_who_started_it() {
    let home = Home::new();
    let mut command = home.command(&["worker", "neighbour", "0", "0"]);
    let mut child = command
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_millis(200));
    assert!(child.try_wait().unwrap().is_none());
    // What the kernel does where the one who started it ends in any way.
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
}
