//! Ends of the program that come from outside: SIGKILL while a command is measured, and several signals in a row.

use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::support::{Home, ProgramRun, processes_in};

/// A run that goes on for minutes, of which one round is measured.
fn measuring(home: &Home, setup: &str) -> Child {
    let args = [
        "bench",
        "resnet18@cifar",
        "--setup",
        setup,
        "--batch",
        "1,2",
    ];
    let rest = ["--preset", "quick", "--rounds", "50", "--out", "long.ron"];
    let mut command = home.command(&[&args[..], &rest, &["--spacing", "0s", "--json"]].concat());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().expect("the program starts");
    wait_until("a round is in the journal", || {
        let journal = home.journals().first().map(std::fs::read_to_string);
        matches!(journal, Some(Ok(text)) if text.contains("RoundFinished"))
    });
    child
}

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_mins(2);
    while !is_so() {
        assert!(Instant::now() < deadline, "waited in vain until {what}");
        thread::sleep(Duration::from_millis(20));
    }
}

fn send(child: &Child, signal: Signal) {
    let pid = Pid::from_raw(child.id() as i32).expect("a process number");
    kill_process(pid, signal).expect("the signal is sent");
}

#[test]
fn commands_that_are_measured_die_with_a_program_that_is_killed() {
    let home = Home::new();
    // The first of two processes is no shell's last command, so that killing the shell alone would leave it.
    let script = home.script(
        "run",
        "if [ -e long ]; then sleep 300 | cat; fi; sleep 0.01",
    );
    let setup = format!("command,run=\"{}\"", script.display());
    let mut child = measuring(&home, &setup);
    home.write("long", "");
    let sleeps = || {
        let is_long = |process: &String| {
            let line = std::fs::read(format!("{process}/cmdline")).unwrap_or_default();
            line.starts_with(b"sleep\x00300\0")
        };
        processes_in(&home).into_iter().filter(is_long).count()
    };
    wait_until("the command runs", || sleeps() > 0);
    send(&child, Signal::KILL);
    child.wait().expect("the program ends");
    wait_until("what it started is gone", || processes_in(&home).is_empty());
}

#[test]
fn a_worker_of_ones_own_dies_with_a_program_that_is_killed() {
    let home = Home::new();
    // It ignores that its input closes.
    let worker = crate::commands::worker_of_the_guide();
    let pause = "import os, time\nif os.path.exists('long'):\n    open('asleep', 'w')\n    time.sleep(300)\n";
    let deaf = worker.replacen(
        "for line in sys.stdin:\n",
        &format!("for line in sys.stdin:\n    exec({pause:?})\n"),
        1,
    );
    assert_ne!(deaf, worker);
    home.write("worker.py", &deaf);
    let mut child = measuring(&home, "command,run=\"python3 worker.py\",speaks=protocol");
    home.write("long", "");
    wait_until("its worker hears nothing", || home.path("asleep").exists());
    send(&child, Signal::KILL);
    child.wait().expect("the program ends");
    wait_until("its worker is gone", || processes_in(&home).is_empty());
}

#[test]
fn two_signals_in_a_row_keep_what_was_measured() {
    let home = Home::new();
    let child = measuring(&home, "fake,sleep=yes,fixed=20000");
    // As `timeout` does; the pause keeps the kernel from making one of them.
    send(&child, Signal::TERM);
    thread::sleep(Duration::from_millis(5));
    send(&child, Signal::TERM);
    let run = ProgramRun::from_output(&child.wait_with_output().expect("the program ends"));
    assert_eq!(run.status, Some(2), "{run:#?}");
    assert_eq!(run.json()["completion"], "cancelled");
    assert!(home.path("long.ron").exists() && home.journals().is_empty());
}

#[test]
fn a_library_of_the_window_that_is_missing_is_named_with_its_packages() {
    let home = Home::new();
    // An empty file stands in its place, which no loader takes.
    home.write("libxkbcommon-x11.so.0", "");
    let mut command = home.command(&[]);
    command
        .env("DISPLAY", ":7077")
        .env("LD_LIBRARY_PATH", home.path(""));
    let run = ProgramRun::from_output(&command.output().expect("the program starts"));
    run.fails_saying(&[
        "No window can be opened",
        "libxkbcommon-x11.so.0",
        "Debian and Ubuntu: libxkbcommon-x11-0",
        "Fedora: libxkbcommon-x11",
        "Arch: libxkbcommon-x11",
    ]);
}
