//! The workers that run one setup: one, or several that share each batch and begin each round together.
//!
//! From the parent they are processes, the copies of a setup; within a worker they are threads, its streams.

use std::collections::BTreeSet;
use std::thread;
use std::time::Duration;

use super::process::ProcessEnd;
use super::protocol::{Reply, Request, RoundRule, WorkerCase};
use super::share::{self, Sharing, WorkerShare};
use super::stops::Stops;
use super::supervisor::{Worker, WorkerError};
use crate::engines::EngineError;
use powerband_core::base::cancel::CancelToken;
use powerband_core::base::clock;
use powerband_core::base::humanize;
use powerband_core::base::process_spec::ProcessSpec;
use powerband_core::domain::machine::ClockOffset;
use powerband_core::domain::setup::Setup;
use powerband_planning::engine_options;

/// From the word to the first run: long enough for every copy to hear it.
const NOTICE: Duration = Duration::from_millis(20);

/// How much of a reply is quoted in a message.
const QUOTED: usize = 80;

/// One worker of a group: it is asked, and answers later.
pub trait WorkerHandle {
    /// Asks without waiting for the answer.
    fn say(&mut self, request: &Request) -> Result<(), WorkerError>;

    /// The answer to what was asked.
    fn answer(
        &mut self,
        limit: Duration,
        cancel: &CancelToken,
        while_waiting: &mut dyn FnMut(),
    ) -> Result<Reply, WorkerError>;
}

impl WorkerHandle for Worker {
    fn say(&mut self, request: &Request) -> Result<(), WorkerError> {
        Self::say(self, request)
    }

    fn answer(
        &mut self,
        limit: Duration,
        cancel: &CancelToken,
        while_waiting: &mut dyn FnMut(),
    ) -> Result<Reply, WorkerError> {
        Self::answer(self, limit, cancel, while_waiting)
    }
}

/// The workers that run one setup.
#[derive(Debug)]
pub struct WorkerGroup<M = Worker> {
    workers: Vec<M>,
    sharing: Sharing,
    /// Cases that the first worker has to itself, because their inputs are given.
    alone: BTreeSet<WorkerCase>,
    threads: usize,
    /// How the clock of their machine compares with ours, where they run on another one.
    clock: Option<ClockOffset>,
    /// Whether its runs are those of a Python program, which its process only speaks with.
    is_python_loop: bool,
}

impl WorkerGroup {
    /// Starts as many workers as the setup has copies, each as `process` says.
    pub fn start(
        setup: &Setup,
        process: &ProcessSpec,
        limit: Duration,
        cancel: &CancelToken,
    ) -> Result<Self, WorkerError> {
        let copies = engine_options::copies(setup).map_err(EngineError::Unsupported)?;
        let start = |_| Worker::start_process(process, limit, cancel);
        let workers = (0..copies).map(start).collect::<Result<_, _>>()?;
        Ok(Self {
            is_python_loop: setup.is_python_loop(),
            ..Self::from_workers(workers, Sharing::Copies)
        })
    }

    /// The same on another machine, with its clock and its hardware threads.
    pub fn elsewhere(self, clock: ClockOffset, threads: usize) -> Self {
        Self {
            clock: Some(clock),
            threads,
            ..self
        }
    }

    /// Whether its processes run on another machine; those here only lead there.
    pub fn is_elsewhere(&self) -> bool {
        self.clock.is_some()
    }

    /// The processes.
    pub fn pids(&self) -> impl Iterator<Item = u32> + '_ {
        self.workers.iter().map(Worker::pid)
    }

    /// The processes that compute, by their numbers on the machine that they run on.
    pub fn pids_there(&self) -> impl Iterator<Item = u32> + '_ {
        let only_lead_there = self.is_elsewhere() || self.is_python_loop;
        self.workers.iter().filter_map(move |worker| {
            if only_lead_there {
                worker.own_pid
            } else {
                Some(worker.pid())
            }
        })
    }

    /// From the start of the slowest process to its handshake, in nanoseconds.
    pub fn start_ns(&self) -> u64 {
        self.workers
            .iter()
            .map(|worker| worker.start_ns)
            .max()
            .unwrap_or_default()
    }

    /// An answer that is none to the question.
    pub fn confused(&mut self, reply: &Reply) -> WorkerError {
        match self.workers.first_mut() {
            Some(worker) => worker.confused(reply),
            None => WorkerError::Garbled("an answer without a worker".to_owned()),
        }
    }

    /// Ends them: asks first, kills those that do not answer. Returns the failures that were not reported
    /// yet.
    pub fn end(self) -> Vec<ProcessEnd> {
        self.workers.into_iter().filter_map(Worker::end).collect()
    }

    /// Which of them were stopped since this was last asked, and for how long.
    pub fn take_stops(&mut self) -> Stops {
        let workers = self.workers.iter_mut();
        workers.fold(Stops::default(), |all, worker| all.and(worker.take_stops()))
    }

    /// How one of them ended by itself while nothing was asked of it.
    pub fn death(&mut self) -> Option<ProcessEnd> {
        self.workers.iter_mut().find_map(Worker::death)
    }
}

impl<M: WorkerHandle> WorkerGroup<M> {
    /// A group of workers that are started already.
    pub(crate) fn from_workers(workers: Vec<M>, sharing: Sharing) -> Self {
        Self {
            workers,
            sharing,
            alone: BTreeSet::new(),
            threads: thread::available_parallelism().map_or(1, usize::from),
            clock: None,
            is_python_loop: false,
        }
    }

    /// Asks one question and waits for the answer of all. Moments in it are on our clock.
    pub fn ask_while_waiting(
        &mut self,
        request: &Request,
        limit: Duration,
        cancel: &CancelToken,
        while_waiting: &mut dyn FnMut(),
    ) -> Result<Reply, WorkerError> {
        let mut answer = self.ask(request, limit, cancel, while_waiting);
        if let (Some(clock), Ok(Reply::Measured(measured))) = (self.clock, &mut answer) {
            measured.started_monotonic_ns = clock.to_local(measured.started_monotonic_ns);
        }
        answer
    }

    fn ask(
        &mut self,
        request: &Request,
        limit: Duration,
        cancel: &CancelToken,
        while_waiting: &mut dyn FnMut(),
    ) -> Result<Reply, WorkerError> {
        if self.is_for_one(request) {
            let Some(worker) = self.workers.first_mut() else {
                return Err(WorkerError::Start("its worker is gone".to_owned()));
            };
            worker.say(request)?;
            return worker.answer(limit, cancel, while_waiting);
        }
        let batch = case_of(request).map(|case| case.point.batch());
        if let Some(batch) = batch.filter(|batch| *batch < self.workers.len()) {
            return Err(EngineError::Unsupported(format!(
                "a batch of {batch} cannot be shared by {} {}",
                self.workers.len(),
                self.sharing.name()
            ))
            .into());
        }
        let replies = match request {
            Request::Measure { case, rule } => {
                let ask = |rule: RoundRule| Request::Measure { case: *case, rule };
                self.ask_all(&ask(share::waking(rule)), limit, cancel, while_waiting)?;
                // Every copy has to hear it in time, over a connection too.
                let offset = self.clock.unwrap_or_default();
                let notice_ns = NOTICE.as_nanos() as u64 + 2 * offset.round_trip_ns;
                let at = offset.to_remote(clock::monotonic_ns() + notice_ns);
                self.ask_all(
                    &ask(share::together(rule, at)),
                    limit,
                    cancel,
                    while_waiting,
                )?
            }
            request => self.ask_all(request, limit, cancel, while_waiting)?,
        };
        share::merge(&replies, batch, self.sharing).ok_or_else(|| {
            WorkerError::Garbled(format!(
                "the {} said different things: {}",
                self.sharing.name(),
                quoted(&replies)
            ))
        })
    }

    /// Every worker is asked before the first answer is waited for.
    fn ask_all(
        &mut self,
        request: &Request,
        limit: Duration,
        cancel: &CancelToken,
        while_waiting: &mut dyn FnMut(),
    ) -> Result<Vec<Reply>, WorkerError> {
        let of = self.workers.len();
        for (index, worker) in self.workers.iter_mut().enumerate() {
            let place = WorkerShare {
                index,
                of,
                sharing: self.sharing,
            };
            worker.say(&place.request(request, self.threads))?;
        }
        // Every worker is heard, so that none has an old answer left when the next question comes.
        let replies: Vec<Result<Reply, WorkerError>> = self
            .workers
            .iter_mut()
            .map(|worker| worker.answer(limit, cancel, while_waiting))
            .collect();
        let mut heard = Vec::with_capacity(of);
        let mut refused = None;
        for reply in replies {
            match reply {
                Ok(reply) => heard.push(reply),
                Err(error) if error.leaves_worker_usable() => refused = Some(error),
                Err(error) => return Err(error),
            }
        }
        refused.map_or(Ok(heard), Err)
    }

    /// Whether only the first worker is asked: there is only one, or the inputs are given.
    fn is_for_one(&mut self, request: &Request) -> bool {
        if self.workers.len() == 1 {
            return true;
        }
        match request {
            Request::Open { case, feed, .. } if !feed.is_empty() => {
                self.alone.insert(*case);
                true
            }
            Request::Close { case } => self.alone.remove(case),
            request => case_of(request).is_some_and(|case| self.alone.contains(&case)),
        }
    }
}

/// The beginning of each reply.
fn quoted(replies: &[Reply]) -> String {
    let begun = replies
        .iter()
        .map(|reply| humanize::shorten(&format!("{reply:?}"), QUOTED));
    begun.collect::<Vec<_>>().join("; ")
}

fn case_of(request: &Request) -> Option<WorkerCase> {
    match request {
        Request::Open { case, .. }
        | Request::WarmUp { case, .. }
        | Request::Measure { case, .. }
        | Request::Outputs { case }
        | Request::Save { case, .. }
        | Request::Observe { case }
        | Request::Close { case } => Some(*case),
        Request::Probe { .. }
        | Request::Load { .. }
        | Request::Examine { .. }
        | Request::Profile { .. }
        | Request::Agent(_)
        | Request::Export { .. } => None,
    }
}
