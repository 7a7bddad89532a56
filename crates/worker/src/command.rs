//! A command as a model: each run starts it anew, and takes its time from outside or from its words.

use std::collections::VecDeque;
use std::io;

use rustix::process::{Signal, getpgrp, kill_process_group, set_parent_process_death_signal};
use signal_hook::consts::SIGUSR1;
use signal_hook::iterator::Signals;

use super::process;
use crate::engines::command::Outside;
use crate::engines::{EngineError, LoadedInfo, LoadedModel, Runnable};
use powerband_core::base::humanize;
use powerband_core::base::process_spec::ProcessSpec;
use powerband_core::domain::tensor::Tensor;
use powerband_core::stats::signed_rank;
use powerband_core::stats::summary::median;

/// A command that does nothing.
const EMPTY: &str = ":";
/// Starts of a shell that does nothing, whose median is taken off each time.
const STARTS: usize = 20;
/// First runs after which it is asked whether a command does more than start: most are clear at once,
/// and those that are not get as many again.
const ASKED_AFTER: [usize; 2] = [15, 30];
/// A run takes longer than an empty one where it does so by this share: starts vary by as much.
const BEYOND_START: f64 = 0.1;
/// The runs are longer where chance alone would make them seem so in fewer cases than this.
const LEAST_CHANCE: f64 = 0.0005;
/// How much of what a command printed is quoted.
const QUOTED: usize = 200;

/// Has the commands end with the parent, also where that is killed by SIGKILL. The kernel tells this process alone, and
/// whatever a command started may run on; so it sends a signal that can be heard, and the whole group is ended.
pub(super) fn end_with_parent() -> io::Result<()> {
    let mut signals = Signals::new([SIGUSR1])?;
    process::named("parent-death", move || {
        if signals.forever().next().is_some() {
            kill_process_group(getpgrp(), Signal::KILL).unwrap_or_default();
        }
    })?;
    Ok(set_parent_process_death_signal(Some(Signal::USR1))?)
}

/// A command, before its batch size is known.
pub(crate) struct CommandModel {
    outside: Outside,
    loaded: LoadedInfo,
    /// What starting alone takes, in nanoseconds; nothing is taken off its own figures.
    start_ns: u64,
}

impl CommandModel {
    /// Looks what starting a command takes.
    pub(super) fn new(outside: Outside) -> Result<Self, EngineError> {
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
            loaded: LoadedInfo {
                engine: "a command".to_owned(),
                feeding: "the command feeds itself",
                notes: vec![note],
                ..LoadedInfo::default()
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
    fn loaded(&self) -> &LoadedInfo {
        &self.loaded
    }

    fn feeds(&self) -> bool {
        false
    }

    fn open(&mut self, _inputs: &[Tensor], batch: usize) -> Result<Box<dyn Runnable>, EngineError> {
        Ok(Box::new(CommandRun {
            line: self.outside.line(batch),
            outside: self.outside.clone(),
            batch,
            start_ns: self.start_ns,
            first: Vec::new(),
            is_longer: false,
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
    /// Whether they showed that it takes longer than starting alone.
    is_longer: bool,
    /// Figures of the last run that were not handed on yet.
    told: VecDeque<u64>,
}

impl CommandRun {
    /// Runs the command, the first times after an empty one, and gives what it printed and took.
    fn run_beside_empty(&mut self) -> Result<(String, u64), EngineError> {
        if self.outside.figures.is_some() || self.is_longer {
            return run(&self.line);
        }
        let (_, empty_ns) = run(EMPTY)?;
        let (stdout, taken_ns) = run(&self.line)?;
        self.first.push(FirstRun { empty_ns, taken_ns });
        if ASKED_AFTER.contains(&self.first.len()) {
            self.is_longer = are_longer(&self.first);
        }
        if !self.is_longer && ASKED_AFTER.last() == Some(&self.first.len()) {
            return Err(no_more_than_start(&self.first));
        }
        Ok((stdout, taken_ns))
    }
}

/// Whether runs take longer than the empty ones before them, by more than starts vary. What slows
/// every start down slows both, and a few that were hindered far more count by their rank.
fn are_longer(first: &[FirstRun]) -> bool {
    let beyond: Vec<f64> = first
        .iter()
        .map(|run| (run.taken_ns as f64 / (run.empty_ns as f64 * (1.0 + BEYOND_START))).ln())
        .collect();
    signed_rank::chance(&beyond) < LEAST_CHANCE
}

fn no_more_than_start(first: &[FirstRun]) -> EngineError {
    let median_of = |of: fn(&FirstRun) -> u64| {
        let times: Vec<f64> = first.iter().map(|run| of(run) as f64).collect();
        humanize::duration_ns(median(&times).unwrap_or_default())
    };
    EngineError::Failed(format!(
        "the command takes {}, and starting an empty one takes {}, so what it does itself cannot be told; let it do more, or print a figure that pattern= finds",
        median_of(|run| run.taken_ns),
        median_of(|run| run.empty_ns)
    ))
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

    fn needs_warm_up(&self) -> bool {
        false
    }

    fn reports_own_times(&self) -> bool {
        self.outside.figures.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// First runs, each after an empty start that takes longer than the one before, as on a machine that
    /// slows down; a quarter of either had other hindrances.
    fn first_runs(beyond_start: f64) -> Vec<FirstRun> {
        let hindered = |is_hindered: bool| if is_hindered { 7.0 } else { 1.0 };
        (1..=ASKED_AFTER[1] as u64)
            .map(|start| {
                let start_ns = start as f64 * 1e6;
                FirstRun {
                    empty_ns: (start_ns * hindered(start % 4 == 1)) as u64,
                    taken_ns: (start_ns * beyond_start * hindered(start % 4 == 0)) as u64,
                }
            })
            .collect()
    }

    #[test]
    fn what_does_no_more_than_start_is_not_longer() {
        for beyond_start in [0.9, 1.0, 1.09] {
            assert!(!are_longer(&first_runs(beyond_start)), "{beyond_start}");
        }
        let reason = no_more_than_start(&first_runs(1.0)).to_string();
        assert!(reason.contains("starting an empty one takes"), "{reason}");
        assert!(reason.contains("pattern="), "{reason}");
    }

    #[test]
    fn what_does_more_is_longer() {
        assert!(are_longer(&first_runs(3.0)));
        assert!(are_longer(&first_runs(30.0)[..ASKED_AFTER[0]]));
    }
}
