//! Traces of three processes of one job, of which rank 1 sleeps in each step, read as one profile.

use std::path::PathBuf;

use super::support::{Home, ProgramRun};
use serde_json::Value;

pub(crate) fn rank_file(rank: u32) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    folder.join(format!(
        "tests/fixtures/import/kineto/torch-ddp-gloo/rank{rank}.json.gz"
    ))
}

fn import(home: &Home, ranks: &[u32], more: &[&str]) -> ProgramRun {
    let files: Vec<PathBuf> = ranks.iter().map(|rank| rank_file(*rank)).collect();
    let files = files
        .iter()
        .map(|file| file.to_str().expect("a path of text"));
    let args: Vec<&str> = ["import"]
        .into_iter()
        .chain(files)
        .chain(more.iter().copied())
        .collect();
    home.run(&args)
}

#[test]
fn the_rank_that_sleeps_is_the_one_that_others_wait_for() {
    let home = Home::new();
    let saved = home.path("job.ron");
    let read = import(
        &home,
        &[2, 0, 1],
        &["--json", "--out", saved.to_str().unwrap()],
    );
    let document = read.json();
    assert_eq!(document["name"], "torch-ddp-gloo, 3 ranks");
    let job = &document["job"];
    assert_eq!(job["last_rank"]["rank"], 1, "{job}");
    assert_eq!(job["last_rank"]["is_settled"], true, "{job}");
    let ranks = job["ranks"].as_array().unwrap();
    let waited: Vec<f64> = ranks
        .iter()
        .map(|rank| rank["waited_ns"].as_f64().unwrap())
        .collect();
    // The others wait for most of the 10 ms of each of six steps.
    assert!(waited[1] < 0.3 * waited[0].min(waited[2]), "{waited:?}");
    assert!(waited[0] > 6.0 * 5e6, "{waited:?}");
    let steps = job["last_rank"]["steps"].as_u64();
    assert_eq!(steps, Some(6));
    assert_eq!(job["unmatched"], 0, "{job}");
    // The saved session knows it too, and so do its timeline and its report.
    let text = home.run(&["kernels", saved.to_str().unwrap()]).out;
    assert!(text.contains("the others wait for rank 1"), "{text}");
    assert!(text.contains("all-reduce of 1.02 MiB"), "{text}");
    let timeline = home.path("timeline.svg");
    let drawn = home.run(&[
        "export",
        saved.to_str().unwrap(),
        "--chart",
        "timeline",
        "--to",
        timeline.to_str().unwrap(),
    ]);
    assert_eq!(drawn.status, Some(0), "{}", drawn.err);
    let drawn = std::fs::read_to_string(timeline).unwrap();
    for rank in 0..3 {
        assert!(drawn.contains(&format!("rank {rank} · ")), "rank {rank}");
    }
}

#[test]
fn a_missing_rank_is_named_and_the_others_are_read() {
    let home = Home::new();
    let read = import(&home, &[0, 2], &[]);
    let (text, notes) = (read.out, read.err);
    assert!(notes.contains("the files of rank 1 are missing"), "{notes}");
    assert!(text.starts_with("torch-ddp-gloo, 2 ranks"), "{text}");
    let text = import(&home, &[1], &[]).out;
    assert!(
        text.starts_with("rank1: ") && !text.contains("rank 1 · "),
        "{text}"
    );
}

#[test]
fn two_files_of_one_rank_are_two_jobs() {
    let home = Home::new();
    let copies = home.path("rank-copies");
    std::fs::create_dir(&copies).unwrap();
    let mut args = vec!["import".to_owned(), "--json".to_owned()];
    for rank in 0..2 {
        for recording in ["a", "b"] {
            let copy = copies.join(format!("{recording}-rank{rank}.json.gz"));
            std::fs::copy(rank_file(rank), &copy).unwrap();
            args.push(copy.display().to_string());
        }
    }
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let document = home.run(&args).json();
    let names: Vec<&Value> = document["profiles"]
        .as_array()
        .unwrap()
        .iter()
        .map(|profile| &profile["name"])
        .collect();
    assert_eq!(names, ["a, 2 ranks", "b, 2 ranks"]);
}
