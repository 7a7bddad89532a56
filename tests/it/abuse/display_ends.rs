//! An X server that is killed while the window is open, at rest and in the middle of a run.

use std::thread;
use std::time::{Duration, Instant};

use crate::real_window::{RealDesk, draft};
use crate::support::processes_in;

#[test]
fn a_window_at_rest_ends_with_a_sentence() {
    let Some(desk) = RealDesk::find() else {
        return;
    };
    desk.plan(&draft());
    let window = desk.open();
    window.drawn();
    desk.crash_display();
    let (status, said) = window.ends();
    assert_eq!(status, Some(2), "{said}");
    assert!(said.contains("its display ended"), "{said}");
    assert!(!said.contains("recover"), "{said}");
}

#[test]
fn a_run_is_recovered_at_the_next_start_and_no_worker_is_left() {
    let Some(mut desk) = RealDesk::find() else {
        return;
    };
    let window = desk.in_mid_run();
    assert!(processes_in(&desk.home).len() > 1, "a program and a worker");
    desk.crash_display();
    let (status, said) = window.ends();
    assert_eq!(status, Some(2), "{said}");
    for words in ["its display ended", "interrupted", "powerband recover"] {
        assert!(said.contains(words), "{said}");
    }
    let deadline = Instant::now() + Duration::from_secs(20);
    while !processes_in(&desk.home).is_empty() {
        assert!(Instant::now() < deadline, "{:?}", processes_in(&desk.home));
        thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(desk.home.journals().len(), 1);
    assert!(desk.sessions().is_empty());
    desk.renew_display();
    let again = desk.open();
    again.drawn();
    again.command("recover interrupted runs");
    let path = again.until("a recovered session", |_| {
        desk.sessions().into_iter().next()
    });
    let session = desk.show(&path);
    let cases = session["cases"].as_array().expect("cases");
    let samples = cases.iter().filter_map(|case| case["samples"].as_u64());
    assert!(samples.sum::<u64>() > 0, "{session:#}");
    desk.keys("ctrl+q");
    again.ends_well();
    assert!(desk.home.journals().is_empty());
}
