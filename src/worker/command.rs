//! A command as a model: each run starts it anew, and takes its time from outside or from its words.

use std::collections::VecDeque;

use super::process;
use crate::base::humanize;
use crate::base::process_spec::ProcessSpec;
use crate::domain::tensor::Tensor;
use crate::engines::command::Outside;
use crate::engines::{EngineError, Loaded, LoadedModel, Runnable};
use crate::stats::summary::median;

/// Starts of a shell that does nothing, whose median is taken off each time.
const STARTS: usize = 20;
/// Runs after which it is known whether a command does more than start.
const FIRST_RUNS: usize = 5;
/// A command has to take longer than an empty one by this share of it: starts vary by as much.
const BEYOND_START: f64 = 0.1;
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
        (0..STARTS).map(|_| Ok(run(":")?.1 as f64)).collect();
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
            first_ns: Vec::new(),
            told: VecDeque::new(),
        }))
    }
}

/// A command for one batch size.
struct CommandRun {
    line: String,
    outside: Outside,
    batch: usize,
    start_ns: u64,
    /// What the first runs took, their start included.
    first_ns: Vec<f64>,
    /// Figures of the last run that were not handed on yet.
    told: VecDeque<u64>,
}

impl CommandRun {
    /// The time of a run without that of its start. What does hardly more than start has no time of its own.
    fn without_start(&mut self, spent_ns: u64) -> Result<u64, EngineError> {
        if self.first_ns.len() < FIRST_RUNS {
            self.first_ns.push(spent_ns as f64);
        }
        let taken_ns = median(&self.first_ns).filter(|_| self.first_ns.len() == FIRST_RUNS);
        let start_ns = self.start_ns as f64;
        match taken_ns {
            Some(taken_ns) if taken_ns < start_ns * (1.0 + BEYOND_START) => {
                Err(EngineError::Failed(format!(
                    "the command takes {}, and starting an empty one takes {}, so what it does itself cannot be told; let it do more, or print a figure that pattern= finds",
                    humanize::duration_ns(taken_ns),
                    humanize::duration_ns(start_ns)
                )))
            }
            _ => Ok(spent_ns.saturating_sub(self.start_ns).max(1)),
        }
    }
}

impl Runnable for CommandRun {
    fn run(&mut self) -> Result<(), EngineError> {
        self.timed_run().map(drop)
    }

    fn timed_run(&mut self) -> Result<u64, EngineError> {
        if let Some(ns) = self.told.pop_front() {
            return Ok(ns);
        }
        let (stdout, spent_ns) = run(&self.line)?;
        let Some(figures) = &self.outside.figures else {
            return self.without_start(spent_ns);
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

    #[test]
    fn what_does_no_more_than_start_is_refused_after_a_few_runs() {
        let run = || CommandRun {
            line: String::new(),
            outside: Outside {
                line: String::new(),
                figures: None,
            },
            batch: 1,
            start_ns: 1_000_000,
            first_ns: Vec::new(),
            told: VecDeque::new(),
        };
        let mut empty = run();
        for spent_ns in [990_000, 1_040_000, 3_000_000, 1_010_000] {
            assert!(empty.without_start(spent_ns).is_ok());
        }
        let refused = empty.without_start(1_000_000).unwrap_err().to_string();
        assert!(refused.contains("takes 1.01 ms"), "{refused}");
        assert!(refused.contains("pattern="), "{refused}");
        let mut working = run();
        for _ in 0..2 * FIRST_RUNS {
            assert_eq!(working.without_start(1_500_000).unwrap(), 500_000);
        }
    }
}
