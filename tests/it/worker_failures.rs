//! Everything a worker, or the machine, can do to a run. Each ends one case or one setup, with the right
//! outcome; the others are measured; nothing is left running.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::{self, Home, ProgramRun};

/// The failing setup beside a good one, over batch sizes 1, 2 and 4.
fn bench(home: &Home, failing: &str, rest: &[&str]) -> ProgramRun {
    let args = [
        "bench",
        "resnet18@cifar",
        "--setup",
        failing,
        "--setup",
        "fake",
        "--batch",
        "1,2,4",
    ];
    home.run(
        &[
            &args as &[&str],
            &["--preset", "quick", "--rounds", "2", "--json"],
            rest,
        ]
        .concat(),
    )
}

/// Outcomes of the failing setup; those of the good one must all be good.
fn outcomes(run: &ProgramRun) -> Vec<String> {
    let all = run.outcomes();
    assert_eq!(all.len(), 6, "{run:#?}");
    assert!(
        all[3..].iter().all(|(_, _, outcome)| outcome == "finished"),
        "{run:#?}"
    );
    assert_eq!(run.status, Some(2), "{run:#?}");
    all[..3]
        .iter()
        .map(|(_, _, outcome)| outcome.clone())
        .collect()
}

fn reason(run: &ProgramRun, case: usize) -> String {
    run.json()["cases"][case]["reason"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

#[test]
fn failures_of_one_case_end_that_case_alone() {
    let home = Home::new();
    let cases = [
        ("run-error", "failed", "the run failed, as told"),
        ("run-abort", "crashed", "signal 6"),
        ("run-kill", "crashed", "signal 9"),
        ("run-exit", "crashed", "exit status 3"),
        ("open-error", "failed", "would not bind"),
        ("open-memory", "out-of-memory", "smaller batch"),
    ];
    for (fail, outcome, words) in cases {
        let run = bench(&home, &format!("fake,at=2,fail={fail}"), &[]);
        assert_eq!(outcomes(&run), ["finished", outcome, "finished"], "{fail}");
        assert!(
            reason(&run, 1).contains(words),
            "{fail}: {}",
            reason(&run, 1)
        );
    }
}

#[test]
fn a_model_that_does_not_load_ends_its_setup() {
    let home = Home::new();
    for (fail, outcome) in [
        ("load-error", "failed"),
        ("load-unsupported", "unsupported"),
        ("load-exit", "crashed"),
    ] {
        let run = bench(&home, &format!("fake,fail={fail}"), &[]);
        assert_eq!(outcomes(&run), [outcome; 3], "{fail}");
    }
}

#[test]
fn hanging_is_ended_after_its_time() {
    let home = Home::new();
    let run = bench(&home, "fake,fail=load-hang", &["--timeout", "4"]);
    assert_eq!(outcomes(&run), ["timed-out"; 3]);
    assert!(
        reason(&run, 0).contains("loading the model"),
        "{}",
        reason(&run, 0)
    );
    let run = bench(&home, "fake,at=4,fail=run-hang", &["--timeout", "4"]);
    assert_eq!(outcomes(&run), ["finished", "finished", "timed-out"]);
    assert!(reason(&run, 2).contains("--timeout"), "{}", reason(&run, 2));
}

#[test]
fn what_takes_long_is_told_while_it_is_waited_for() {
    let home = Home::new();
    let run = bench(&home, "fake,fail=load-hang", &["--timeout", "8"]);
    assert_eq!(outcomes(&run), ["timed-out"; 3]);
    let waiting = "loading the model, for ";
    assert!(run.err.contains(waiting), "{}", run.err);
    assert!(run.err.contains("\nTakes "), "{}", run.err);
}

#[test]
fn allocating_without_end_is_out_of_memory() {
    let home = Home::new();
    let run = bench(&home, "fake,at=2,fail=run-allocate,memory=256MiB", &[]);
    assert_eq!(outcomes(&run), ["finished", "out-of-memory", "finished"]);
}

#[test]
fn a_panic_for_want_of_memory_is_out_of_memory() {
    let home = Home::new();
    let setup = "rten,memory=256MiB";
    let run = home.run(&[
        "bench",
        "resnet18@cifar",
        "--setup",
        setup,
        "--batch",
        "4096",
        "--preset",
        "quick",
        "--json",
    ]);
    assert_eq!(
        run.json()["cases"][0]["outcome"],
        "out-of-memory",
        "{run:#?}"
    );
}

/// Scripts in a worker's place: name, body, the outcome they must get, and words of its sentence.
fn odd_workers() -> Vec<(&'static str, String, &'static str, &'static str)> {
    let hello = r#"echo '{"protocol":2,"program":"script"}'"#;
    vec![
        ("exits", "exit 5".to_owned(), "crashed", "exit status 5"),
        ("silent", "sleep 600".to_owned(), "timed-out", "starting"),
        (
            "rubbish",
            "echo hello there; sleep 600".to_owned(),
            "garbled",
            "hello there",
        ),
        (
            "older",
            r#"echo '{"protocol":0,"program":"old worker"}'; sleep 600"#.to_owned(),
            "garbled",
            "old worker speaks version 0",
        ),
        ("flood", "yes".to_owned(), "garbled", "\"y\""),
        (
            "endless",
            "tr '\\0' x </dev/zero".to_owned(),
            "garbled",
            "a line of more than",
        ),
        (
            "chatty",
            format!("{hello}; read line; yes '{{\"Measured\":1}}'"),
            "garbled",
            "not a line",
        ),
        (
            "confused",
            format!("{hello}; read line; echo '\"Closed\"'; sleep 600"),
            "garbled",
            "another question",
        ),
        (
            "stubborn",
            format!(
                "trap '' TERM; {hello}; read line; echo '{{\"Refused\":{{\"Failed\":\"no\"}}}}'; sleep 600; sleep 600"
            ),
            "failed",
            "no",
        ),
        (
            "torn",
            "printf '{\"protocol\":1,\"pro'; kill -SEGV $$".to_owned(),
            "crashed",
            "signal 11",
        ),
        (
            "bytes",
            "printf '\\377\\376\\n'; sleep 600".to_owned(),
            "garbled",
            "not text",
        ),
    ]
}

#[test]
fn workers_that_do_not_speak_the_protocol() {
    let home = Home::new();
    for (name, body, outcome, words) in odd_workers() {
        let script = home.script(name, &body);
        let run = bench(
            &home,
            &format!("fake,worker={}", script.display()),
            &["--timeout", "4"],
        );
        assert_eq!(outcomes(&run), [outcome; 3], "{name}: {run:#?}");
        assert!(
            reason(&run, 0).contains(words),
            "{name}: {}",
            reason(&run, 0)
        );
        assert_eq!(
            support::processes_with(&script.display().to_string()),
            [""; 0],
            "{name}"
        );
    }
    let missing = bench(&home, "fake,worker=/nowhere/at-all", &[]);
    assert_eq!(outcomes(&missing), ["failed"; 3]);
    assert!(
        reason(&missing, 0).contains("/nowhere/at-all"),
        "{}",
        reason(&missing, 0)
    );
}

/// A run that would take minutes, once its first round is in the journal.
/// A run that ends by itself in a minute or two.
const LONG_RUN: [&str; 13] = [
    "bench",
    "resnet18@cifar",
    "--setup",
    "fake,sleep=yes,fixed=20000",
    "--batch",
    "1,2",
    "--preset",
    "quick",
    "--rounds",
    "50",
    "--out",
    "long.ron",
    "--json",
];

fn start_long_run(home: &Home) -> Child {
    start(home, home.command(&LONG_RUN))
}

/// The same as another program starts it.
fn start_long_run_by(home: &Home, starter: &[&str]) -> Child {
    let powerband = env!("CARGO_BIN_EXE_powerband");
    let args = [&starter[1..], &[powerband], &LONG_RUN].concat();
    start(home, home.command_of(Path::new(starter[0]), &args))
}

fn start(home: &Home, mut command: Command) -> Child {
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program starts");
    wait_until("a round is in the journal", || {
        home.journals().first().is_some_and(|path| {
            std::fs::read_to_string(path).is_ok_and(|text| text.contains("RoundFinished"))
        })
    });
    child
}

fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_mins(2);
    while !done() {
        assert!(Instant::now() < deadline, "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn workers_of(child: u32) -> Vec<String> {
    let parent = format!("PPid:\t{child}\n");
    let is_child = |path: &std::path::Path| {
        std::fs::read_to_string(path.join("status")).is_ok_and(|status| status.contains(&parent))
    };
    support::files(std::path::Path::new("/proc"))
        .iter()
        .filter(|path| is_child(path))
        .map(|path| path.display().to_string())
        .collect()
}

pub(crate) fn signal(child: &Child, signal: rustix::process::Signal) {
    let pid = rustix::process::Pid::from_raw(child.id() as i32).expect("a process number");
    rustix::process::kill_process(pid, signal).expect("the signal is sent");
}

#[test]
fn an_interrupted_run_keeps_what_it_measured() {
    let home = Home::new();
    let child = start_long_run(&home);
    let workers = workers_of(child.id());
    assert!(!workers.is_empty());
    signal(&child, rustix::process::Signal::INT);
    let run = ProgramRun::from_output(&child.wait_with_output().unwrap());
    assert_eq!(run.status, Some(2), "{run:#?}");
    let document = run.json();
    assert_eq!(document["completion"], "cancelled");
    assert_eq!(run.outcomes()[0].2, "skipped");
    let samples: u64 = document["cases"]
        .as_array()
        .unwrap()
        .iter()
        .map(|case| case["samples"].as_u64().unwrap())
        .sum();
    assert!(samples > 0, "{document}");
    assert!(home.path("long.ron").exists() && home.journals().is_empty());
    wait_until("the workers are gone", || {
        workers
            .iter()
            .all(|path| !std::path::Path::new(path).exists())
    });
}

#[test]
fn a_terminal_that_closes_ends_a_run_cleanly_unless_it_is_to_go_on() {
    use rustix::process::Signal;
    let home = Home::new();
    // Whoever runs the tests may ignore the signal.
    let child = start_long_run_by(&home, &["env", "--default-signal=HUP"]);
    signal(&child, Signal::HUP);
    signal(&child, Signal::HUP);
    let run = ProgramRun::from_output(&child.wait_with_output().unwrap());
    assert_eq!(run.json()["completion"], "cancelled", "{run:#?}");
    assert!(home.path("long.ron").exists() && home.journals().is_empty());

    let home = Home::new();
    let child = start_long_run_by(&home, &["nohup"]);
    signal(&child, Signal::HUP);
    let rounds = || {
        let journal = home.journals().first().map(std::fs::read_to_string);
        let text = journal.expect("a journal").expect("it can be read");
        text.matches("RoundFinished").count()
    };
    let before = rounds();
    wait_until("it goes on", || rounds() > before + 2);
    signal(&child, Signal::INT);
    let run = ProgramRun::from_output(&child.wait_with_output().unwrap());
    assert_eq!(run.json()["completion"], "cancelled", "{run:#?}");
}

#[test]
fn a_killed_program_loses_only_the_round_in_flight() {
    let home = Home::new();
    let mut child = start_long_run(&home);
    let workers = workers_of(child.id());
    signal(&child, rustix::process::Signal::KILL);
    child.wait().unwrap();
    wait_until("the workers are gone", || {
        workers
            .iter()
            .all(|path| !std::path::Path::new(path).exists())
    });

    let journal = home.journals().first().expect("the journal stays").clone();
    let rounds = std::fs::read_to_string(&journal)
        .unwrap()
        .matches("RoundFinished")
        .count() as u64;
    // A line that was being written when the end came.
    use std::io::Write as _;
    std::fs::OpenOptions::new()
        .append(true)
        .open(&journal)
        .unwrap()
        .write_all(b"{\"at_ns\":12,\"ev")
        .unwrap();
    let next = home.run(&["devices"]);
    assert_eq!(next.status, Some(0));
    assert!(
        next.err.contains("interrupted") && next.err.contains("powerband recover"),
        "{next:#?}"
    );
    assert!(
        home.run(&["recover", "--list"])
            .out
            .contains(&journal.display().to_string())
    );
    let recovered = home.run(&["recover", "--out", "kept.ron"]);
    assert_eq!(recovered.status, Some(0), "{recovered:#?}");
    let document = home.run(&["show", "kept.ron", "--json"]).json();
    let kept: u64 = document["cases"]
        .as_array()
        .unwrap()
        .iter()
        .map(|case| case["rounds"].as_u64().unwrap())
        .sum();
    assert_eq!(
        (kept, &document["completion"]),
        (rounds, &"interrupted".into())
    );
    assert!(
        home.journals().is_empty(),
        "what is recovered is not offered again"
    );
    assert!(!home.run(&["devices"]).err.contains("interrupted"));
    home.run(&["recover"]).fails_saying(&["nothing to recover"]);
    home.run(&["recover", "kept.ron"])
        .fails_saying(&["is a session already", "powerband show kept.ron"]);
}

#[test]
fn a_journal_of_a_living_run_is_left_alone() {
    let home = Home::new();
    let mut child = start_long_run(&home);
    let journal = home.journals()[0].display().to_string();
    assert!(!home.run(&["devices"]).err.contains("interrupted"));
    home.run(&["recover", &journal])
        .fails_saying(&["still going on"]);
    signal(&child, rustix::process::Signal::KILL);
    child.wait().unwrap();
    home.write("home/sessions/journals/broken.jsonl", "rubbish\n");
    home.run(&[
        "recover",
        &home
            .path("home/sessions/journals/broken.jsonl")
            .display()
            .to_string(),
    ])
    .fails_saying(&["holds no run"]);
}

#[test]
fn a_limit_that_the_login_already_has_is_kept() {
    let home = Home::new();
    let program = env!("CARGO_BIN_EXE_powerband");
    let script = format!(
        "ulimit -d 4000000; exec {program} bench resnet18@cifar --setup fake --batch 1 --preset quick --json"
    );
    let limited = home.script("limited", &script);
    let mut command = home.command_of(&limited, &[]);
    let run = ProgramRun::from_output(&command.output().unwrap());
    assert_eq!(run.outcomes()[0].2, "finished", "{run:#?}");
}

#[test]
fn only_journals_are_thrown_away() {
    let home = Home::new();
    let session = home
        .write("kept.ron", "(version: 1, session: ())")
        .display()
        .to_string();
    home.run(&["recover", &session, "--discard"])
        .fails_saying(&["not the journal of a run"]);
    assert!(home.path("kept.ron").exists());
    let mut child = start_long_run(&home);
    let living = home.journals()[0].display().to_string();
    home.run(&["recover", &living, "--discard"])
        .fails_saying(&["still going on"]);
    signal(&child, rustix::process::Signal::KILL);
    child.wait().unwrap();
    assert_eq!(home.run(&["recover", &living, "--discard"]).status, Some(0));
    assert!(home.journals().is_empty());
}
