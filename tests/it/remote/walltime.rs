//! What a scheduler ends: the time that a node was given for, another job that takes it, and a wait in its queue.

use std::fs::{self, File};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use super::bench::bench;
use super::cluster::Cluster;
use super::server::program;
use crate::support::{Home, ProgramRun};

/// A slow made-up setup on a partition; a run of it takes 200 ms.
fn slow(partition: &str, more: &str) -> String {
    format!(
        "fake,sleep=yes,fixed=200000,where=slurm:{partition},{more}remote_program={}",
        program()
    )
}

pub(super) fn begin(cluster: &Cluster, home: &Home, args: &[&str]) -> Child {
    let mut command = cluster.command(home, args);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("the program starts")
}

/// Waits until something shows in what a tool of Slurm says.
fn until(cluster: &Cluster, tool: &str, args: &[&str], is_so: impl Fn(&str) -> bool) -> String {
    let deadline = Instant::now() + Duration::from_mins(1);
    loop {
        let said = cluster.tool(tool, args);
        if is_so(&said) {
            return said.trim().to_owned();
        }
        assert!(Instant::now() < deadline, "{tool}: {said}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

fn running_job(cluster: &Cluster) -> String {
    let args = ["-h", "-t", "RUNNING", "-o", "%i"];
    until(cluster, "squeue", &args, |said| !said.trim().is_empty())
}

pub(super) fn ended(child: Child) -> ProgramRun {
    ProgramRun::from_output(&child.wait_with_output().expect("it ends"))
}

#[test]
fn a_run_ends_with_a_whole_round_before_its_time_is_over_and_goes_on_in_a_new_allocation() {
    let Some(cluster) = Cluster::start(1) else {
        return;
    };
    let home = Home::new();
    let setup = slow("all", "slurm.time=5,");
    let out = home.path("run.ron");
    let out = out.to_str().expect("a path");
    let mut args = bench("90", [&*setup]);
    args.extend(["--out", out]);
    let child = begin(&cluster, &home, &args);
    let job = running_job(&cluster);
    home.until_measured(2);
    cluster.tool(
        "scontrol",
        &["update", &format!("JobId={job}"), "EndTime=now+12"],
    );
    let run = ended(child);
    let case = run.json()["cases"][0].clone();
    assert_eq!(case["outcome"], "walltime", "{run:#?}");
    let reason = case["reason"].to_string();
    assert!(
        reason.contains("a round takes") && reason.contains("of 90 rounds"),
        "{reason}"
    );
    assert!(
        case["latency_ms"].is_object(),
        "what was measured is shown: {case:#}"
    );
    assert_eq!(run.status, Some(2));
    cluster.until_given_back();
    let rounds = case["rounds"].as_u64().expect("rounds");
    assert!(rounds >= 2, "{case:#}");

    let more = ["bench", "--more", out, "--rounds", "2", "--json"];
    let run = ended(begin(&cluster, &home, &more));
    let case = run.json()["cases"][0].clone();
    assert_eq!(case["rounds"].as_u64(), Some(rounds + 2), "{run:#?}");
    cluster.until_given_back();
}

#[test]
fn a_job_that_takes_the_node_and_a_limit_that_strikes_in_mid_round_have_names_of_their_own() {
    let Some(cluster) = Cluster::start(1) else {
        return;
    };
    let home = Home::new();
    let setup = slow("low", "slurm.exclusive=on,");
    let child = begin(&cluster, &home, &bench("90", [&*setup]));
    running_job(&cluster);
    home.until_measured(1);
    cluster.tool(
        "sbatch",
        &[
            "-p",
            "high",
            "--exclusive",
            "--output=/dev/null",
            "--wrap",
            "sleep 1",
        ],
    );
    let run = ended(child);
    let case = run.json()["cases"][0].clone();
    assert_eq!(case["outcome"], "preempted", "{run:#?}");
    assert!(case["rounds"].as_u64() >= Some(1), "{case:#}");
    cluster.until_given_back();

    // Nothing is known of the length of a round before the first one.
    let long = format!(
        "fake,sleep=yes,fixed=100789,where=slurm,remote_program={}",
        program()
    );
    let child = begin(&cluster, &home, &bench("2", [&*long]));
    let job = running_job(&cluster);
    cluster.tool(
        "scontrol",
        &["update", &format!("JobId={job}"), "EndTime=now+2"],
    );
    let run = ended(child);
    assert_eq!(run.json()["cases"][0]["outcome"], "walltime", "{run:#?}");
    cluster.until_given_back();
}

#[test]
fn a_run_that_waits_says_why_and_its_request_is_taken_back_however_it_ends() {
    let Some(cluster) = Cluster::start(1) else {
        return;
    };
    let home = Home::new();
    let taken = cluster.tool(
        "sbatch",
        &[
            "--parsable",
            "-p",
            "high",
            "--exclusive",
            "--output=/dev/null",
            "--wrap",
            "sleep 300",
        ],
    );
    running_job(&cluster);
    let setup = slow("high", "");
    let pending = ["-h", "-t", "PENDING", "-o", "%i"];
    let said = home.path("said.txt");
    for signal in ["INT", "KILL"] {
        let mut command = cluster.command(&home, &bench("2", [&*setup]));
        command.stdout(Stdio::piped());
        command.stderr(File::create(&said).expect("a file"));
        let child = command.spawn().expect("the program starts");
        let job = until(&cluster, "squeue", &pending, |said| !said.trim().is_empty());
        let deadline = Instant::now() + Duration::from_mins(1);
        let why = ["Resources (no node is free)", "position 1 of 1"];
        loop {
            let said = fs::read_to_string(&said).expect("a text");
            if why.iter().all(|word| said.contains(word)) {
                break;
            }
            assert!(Instant::now() < deadline, "{said}");
            std::thread::sleep(Duration::from_millis(100));
        }
        Cluster::kill(child.id(), signal);
        let run = ended(child);
        until(&cluster, "squeue", &pending, |said| !said.contains(&job));
        if signal == "INT" {
            let case = run.json()["cases"][0].clone();
            assert_eq!(case["outcome"], "queued", "{run:#?}");
            for word in why {
                assert!(case["reason"].to_string().contains(word), "{case:#}");
            }
        }
    }
    cluster.tool("scancel", &[taken.trim()]);
    cluster.until_given_back();
    let held = cluster.processes("powerband-begins-here");
    assert_eq!(held, Vec::<String>::new());
}
