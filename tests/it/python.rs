//! The package `powerband` of Python, from its sources and over the built program: each test of `python.py` in a
//! process and a home of its own, and the notebook of the guide.

use std::path::Path;

use crate::support::{self, Home, ProgramRun};

/// Runs a part of `python.py`, which says by its exit status whether all was as it should be.
fn run(test: &str) {
    let Some(python) = support::torch_python() else {
        return;
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let home = Home::new();
    let script = root.join("tests/it/python.py");
    let mut command = home.command_of(&python, &[&script.to_string_lossy(), test]);
    command
        .env("PYTHONPATH", root.join("python"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("POWERBAND", env!("CARGO_BIN_EXE_powerband"))
        .env("TEST_SOURCES", root);
    let done = ProgramRun::from_output(&command.output().expect("Python starts"));
    assert_eq!(done.status, Some(0), "{test}: {}\n{}", done.out, done.err);
    let left = support::processes_in(&home);
    assert!(left.is_empty(), "{test}: {left:?}");
    if let Some((_, what)) = done.err.split_once("SKIPPED: ") {
        support::component(None::<()>, what.lines().next().unwrap_or_default());
    }
}

#[test]
fn a_session_is_read_as_lists() {
    run("a_session_is_read_as_lists");
}

#[test]
fn a_session_is_read_as_frames() {
    run("a_session_is_read_as_frames");
}

#[test]
fn files_of_other_tools_are_read() {
    run("files_of_other_tools_are_read");
}

#[test]
fn what_cannot_be_read_is_a_sentence() {
    run("what_cannot_be_read_is_a_sentence");
}

#[test]
fn a_program_that_is_missing_or_another_one_is_a_sentence() {
    run("a_program_that_is_missing_or_another_one_is_a_sentence");
}

#[test]
fn a_loop_becomes_a_case() {
    run("a_loop_becomes_a_case");
}

#[test]
fn functions_take_turns_and_get_a_verdict() {
    run("functions_take_turns_and_get_a_verdict");
}

#[test]
fn a_run_ends_when_its_card_has() {
    run("a_run_ends_when_its_card_has");
}

#[test]
fn a_loop_that_ends_early_keeps_what_was_measured() {
    run("a_loop_that_ends_early_keeps_what_was_measured");
}

#[test]
fn ctrl_c_keeps_what_was_measured() {
    run("ctrl_c_keeps_what_was_measured");
}

#[test]
fn an_error_in_a_run_is_the_callers() {
    run("an_error_in_a_run_is_the_callers");
}

#[test]
fn a_fork_has_no_part_in_the_measurement() {
    run("a_fork_has_no_part_in_the_measurement");
}

#[test]
fn a_killed_python_ends_the_run() {
    run("a_killed_python_ends_the_run");
}

#[test]
fn a_program_that_dies_is_a_sentence() {
    run("a_program_that_dies_is_a_sentence");
}

#[test]
fn the_notebook_of_the_guide_runs() {
    run("the_notebook_of_the_guide_runs");
}
