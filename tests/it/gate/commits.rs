//! Gates of commits, which are built apart, and the search for the one that made it slower.

use std::fs;
use std::path::Path;

use super::{MODEL, gate, json};
use crate::support::{self, Home, ProgramRun};

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
            .contains("1 changed file of the work tree is in no commit"),
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
    let page = include_str!("../../../docs/gate.md");
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
