//! Every call that changes a file fails once, or from then on: what was measured is saved, or in the journal, or at
//! least printed; files are whole or not there; what was there before is untouched.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::OnceLock;

use powerband_core::domain::session::Session;
use powerband_store::{journal, session_file};

use super::{compiled, source};
use crate::models::good_model;
use crate::support::{Home, ProgramRun, component, files};

/// `ENOSPC`, `EIO` and `EDQUOT`, in turns.
const ERRORS: [i32; 3] = [28, 5, 122];
/// No command does this many calls that change files.
const MOST: usize = 400;

/// The program that lets calls fail; nothing where it cannot be built, or the kernel does not let it.
fn injector() -> Option<&'static Path> {
    static BUILT: OnceLock<Option<PathBuf>> = OnceLock::new();
    let built = BUILT.get_or_init(|| {
        let built = compiled("faults", &source("faults.c"), &[])?;
        let home = Home::new();
        let trial = [".", "1", "5", "once", "count", "true"];
        let tried = home.command_of(&built, &trial).output();
        let is_allowed = tried.is_ok_and(|output| output.status.code() == Some(0));
        let needs = "a kernel that lets programs watch their calls (SECCOMP_RET_USER_NOTIF)";
        component(is_allowed.then_some(built), needs)
    });
    built.as_deref()
}

/// One way to fail.
#[derive(Clone, Copy, Debug)]
struct Fault {
    /// Which call, from 1.
    at: usize,
    error: i32,
    /// Whether all later ones fail too, as on a disk that stays full.
    goes_on: bool,
}

/// Runs the program with one fault below its home; the call that failed, or nothing where it came to its end before.
fn run_with(home: &Home, fault: Fault, args: &[&str]) -> Option<(ProgramRun, String)> {
    let numbers = [fault.at.to_string(), fault.error.to_string()];
    let folder = home.path("home").display().to_string();
    let count = home.path("count");
    let told = count.display().to_string();
    let mut all = vec![&*folder, &numbers[0], &numbers[1]];
    all.extend([if fault.goes_on { "on" } else { "once" }, &told]);
    all.push(env!("CARGO_BIN_EXE_powerband"));
    all.extend(args);
    let output: Output = home
        .command_of(injector()?, &all)
        .env("TMPDIR", home.path("home"))
        .output()
        .expect("the program starts");
    let said = fs::read_to_string(&count).expect("the number of calls");
    let (_, failed) = said.trim().split_once(' ')?;
    Some((ProgramRun::from_output(&output), failed.to_owned()))
}

/// Runs a command with each fault in turn, each time in a home of its own; the calls that failed.
fn under_faults(
    goes_on: bool,
    prepare: impl Fn(&Home),
    args: &[&str],
    check: impl Fn(&Home, &ProgramRun, &str),
) -> Vec<String> {
    let mut failed = Vec::new();
    for at in 1..MOST {
        let home = Home::new();
        fs::create_dir_all(home.path("home/sessions")).expect("a file of the test");
        prepare(&home);
        let fault = Fault {
            at,
            error: ERRORS[at % ERRORS.len()],
            goes_on,
        };
        let Some((run, call)) = run_with(&home, fault, args) else {
            break;
        };
        let what = format!("{call} ({fault:?})");
        assert!(matches!(run.status, Some(0..=2)), "{what}: {run:#?}");
        assert!(!run.err.contains("panicked"), "{what}: {run:#?}");
        check(&home, &run, &what);
        failed.push(call);
    }
    assert!(
        !failed.is_empty() && failed.len() < MOST - 1,
        "{failed:?} of {args:?}"
    );
    failed
}

/// Goes through all faults of a command that leaves what is in the home as it was.
fn each_fault(prepare: impl Fn(&Home), args: &[&str], check: impl Fn(&Home, &ProgramRun, &str)) {
    let before = RefCell::new(BTreeMap::new());
    let prepare = |home: &Home| {
        prepare(home);
        before.replace(contents(&home.path("home")));
    };
    let is_target = |path: &Path| path.parent().is_some_and(|folder| folder.ends_with("out"));
    for goes_on in [false, true] {
        under_faults(goes_on, prepare, args, |home, run, what| {
            for (path, bytes) in before
                .take()
                .into_iter()
                .filter(|(path, _)| !is_target(path))
            {
                assert_eq!(
                    fs::read(&path).ok(),
                    Some(bytes),
                    "{what}: {}",
                    path.display()
                );
            }
            check(home, run, what);
        });
    }
}

/// All files below a folder.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for path in files(folder) {
        if path.is_dir() {
            found.append(&mut contents(&path));
        } else {
            found.insert(path.clone(), fs::read(&path).expect("a file of the test"));
        }
    }
    found
}

fn rounds(session: &Session) -> usize {
    session.cases.iter().map(|case| case.rounds.len()).sum()
}

/// The setup that is measured: `POWERBAND_ABUSE_SETUP=rten` takes a real engine, and minutes.
fn setup() -> String {
    std::env::var("POWERBAND_ABUSE_SETUP").unwrap_or_else(|_| "fake".to_owned())
}

#[test]
fn a_run_whose_writes_fail_loses_nothing_that_it_could_keep() {
    if injector().is_none() {
        return;
    }
    let with_session = Home::new();
    with_session.write("good.onnx", good_model());
    let bench = |batch: &'static str| {
        let setup = setup();
        let args = ["bench", "good.onnx", "--setup", &setup, "--batch", batch];
        let rest = ["--preset", "quick", "--rounds", "2", "--json"];
        let all = args.into_iter().chain(rest).map(str::to_owned);
        all.collect::<Vec<_>>()
    };
    let earlier = bench("1");
    let earlier: Vec<&str> = earlier.iter().map(String::as_str).collect();
    assert_eq!(with_session.run(&earlier).status, Some(0));
    let old = files(&with_session.path("home/sessions"));
    let old = old
        .into_iter()
        .find(|path| path.is_file())
        .expect("a file of the test");
    let bytes = fs::read(&old).expect("a file of the test");
    let prepare = |home: &Home| {
        home.write("good.onnx", good_model());
        home.write("home/sessions/old.ron", &bytes);
        home.write("home/settings.ron", "()");
    };
    let args = bench("1,2");
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    each_fault(prepare, &args, check_run);
}

fn check_run(home: &Home, run: &ProgramRun, what: &str) {
    let whole = "a session that is whole";
    let aside = files(&home.path("home")).into_iter();
    let aside = aside.filter(|path| path.to_string_lossy().contains("/powerband-unsaved-"));
    let aside = aside.flat_map(|folder| files(&folder));
    let sessions: Vec<Session> = files(&home.path("home/sessions"))
        .into_iter()
        .chain(aside)
        .filter(|path| path.extension().is_some_and(|end| end == "ron"))
        .filter(|path| !path.ends_with("old.ron"))
        .map(|path| session_file::read(&path).expect(whole).session)
        .collect();
    let document = run.json();
    let printed = document["cases"].as_array().expect("cases").iter();
    let printed: u64 = printed
        .map(|case| case["rounds"].as_u64().unwrap_or(0))
        .sum();
    assert_eq!(printed, 4, "{what}: {run:#?}");
    if run.err.contains("Saved to ") {
        let [saved] = &sessions[..] else {
            panic!("{what}: {} sessions, {run:#?}", sessions.len());
        };
        assert_eq!((run.status, rounds(saved)), (Some(0), 4), "{what}");
        return;
    }
    assert_eq!(
        (run.status, sessions.len()),
        (Some(2), 0),
        "{what}: {run:#?}"
    );
    assert!(run.err.contains("the session was not saved"), "{what}");
    let journals = home.journals();
    let recovered = journals.first().map(|path| journal::recover(path));
    let recovered = recovered.map(|session| session.map(|session| rounds(&session)));
    let is_partial = run
        .err
        .contains("its journal has what was measured until it could not be written");
    let is_all = run.err.contains("its journal has it all");
    match recovered {
        // The events after the last round may be missing.
        Some(Ok(4)) => assert!(is_all || is_partial, "{what}: {}", run.err),
        Some(Ok(_)) => assert!(is_partial, "{what}: {}", run.err),
        None | Some(Err(_)) => assert!(!is_all && !is_partial, "{what}: {}", run.err),
    }
}

/// Goes through all faults of a command that writes a file: it is the old one, or none, or whole.
fn writes_whole_or_not(args: &[&str], to: &str, end: &str) {
    if injector().is_none() {
        return;
    }
    let session = measured();
    for old in [None, Some("old")] {
        let prepare = |home: &Home| {
            home.write("good.onnx", good_model());
            home.write("home/settings.ron", "()");
            home.write("home/sessions/a.ron", &session);
            fs::create_dir(home.path("home/out")).expect("a file of the test");
            if let Some(old) = old {
                home.write(to, old);
            }
        };
        each_fault(prepare, args, |home, run, what| {
            let found = fs::read_to_string(home.path(to)).ok();
            let is_old = found.as_deref() == old;
            let is_new = found.is_some_and(|text| text.trim_end().ends_with(end));
            if run.status == Some(0) {
                assert!(is_new, "{what}: {run:#?}");
            } else {
                run.fails_saying(&["os error"]);
                assert!(is_old || is_new, "{what}: {run:#?}");
            }
        });
    }
}

fn measured() -> Vec<u8> {
    let home = Home::new();
    home.write("good.onnx", good_model());
    let bench = [
        "bench",
        "good.onnx",
        "--setup",
        "fake",
        "--setup",
        "fake,noise=2",
    ];
    let rest = ["--preset", "quick", "--rounds", "3", "--out", "a.ron"];
    assert_eq!(home.run(&[&bench[..], &rest].concat()).status, Some(0));
    fs::read(home.path("a.ron")).expect("a file of the test")
}

#[test]
fn what_is_exported_is_whole_or_not_there() {
    let session = "home/sessions/a.ron";
    let export = |to| ["export", session, "--chart", "latency", "--to", to];
    let svg = "home/out/new.svg";
    writes_whole_or_not(&export(svg), svg, "</svg>");
    let json = "home/out/new.json";
    writes_whole_or_not(&["export", session, "--to", json], json, "}");
}

#[test]
fn a_report_is_whole_or_not_there() {
    let session = "home/sessions/a.ron";
    let html = "home/out/new.html";
    writes_whole_or_not(&["report", session, "--to", html], html, "</html>");
    let xml = "home/out/new.xml";
    let junit = ["compare", session, "--junit", xml];
    writes_whole_or_not(&junit, xml, "</testsuites>");
}

#[test]
fn a_report_with_pictures_names_none_that_is_missing() {
    if injector().is_none() {
        return;
    }
    let session = measured();
    let to = "home/out/new.md";
    let args = ["report", "home/sessions/a.ron", "--to", to];
    let prepare = |home: &Home| {
        home.write("home/sessions/a.ron", &session);
        fs::create_dir(home.path("home/out")).expect("a file of the test");
    };
    each_fault(prepare, &args, |home, run, what| {
        let Ok(text) = fs::read_to_string(home.path(to)) else {
            run.fails_saying(&["os error"]);
            return;
        };
        let named = text
            .split("](")
            .skip(1)
            .filter_map(|rest| rest.split(')').next());
        let named: Vec<&str> = named.filter(|name| name.contains("new.files/")).collect();
        assert!(!named.is_empty(), "{text}");
        for picture in named {
            let picture = fs::read_to_string(home.path("home/out").join(picture));
            let is_whole = picture.is_ok_and(|text| text.trim_end().ends_with("</svg>"));
            assert!(is_whole, "{what}: {run:#?}");
        }
    });
}

#[test]
fn a_network_is_written_whole_or_not() {
    if injector().is_none() {
        return;
    }
    let to = "home/out/new.onnx";
    let args = ["model", "good.onnx", "--precision", "fp16", "--write", to];
    let prepare = |home: &Home| {
        home.write("good.onnx", good_model());
        fs::create_dir(home.path("home/out")).expect("a file of the test");
    };
    each_fault(prepare, &args, |home, run, what| {
        let shown = home.path(to).exists().then(|| home.run(&["model", to]));
        let is_whole = shown.map(|shown| shown.status);
        let expected = (run.status == Some(0)).then_some(Some(0));
        assert!(
            is_whole == expected || is_whole == Some(Some(0)),
            "{what}: {is_whole:?} {run:#?}"
        );
    });
}

#[test]
fn a_run_that_is_recovered_is_never_in_neither_place() {
    if injector().is_none() {
        return;
    }
    let lines = journal_of_a_run();
    let prepare = |home: &Home| {
        fs::create_dir(home.path("home/sessions/journals")).expect("a file of the test");
        home.write("home/sessions/journals/run.jsonl", &lines);
    };
    let is_kept = |path: &Path| fs::read(path).ok().as_deref() == Some(lines.as_bytes());
    for goes_on in [false, true] {
        let failed = under_faults(goes_on, prepare, &["recover"], |home, run, what| {
            let mut sessions = files(&home.path("home/sessions"));
            sessions.retain(|path| path.extension().is_some_and(|end| end == "ron"));
            for path in &sessions {
                let session = session_file::read(path).expect("a whole session").session;
                assert_eq!(rounds(&session), 4, "{what}");
            }
            let journals = home.journals();
            let has_journal = journals.first().is_some_and(|path| is_kept(path));
            assert!(has_journal || sessions.len() == 1, "{what}: {run:#?}");
            if run.status != Some(0) {
                run.fails_saying(&["os error"]);
            }
        });
        assert!(failed.len() >= 5, "{failed:?}");
    }
}

/// The journal of a run whose session could not be saved.
fn journal_of_a_run() -> String {
    for at in 1..MOST {
        let home = Home::new();
        home.write("good.onnx", good_model());
        fs::create_dir_all(home.path("home/sessions")).expect("a file of the test");
        let bench = ["bench", "good.onnx", "--setup", "fake", "--batch", "1,2"];
        let rest = ["--preset", "quick", "--rounds", "2"];
        let fault = Fault {
            at,
            error: 28,
            goes_on: true,
        };
        let ran = run_with(&home, fault, &[&bench[..], &rest].concat());
        let (run, _) = ran.expect("a write of the session that fails");
        if run.err.contains("has it all") {
            return fs::read_to_string(&home.journals()[0]).expect("a file of the test");
        }
    }
    panic!("no journal has it all");
}
