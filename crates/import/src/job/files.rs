//! Which rank of a job a file is of: by the profiler's own words at its beginning, else by its name.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::reading::source::{ImportSource, Limits};
use crate::reading::standard_input;
use powerband_core::domain::file_set::{FileSet, ProcessFiles};
use powerband_core::domain::ranks::JobRank;

/// What PyTorch calls its description of a job.
const DISTRIBUTED: &str = "\"distributedInfo\"";
/// The word before a rank in the name of a file or a folder.
const WORD: &str = "rank";
/// Between the word and the number.
const SEPARATORS: [char; 4] = ['-', '_', ' ', '.'];
/// Stands for the rank in what files of one job have in common.
const ANY_RANK: &str = "rank#";

/// A file of a rank.
#[derive(Clone, Debug, PartialEq, Eq)]
struct RankFile {
    rank: JobRank,
    /// What files of other ranks of the same job have too.
    job: String,
}

/// Puts files of different ranks of one job together. Where ranks have several files each, those that come first by name
/// are one set, then those that come second.
pub(crate) fn join_ranks(sets: Vec<ProcessFiles>) -> Vec<FileSet> {
    if sets.len() < 2 {
        return sets.into_iter().map(FileSet::of_process).collect();
    }
    let mut joined: Vec<FileSet> = Vec::new();
    let mut jobs: BTreeMap<(String, usize), usize> = BTreeMap::new();
    let files: Vec<Option<RankFile>> = sets
        .iter()
        .map(|set| set.named.first().and_then(|first| rank_file(first)))
        .collect();
    let names: Vec<Vec<PathBuf>> = sets.iter().map(|set| set.named.clone()).collect();
    for (set, mut process) in sets.into_iter().enumerate() {
        let Some(file) = &files[set] else {
            joined.push(FileSet::of_process(process));
            continue;
        };
        process.rank = Some(file.rank);
        let is_before = |(other, name): &(&Option<RankFile>, &Vec<PathBuf>)| {
            other.as_ref() == Some(file) && *name < &names[set]
        };
        let n_before = files.iter().zip(&names).filter(is_before).count();
        let place = *jobs.entry((file.job.clone(), n_before)).or_insert_with(|| {
            joined.push(FileSet::default());
            joined.len() - 1
        });
        joined[place].processes.push(process);
    }
    for set in &mut joined {
        set.processes.sort_by_key(|process| process.rank);
    }
    joined
}

fn rank_file(path: &Path) -> Option<RankFile> {
    if standard_input::is_standard_input(path) {
        return None;
    }
    let by_name = rank_by_name(path);
    let stated = ImportSource::open(path, Limits::default())
        .and_then(|source| source.beginning())
        .ok()
        .and_then(|beginning| rank_by_beginning(&String::from_utf8_lossy(&beginning)));
    match (stated, by_name) {
        (Some(rank), Some(named)) => Some(RankFile { rank, ..named }),
        (Some(rank), None) => Some(RankFile {
            rank,
            job: path.parent().unwrap_or(path).display().to_string(),
        }),
        (None, named) => named,
    }
}

/// The rank that PyTorch's profiler writes: `"distributedInfo": {"backend": "nccl", "rank": 3, "world_size": 8, …}`.
fn rank_by_beginning(text: &str) -> Option<JobRank> {
    let from = text.find(DISTRIBUTED)?;
    let text = &text[from + DISTRIBUTED.len()..];
    let number = |key: &str| -> Option<u32> {
        let value = text[text.find(key)? + key.len()..].trim_start();
        let value = value.strip_prefix(':')?.trim_start();
        let end = value
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(value.len());
        value[..end].parse().ok()
    };
    Some(JobRank {
        rank: number("\"rank\"")?,
        n_ranks: number("\"world_size\"").filter(|n_ranks| *n_ranks > 0),
    })
}

/// The rank in the last part of a path that has one: `run/rank_3/trace.json`, `trace.rank3.json.gz`.
fn rank_by_name(path: &Path) -> Option<RankFile> {
    let text = path.to_string_lossy();
    let (range, rank) = rank_in_text(&text)?;
    Some(RankFile {
        rank: JobRank {
            rank,
            n_ranks: None,
        },
        job: format!("{}{ANY_RANK}{}", &text[..range.start], &text[range.end..]),
    })
}

/// Where the last rank of a text stands, with the word, and which it is.
pub(crate) fn rank_in_text(text: &str) -> Option<(std::ops::Range<usize>, u32)> {
    let lower = text.to_ascii_lowercase();
    let mut places: Vec<usize> = lower.match_indices(WORD).map(|(place, _)| place).collect();
    places.reverse();
    places.into_iter().find_map(|start| {
        let is_word_start = !lower[..start].ends_with(|c: char| c.is_ascii_alphabetic());
        let after = start + WORD.len();
        let digits = lower[after..].trim_start_matches(SEPARATORS);
        let first = lower.len() - digits.len();
        let n_digits = digits
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(digits.len());
        let end = first + n_digits;
        let rank = lower[first..end].parse().ok()?;
        is_word_start.then_some((start..end, rank))
    })
}

/// What the files of a job are called: the name of its first file without the rank, or that of the folder where nothing
/// else is left.
pub(crate) fn job_title(first: &Path, title: &str) -> String {
    let Some((range, _)) = rank_in_text(title) else {
        return title.to_owned();
    };
    let (before, after) = (&title[..range.start], &title[range.end..]);
    let parts = [before, after].map(|part| part.trim_matches(SEPARATORS));
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    if parts.is_empty() {
        let folder = first.parent().and_then(Path::file_name);
        return folder.map_or_else(
            || "job".to_owned(),
            |folder| folder.to_string_lossy().into_owned(),
        );
    }
    parts.join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(names: &[&str]) -> Vec<Vec<String>> {
        let sets = names.iter().map(|name| ProcessFiles {
            named: vec![PathBuf::from(name)],
            ..ProcessFiles::default()
        });
        let sets = join_ranks(sets.collect());
        let names = |set: &FileSet| set.named().map(|file| file.display().to_string()).collect();
        sets.iter().map(names).collect()
    }

    #[test]
    fn names_say_the_rank() {
        let rank = |text: &str| rank_in_text(text).map(|(_, rank)| rank);
        assert_eq!(rank("trace_rank_12.json"), Some(12));
        assert_eq!(rank("a/Rank-3/trace.json"), Some(3));
        assert_eq!(rank("rank0.pt.trace.json.gz"), Some(0));
        assert_eq!(rank("frank7.json"), None);
        assert_eq!(rank("ranking.json"), None);
        assert_eq!(rank("rank99999999999.json"), None);
    }

    #[test]
    fn pytorch_says_the_rank_at_the_beginning() {
        let text = r#"{"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": 3, "world_size": 8}, "traceEvents": ["#;
        let rank = rank_by_beginning(text).unwrap();
        assert_eq!((rank.rank, rank.n_ranks), (3, Some(8)));
        assert_eq!(
            rank_by_beginning("{\"distributedInfo\": {\"rank\": \"x\"}}"),
            None
        );
        assert_eq!(rank_by_beginning(""), None);
    }

    #[test]
    fn files_of_one_job_are_together_and_others_are_not() {
        assert_eq!(
            joined(&[
                "b/rank1.json",
                "a/rank0.json",
                "a/rank1.json",
                "b/rank0.json"
            ]),
            [
                ["b/rank0.json", "b/rank1.json"],
                ["a/rank0.json", "a/rank1.json"]
            ]
        );
        assert_eq!(
            joined(&["r/rank_0/t.json", "r/rank_1/t.json"]),
            [["r/rank_0/t.json", "r/rank_1/t.json"]]
        );
        assert_eq!(joined(&["a.json", "b.json"]).len(), 2);
    }

    #[test]
    fn a_job_is_called_after_its_files_or_its_folder() {
        let title = |path: &str, title: &str| job_title(Path::new(path), title);
        assert_eq!(title("x/resnet-rank3.json", "resnet-rank3"), "resnet");
        assert_eq!(title("run 7/rank3.json", "rank3"), "run 7");
        assert_eq!(title("x/rank_0_step_5.json", "rank_0_step_5"), "step_5");
        assert_eq!(title("x/other.json", "other"), "other");
    }
}
