//! The connection to a machine, which all commands for it share.
//!
//! Where the transport can share one, a first command opens it and holds it: it reads its standard input until we
//! close it, or are gone, and then the connection ends by itself.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::RemoteError;
use crate::process::{self, ChildProcess, Finished, Incoming};
use crate::slurm::{self, JobEnd};
use powerband_core::base::cancel::CancelToken;
use powerband_core::base::clock;
use powerband_core::base::process_spec::{ProcessSpec, RemoteOutput};
use powerband_core::domain::outcome::{Outcome, Phase};
use powerband_core::domain::queue::QueueState;
use powerband_planning::transport::{SetupMachine, Share, script};

/// How long opening may take: a jump host, or a second factor on a telephone.
const OPEN_LIMIT: Duration = Duration::from_mins(1);
/// A question that takes longer than this over there is given up.
pub(super) const ASK_LIMIT: Duration = Duration::from_mins(1);
/// When a queue is looked at first: a node that is free comes sooner.
const FIRST_LOOK: Duration = Duration::from_secs(1);
/// How often a queue is looked at after that; a scheduler of many users has other things to do.
const QUEUE_LOOK: Duration = Duration::from_secs(3);
/// How often the place in a queue is looked up, for which all that waits is listed.
const POSITION_LOOK: Duration = Duration::from_secs(30);
/// How often a wait looks at its cancel token.
const LOOK: Duration = Duration::from_millis(100);
/// The longest path of a socket, less what `ssh` adds to it while it makes one.
const LONGEST_SOCKET: usize = 80;

/// An open connection.
#[derive(Debug)]
pub struct Link {
    /// Where it leads.
    pub machine: SetupMachine,
    /// Holds a connection that is shared.
    holder: Option<ChildProcess>,
    /// What other commands join the connection by: a socket of our own, or the job of a scheduler.
    joined_by: Option<PathBuf>,
    /// Where the socket is.
    folder: Option<TempDir>,
}

impl Link {
    /// Opens it; `told` hears what a scheduler says while it is waited for in its queue.
    pub(crate) fn open(
        machine: &SetupMachine,
        cancel: &CancelToken,
        told: &mut dyn FnMut(QueueState),
    ) -> Result<Self, RemoteError> {
        let mut link = Self {
            machine: machine.clone(),
            holder: None,
            joined_by: None,
            folder: None,
        };
        let name = format!("powerband-{:x}", clock::entropy());
        let SetupMachine {
            transport, target, ..
        } = machine;
        let line = held("$SLURM_JOB_ID");
        if let Some(spec) = transport.allocation(target, &machine.options, &name, &line) {
            if let Some(reason) = slurm::time_refusal(target, &machine.options, cancel) {
                return Err(RemoteError::Unfit(reason));
            }
            let mut queue = QueueWatch {
                query: slurm::jobs_query(Some(&name)),
                said: None,
                position: None,
                next: Instant::now() + FIRST_LOOK,
                next_position: Instant::now(),
            };
            let job = link.hold(spec, None, cancel, &mut || queue.poll(cancel, told))?;
            link.joined_by = Some(PathBuf::from(job));
            return Ok(link);
        }
        let Some(query) = machine.transport.share_query(&machine.target) else {
            return Ok(link);
        };
        let program = query.program.display().to_string();
        let answer = process::run_to_end(&query, OPEN_LIMIT, cancel)
            .map_err(|error| RemoteError::Lost(format!("{program} cannot be started: {error}")))?;
        if cancel.is_cancelled() {
            return Err(RemoteError::Cancelled);
        }
        if !answer.success {
            return Err(link.lost(&answer.stderr));
        }
        if machine.transport.wants_own_share(&answer.stdout) {
            (link.joined_by, link.folder) = socket().unzip();
        }
        let share = match &link.joined_by {
            Some(socket) => Share::Begin(socket),
            None => Share::None,
        };
        let spec = transport.shell_command(target, share, &opened());
        link.hold(spec, Some(OPEN_LIMIT), cancel, &mut || None)?;
        Ok(link)
    }

    /// Starts the command that holds the connection, and waits for its first line.
    fn hold(
        &mut self,
        spec: ProcessSpec,
        limit: Option<Duration>,
        cancel: &CancelToken,
        refused: &mut dyn FnMut() -> Option<String>,
    ) -> Result<String, RemoteError> {
        let program = spec.program.display().to_string();
        let mut holder = ChildProcess::start(&announcing(spec), 1 << 16)
            .map_err(|error| RemoteError::Lost(format!("{program} cannot be started: {error}")))?;
        let deadline = limit.map(|limit| Instant::now() + limit);
        let line = loop {
            match holder.next(LOOK) {
                Incoming::Line(line) => break line,
                Incoming::Silence if cancel.is_cancelled() => {
                    holder.end();
                    return Err(RemoteError::Cancelled);
                }
                Incoming::Silence if deadline.is_none_or(|deadline| Instant::now() < deadline) => {
                    if let Some(reason) = refused() {
                        holder.end();
                        return Err(RemoteError::Unfit(reason));
                    }
                }
                Incoming::Silence => {
                    let seconds = OPEN_LIMIT.as_secs();
                    return Err(RemoteError::Lost(format!(
                        "no connection within {seconds} s"
                    )));
                }
                Incoming::End | Incoming::Torn(_) | Incoming::Garbled(_) => {
                    let ending = holder.end();
                    return Err(match self.lost(&ending.stderr) {
                        RemoteError::Lost(reason) if self.is_allocated() => {
                            RemoteError::Unfit(reason)
                        }
                        lost => lost,
                    });
                }
            }
        };
        self.holder = Some(holder);
        Ok(line.trim().to_owned())
    }

    /// A command that runs over there, after what is to come before the program.
    pub(crate) fn command(&self, line: &str) -> ProcessSpec {
        let share = match &self.joined_by {
            Some(joined_by) => Share::Join(joined_by),
            None => Share::None,
        };
        let SetupMachine {
            transport, target, ..
        } = &self.machine;
        let line = script::announced(&self.machine.before, line);
        announcing(transport.shell_command(target, share, &line))
    }

    /// Has the program over there hold the connection, where one is shared.
    pub(crate) fn held_by(&mut self, program: &str) -> Result<(), RemoteError> {
        let is_allocated = self.is_allocated();
        let Some(holder) = self.holder.as_mut().filter(|_| !is_allocated) else {
            return Ok(());
        };
        let held = holder.send(program).and_then(|()| holder.keep_alive());
        held.map_err(|error| RemoteError::Lost(error.to_string()))
    }

    /// Runs a line of shell over there to its end.
    pub(crate) fn run(&self, line: &str, cancel: &CancelToken) -> Result<Finished, RemoteError> {
        let finished = process::run_to_end(&self.command(line), ASK_LIMIT, cancel);
        finished_or_not(finished, cancel)
    }

    /// Whether a scheduler gave the machine.
    pub(crate) fn is_allocated(&self) -> bool {
        self.machine.transport.is_scheduled()
    }

    /// Why the connection is gone, where it is.
    pub fn broke(&mut self, cancel: &CancelToken) -> Option<RemoteError> {
        let ending = self.holder.as_mut()?.ended_by_itself()?;
        self.holder = None;
        let by_scheduler = self.ended_by_scheduler(Phase::Start, &ending.stderr, cancel);
        Some(by_scheduler.map_or_else(|| self.lost(&ending.stderr), RemoteError::Ended))
    }

    /// The scheduler's job, where one gave the machine.
    pub fn job(&self) -> Option<String> {
        let job = self.joined_by.as_ref().filter(|_| self.is_allocated())?;
        Some(job.display().to_string())
    }

    /// What the end of the scheduler's job means for a case, where the job has ended.
    pub fn ended_by_scheduler(
        &self,
        phase: Phase,
        stderr: &str,
        cancel: &CancelToken,
    ) -> Option<Outcome> {
        let job = self.job()?;
        if let Some((end, line)) = JobEnd::said(stderr) {
            return Some(end.outcome(phase, line));
        }
        let end = slurm::ended(&job, cancel)?;
        Some(end.outcome(phase, &self.lost(stderr).to_string()))
    }

    /// No connection, for the reason that its program wrote; or a machine whose line `before` failed.
    pub(crate) fn lost(&self, stderr: &str) -> RemoteError {
        let SetupMachine {
            transport,
            target,
            before,
            ..
        } = &self.machine;
        if let Some(failure) = script::before_failure(stderr) {
            return RemoteError::Unfit(format!(
                "its line before the program (\"before\" in the settings: {before}) failed with {failure}"
            ));
        }
        RemoteError::Lost(transport.trouble(target, stderr))
    }
}

impl Drop for Link {
    /// Lets what holds the connection end by itself: killed, it would not give a machine back to its scheduler.
    fn drop(&mut self) {
        if let Some(mut holder) = self.holder.take() {
            holder.end();
        }
    }
}

/// A line that says something once, and then waits until its standard input is closed.
fn held(first: &str) -> String {
    let begins = script::BEGINS;
    format!("echo; echo {begins}; echo {first}; exec cat >/dev/null")
}

/// A line that says that the connection is open, and holds it: once it hears where the program is, the program does,
/// which notices a network that is gone.
fn opened() -> String {
    let begins = script::BEGINS;
    format!(
        "echo; echo {begins}; echo open; read -r p || exit 0; \"$p\" remote hold 2>/dev/null || exec cat >/dev/null"
    )
}

/// The same command, whose output begins after what a machine says by itself.
fn announcing(spec: ProcessSpec) -> ProcessSpec {
    let remote = RemoteOutput {
        begins_after: script::BEGINS.to_owned(),
        is_guarded: false,
    };
    ProcessSpec {
        remote: Some(remote),
        ..spec
    }
}

/// What a scheduler says while its queue is waited in.
struct QueueWatch {
    query: ProcessSpec,
    said: Option<QueueState>,
    position: Option<(usize, usize)>,
    next: Instant,
    next_position: Instant,
}

impl QueueWatch {
    /// Polls the queue at intervals and reports changes; returns a reason why the job can never start.
    fn poll(&mut self, cancel: &CancelToken, told: &mut dyn FnMut(QueueState)) -> Option<String> {
        let now = Instant::now();
        if now < self.next {
            return None;
        }
        self.next = now + QUEUE_LOOK;
        let answer = slurm::ask(&self.query, cancel)?;
        let jobs = slurm::read_jobs(&answer);
        let job = jobs.iter().find(|job| job.is_pending())?;
        if now >= self.next_position {
            self.next_position = now + POSITION_LOOK;
            self.position = slurm::position(job, cancel);
        }
        let state = job.queue_state(self.position);
        if state.can_never_start() {
            return Some(format!(
                "Slurm never starts it as it is: {}",
                state.reason_words()
            ));
        }
        if self.said.as_ref() != Some(&state) {
            told(state.clone());
            self.said = Some(state);
        }
        None
    }
}

/// What a command over there said; nothing of one that the user stopped.
pub(super) fn finished_or_not(
    finished: std::io::Result<Finished>,
    cancel: &CancelToken,
) -> Result<Finished, RemoteError> {
    if cancel.is_cancelled() {
        return Err(RemoteError::Cancelled);
    }
    finished.map_err(|error| RemoteError::Lost(error.to_string()))
}

/// A path for a socket in a folder of its own that this user alone may read; nothing where none is short enough.
fn socket() -> Option<(PathBuf, TempDir)> {
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let runtime = runtime.filter(|folder| folder.is_dir());
    let mut own = tempfile::Builder::new();
    own.prefix("powerband-");
    let made = [
        runtime.and_then(|folder| own.tempdir_in(folder).ok()),
        own.tempdir().ok(),
        own.tempdir_in("/tmp").ok(),
    ];
    let mut short = made.into_iter().flatten().filter_map(|folder| {
        let path = folder.path().join("ssh");
        (path.as_os_str().len() <= LONGEST_SOCKET).then_some((path, folder))
    });
    short.next()
}
