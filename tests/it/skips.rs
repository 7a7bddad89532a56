//! Tests that were passed over, counted in one line after all others: the harness shows nothing of what a test prints
//! that passes.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write as _};
use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::support::{Home, ProgramRun, skipped};

/// Names of tests by what they need.
static SKIPS: Mutex<BTreeMap<String, BTreeSet<String>>> = Mutex::new(BTreeMap::new());

/// Counts the test that runs on this thread as skipped.
#[expect(
    unsafe_code,
    reason = "the harness has nothing that is called after the last test"
)]
pub(crate) fn count(what: &str) {
    let mut skips = SKIPS.lock().unwrap_or_else(PoisonError::into_inner);
    if skips.is_empty() {
        // SAFETY: the function is there as long as the process, and unwinds into nothing.
        unsafe { libc::atexit(print) };
    }
    let names = skips.entry(what.to_owned()).or_default();
    let name = match thread::current().name() {
        Some(name) if name != "main" => name.to_owned(),
        // One after the other on the main thread, tests have no names.
        _ => names.len().to_string(),
    };
    names.insert(name);
}

/// Called when the process ends. Standard error itself is not captured.
extern "C" fn print() {
    let skips = SKIPS.lock().unwrap_or_else(PoisonError::into_inner);
    drop(writeln!(io::stderr(), "{}", summary(&skips)));
}

fn summary(skips: &BTreeMap<String, BTreeSet<String>>) -> String {
    let tests: BTreeSet<&String> = skips.values().flatten().collect();
    let needs: Vec<String> = skips
        .iter()
        .map(|(what, names)| format!("{what} ({})", names.len()))
        .collect();
    let count = match tests.len() {
        1 => "1 test".to_owned(),
        count => format!("{count} tests"),
    };
    format!("{count} skipped, for want of: {}", needs.join("; "))
}

/// Set in the process that skips.
const SKIPPING: &str = "POWERBAND_TEST_SKIPS";

#[test]
fn skipped_tests_are_counted_in_a_last_line() {
    if std::env::var_os(SKIPPING).is_some() {
        skipped("a calm machine");
        skipped("a calm machine");
        return;
    }
    let itself = std::env::current_exe().expect("the test binary");
    let test = "skips::skipped_tests_are_counted_in_a_last_line";
    let mut command = Home::new().command_of(&itself, &["--exact", test]);
    command.current_dir("/").env(SKIPPING, "yes");
    let run = ProgramRun::from_output(&command.output().expect("the test binary starts"));
    assert_eq!(run.status, Some(0), "{run:#?}");
    assert_eq!(
        run.err.lines().last(),
        Some("1 test skipped, for want of: a calm machine (1)"),
        "{run:#?}"
    );
    let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    let skips = [
        ("a compiler".to_owned(), names(&["a", "b"])),
        ("root".to_owned(), names(&["b"])),
    ];
    assert_eq!(
        summary(&skips.into()),
        "2 tests skipped, for want of: a compiler (2); root (1)"
    );
}
