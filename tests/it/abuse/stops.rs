//! Workers that are stopped by a signal in the middle of a round: that is no sample, and the round is measured again.

use std::fs;
use std::process::Child;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::models::good_model;
use crate::support::{Home, ProgramRun, processes_with};

/// A run whose rounds, of a second each, follow one another.
fn started(home: &Home, rest: &[&str]) -> Child {
    home.write("good.onnx", good_model());
    let setup = "fake,sleep=yes,fixed=2000,item=0";
    let args = ["bench", "good.onnx", "--setup", setup, "--batch", "1"];
    let preset = [
        "--preset",
        "standard",
        "--rounds",
        "3",
        "--spacing",
        "0s",
        "--json",
    ];
    let mut command = home.command(&[&args[..], &preset, rest].concat());
    command.stdout(std::process::Stdio::piped());
    command.stderr(std::process::Stdio::piped());
    command.spawn().expect("the program starts")
}

/// The worker of a program, once its first round is over: it is in the next one then, or soon will be.
fn worker_of(home: &Home, program: &Child) -> Pid {
    home.until_measured(1);
    let folder = format!("/proc/{0}/task/{0}/children", program.id());
    let deadline = Instant::now() + Duration::from_mins(1);
    while Instant::now() < deadline {
        let children = fs::read_to_string(&folder).unwrap_or_default();
        let pids = children
            .split_whitespace()
            .filter_map(|pid| pid.parse().ok());
        let is_worker = |pid: &i32| {
            let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&line).contains("\0worker\0")
        };
        if let Some(pid) = pids.filter(is_worker).find_map(Pid::from_raw) {
            return pid;
        }
        thread::sleep(Duration::from_millis(20));
    }
    panic!("no worker: {:?}", processes_with("powerband"));
}

fn ended(program: Child) -> (ProgramRun, Value) {
    let run = ProgramRun::from_output(&program.wait_with_output().expect("the program ends"));
    let document = run.json();
    (run, document)
}

#[test]
fn a_worker_that_is_stopped_gives_no_sample_of_that_time() {
    // Also for less than the time between two looks.
    for stop in [Duration::from_millis(60), Duration::from_millis(900)] {
        let home = Home::new();
        let program = started(&home, &[]);
        let worker = worker_of(&home, &program);
        thread::sleep(Duration::from_millis(200));
        kill_process(worker, Signal::STOP).expect("a signal");
        thread::sleep(stop);
        kill_process(worker, Signal::CONT).expect("a signal");
        let (run, document) = ended(program);
        let warnings = document["warnings"].to_string();
        assert!(warnings.contains("stopped by a signal"), "{warnings}");
        assert_eq!(run.status, Some(0), "{}", run.err);
        let case = &document["cases"][0];
        assert_eq!(case["rounds"], 3, "{case}");
        let longest = case["latency_ms"]["max"].as_f64().expect("a time");
        // Other programs may hold up a sample for a moment, too.
        assert!(longest < 900.0, "{longest} {warnings}");
    }
}

#[test]
fn a_worker_that_stays_stopped_ends_its_case_with_the_reason() {
    let home = Home::new();
    let program = started(&home, &["--timeout", "3"]);
    let worker = worker_of(&home, &program);
    thread::sleep(Duration::from_millis(200));
    kill_process(worker, Signal::STOP).expect("a signal");
    let (run, document) = ended(program);
    assert_eq!(run.status, Some(2), "{}", run.err);
    let reason = document["cases"][0]["reason"].to_string();
    assert!(reason.contains("stopped by a signal"), "{reason}");
}

#[test]
fn a_program_that_is_stopped_while_its_worker_runs_measures_on() {
    let home = Home::new();
    let program = started(&home, &[]);
    worker_of(&home, &program);
    thread::sleep(Duration::from_millis(200));
    let own = Pid::from_raw(program.id() as i32).expect("a process");
    kill_process(own, Signal::STOP).expect("a signal");
    thread::sleep(Duration::from_millis(2_500));
    kill_process(own, Signal::CONT).expect("a signal");
    let (run, document) = ended(program);
    assert_eq!(run.status, Some(0), "{}", run.err);
    assert_eq!(document["cases"][0]["rounds"], 3);
    let warnings = document["warnings"].to_string();
    assert!(!warnings.contains("stopped together"), "{warnings}");
}
