//! Profilers that are programs of their own, started around the workers. Scripts stand in for them, which
//! are as talkative as they are and leave files that they wrote elsewhere.

use std::env;
use std::path::{Path, PathBuf};

use powerband_core::domain::session::Session;
use powerband_store::session_file;

use crate::support::{Home, ProgramRun};

fn fixture(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/import");
    path.join(name).display().to_string()
}

/// A home whose path has a program of this name.
fn home_with(profiler: &str, script: &str) -> (Home, PathBuf) {
    let home = Home::new();
    std::fs::create_dir(home.path("bin")).expect("a folder");
    home.script(&format!("bin/{profiler}"), script);
    let known = env::var_os("PATH").unwrap_or_default();
    let folders = env::split_paths(&known).filter(|folder| !folder.join(profiler).is_file());
    let search = env::join_paths(std::iter::once(home.path("bin")).chain(folders));
    (home, PathBuf::from(search.expect("folders without colons")))
}

fn bench(home: &Home, search: &Path, profiler: &str) -> ProgramRun {
    let profile = format!("--profile={profiler}");
    let args = [
        "bench",
        "resnet18@cifar",
        "--setup",
        "rten",
        "--batch",
        "2",
        "--preset",
        "quick",
        "--rounds",
        "1",
        "--out",
        "p.ron",
        &profile,
    ];
    home.run_with(&args, &[("PATH", search)])
}

fn session(home: &Home) -> Session {
    let read = session_file::read(&home.path("p.ron"));
    read.expect("a session").session
}

/// What stands in for nsys: it takes a while, and leaves a report of another run.
pub(crate) fn nsys_script() -> String {
    format!(
        "[ \"$1\" = profile ] || exit 9\nwhile [ \"$1\" != --output ]; do shift; done\nout=$2; shift 2\necho 'Collecting data...'\n\"$@\"\nsleep 1\ncp '{}' \"$out.sqlite\"\necho 'Generated:'",
        fixture("nsys/nvfuser-matmul-2024.6.sqlite"),
    )
}

/// Says when something ran, on the machine's clock in nanoseconds.
const NOW: &str = "now() { read up rest < /proc/uptime; echo \"${up%.*}${up#*.}0000000\"; }";

#[test]
fn rocprofv3_watches_a_worker_and_what_warms_up_is_left_out() {
    let row = |name: &str, from: &str, to: &str| {
        format!(
            "echo '\"KERNEL_DISPATCH\",\"Agent 4\",1,1,1,1,1,\"{name}\",1,'${from}','${to}',0,0,8,0,16,64,1,1,64,1,1' >> \"$file\""
        )
    };
    let script = [
        NOW,
        "while [ $# -gt 0 ] && [ \"$1\" != -- ]; do",
        "  [ \"$1\" = -d ] && folder=$2; [ \"$1\" = -o ] && stem=$2; shift; done; shift",
        "echo 'W20261101 tool: this line is not of the protocol'",
        "began=$(now); sleep 0.05; loaded=$(now)",
        "\"$@\"",
        "ended=$(now); later=$((ended + 1000))",
        "file=$folder/${stem}_kernel_trace.csv",
        &format!(
            "head -1 '{}' > \"$file\"",
            fixture("rocprofv3/docs-kernel_trace.csv")
        ),
        &row("loads", "began", "loaded"),
        &row("convolves", "ended", "later"),
        "cp \"$file\" \"$folder/${stem}_kernel_stats.csv\"",
    ]
    .join("\n");
    let (home, search) = home_with("rocprofv3", &script);
    let run = bench(&home, &search, "rocprofv3");
    assert_eq!(run.status, Some(0), "{run:#?}");
    let session = session(&home);
    assert_eq!(session.profiles.len(), 1, "{run:#?}");
    let profile = &session.profiles[0];
    let names: Vec<&str> = profile
        .totals
        .iter()
        .map(|total| total.name.as_str())
        .collect();
    assert_eq!(
        (names, profile.runs),
        (vec!["convolves"], Some(10)),
        "{run:#?}"
    );
    assert_eq!(profile.case.map(|case| case.point.batch()), Some(2));
    assert_eq!(profile.tool.name, "rocprofv3");
    assert!(home.path("p.1.trace.json.gz").is_file());
}

#[test]
fn rocprof_and_nsys_leave_files_on_clocks_of_their_own() {
    let rocprof = format!(
        "echo \"RPL: on '261101' from '/opt/rocm' in '/tmp'\"\nwhile [ \"$1\" != -o ]; do shift; done\nout=$2; shift 2\n\"$@\"\ncp '{}' \"$out\"\ncp '{}' \"${{out%.csv}}.stats.csv\"",
        fixture("rocprof-v1/llamacpp-results.csv"),
        fixture("rocprof-v1/llamacpp-results.stats.csv"),
    );
    for (profiler, script) in [("rocprof", rocprof), ("nsys", nsys_script())] {
        let (home, search) = home_with(profiler, &script);
        let run = bench(&home, &search, profiler);
        assert_eq!(run.status, Some(0), "{run:#?}");
        let session = session(&home);
        let profile = session
            .profiles
            .first()
            .unwrap_or_else(|| panic!("{run:#?}"));
        assert!(
            profile.totals.iter().any(|total| total.calls > 0),
            "{profile:#?}"
        );
        // One run opens the case, three warm up, ten are measured, and nothing tells them apart.
        assert_eq!(profile.runs, Some(14));
        assert!(
            profile.notes.iter().any(|note| note.contains("first runs")),
            "{profile:#?}"
        );
    }
}

#[test]
fn a_profiler_that_fails_costs_its_profile_alone() {
    let (home, search) = home_with("nsys", "echo 'no permission for counters' >&2; exit 3");
    let run = bench(&home, &search, "nsys");
    assert_eq!(run.status, Some(0), "{run:#?}");
    assert!(run.err.contains("could not be profiled"), "{run:#?}");
    let session = session(&home);
    assert!(session.profiles.is_empty());
    assert!(session.cases.iter().all(|case| !case.rounds.is_empty()));

    let silent = "while [ \"$1\" != --output ]; do shift; done; shift 2; \"$@\"; echo 'nothing was collected' >&2";
    let (home, search) = home_with("nsys", silent);
    let run = bench(&home, &search, "nsys");
    assert!(run.err.contains("nothing was collected"), "{run:#?}");
    assert_eq!(run.status, Some(0), "{run:#?}");
}

#[test]
fn a_profiler_that_is_not_here_is_told_before_anything_is_measured() {
    let home = Home::new();
    let run = bench(&home, Path::new("/usr/bin:/bin"), "rocprofv3");
    run.fails_saying(&["rocprofv3", "PATH"]);
    assert!(!home.path("p.ron").exists());
    bench(&home, Path::new("/usr/bin:/bin"), "perf").fails_saying(&["no profiler", "nsys"]);
}
