//! How far detached runs are, by what Slurm says and by what lies in their folders.

use std::fs;

use super::record::{JobPart, JobRecord};
use powerband_core::base::cancel::CancelToken;
use powerband_core::domain::plan::Plan;
use powerband_core::domain::queue::local_moment;
use powerband_store::library;
use powerband_worker::slurm::{self, JobEnd, JobState};

/// How far a part is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartState {
    /// In a word: queued, running, finished, walltime, preempted, cancelled, lost, ended.
    pub word: &'static str,
    /// Slurm's reason and the expected start, or the node.
    pub detail: String,
    /// Whether Slurm still has it.
    pub is_alive: bool,
    /// How Slurm ended it, with its line.
    pub end: Option<(JobEnd, String)>,
    /// Rounds of its cases that were measured.
    pub rounds_done: usize,
}

/// What Slurm says of this user's jobs; nothing where it does not answer.
pub fn ask_slurm() -> Option<Vec<JobState>> {
    let answer = slurm::ask(&slurm::jobs_query(None), &CancelToken::default())?;
    Some(slurm::read_jobs(&answer))
}

/// Said where Slurm does not answer.
pub const NO_ANSWER: &str = "Slurm does not answer: squeue --me has to work here";

/// The states of the parts in words, each once with its number of jobs.
pub fn states_text(states: &[PartState]) -> String {
    let mut kinds: Vec<(String, usize)> = Vec::new();
    for state in states {
        let detail = if state.detail.is_empty() {
            state.word.to_owned()
        } else {
            format!("{}: {}", state.word, state.detail)
        };
        match kinds.iter_mut().find(|(known, _)| *known == detail) {
            Some((_, number)) => *number += 1,
            None => kinds.push((detail, 1)),
        }
    }
    let kinds = kinds.into_iter().map(|(words, number)| {
        if states.len() > 1 {
            format!("{number} {words}")
        } else {
            words
        }
    });
    kinds.collect::<Vec<_>>().join("; ")
}

/// Rounds of the cases of a run that were measured, and all of them.
pub fn rounds(record: &JobRecord, states: &[PartState]) -> (usize, usize) {
    let done = states.iter().map(|state| state.rounds_done).sum();
    let all = record.parts.iter().map(|part| rounds_of(&part.plan));
    (done, all.sum())
}

fn rounds_of(plan: &Plan) -> usize {
    plan.cases().len() * plan.measure.rounds as usize
}

/// How far each part of a run is.
pub fn parts(record: &JobRecord, jobs: &[JobState]) -> Vec<PartState> {
    let parts = record.parts.iter().enumerate();
    parts
        .map(|(number, part)| state(record, number, part, jobs))
        .collect()
}

fn state(record: &JobRecord, number: usize, part: &JobPart, jobs: &[JobState]) -> PartState {
    let is_it = |job: &&JobState| job.job == part.job && job.task == part.task;
    let job = jobs.iter().find(is_it);
    let is_saved = record.file_of(number, ".ron").exists();
    let rounds = rounds_of(&part.plan);
    let mut state = PartState {
        word: "ended",
        detail: String::new(),
        is_alive: job.is_some_and(JobState::is_alive),
        end: None,
        rounds_done: if is_saved {
            rounds
        } else {
            measured_rounds(record, number).min(rounds)
        },
    };
    if let Some(job) = job.filter(|job| job.is_alive()) {
        if job.is_pending() {
            state.word = "queued";
            state.detail = job.queue_state(None).to_string();
        } else {
            state.word = "running";
            state.detail = format!(
                "on {} since {}",
                job.nodes,
                job.start
                    .as_deref()
                    .map_or_else(|| "–".to_owned(), local_moment)
            );
        }
        return state;
    }
    let log = fs::read_to_string(&part.log).unwrap_or_default();
    let said = JobEnd::said(&log).map(|(end, line)| (end, line.to_owned()));
    let by_state = || {
        let end = JobEnd::of_state(&job?.state)?;
        Some((end, format!("Slurm says {}", job?.state)))
    };
    state.end = said.or_else(by_state);
    state.word = match &state.end {
        Some((JobEnd::TimeLimit, _)) => "walltime",
        Some((JobEnd::Preempted, _)) => "preempted",
        Some((JobEnd::Cancelled, _)) => "cancelled",
        Some((JobEnd::NodeFailed, _)) => "lost",
        None if is_saved => "finished",
        None => "ended",
    };
    state
}

/// Rounds that were measured, by the journal.
fn measured_rounds(record: &JobRecord, number: usize) -> usize {
    let journal = journal(record, number);
    let text = journal.and_then(|path| fs::read_to_string(path).ok());
    text.map_or(0, |text| {
        text.lines()
            .filter(|line| line.contains("\"RoundFinished\""))
            .count()
    })
}

/// The journal of a part that is not saved.
pub(super) fn journal(record: &JobRecord, number: usize) -> Option<std::path::PathBuf> {
    let paths = powerband_core::base::paths::Paths {
        library: record.file_of(number, ""),
        ..powerband_core::base::paths::Paths::under(&record.folder)
    };
    let entries = fs::read_dir(library::journals(&paths)).ok()?;
    let mut files = entries.filter_map(|entry| Some(entry.ok()?.path()));
    files.find(|path| path.extension().is_some_and(|end| end == "jsonl"))
}
