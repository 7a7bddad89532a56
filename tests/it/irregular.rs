//! Files that are none, standard input, and signals: nothing waits for ever, and nothing ignores that it is to end.

use std::fs;
use std::io::Write as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use rustix::fs::{CWD, Mode, mkfifoat};
use rustix::process::{Pid, Signal, kill_process};

use crate::support::{Home, ProgramRun};

const LISTING: &str = "index,name,time_ms\n0,a,1.5\n1,a,2.5\n";

fn pipe(home: &Home, name: &str) {
    mkfifoat(CWD, home.path(name), Mode::RWXU).expect("a pipe");
}

/// Ends a program by a signal, and tells how it ended and how long that took.
fn ended_by(child: Child, signal: Signal) -> (ProgramRun, Option<i32>, Duration) {
    let pid = Pid::from_raw(child.id().cast_signed()).expect("a process number");
    let begin = Instant::now();
    kill_process(pid, signal).expect("the signal is sent");
    let output = child.wait_with_output().expect("it ends");
    let took = begin.elapsed();
    (
        ProgramRun::from_output(&output),
        output.status.signal(),
        took,
    )
}

/// Less than this is at once, on a machine that is busy with other tests.
const AT_ONCE: Duration = Duration::from_secs(5);

#[test]
fn what_is_no_regular_file_is_refused_at_once_by_every_command() {
    let home = Home::new();
    for name in [
        "pipe",
        "pipe.ron",
        "pipe.onnx",
        "pipe.png",
        "pipe.csv",
        "pipe.npy",
        "pipe.jsonl",
    ] {
        pipe(&home, name);
    }
    let cases: &[&[&str]] = &[
        &["import", "pipe"],
        &["import", "pipe.csv", "--columns", "time=ms"],
        &["show", "pipe.ron"],
        &["check", "pipe.ron"],
        &["compare", "pipe.ron", "pipe.ron"],
        &["journey", "pipe.ron"],
        &["kernels", "pipe.ron"],
        &["history", "pipe.ron"],
        &["export", "pipe.ron", "--to", "a.svg"],
        &["report", "pipe.ron", "--to", "a.md"],
        &["recover", "pipe.jsonl"],
        &["devices", "--replay", "pipe.ron"],
        &["bench", "--more", "pipe.ron"],
        &["bench", "pipe.onnx"],
        &["model", "pipe.onnx"],
    ];
    for args in cases {
        let begin = Instant::now();
        home.run(args).fails_saying(&["pipe"]);
        assert!(begin.elapsed() < AT_ONCE, "{args:?}");
    }
    for samples in ["pipe.png", "pipe.csv", "pipe.npy"] {
        let args = [
            "bench",
            "resnet18@cifar",
            "--setup",
            "fake",
            "--preset",
            "quick",
            "--rounds",
            "1",
            "--batch",
            "1",
            "--accuracy=1",
            "--samples",
            samples,
        ];
        let run = home.run(&args);
        assert!(
            run.err.contains("a pipe") || run.out.contains("a pipe"),
            "{run:#?}"
        );
    }
    home.run(&["import", "pipe"]).fails_saying(&[
        "is a pipe, and only regular files are read",
        "powerband import -",
    ]);
    home.run(&["import", "/dev/null"])
        .fails_saying(&["/dev/null is a device"]);
    home.run(&["show", "."])
        .fails_saying(&["it is a folder", "name a file in it"]);
}

/// Runs the program with some bytes on its standard input.
fn fed(home: &Home, args: &[&str], bytes: &[u8]) -> ProgramRun {
    let mut child = home
        .command(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    // Where it has seen enough, nobody reads the rest.
    drop(stdin.write_all(bytes));
    drop(stdin);
    ProgramRun::from_output(&child.wait_with_output().expect("it ends"))
}

#[test]
fn standard_input_reads_as_the_file_does() {
    let home = Home::new();
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/import");
    for file in [
        "migraphx/simple_graph-perf-legacy.txt",
        "rocprof-v1/llamacpp-results.csv",
        "kineto/alexnet-cuda.trace.json.gz",
        "nsys/nvfuser-matmul-2024.6.sqlite",
    ] {
        let path = fixtures.join(file);
        let mut expected = home
            .run(&["import", "--json", &path.display().to_string()])
            .json();
        let bytes = fs::read(&path).expect("a fixture");
        for name in ["-", "/dev/stdin"] {
            let mut found = fed(&home, &["import", "--json", name], &bytes).json();
            let title = |document: &serde_json::Value| document["name"].as_str().map(str::to_owned);
            assert_eq!(title(&found).as_deref(), Some("standard input"), "{file}");
            for document in [&mut found, &mut expected] {
                document["name"] = "".into();
            }
            assert_eq!(found, expected, "{file}");
        }
    }
    let columns = ["import", "-", "--columns", "time=time_ms", "--json"];
    let table = fed(&home, &columns, LISTING.as_bytes());
    assert_eq!(table.json()["reported"][0]["samples"], 2, "{table:#?}");
    fed(&home, &["import", "-"], b"").fails_saying(&["standard input is empty"]);
    fed(&home, &["import", "-"], b"hello").fails_saying(&["standard input is of no format"]);
    fed(&home, &["import", "-"], b"NVR\0\0")
        .fails_saying(&["standard input is a report", "ncu --import FILE"]);
    let many = vec![b'a'; 2_000_000];
    fed(&home, &["import", "-", "--unpack-limit", "1"], &many)
        .fails_saying(&["standard input holds more than 1 MB"]);
}

#[test]
fn text_in_utf16_is_read() {
    let home = Home::new();
    let units = || std::iter::once(0xfeff).chain(LISTING.encode_utf16());
    let little: Vec<u8> = units().flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = units().flat_map(u16::to_be_bytes).collect();
    for bytes in [little, big] {
        home.write("t.csv", &bytes);
        let run = home.run(&["import", "t.csv", "--columns", "time=time_ms", "--json"]);
        assert_eq!(run.json()["reported"][0]["samples"], 2, "{run:#?}");
    }
}

#[test]
fn a_signal_ends_a_command_wherever_it_is() {
    let home = Home::new();
    // Waiting for bytes that never come: stops by itself.
    for signal in [Signal::TERM, Signal::INT] {
        let mut child = home
            .command(&["import", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let held = child.stdin.take();
        std::thread::sleep(Duration::from_millis(500));
        let (run, _, took) = ended_by(child, signal);
        drop(held);
        assert!(took < AT_ONCE, "{took:?}");
        assert_eq!(run.status, Some(2), "{run:#?}");
    }
    // Writing to a pipe that nobody reads: the process is ended.
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/import");
    let file = fixtures
        .join("rocprofv3/fsdp-908_results.json.gz")
        .display()
        .to_string();
    let mut child = home
        .command(&["import", "--json", &file])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program starts");
    let unread = child.stdout.take();
    wait_until_it_writes(&child);
    let (run, _, took) = ended_by(child, Signal::TERM);
    assert!(took < AT_ONCE, "{took:?}");
    assert_eq!(run.status, Some(128 + 15), "{run:#?}");
    drop(unread);
}

/// Waits until a program hangs in writing.
fn wait_until_it_writes(child: &Child) {
    let deadline = Instant::now() + Duration::from_mins(2);
    let place = format!("/proc/{}/syscall", child.id());
    loop {
        // The number of `write` on x86-64, and of `writev`.
        let now = fs::read_to_string(&place).unwrap_or_default();
        let number = now.split_whitespace().next().unwrap_or_default().to_owned();
        if ["1", "20"].contains(&number.as_str()) {
            return;
        }
        assert!(Instant::now() < deadline, "it never writes: {now}");
        std::thread::sleep(Duration::from_millis(50));
    }
}
