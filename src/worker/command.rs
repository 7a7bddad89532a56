//! A command as a model: each run starts it anew, and takes its time from outside or from its words.

use std::collections::VecDeque;

use super::process;
use crate::base::humanize;
use crate::base::process_spec::ProcessSpec;
use crate::domain::tensor::Tensor;
use crate::engines::command::Outside;
use crate::engines::{EngineError, Loaded, LoadedModel, Runnable};
use crate::stats::summary::median;

/// A command that does nothing.
const EMPTY: &str = ":";
/// Starts of a shell that does nothing, whose median is taken off each time.
const STARTS: usize = 20;
/// Runs after which it is known whether a command does more than start.
const FIRST_RUNS: usize = 15;
/// A run takes longer than an empty one where it does so by this share: starts vary by as much.
const BEYOND_START: f64 = 0.1;
/// So large a share of the first runs has to.
const MOST_RUNS: f64 = 0.75;
/// How much of what a command printed is quoted.
const QUOTED: usize = 200;

/// A command, before its batch size is known.
pub struct CommandModel {
    outside: Outside,
    loaded: Loaded,
    /// What starting alone takes, in nanoseconds; nothing is taken off its own figures.
    start_ns: u64,
}

impl CommandModel {
    /// Looks what starting a command takes.
    pub fn new(outside: Outside) -> Result<Self, EngineError> {
        let start_ns = match outside.figures {
            Some(_) => 0,
            None => start_ns()?,
        };
        let note = match &outside.figures {
            Some(figures) => format!(
                "Times are the command's own figures, found by {}; what it does before and after them is in no number.",
                figures.pattern
            ),
            None => format!(
                "Times are taken from outside, from starting the command to its end; {}, which starting an empty one takes, are taken off.",
                humanize::duration_ns(start_ns as f64)
            ),
        };
        Ok(Self {
            loaded: Loaded {
                engine: "a command".to_owned(),
                feeding: "the command feeds itself",
                notes: vec![note],
                ..Loaded::default()
            },
            outside,
            start_ns,
        })
    }
}

/// The median time of a shell that does nothing.
fn start_ns() -> Result<u64, EngineError> {
    let times: Result<Vec<f64>, EngineError> =
        (0..STARTS).map(|_| Ok(run(EMPTY)?.1 as f64)).collect();
    Ok(median(&times?).unwrap_or_default() as u64)
}

/// Runs a line to its end; its standard output and how long it took.
fn run(line: &str) -> Result<(String, u64), EngineError> {
    let spec = ProcessSpec::new("sh").args(["-c", line]);
    let (finished, spent_ns) = process::run_within_group(&spec)
        .map_err(|error| EngineError::Failed(format!("sh cannot be started: {error}")))?;
    if finished.success {
        return Ok((finished.stdout, spent_ns));
    }
    let said = match finished.stderr.trim() {
        "" => last(&finished.stdout),
        stderr => last(stderr),
    };
    Err(EngineError::Failed(format!(
        "the command ended with {} ({line}); its last words: {said}",
        finished.how
    )))
}

/// The end of a text, of a length that fits a message.
fn last(text: &str) -> String {
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    let from = lines.len().saturating_sub(3);
    let words = lines[from..].join(" / ");
    if words.is_empty() {
        "none".to_owned()
    } else {
        humanize::shorten(&words, QUOTED)
    }
}

impl LoadedModel for CommandModel {
    fn loaded(&self) -> &Loaded {
        &self.loaded
    }

    fn open(&mut self, _inputs: &[Tensor], batch: usize) -> Result<Box<dyn Runnable>, EngineError> {
        Ok(Box::new(CommandRun {
            line: self.outside.line(batch),
            outside: self.outside.clone(),
            batch,
            start_ns: self.start_ns,
            first: Vec::new(),
            told: VecDeque::new(),
        }))
    }
}

/// One of the first runs, and an empty start just before it: what slows one slows the other.
#[derive(Clone, Copy)]
struct FirstRun {
    empty_ns: u64,
    taken_ns: u64,
}

/// A command for one batch size.
struct CommandRun {
    line: String,
    outside: Outside,
    batch: usize,
    start_ns: u64,
    /// What the first runs took, and the empty start before each.
    first: Vec<FirstRun>,
    /// Figures of the last run that were not handed on yet.
    told: VecDeque<u64>,
}

impl CommandRun {
    /// Runs the command, the first times after an empty one, and gives what it printed and took.
    fn run_beside_empty(&mut self) -> Result<(String, u64), EngineError> {
        if self.outside.figures.is_some() || self.first.len() == FIRST_RUNS {
            return run(&self.line);
        }
        let (_, empty_ns) = run(EMPTY)?;
        let (stdout, taken_ns) = run(&self.line)?;
        self.first.push(FirstRun { empty_ns, taken_ns });
        if self.first.len() == FIRST_RUNS {
            more_than_start(&self.first)?;
        }
        Ok((stdout, taken_ns))
    }
}

/// Whether the command has a time of its own: most runs took longer than the empty one before them.
fn more_than_start(first: &[FirstRun]) -> Result<(), EngineError> {
    let is_longer =
        |run: &&FirstRun| run.taken_ns as f64 > run.empty_ns as f64 * (1.0 + BEYOND_START);
    if first.iter().filter(is_longer).count() as f64 >= MOST_RUNS * first.len() as f64 {
        return Ok(());
    }
    let median_of = |of: fn(&FirstRun) -> u64| {
        let times: Vec<f64> = first.iter().map(|run| of(run) as f64).collect();
        humanize::duration_ns(median(&times).unwrap_or_default())
    };
    Err(EngineError::Failed(format!(
        "the command takes {}, and starting an empty one takes {}, so what it does itself cannot be told; let it do more, or print a figure that pattern= finds",
        median_of(|run| run.taken_ns),
        median_of(|run| run.empty_ns)
    )))
}

impl Runnable for CommandRun {
    fn run(&mut self) -> Result<(), EngineError> {
        self.timed_run().map(drop)
    }

    fn timed_run(&mut self) -> Result<u64, EngineError> {
        if let Some(ns) = self.told.pop_front() {
            return Ok(ns);
        }
        let (stdout, spent_ns) = self.run_beside_empty()?;
        let Some(figures) = &self.outside.figures else {
            return Ok(spent_ns.saturating_sub(self.start_ns).max(1));
        };
        self.told = figures.times_ns(&stdout, self.batch).into();
        self.told.pop_front().ok_or_else(|| {
            EngineError::Failed(format!(
                "the command printed no figure that {} finds ({}); it printed: {}",
                figures.pattern,
                self.line,
                last(&stdout)
            ))
        })
    }

    fn outputs(&mut self) -> Result<Vec<Tensor>, EngineError> {
        Err(EngineError::Unsupported(
            "a command's outputs are its own affair".to_owned(),
        ))
    }

    fn wakes_up(&self) -> bool {
        false
    }

    fn tells_its_own_times(&self) -> bool {
        self.outside.figures.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// First runs, each after an empty start that takes longer than the one before, as on a machine that
    /// slows down; a quarter of them had other hindrances.
    fn first_runs(beyond_start: f64) -> Vec<FirstRun> {
        (1..=FIRST_RUNS as u64)
            .map(|start| {
                let hindrance = if start % 4 == 0 { 7.0 } else { 1.0 };
                FirstRun {
                    empty_ns: start * 1_000_000,
                    taken_ns: (start as f64 * 1e6 * beyond_start * hindrance) as u64,
                }
            })
            .collect()
    }

    #[test]
    fn what_does_no_more_than_start_is_refused() {
        let reason = more_than_start(&first_runs(1.01)).unwrap_err().to_string();
        assert!(reason.contains("empty one takes 8.00 ms"), "{reason}");
        assert!(reason.contains("pattern="), "{reason}");
    }

    #[test]
    fn what_does_more_has_a_time_of_its_own() {
        assert!(more_than_start(&first_runs(1.3)).is_ok());
    }
}
