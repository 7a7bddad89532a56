//! Detached runs in jobs of a real Slurm: submitted, listed, cancelled, and collected however they ended.

use std::path::Path;
use std::time::{Duration, Instant};

use powerband_core::domain::tensor::{ElementType, Tensor, TensorSpec};
use powerband_onnx::samples::npy;
use powerband_store::session_file;
use serde_json::Value;

use super::cluster::Cluster;
use super::server::program;
use crate::support::{Home, ProgramRun};

fn run(cluster: &Cluster, home: &Home, args: &[&str]) -> ProgramRun {
    ProgramRun::from_output(
        &cluster
            .command(home, args)
            .output()
            .expect("the program starts"),
    )
}

fn setup(more: &str) -> String {
    format!("fake,where=slurm,{more}remote_program={}", program())
}

fn listed(cluster: &Cluster, home: &Home) -> Value {
    run(cluster, home, &["jobs", "--json"]).json()["jobs"].clone()
}

/// Waits until the list of detached runs is as wanted.
fn until(cluster: &Cluster, home: &Home, is_so: impl Fn(&Value) -> bool) -> Value {
    let deadline = Instant::now() + Duration::from_mins(2);
    loop {
        let jobs = listed(cluster, home);
        if is_so(&jobs) {
            return jobs;
        }
        assert!(Instant::now() < deadline, "{jobs:#}");
        std::thread::sleep(Duration::from_millis(200));
    }
}

fn detach(cluster: &Cluster, home: &Home, setups: &[&str], more: &[&str]) {
    let mut args = vec!["bench", "resnet18@cifar", "--preset", "quick", "--detach"];
    for setup in setups {
        args.extend(["--setup", setup]);
    }
    args.extend(more);
    let run = run(cluster, home, &args);
    assert_eq!(run.status, Some(0), "{run:#?}");
}

#[test]
fn kinds_of_node_and_tasks_of_an_array_are_collected_into_one_session() {
    let Some(cluster) = Cluster::start(2) else {
        return;
    };
    let home = Home::new();
    let (first, second) = (setup(""), setup("slurm.time=5,"));
    let more = ["--batch", "1,2,4,8", "--rounds", "2", "--array", "2"];
    detach(&cluster, &home, &[&first, &second], &more);
    until(&cluster, &home, |jobs| jobs[0]["state"] == "4 finished");
    let run = run(&cluster, &home, &["jobs", "collect", "--json"]);
    let outcomes = run.outcomes();
    assert_eq!(outcomes.len(), 8, "{run:#?}");
    assert!(
        outcomes.iter().all(|(_, _, outcome)| outcome == "finished"),
        "{run:#?}"
    );
    assert!(run.out.contains("not interleaved"), "{run:#?}");
    // Each part brought what the devices of its node said.
    let saved = run
        .err
        .lines()
        .find_map(|line| line.strip_prefix("Saved to "));
    let saved = session_file::read(Path::new(saved.expect("a path")));
    let session = saved.expect("a session").session;
    for setup in 0..2 {
        let tracks = session.devices_beside(setup);
        let readings: usize = tracks.map(|(_, track)| track.times_ns.len()).sum();
        assert!(readings > 0, "{:#?}", session.telemetry);
    }
    assert_eq!(listed(&cluster, &home), Value::Array(Vec::new()));
    cluster.until_given_back();
}

#[test]
fn a_node_with_other_processors_loses_its_own_cases_alone() {
    let Some(cluster) = Cluster::start(2) else {
        return;
    };
    let home = Home::new();
    // The beginning of a program for ARM, as a node of another kind sees ours.
    let mut other = b"\x7fELF\x02\x01\x01".to_vec();
    other.resize(16, 0);
    other.extend([2, 0, 183, 0, 1, 0, 0, 0]);
    other.resize(4_096, 0);
    let other = home.write("powerband-arm", other);
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&other, mode).expect("permissions");
    let there = format!(
        "fake,where=slurm,slurm.time=5,remote_program={}",
        other.display()
    );
    let more = ["--batch", "1,2", "--rounds", "2", "--array", "2"];
    detach(&cluster, &home, &[&setup(""), &there], &more);
    until(&cluster, &home, |jobs| {
        let state = jobs[0]["state"].as_str().unwrap_or_default();
        state.contains("finished") && state.contains("ended") && !state.contains("running")
    });
    let run = run(&cluster, &home, &["jobs", "collect", "--json"]);
    let ended = |setup: &str| -> Vec<String> {
        let outcomes = run.outcomes().into_iter();
        let own =
            outcomes.filter(|(label, _, _)| label.contains("slurm.time") == (setup == "there"));
        own.map(|(_, _, outcome)| outcome).collect()
    };
    assert_eq!(ended("here"), ["finished", "finished"], "{run:#?}");
    assert!(
        ended("there").iter().all(|outcome| outcome != "finished"),
        "{run:#?}"
    );
    assert!(
        run.out.to_lowercase().contains("exec format error"),
        "{run:#?}"
    );
    cluster.until_given_back();
}

#[test]
fn what_was_measured_is_collected_from_jobs_that_were_cancelled_or_timed_out() {
    let Some(cluster) = Cluster::start(1) else {
        return;
    };
    let home = Home::new();
    let slow = setup("sleep=yes,fixed=200000,slurm.time=5,");
    for (how, outcome) in [("cancel", "skipped"), ("EndTime", "walltime")] {
        detach(
            &cluster,
            &home,
            &[&slow],
            &["--batch", "1", "--rounds", "200"],
        );
        let journal = |jobs: &Value| {
            let folder = jobs[0]["folder"].as_str().unwrap_or_default().to_owned();
            let journals = std::path::Path::new(&folder).join("part-0/journals");
            let files = crate::support::files(&journals);
            let texts = files
                .iter()
                .filter_map(|path| std::fs::read_to_string(path).ok());
            texts.collect::<String>().contains("\"RoundFinished\"")
        };
        let jobs = until(&cluster, &home, journal);
        let id = jobs[0]["id"].as_str().expect("an id").to_owned();
        let early = run(&cluster, &home, &["jobs", "collect", &id]);
        early.fails_saying(&["queued or running"]);
        if how == "cancel" {
            assert_eq!(
                run(&cluster, &home, &["jobs", "cancel", &id]).status,
                Some(0)
            );
        } else {
            let job = format!("JobId={id}");
            cluster.tool("scontrol", &["update", &job, "EndTime=now+10"]);
        }
        // A run that was cancelled can be collected at once.
        if how != "cancel" {
            cluster.until_given_back();
        }
        let run = run(&cluster, &home, &["jobs", "collect", &id, "--json"]);
        cluster.until_given_back();
        let case = run.json()["cases"][0].clone();
        assert_eq!(case["outcome"], outcome, "{run:#?}");
        assert!(case["rounds"].as_u64() >= Some(1), "{case:#}");
    }
}

#[test]
fn files_of_a_plan_travel_to_its_jobs_and_are_cleaned_up() {
    let Some(cluster) = Cluster::start(1) else {
        return;
    };
    let home = Home::new();
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/ort/block.onnx");
    let network = std::fs::read(fixture).expect("a fixture");
    let [first, mine] = ["first.onnx", "mine.onnx"].map(|name| home.write(name, &network));
    let own = setup(&format!("model={},", mine.display()));
    let input = TensorSpec::new("input", ElementType::F32, vec![1, 3, 4, 4]);
    let input = home.write("picture.npy", npy::write(&Tensor::seeded(&input, 1)));
    let input = format!("input={}", input.display());
    let (model, usual) = (first.display().to_string(), setup(""));
    let args = [
        "bench", &model, "--setup", &own, "--setup", &usual, "--input", &input,
    ];
    let short = [
        "--batch", "1", "--rounds", "2", "--preset", "quick", "--detach",
    ];
    let began = run(&cluster, &home, &[&args[..], &short[..]].concat());
    assert_eq!(began.status, Some(0), "{began:#?}");
    // The nodes read copies: what was named may go.
    std::fs::remove_file(&mine).expect("it was there");
    std::fs::remove_file(&first).expect("it was there");
    let jobs = until(&cluster, &home, |jobs| jobs[0]["state"] == "finished");
    assert_eq!(
        (&jobs[0]["rounds_done"], &jobs[0]["rounds"]),
        (&4.into(), &4.into())
    );
    let run_it = |args: &[&str]| run(&cluster, &home, args);
    let kept = run_it(&["machines", "clean", "slurm", "--json"]);
    assert!(
        !kept.out.contains("jobs/sent"),
        "a run still needs them: {kept:#?}"
    );
    let collected = run_it(&["jobs", "collect", "--json"]);
    let outcomes = collected.outcomes();
    assert!(
        outcomes.iter().all(|(_, _, outcome)| outcome == "finished"),
        "{collected:#?}"
    );
    let removed = run_it(&["machines", "clean", "slurm", "--json"]);
    for name in ["jobs/sent/powerband-", "/mine.onnx", "jobs/sent/inputs/"] {
        assert!(removed.out.contains(name), "{name}: {removed:#?}");
    }
    let again = run_it(&["machines", "clean", "slurm", "--json"]);
    assert!(!again.out.contains("jobs/sent"), "{again:#?}");
    cluster.until_given_back();
}

#[test]
fn rounds_of_a_job_are_added_to_a_session() {
    let Some(cluster) = Cluster::start(1) else {
        return;
    };
    let home = Home::new();
    detach(
        &cluster,
        &home,
        &[&setup("")],
        &["--batch", "1,2", "--rounds", "2"],
    );
    until(&cluster, &home, |jobs| jobs[0]["state"] == "finished");
    let collected = run(&cluster, &home, &["jobs", "collect"]);
    let path = |run: &ProgramRun| {
        let line = run
            .err
            .lines()
            .find_map(|line| line.strip_prefix("Saved to "));
        line.expect("a path").to_owned()
    };
    let first = path(&collected);
    let more = ["bench", "--more", &first, "--rounds", "3", "--detach"];
    let began = run(&cluster, &home, &more);
    assert_eq!(began.status, Some(0), "{began:#?}");
    let jobs = until(&cluster, &home, |jobs| jobs[0]["state"] == "finished");
    assert_eq!(jobs[0]["rounds"], 6, "{jobs:#}");
    let again = run(&cluster, &home, &["jobs", "collect"]);
    assert_eq!(path(&again), first, "the same file");
    let session = session_file::read(Path::new(&first))
        .expect("a session")
        .session;
    for case in &session.cases {
        let numbers: Vec<u32> = case.rounds.iter().map(|round| round.round).collect();
        assert_eq!(numbers, [0, 1, 2, 3, 4], "{case:#?}");
        let begins: Vec<u64> = case.rounds.iter().map(|round| round.started_ns).collect();
        assert!(begins.is_sorted(), "{begins:?}");
        assert_eq!(case.outcome.name(), "finished");
    }
    assert_eq!(session.machines.len(), 1, "{:#?}", session.machines);
    assert_eq!(session.sittings.len(), 1);
    cluster.until_given_back();
}

#[test]
fn more_time_than_a_partition_grants_is_refused_with_its_limit() {
    let Some(cluster) = Cluster::start(1) else {
        return;
    };
    let home = Home::new();
    let limit = ["update", "PartitionName=high", "MaxTime=30"];
    cluster.tool("scontrol", &limit);
    let long = format!(
        "fake,where=slurm:high,slurm.time=2:00:00,remote_program={}",
        program()
    );
    let args = ["bench", "resnet18@cifar", "--setup", &long, "--batch", "1"];
    let words = ["slurm.time=2:00:00", "high", "30:00"];
    run(&cluster, &home, &args).fails_saying(&words);
    run(&cluster, &home, &[&args[..], &["--detach"]].concat()).fails_saying(&words);
    assert_eq!(listed(&cluster, &home), Value::Array(Vec::new()));
}

#[test]
fn a_run_that_waits_is_listed_with_its_reason_and_one_that_never_can_is_refused() {
    let Some(cluster) = Cluster::start(1) else {
        return;
    };
    let home = Home::new();
    let never = setup("slurm.mem=900G,");
    let args = ["bench", "resnet18@cifar", "--setup", &never, "--detach"];
    run(&cluster, &home, &args).fails_saying(&["Slurm says"]);
    assert_eq!(listed(&cluster, &home), Value::Array(Vec::new()));
    let here = ["bench", "resnet18@cifar", "--setup", "fake", "--detach"];
    run(&cluster, &home, &here).fails_saying(&["where=slurm"]);

    let held = setup("slurm.hold=on,");
    detach(&cluster, &home, &[&held], &["--batch", "1"]);
    let jobs = until(&cluster, &home, |jobs| {
        jobs[0]["parts"][0]["state"] == "queued"
    });
    assert!(
        jobs[0]["state"].to_string().contains("JobHeldUser"),
        "{jobs:#}"
    );
    let id = jobs[0]["id"].as_str().expect("an id").to_owned();
    run(&cluster, &home, &["jobs", "cancel", &id]);
    cluster.until_given_back();
    let run = run(&cluster, &home, &["jobs", "collect", &id, "--json"]);
    assert_eq!(run.json()["cases"][0]["outcome"], "queued", "{run:#?}");
}
