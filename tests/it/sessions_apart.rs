//! Two sessions that were not interleaved: what earlier sessions of the library differ by counts.

use std::fs;
use std::path::Path;

use powerband_store::session_file;

use crate::support::{Home, ProgramRun};
use crate::verdicts::{measure, verdicts};

/// Five earlier sessions in the library show that sessions differ by a tenth, and a difference of a fifth is no change;
/// where they hardly differ, it is one.
#[test]
fn what_sessions_differ_by_is_no_change() {
    let home = Home::new();
    let library = home.path("home/sessions");
    fs::create_dir_all(&library).expect("a library");
    measure(
        &home,
        "a.ron",
        &["fake"],
        &["--batch", "1", "--rounds", "4"],
    );
    let session = session_file::read(&home.path("a.ron")).expect("a session");
    let session = session.session;
    let write = |path: &Path, day: usize, times: f64| {
        let mut session = session.clone();
        session.created = format!("2001-01-{day:02}T00:00:00Z");
        session.plan.seed = day as u64;
        for round in &mut session.cases[0].rounds {
            for sample in &mut round.samples_ns {
                *sample = (*sample as f64 * times) as u64;
            }
        }
        session_file::write(path, &session).expect("a place for it");
    };
    let earlier = |spread: f64| {
        for (day, draw) in (1..).zip([0.0, 1.1, -0.9, 0.7, -1.0, 0.2]) {
            write(
                &library.join(format!("{day}.ron")),
                day,
                1.0 + spread * draw,
            );
        }
    };
    write(&home.path("a.ron"), 7, 1.0);
    write(&home.path("b.ron"), 8, 1.2);
    let compared = || home.run(&["compare", "a.ron", "b.ron", "--json"]);
    let reason = |run: &ProgramRun| {
        let reason = &run.json()["comparisons"][0]["pairs"][0]["reason"];
        reason.as_str().unwrap_or_default().to_owned()
    };
    // Without earlier ones.
    assert_eq!(verdicts(&compared()), ["inconclusive"]);
    earlier(0.1);
    let found = compared();
    assert_eq!(verdicts(&found), ["inconclusive"]);
    let words = "not interleaved; 6 sessions here differ by 8.";
    assert!(reason(&found).starts_with(words), "{}", reason(&found));
    earlier(0.01);
    let found = compared();
    assert_eq!(verdicts(&found), ["slower"]);
    let words = "not interleaved; 6 sessions here differ by 0.8";
    assert!(reason(&found).starts_with(words), "{}", reason(&found));
    // The report has the same verdict.
    let report = ["report", "a.ron", "b.ron", "--to", "r.md"];
    assert_eq!(home.run(&report).status, Some(0));
    let report = fs::read_to_string(home.path("r.md")).expect("a report");
    assert!(report.contains("6 sessions here differ by 0.8"), "{report}");
}
