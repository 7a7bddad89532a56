//! `powerband gate`: two sides in turns until it is settled, of setups, commands and commits, and the search for a commit.

use std::fs;
use std::path::Path;

use powerband_store::session_file;
use serde_json::Value;

use crate::support::{self, Home, ProgramRun};

const MODEL: &str = "resnet18@cifar";

fn gate(home: &Home, args: &[&str]) -> ProgramRun {
    let mut words = vec!["gate", MODEL];
    words.extend(args);
    home.run(&words)
}

fn json(run: &ProgramRun) -> Value {
    serde_json::from_str(&run.out).unwrap_or_else(|error| panic!("{error}: {run:#?}"))
}

#[test]
fn a_side_that_is_slower_fails_and_is_written_down_for_others() {
    let home = Home::new();
    let sides = [
        "--base",
        "fake,fixed=800",
        "--new",
        "fake,fixed=1200",
        "--batch",
        "1,4",
    ];
    let (junit, markdown) = (home.path("gate.xml"), home.write("summary.md", "# Build\n"));
    let mut words = sides.to_vec();
    words.extend(["--junit", junit.to_str().expect("a path")]);
    words.extend(["--markdown", markdown.to_str().expect("a path")]);
    let run = gate(&home, &words);
    assert_eq!(run.status, Some(1), "{run:#?}");
    assert!(run.out.contains("Failed: 2 of 2 got worse"), "{run:#?}");
    let junit = fs::read_to_string(junit).expect("a report");
    assert!(
        junit.contains("tests=\"2\" failures=\"2\" skipped=\"0\""),
        "{junit}"
    );
    let summary = fs::read_to_string(markdown).expect("a summary");
    assert!(
        summary.starts_with("# Build\n# Failed: 2 of 2"),
        "{summary}"
    );
    assert!(summary.contains("| Latency | batch 1 |"), "{summary}");
    let mut words = sides.to_vec();
    words.push("--json");
    let document = json(&gate(&home, &words));
    assert_eq!(document["gate"]["result"], "failed");
    assert_eq!(document["rounds"], 5, "no more than it takes");
    let row = &document["gate"]["rows"][0];
    let loss = row["loss_percent"].as_f64().expect("a number");
    assert!((30.0..50.0).contains(&loss), "{row:#}");
    let least = row["loss_interval"][0].as_f64().expect("an interval");
    assert!(least > 5.0 && least < loss, "{row:#}");
}

#[test]
fn a_side_that_is_as_fast_passes() {
    let home = Home::new();
    let faster = [
        "--base",
        "fake,fixed=1200",
        "--new",
        "fake,fixed=800",
        "--batch",
        "1",
    ];
    let run = gate(&home, &faster);
    assert_eq!(run.status, Some(0), "{run:#?}");
    assert!(run.out.contains("Passed: 1 of 1"), "{run:#?}");
    let alike = [
        "--base",
        "fake,noise=0.2",
        "--new",
        "fake,noise=0.2",
        "--batch",
        "1",
    ];
    let run = gate(&home, &alike);
    assert_eq!(run.status, Some(0), "{run:#?}");
    assert!(run.out.contains("Passed: 1 of 1"), "{run:#?}");
}

#[test]
fn every_kind_of_metric_has_a_limit() {
    let home = Home::new();
    let limits = [
        "latency=500",
        "throughput=90",
        "peak memory=500",
        "set-up time=1000",
        "worst cosine=1",
        "same choice=1",
        "kernel conv=500",
    ];
    let mut words = vec!["--base", "rten", "--new", "rten,threads=1", "--batch", "1"];
    words.extend(["--spacing", "200ms", "--budget", "1min", "--json"]);
    words.extend(limits.iter().flat_map(|limit| ["--limit", limit]));
    let document = json(&gate(&home, &words));
    let rows = document["gate"]["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), limits.len(), "{document:#}");
    for row in rows {
        assert_eq!(row["result"], "passed", "{row:#}");
        assert!(row["base"].is_string() && row["new"].is_string(), "{row:#}");
        // What has rounds or starts has an interval, and the rest is one number a side.
        let metric = row["metric"].as_str().expect("a name");
        let repeats = ["latency", "throughput", "peak memory", "set-up time"];
        let has_interval = row["loss_interval"].is_array();
        assert_eq!(has_interval, repeats.contains(&metric), "{row:#}");
    }
}

#[test]
fn blocks_measure_each_side_longer_before_the_other() {
    let home = Home::new();
    let words = ["--base", "fake", "--new", "fake", "--batch", "1", "--json"];
    let samples = |more: &[&str]| {
        let file = home.path(if more.is_empty() {
            "usual.ron"
        } else {
            "blocks.ron"
        });
        let mut all = words.to_vec();
        all.extend(["--out", file.to_str().expect("a path")]);
        all.extend(more);
        let run = gate(&home, &all);
        assert!(run.status.is_some_and(|status| status < 2), "{run:#?}");
        let session = session_file::read(&file).expect("a session").session;
        session.cases[0].rounds[0].samples_ns.len()
    };
    let (usual, longer) = (samples(&[]), samples(&["--blocks"]));
    assert!(longer > 3 * usual, "{longer} and {usual}");
}

#[test]
fn rounds_are_added_until_the_budget_is_used_up() {
    let home = Home::new();
    // By turns one side is three times as slow as the other, so that no number of rounds settles it.
    let starts =
        "touch $name-$PPID; n=$(ls | grep -c ^$name-); sleep 0.0$(((n + $add) % 2 * 2 + 1))";
    let script = home.write("side.sh", starts);
    let folder = script.parent().expect("a folder").display();
    let side = |name, add| format!("cd {folder}; name={name}; add={add}; . ./side.sh");
    let (base, new) = (side("base", 0), side("new", 1));
    let mut words = vec!["--base", &base, "--new", &new, "--batch", "1"];
    words.extend([
        "--limit",
        "latency=0",
        "--budget",
        "10s",
        "--spacing",
        "200ms",
        "--json",
    ]);
    let run = gate(&home, &words);
    assert_eq!(run.status, Some(0), "{run:#?}");
    let document = json(&run);
    assert_eq!(document["gate"]["result"], "open", "{document:#}");
    assert!(document["rounds"].as_u64() > Some(8), "{document:#}");
    let reason = &document["gate"]["rows"][0]["reason"];
    assert!(
        reason
            .as_str()
            .is_some_and(|it| it.contains("it may be anything from")),
        "{reason}"
    );
    assert!(run.err.contains("The budget is used up"), "{run:#?}");
    // More rounds by hand are a later look at the same session.
    let sessions = support::files(&home.path("home/sessions"));
    let session = sessions
        .iter()
        .find(|path| path.extension().is_some_and(|end| end == "ron"));
    let text = fs::read_to_string(session.expect("a session")).expect("a session");
    assert!(text.contains("until_settled: true"));
}

#[test]
fn other_metrics_have_limits_of_their_own() {
    let home = Home::new();
    let sides = [
        "--base",
        "fake,fixed=800",
        "--new",
        "fake,fixed=1200",
        "--batch",
        "1",
        "--json",
    ];
    let mut words = sides.to_vec();
    words.extend([
        "--limit",
        "latency=80",
        "--limit",
        "Throughput=10",
        "--limit",
        "peek memory=5",
    ]);
    let run = gate(&home, &words);
    assert_eq!(run.status, Some(1), "{run:#?}");
    let document = json(&run);
    let rows = document["gate"]["rows"].as_array().expect("rows");
    let results: Vec<&str> = rows
        .iter()
        .filter_map(|row| row["result"].as_str())
        .collect();
    assert_eq!(results, ["passed", "failed", "open"]);
    let reason = rows[2]["reason"].as_str().expect("a reason");
    assert!(
        reason.contains("no such metric was measured; there are latency"),
        "{reason}"
    );
}

#[test]
fn what_a_plan_names_is_started_where_that_is_allowed() {
    let home = Home::new();
    home.write(
        "powerband.ron",
        "(model: \"resnet18@cifar\", base: \"sleep 0.02\", new: \"sleep 0.03\", batch: \"1\", limits: {\"latency\": 10})",
    );
    let run = home.run(&["gate", "--spacing", "0s"]);
    assert_eq!(run.status, Some(2), "{run:#?}");
    assert!(run.err.contains("sleep 0.02"), "{run:#?}");
    let run = home.run(&["gate", "--spacing", "0s", "--allow-commands"]);
    assert_eq!(run.status, Some(1), "{run:#?}");
    assert!(run.out.contains("Failed: 1 of 1"), "{run:#?}");
    home.write("powerband.ron", "(modle: \"resnet18@cifar\")");
    let run = home.run(&["gate"]);
    assert_eq!(run.status, Some(2), "{run:#?}");
    assert!(
        run.err.contains("powerband.ron is no plan of a gate"),
        "{run:#?}"
    );
}

#[test]
fn what_cannot_be_a_gate_is_refused_with_what_to_do() {
    let home = Home::new();
    for (words, said) in [
        (&["gate"][..], "MODEL is missing"),
        (&["gate", MODEL], "say what is compared"),
        (&["gate", MODEL, "--base", "ort"], "--new"),
        (&["gate", MODEL, "--base-ref", "main"], "--setup is missing"),
        (
            &["gate", MODEL, "--base-ref", "main", "--setup", "x y"],
            "no repository of git",
        ),
        (&["gate", MODEL, "--base", "ortt", "--new", "ort"], "ortt"),
        (
            &[
                "gate", MODEL, "--base", "fake", "--new", "fake", "--limit", "latency",
            ],
            "as in latency=3",
        ),
        (
            &[
                "gate", MODEL, "--base", "fake", "--new", "fake", "--budget", "5",
            ],
            "as in 90s or 5min",
        ),
    ] {
        let run = home.run(words);
        assert_eq!(run.status, Some(2), "{words:?}: {run:#?}");
        assert!(run.err.contains(said), "{words:?}: {run:#?}");
    }
}

/// A repository whose program takes as long as its commits say; none of them where git is not here.
struct Project<'a> {
    home: &'a Home,
}

impl Project<'_> {
    fn begin(home: &Home) -> Option<Project<'_>> {
        let version = home.command_of(Path::new("git"), &["--version"]).output();
        support::component(version.ok(), "git (apt-get install git)")?;
        let project = Project { home };
        project.git(&["init", "--quiet", "--initial-branch=main", "."]);
        home.write(".gitignore", "home\ntmp\nrun\n");
        Some(project)
    }

    fn git(&self, words: &[&str]) -> String {
        let mut command = self.home.command_of(Path::new("git"), words);
        for side in ["AUTHOR", "COMMITTER"] {
            command
                .env(format!("GIT_{side}_NAME"), "A tester")
                .env(format!("GIT_{side}_EMAIL"), "tester@example.com");
        }
        let run = ProgramRun::from_output(&command.output().expect("git starts"));
        assert_eq!(run.status, Some(0), "{words:?}: {run:#?}");
        run.out.trim().to_owned()
    }

    /// A commit whose program sleeps so many milliseconds; one without does not build.
    fn commit(&self, subject: &str, ms: Option<u32>) -> String {
        let build = match ms {
            Some(ms) => format!("#!/bin/sh\nprintf 'sleep 0.{ms:03}\\n' > run\n# {subject}\n"),
            None => format!("#!/bin/sh\necho 'run.c:1: error: {subject}' >&2\nexit 1\n"),
        };
        self.home.write("build.sh", build);
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message", subject]);
        self.git(&["rev-parse", "HEAD"])
    }

    fn worktrees(&self) -> usize {
        self.git(&["worktree", "list"]).lines().count()
    }
}

const COMMITS: [&str; 8] = [
    "--build",
    "sh build.sh",
    "--setup",
    "sh {dir}/run",
    "--spacing",
    "0s",
    "--batch",
    "1",
];

#[test]
fn two_commits_are_built_apart_and_measured_in_turns() {
    let home = Home::new();
    let Some(project) = Project::begin(&home) else {
        return;
    };
    project.commit("begin", Some(20));
    project.commit("a change", Some(20));
    project.git(&["tag", "v1"]);
    project.commit("a slower one", Some(30));
    home.write("build.sh", "exit 9\n");
    let mut words = vec!["gate", MODEL, "--base-ref", "v1"];
    words.extend(COMMITS);
    // As a hook of git starts it.
    let repository = home.path(".git");
    let run = home.run_with(
        &words,
        &[("GIT_DIR", &repository), ("GIT_WORK_TREE", &home.path(""))],
    );
    assert_eq!(run.status, Some(1), "{run:#?}");
    assert_eq!(project.git(&["symbolic-ref", "HEAD"]), "refs/heads/main");
    let mut words = words.split_off(2);
    assert!(
        run.err
            .contains("changed files of the work tree are in no commit"),
        "{run:#?}"
    );
    assert!(run.err.contains("(a slower one)"), "{run:#?}");
    let kept = fs::read_to_string(home.path("build.sh")).expect("a file");
    assert_eq!(kept, "exit 9\n", "the work tree is as it was");
    assert!(!home.path("run").exists() && project.worktrees() == 1);
    words.extend(["--new-ref", "v1~1", "--limit", "latency=10"]);
    let run = gate(&home, &words);
    assert_eq!(run.status, Some(0), "{run:#?}");
    project.commit("a slip", None);
    let mut words = vec!["--base-ref", "v1"];
    words.extend(COMMITS);
    let run = gate(&home, &words);
    assert_eq!(run.status, Some(2), "{run:#?}");
    assert!(
        run.err.contains("cannot be built") && run.err.contains("run.c:1: error"),
        "{run:#?}"
    );
    let mut words = vec!["--base-ref", "nowhere"];
    words.extend(COMMITS);
    let run = gate(&home, &words);
    assert_eq!(run.status, Some(2), "{run:#?}");
    assert!(run.err.contains("there is no commit nowhere"), "{run:#?}");
    assert_eq!(project.worktrees(), 1);
}

#[test]
fn the_commit_that_made_it_slower_is_found() {
    let home = Home::new();
    let Some(project) = Project::begin(&home) else {
        return;
    };
    let first = project.commit("begin", Some(20));
    let mut slower = String::new();
    for number in 1..=9 {
        let ms = match number {
            4 => None,
            ..=5 => Some(20),
            _ => Some(30),
        };
        let hash = project.commit(&format!("change {number}"), ms);
        if number == 6 {
            slower = hash;
        }
    }
    let range = format!("{first}..main");
    let mut words = vec![
        "--bisect",
        range.as_str(),
        "--limit",
        "latency=10",
        "--json",
    ];
    words.extend(COMMITS);
    let run = gate(&home, &words);
    assert_eq!(run.status, Some(1), "{run:#?}");
    let document = json(&run);
    let found = document["commits"].as_array().expect("commits");
    assert_eq!(found.len(), 1, "{run:#?}");
    assert_eq!(found[0]["hash"], slower.as_str(), "{run:#?}");
    assert_eq!(project.worktrees(), 1);
}

#[test]
fn git_bisect_run_passes_over_what_cannot_be_judged() {
    let home = Home::new();
    let Some(project) = Project::begin(&home) else {
        return;
    };
    let first = project.commit("begin", Some(20));
    let slip = project.commit("a slip", None);
    project.commit("a change", Some(20));
    let slower = project.commit("a slower one", Some(40));
    project.commit("the end", Some(40));
    let mut words = vec!["gate", MODEL, "--base-ref", &first, "--git-bisect"];
    words.extend(COMMITS);
    // Two that are alike are within it, and twice the time is beyond.
    words.extend(["--limit", "latency=40"]);
    let run = home.run(&[&words[..], &["--new-ref", &slip]].concat());
    assert_eq!(run.status, Some(125), "{run:#?}");
    assert!(run.err.contains("This commit cannot be judged"), "{run:#?}");
    // A search ends where no commit can be judged.
    let mut hopeless = words.clone();
    hopeless[3] = &slip;
    let run = home.run(&hopeless);
    assert_eq!(run.status, Some(128), "{run:#?}");
    project.git(&["bisect", "start", "main", &first]);
    let program = ["bisect", "run", env!("CARGO_BIN_EXE_powerband")];
    let said = project.git(&[&program[..], &words].concat());
    let found = format!("{slower} is the first ");
    assert!(said.contains(&found), "{said}");
}

/// The text of a fenced block of a page, in a language.
fn block(page: &str, language: &str) -> String {
    let begin = format!("```{language}\n");
    let (_, rest) = page.split_once(&begin).expect("a block");
    rest.split("```").next().unwrap_or_default().to_owned()
}

#[test]
fn the_workflow_of_the_guide_is_a_gate_of_its_plan() {
    let home = Home::new();
    let Some(project) = Project::begin(&home) else {
        return;
    };
    let page = include_str!("../../docs/gate.md");
    // The plan and the workflow as they stand there, with this project's program in their place.
    let plan = block(page, "ron")
        .replace("resnet50", MODEL)
        .replace("{dir}/target/release/run {model}", "sh {dir}/run")
        .replace("cargo build --release", "sh build.sh")
        .replace("\"1,8\"", "\"1\"")
        .replace("5min", "1min");
    home.write("powerband.ron", plan);
    project.commit("begin", Some(20));
    project.git(&["update-ref", "refs/remotes/origin/main", "HEAD"]);
    project.commit("a slower one", Some(30));
    let workflow = block(page, "yaml");
    let (_, line) = workflow.split_once("powerband gate").expect("a gate");
    let line = format!("exec \"$POWERBAND\" gate{line}").replace('\n', " ");
    let line = line.replace("--wait-idle 2min", "--wait-idle 1s");
    let summary = home.path("summary.md");
    let run = home
        .command_of(Path::new("sh"), &["-c", &line])
        .env("POWERBAND", env!("CARGO_BIN_EXE_powerband"))
        .env("GITHUB_STEP_SUMMARY", &summary)
        .output();
    let run = ProgramRun::from_output(&run.expect("a shell"));
    assert_eq!(run.status, Some(1), "{run:#?}");
    let summary = fs::read_to_string(summary).expect("a summary");
    assert!(summary.starts_with("# Failed: 2 of 2"), "{summary}");
    assert!(home.path("gate.xml").is_file());
}
