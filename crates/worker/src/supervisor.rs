//! The parent's side of one worker: a question, its answer, and a name for everything that can
//! happen in between.

use std::path::Path;
use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;

use super::process::{ChildProcess, Incoming, ProcessEnd};
use super::protocol::{Hello, LONGEST_LINE, Reply, Request, VERSION};
use super::stops::Stops;
use crate::engines::{self, EngineError};
use powerband_core::base::cancel::CancelToken;
use powerband_core::base::clock;
use powerband_core::base::humanize;
use powerband_core::base::process_spec::ProcessSpec;
use powerband_core::domain::outcome::{Outcome, Phase};
use powerband_core::domain::setup::Setup;
use powerband_planning::engine_options;

/// How often a waiting parent looks whether it was asked to stop.
const LOOK: Duration = Duration::from_millis(200);
/// A machine that is busy wakes a wait no later than this.
const MOST_LATE: Duration = Duration::from_secs(1);
/// How much of a line is quoted in a message.
const QUOTED: usize = 80;

/// Why a question got no good answer.
#[derive(Clone, Debug, thiserror::Error)]
pub enum WorkerError {
    /// The process could not be started.
    #[error("the worker could not be started: {0}")]
    Start(String),
    /// It said nothing in time, and was ended.
    #[error("no answer for {}", humanize::duration_ns(.limit.as_nanos() as f64))]
    Silent {
        /// How long it was given.
        limit: Duration,
    },
    /// A signal stopped it, nothing let it go on, and it was ended.
    #[error("the worker was stopped by a signal (SIGSTOP or SIGTSTP), and not continued within {}", humanize::duration_ns(.limit.as_nanos() as f64))]
    Stopped {
        /// How long it was given.
        limit: Duration,
    },
    /// There is no connection to its machine.
    #[error("no connection: {0}")]
    Lost(String),
    /// The scheduler that gave its machine ended the job.
    #[error("{}", .0.sentence().unwrap_or_default())]
    Ended(Outcome),
    /// It is gone.
    #[error("the worker died: {0}")]
    Died(ProcessEnd),
    /// It said something else than an answer, and was ended.
    #[error("{0}")]
    Garbled(String),
    /// The engine cannot, or will not. The worker lives.
    #[error(transparent)]
    Refused(#[from] EngineError),
    /// The user wants to stop; the worker was ended.
    #[error("cancelled")]
    Cancelled,
}

impl WorkerError {
    /// Whether the worker can be asked something else.
    pub fn leaves_worker_usable(&self) -> bool {
        matches!(
            self,
            Self::Refused(EngineError::Unsupported(_) | EngineError::Failed(_))
        )
    }

    /// What this means for the case that was being worked on.
    pub fn into_outcome(self, phase: Phase) -> Outcome {
        match self {
            Self::Start(reason) => Outcome::Failed {
                phase: Phase::Start,
                reason,
            },
            Self::Silent { limit } => Outcome::TimedOut {
                phase,
                limit_ms: limit.as_millis() as u64,
            },
            stopped @ Self::Stopped { .. } => Outcome::Failed {
                phase,
                reason: stopped.to_string(),
            },
            Self::Died(ending) if ending.is_lost => Outcome::Lost {
                phase,
                reason: match ending.last_words().as_str() {
                    "" => "the program that carries it ended without a word".to_owned(),
                    words => words.to_owned(),
                },
            },
            Self::Lost(reason) => Outcome::Lost { phase, reason },
            Self::Ended(outcome) => outcome,
            Self::Died(ProcessEnd {
                memory: Some(reason),
                ..
            })
            | Self::Refused(EngineError::OutOfMemory(reason)) => Outcome::OutOfMemory { reason },
            Self::Died(ending) => Outcome::Crashed {
                phase,
                stderr: ending.last_words(),
                how: ending.how,
            },
            Self::Garbled(reason) => Outcome::Garbled { reason },
            Self::Refused(EngineError::Unsupported(reason)) => Outcome::Unsupported { reason },
            Self::Refused(EngineError::Failed(reason)) => Outcome::Failed { phase, reason },
            Self::Cancelled => Outcome::Cancelled,
        }
    }
}

/// How long this program itself was stopped while it waited: a wait takes no longer than [`LOOK`] otherwise. A worker
/// that answered in the end, or was stopped as well, did not hang.
fn stopped_for(waited: Duration) -> Duration {
    let longer = waited.saturating_sub(LOOK);
    if longer > MOST_LATE {
        longer
    } else {
        Duration::ZERO
    }
}

/// One living worker.
#[derive(Debug)]
pub struct Worker {
    process: ChildProcess,
    /// Whether another program writes to its standard output as well; the lines of that are skipped.
    has_company: bool,
    /// How long it, this program and the machine were stopped while answers were waited for.
    stops: Stops,
    /// From the start of the process to its handshake, in nanoseconds.
    pub start_ns: u64,
    /// Its process number on the machine that it runs on, as it says itself.
    pub own_pid: Option<u32>,
}

impl Worker {
    /// Starts the worker that a setup asks for, and shakes hands.
    pub fn start(
        setup: &Setup,
        runtime: Option<&Path>,
        program: &Path,
        limit: Duration,
        cancel: &CancelToken,
    ) -> Result<Self, WorkerError> {
        Self::start_process(&worker_of(setup, runtime, program), limit, cancel)
    }

    /// Starts a process that speaks the protocol, and shakes hands.
    pub fn start_process(
        spec: &ProcessSpec,
        limit: Duration,
        cancel: &CancelToken,
    ) -> Result<Self, WorkerError> {
        Self::start_in_company(spec, false, limit, cancel)
    }

    /// Starts a process within which something else may write to its standard output: a profiler.
    pub fn start_wrapped(
        spec: &ProcessSpec,
        limit: Duration,
        cancel: &CancelToken,
    ) -> Result<Self, WorkerError> {
        Self::start_in_company(spec, true, limit, cancel)
    }

    fn start_in_company(
        spec: &ProcessSpec,
        has_company: bool,
        limit: Duration,
        cancel: &CancelToken,
    ) -> Result<Self, WorkerError> {
        let start = Instant::now();
        let process = ChildProcess::start(spec, LONGEST_LINE)
            .map_err(|error| WorkerError::Start(format!("{error} ({})", spec.command_line())))?;
        let mut worker = Self {
            process,
            has_company,
            stops: Stops::default(),
            start_ns: 0,
            own_pid: None,
        };
        let hello: Hello = worker.hear(limit, cancel, &mut || ())?;
        if hello.protocol != VERSION {
            worker.process.kill();
            return Err(WorkerError::Garbled(format!(
                "{} speaks version {} of the worker protocol, this program speaks version {VERSION}; install matching versions",
                hello.program, hello.protocol
            )));
        }
        worker.start_ns = start.elapsed().as_nanos() as u64;
        worker.own_pid = hello.pid;
        Ok(worker)
    }

    /// Its process number.
    pub fn pid(&self) -> u32 {
        self.process.id()
    }

    /// Asks one question and waits for its answer.
    pub fn ask(
        &mut self,
        request: &Request,
        limit: Duration,
        cancel: &CancelToken,
    ) -> Result<Reply, WorkerError> {
        self.ask_while_waiting(request, limit, cancel, &mut || ())
    }

    /// The same; while the worker is silent, something small is done a few times a second.
    pub fn ask_while_waiting(
        &mut self,
        request: &Request,
        limit: Duration,
        cancel: &CancelToken,
        while_waiting: &mut dyn FnMut(),
    ) -> Result<Reply, WorkerError> {
        self.say(request)?;
        self.answer(limit, cancel, while_waiting)
    }

    /// Asks without waiting for the answer.
    pub fn say(&mut self, request: &Request) -> Result<(), WorkerError> {
        let line = serde_json::to_string(request)
            .map_err(|error| WorkerError::Garbled(error.to_string()))?;
        self.process.send(&line).map_err(|_broken| self.died())
    }

    /// The answer to what was asked.
    pub fn answer(
        &mut self,
        limit: Duration,
        cancel: &CancelToken,
        while_waiting: &mut dyn FnMut(),
    ) -> Result<Reply, WorkerError> {
        match self.hear(limit, cancel, while_waiting)? {
            Reply::Refused(error) => Err(WorkerError::Refused(error)),
            reply => Ok(reply),
        }
    }

    /// An answer that is none to the question: the worker cannot be trusted any more.
    pub fn confused(&mut self, reply: &Reply) -> WorkerError {
        self.process.kill();
        WorkerError::Garbled(format!(
            "an answer to another question: {}",
            humanize::shorten(&format!("{reply:?}"), QUOTED)
        ))
    }

    /// Ends it: asks first, and kills it where it does not answer. Returns how it failed before that, where
    /// that was not reported yet.
    pub fn end(mut self) -> Option<ProcessEnd> {
        if self.process.is_over() {
            return None;
        }
        self.death()
            .or_else(|| Some(self.process.end()).filter(|ending| ending.is_failure))
    }

    /// How it ended, where it did so by itself while nothing was asked of it; returned once.
    pub(crate) fn death(&mut self) -> Option<ProcessEnd> {
        self.process.ended_by_itself()
    }

    /// Lets it come to its end by itself, for as long as `limit`; returns how it ended.
    pub fn finish(mut self, limit: Duration, cancel: &CancelToken) -> ProcessEnd {
        self.process.finish(limit, cancel)
    }

    /// What was stopped since this was last asked, and for how long.
    pub fn take_stops(&mut self) -> Stops {
        self.look_at_stops();
        self.stops.take()
    }

    fn look_at_stops(&mut self) {
        while let Some(change) = self.process.stop_change() {
            self.stops.take_in(change);
        }
    }

    /// The next line as a document, with a look at what was stopped until it came.
    fn hear<T: DeserializeOwned>(
        &mut self,
        limit: Duration,
        cancel: &CancelToken,
        while_waiting: &mut dyn FnMut(),
    ) -> Result<T, WorkerError> {
        let suspended_ns = clock::suspended_ns();
        let heard = self.hear_line(limit, cancel, while_waiting);
        self.stops.take_in_suspension(suspended_ns);
        heard
    }

    /// The next line as a document. A worker that does not give one is ended.
    fn hear_line<T: DeserializeOwned>(
        &mut self,
        limit: Duration,
        cancel: &CancelToken,
        while_waiting: &mut dyn FnMut(),
    ) -> Result<T, WorkerError> {
        let mut deadline = Instant::now() + limit;
        loop {
            let begun = Instant::now();
            let left = deadline.saturating_duration_since(begun);
            let next = self.process.next(left.min(LOOK));
            let own_stop = stopped_for(begun.elapsed());
            deadline += own_stop;
            self.stops.take_in_own(own_stop);
            self.look_at_stops();
            match next {
                Incoming::Line(line) if self.has_company && !is_document(&line) => {}
                Incoming::Line(line) => return self.parse(&line),
                Incoming::Garbled(what) => {
                    self.process.kill();
                    return Err(WorkerError::Garbled(what));
                }
                Incoming::Torn(_) | Incoming::End => return Err(self.died()),
                Incoming::Silence if cancel.is_cancelled() => {
                    self.process.kill();
                    return Err(WorkerError::Cancelled);
                }
                Incoming::Silence if left.is_zero() && Instant::now() >= deadline => {
                    self.process.kill();
                    return Err(if self.stops.is_stopped() {
                        WorkerError::Stopped { limit }
                    } else {
                        WorkerError::Silent { limit }
                    });
                }
                Incoming::Silence => while_waiting(),
            }
        }
    }

    fn parse<T: DeserializeOwned>(&mut self, line: &str) -> Result<T, WorkerError> {
        serde_json::from_str(line).map_err(|error| {
            self.process.kill();
            let quoted = humanize::shorten(line, QUOTED);
            WorkerError::Garbled(format!(
                "\"{quoted}\" is not a line of the worker protocol ({error})"
            ))
        })
    }

    fn died(&mut self) -> WorkerError {
        WorkerError::Died(self.process.end())
    }
}

/// Whether a line may be one of the protocol's: documents are objects, or the name of an answer alone.
fn is_document(line: &str) -> bool {
    line.starts_with(['{', '"'])
}

/// The worker that a setup asks for.
pub fn worker_of(setup: &Setup, runtime: Option<&Path>, program: &Path) -> ProcessSpec {
    let engine = engines::find(&setup.engine);
    let described = engine.and_then(|engine| engine.worker(setup, runtime));
    let spec = match described {
        _ if setup.is_python_loop() => own_worker(program).args(["relay"]),
        Some(spec) if spec.ends_with_parent => own_worker(program)
            .args(["exec", "--"])
            .args([spec.program])
            .args(spec.args),
        Some(spec) => spec,
        None => own_worker(program),
    };
    spec.on_cores(engine_options::cores(setup).unwrap_or_default())
}

/// Our own executable as a worker.
pub(crate) fn own_worker(program: &Path) -> ProcessSpec {
    ProcessSpec::new(program).args(["worker"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_that_took_far_too_long_was_a_stop() {
        assert_eq!(stopped_for(LOOK), Duration::ZERO);
        assert_eq!(
            stopped_for(LOOK + MOST_LATE),
            Duration::ZERO,
            "a busy machine"
        );
        let stopped = Duration::from_mins(3);
        assert_eq!(stopped_for(LOOK + stopped), stopped);
    }
}
