//! A disk that is really full, and folders that cannot be written to.

use std::fs;
use std::io::Write as _;
use std::process::Command;

use powerband_core::domain::event::{RunEvent, TimedEvent};
use powerband_store::journal::{self, AppendOutcome, Journal, JournalExtent};
use powerband_store::session_file;

use crate::models::good_model;
use crate::support::{Home, Mount, ProgramRun, component, files, onnxruntime};

/// Measures with everything that is kept on a small file system.
fn bench(home: &Home, rest: &[&str]) -> ProgramRun {
    let args = ["bench", "good.onnx", "--setup", "fake", "--batch", "1..64"];
    let preset = ["--preset", "quick", "--rounds", "2", "--json"];
    let args = [&args[..], &preset, rest].concat();
    home.run_with(&args, &[("TMPDIR", &home.path("home"))])
}

/// A home whose folder is a file system of so many KiB.
fn small_home(kib: u32) -> Option<(Mount, Home)> {
    let home = Home::new();
    home.write("good.onnx", good_model());
    fs::create_dir(home.path("home")).expect("a file of the test");
    let needs = "the right to mount a small file system (root)";
    let mounted = component(Mount::tmpfs(&home.path("home"), kib), needs)?;
    // Unmounted before its folder is removed.
    Some((mounted, home))
}

fn n_rounds(run: &ProgramRun) -> u64 {
    let document = run.json();
    let cases = document["cases"].as_array().expect("cases").iter();
    cases.map(|case| case["rounds"].as_u64().unwrap_or(0)).sum()
}

#[test]
fn a_run_on_a_full_disk_is_printed_and_says_what_is_kept() {
    for kib in [16, 64] {
        let Some((_mounted, home)) = small_home(kib) else {
            return;
        };
        let run = bench(&home, &[]);
        assert_eq!((run.status, n_rounds(&run)), (Some(2), 14), "{}", run.err);
        for word in ["the session was not saved", "No space left on device"] {
            assert!(run.err.contains(word), "{kib}: {}", run.err);
        }
        let left = files(&home.path("home/sessions"));
        let is_session = |path: &std::path::PathBuf| path.extension().is_some();
        assert!(!left.iter().any(is_session), "{left:?}");
        let mut shown = home.run(&["recover", "--out", "a.ron"]);
        if run.err.contains("powerband recover") {
            assert_eq!(shown.status, Some(0), "{kib}: {shown:#?}");
            shown = home.run(&["show", "a.ron", "--json"]);
            assert_eq!(shown.status, Some(0), "{kib}: {shown:#?}");
        } else {
            assert_eq!(shown.status, Some(2), "{kib}: {shown:#?}");
        }
    }
}

#[test]
fn a_session_that_has_no_room_waits_in_the_temporary_folder() {
    let Some((_mounted, home)) = small_home(16) else {
        return;
    };
    let args = ["bench", "good.onnx", "--setup", "fake", "--batch", "1..64"];
    let rest = ["--preset", "quick", "--rounds", "2"];
    let run = home.run(&[&args[..], &rest].concat());
    assert_eq!(run.status, Some(0), "{run:#?}");
    for word in ["No space left on device", "powerband recover", "Saved to"] {
        assert!(run.err.contains(word), "no {word}: {}", run.err);
    }
    let list = home.run(&["recover", "--list"]);
    assert!(list.out.contains("/powerband-unsaved-"), "{list:#?}");
    let recovered = home.run(&["recover", "--out", "a.ron"]);
    assert_eq!(recovered.status, Some(0), "{recovered:#?}");
    let shown = home.run(&["show", "a.ron", "--json"]);
    assert_eq!(n_rounds(&shown), 14, "{shown:#?}");
    let nothing = home.run(&["recover", "--list"]);
    assert!(
        nothing.out.contains("No run was interrupted"),
        "{nothing:#?}"
    );
}

#[test]
fn a_journal_catches_up_when_a_disk_has_room_again() {
    let Some((_mounted, home)) = small_home(1024) else {
        return;
    };
    let mut journal = Journal::create(&home.path("home/sessions"), "run").expect("a journal");
    let measured = bench(&home, &["--out", "a.ron"]);
    assert_eq!(measured.status, Some(0), "{}", measured.err);
    let session = session_file::read(&home.path("a.ron"))
        .expect("a file of the test")
        .session;
    let event = RunEvent::WentOn {
        at: session.created.clone(),
        session: Box::new(session),
    };
    let mut stamped = TimedEvent { at_ns: 0, event };
    assert!(matches!(journal.append(&stamped), AppendOutcome::Written));
    stamped.event = RunEvent::Paused;
    let filler = home.path("home/filler");
    let mut file = fs::File::create(&filler).expect("a file of the test");
    while file.write_all(&[0; 4096]).is_ok() {}
    drop(file);
    let first: Vec<AppendOutcome> = (0..8_000).map(|_| journal.append(&stamped)).collect();
    let failures = first
        .iter()
        .filter(|one| matches!(one, AppendOutcome::Kept(Some(_))));
    assert_eq!(failures.count(), 1, "said once");
    assert_eq!(journal.extent(), JournalExtent::Part);
    fs::remove_file(filler).expect("a file of the test");
    let then = journal.append(&stamped);
    assert!(matches!(then, AppendOutcome::CaughtUp), "{then:?}");
    assert_eq!(journal.extent(), JournalExtent::All);
    let lines = fs::read_to_string(journal.path()).expect("a file of the test");
    assert_eq!(lines.lines().count(), 8_002);
    drop(journal);
    assert!(journal::recover(&home.path("home/sessions/run.jsonl")).is_ok());
}

#[test]
fn a_home_that_cannot_be_written_to_is_said_and_everything_runs() {
    let Some((_mounted, home)) = small_home(512) else {
        return;
    };
    let at = home.path("home").display().to_string();
    #[expect(
        clippy::disallowed_methods,
        reason = "the test makes its own surroundings"
    )]
    let made = Command::new("mount")
        .args(["-o", "remount,ro", &at])
        .status();
    assert!(made.is_ok_and(|status| status.success()));
    let run = bench(&home, &[]);
    assert_eq!((run.status, n_rounds(&run)), (Some(2), 14), "{}", run.err);
    for word in [
        "No journal can be kept",
        "Read-only file system",
        "the session was not saved",
    ] {
        assert!(run.err.contains(word), "{}", run.err);
    }
    let elsewhere = bench(&home, &["--out", "a.ron"]);
    assert_eq!(elsewhere.status, Some(0), "{}", elsewhere.err);
    for args in [
        &["show", "a.ron"][..],
        &["history", "a.ron"],
        &["devices"],
        &["recover", "--list"],
        &["export", "a.ron", "--chart", "latency", "--to", "a.svg"],
    ] {
        let run = home.run(args);
        assert_eq!(run.status, Some(0), "{args:?}: {run:#?}");
    }
    let built_in = home.run(&["model", "resnet18@cifar"]);
    built_in.fails_saying(&["Read-only file system", "set POWERBAND_HOME"]);
}

#[test]
fn half_a_profile_is_none() {
    let Some(library) = component(onnxruntime(), "ONNX Runtime") else {
        return;
    };
    let home = Home::new();
    let folder = home.path("small");
    fs::create_dir(&folder).expect("a folder");
    let needs = "the right to mount a small file system (root)";
    let Some(_mounted) = component(Mount::tmpfs(&folder, 64), needs) else {
        return;
    };
    let words = ["bench", "mobilenetv2", "--setup", "ort:cpu", "--batch", "1"];
    let more = [
        "--preset",
        "quick",
        "--rounds",
        "1",
        "--profile",
        "--out",
        "a.ron",
    ];
    let variables = [("TMPDIR", folder.as_path()), ("ORT_DYLIB_PATH", &library)];
    let run = home.run_with(&[&words[..], &more].concat(), &variables);
    assert_eq!(run.status, Some(0), "{run:#?}");
    let why = "is cut off; is that disk full?";
    assert!(
        run.err.contains("could not be profiled") && run.err.contains(why),
        "{run:#?}"
    );
    let session = session_file::read(&home.path("a.ron")).expect("a session");
    assert!(session.session.profiles.is_empty(), "{run:#?}");
}
