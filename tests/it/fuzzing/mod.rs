//! Damaged files for as long as somebody wants: `scripts/fuzz`.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a panic is how a finding is told, and a tally is for whoever waits"
)]

mod damage;
mod seeds;
mod targets;

use std::collections::HashSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use damage::{DamageRng, damage};
use targets::Target;

/// Files are small; one that takes longer than this is a finding.
const LONGEST: Duration = Duration::from_secs(20);
/// Damaged files that were read in a way of their own are damaged further, and so many are kept.
const MOST_GROWN: usize = 4000;
/// Changes on top of changes make files longer and longer.
const LONGEST_FILE: usize = 600_000;

/// Processor time, so that a busy machine cuts nothing short.
fn now() -> Duration {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}

/// What a run of a target found out.
#[derive(Default)]
struct Tally {
    files: u64,
    read: u64,
    longest: Duration,
    ways: HashSet<String>,
}

fn run(target: &Target, seconds: u64, kept: &Path) -> Tally {
    let Target { name, seeds, .. } = target;
    assert!(!seeds.is_empty(), "no file of {name} to begin with");
    let mut grown: Vec<Vec<u8>> = Vec::new();
    let mut dice = DamageRng::new(u64::from(std::process::id()) * 31);
    let mut tally = Tally::default();
    let until = now() + Duration::from_secs(seconds);
    while now() < until {
        let from = if dice.below(2) == 0 || grown.is_empty() {
            seeds
        } else {
            &grown
        };
        let mut bytes = dice.one_of(from).clone();
        let other = dice.one_of(seeds).clone();
        for _ in 0..=dice.below(6) {
            damage(&mut bytes, &other, &mut dice);
        }
        bytes.truncate(LONGEST_FILE);
        // Whatever makes it fail stays there to be looked at.
        seeds::write(kept, &bytes);
        let began = now();
        let way = target.read(kept);
        let took = now().saturating_sub(began);
        assert!(took < LONGEST, "{} took {took:?}", kept.display());
        tally.files += 1;
        tally.longest = tally.longest.max(took);
        let was_read = !way.starts_with("not read");
        tally.read += u64::from(was_read);
        let way: String = way.chars().filter(|c| !c.is_ascii_digit()).collect();
        if tally.ways.insert(way) && was_read && grown.len() < MOST_GROWN {
            grown.push(bytes);
        }
    }
    fs::remove_file(kept).unwrap();
    tally
}

fn all_targets() -> Vec<Target> {
    targets::all(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests"))
}

fn chosen(wanted: &str) -> Vec<Target> {
    let known = all_targets();
    let names: Vec<&str> = known.iter().map(|target| target.name).collect();
    let words: Vec<&str> = match wanted {
        "" => vec!["any"],
        "each" => names
            .iter()
            .copied()
            .filter(|name| *name != "any")
            .collect(),
        _ => wanted.split(',').collect(),
    };
    for word in &words {
        assert!(
            names.contains(word),
            "no target {word}; there are {names:?}"
        );
    }
    known
        .into_iter()
        .filter(|target| words.contains(&target.name))
        .collect()
}

#[test]
#[ignore = "runs for POWERBAND_FUZZ_SECONDS of processor time for each of POWERBAND_FUZZ_TARGETS"]
fn damaged_files_do_no_harm() {
    let seconds = env::var("POWERBAND_FUZZ_SECONDS");
    let seconds = seconds.map_or(600, |text| text.parse().unwrap());
    let wanted = env::var("POWERBAND_FUZZ_TARGETS").unwrap_or_default();
    let folder: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/fuzz");
    fs::create_dir_all(&folder).unwrap();
    for target in chosen(&wanted) {
        let name = target.name;
        let tally = run(&target, seconds, &folder.join(name));
        println!(
            "{name}: {} files, {} of them read, in {} ways; the longest took {:.2} s",
            tally.files,
            tally.read,
            tally.ways.len(),
            tally.longest.as_secs_f64(),
        );
    }
}

#[test]
fn every_format_has_a_real_file_to_damage() {
    let without: Vec<&str> = all_targets()
        .iter()
        .filter(|target| target.seeds.is_empty())
        .map(|target| target.name)
        .collect();
    assert_eq!(without, [""; 0]);
}
