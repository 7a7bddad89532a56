//! Damaged files, for as long as somebody wants: `scripts/fuzz`.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::source::{Limits, Source};
use super::watch::Watch;
use super::{Imported, sniff, summary, testing};

/// Larger files are only the same again.
const LARGEST: u64 = 400_000;

/// Numbers that look like chance.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end.max(1) as u64) as usize
    }
}

/// Real files of every format, unpacked where they are packed.
fn seeds() -> Vec<Vec<u8>> {
    fn files(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                files(&path, found);
            } else {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    files(&testing::path(""), &mut found);
    found.sort();
    let small = found
        .iter()
        .filter(|path| path.metadata().unwrap().len() < LARGEST);
    let root = testing::path("");
    small
        .map(|path| testing::unpacked(path.strip_prefix(&root).unwrap().to_str().unwrap()))
        .filter(|bytes| bytes.len() as u64 * 2 < LARGEST * 3)
        .collect()
}

/// Changes a file somewhere: bytes, pieces of itself and of others, numbers that are none.
fn damage(bytes: &mut Vec<u8>, other: &[u8], dice: &mut Dice) {
    const WORDS: [&[u8]; 14] = [
        b"",
        b"\"",
        b"\\",
        b"{",
        b"}",
        b"[",
        b"]",
        b"-9223372036854775809",
        b"1e308",
        b"NaN",
        b"\n",
        b",,;;",
        b"\xff\xfe\x00",
        b"%f%s\t|",
    ];
    let from = dice.below(bytes.len());
    let to = (from + dice.below(40)).min(bytes.len());
    match dice.below(5) {
        0 => bytes.truncate(from),
        1 => {
            let start = dice.below(other.len());
            let end = (start + dice.below(400)).min(other.len());
            drop(bytes.splice(from..to, other[start..end].iter().copied()));
        }
        2 => {
            let piece = bytes[from..to].to_vec();
            drop(bytes.splice(to..to, piece));
        }
        3 => {
            if let Some(byte) = bytes.get_mut(from) {
                *byte = dice.below(256) as u8;
            }
        }
        _ => {
            let word = WORDS[dice.below(WORDS.len())];
            drop(bytes.splice(from..to, word.iter().copied()));
        }
    }
}

#[test]
#[ignore = "runs for POWERBAND_FUZZ_SECONDS, ten minutes where nothing is said"]
fn damaged_files_do_no_harm() {
    let wanted = std::env::var("POWERBAND_FUZZ_SECONDS");
    let seconds = wanted.map_or(600, |text| text.parse().unwrap());
    let until = Instant::now() + Duration::from_secs(seconds);
    let seeds = seeds();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/fuzz-last");
    let mut dice = Dice(u64::from(std::process::id()) | 1);
    while Instant::now() < until {
        let seed = &seeds[dice.below(seeds.len())];
        let mut bytes = seed.clone();
        let other = &seeds[dice.below(seeds.len())];
        for _ in 0..=dice.below(8) {
            damage(&mut bytes, other, &mut dice);
        }
        fs::write(&path, &bytes).unwrap();
        // Whatever makes it fail is there to be looked at.
        fs::write(&kept, &bytes).unwrap();
        let Ok(source) = Source::open(
            &path,
            Limits {
                unpacked: 10_000_000,
            },
        ) else {
            continue;
        };
        let Ok(importer) = sniff(&source) else {
            continue;
        };
        let mut into = Imported::default();
        if importer.read(&source, &Watch::default(), &mut into).is_ok() {
            summary::profile(&into, "fuzz");
        }
    }
}
