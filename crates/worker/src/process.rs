//! The only place that starts or ends a process.
//!
//! A child gets a process group of its own, which is ended whole. Its output is read by named
//! threads that block, into a bounded channel; the end of its standard error is kept.

use std::collections::VecDeque;
use std::fs;
use std::io::{self, BufReader, Write as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

pub use super::ending::ProcessEnd;
use super::ending::{how_it_ended, oom_kills};
pub use super::lines::Incoming;
use super::lines::{keep_end, read_lines, skip_greeting};
use super::stops::ChildChange;
use powerband_core::base::cancel::CancelToken;
use powerband_core::base::process_spec::ProcessSpec;

/// How many lines may wait to be looked at; a child that writes faster has to wait.
const LINES_WAITING: usize = 64;
/// How long a child may take to end by itself once its input is closed, and again after SIGTERM.
const GRACE: Duration = Duration::from_millis(700);
/// How often the other side of a connection hears that this program is there.
const BEAT: Duration = Duration::from_secs(10);
/// How often a wait for a child that finishes looks at its cancel token.
const FINISH_LOOK: Duration = Duration::from_millis(100);

/// A child process with its pipes.
#[derive(Debug)]
pub struct ChildProcess {
    child: Child,
    group: Option<Pid>,
    stdin: Option<Arc<Mutex<ChildStdin>>>,
    /// Its signs of life end with this.
    beats: Option<SyncSender<()>>,
    lines: Receiver<Incoming>,
    stderr: Arc<Mutex<VecDeque<u8>>>,
    oom_kills_before: u64,
    /// Whether it leads to a worker on another machine, whose guard says how it ended.
    is_guarded: bool,
    ended: Option<ExitStatus>,
    /// Whether it was ended by us, or its end was reported.
    is_over: bool,
    _script: Option<TempDir>,
}

impl ChildProcess {
    /// Starts a child whose output is read line by line; `longest` is in bytes.
    pub fn start(spec: &ProcessSpec, longest: usize) -> io::Result<Self> {
        let oom_kills_before = oom_kills();
        let mut command = command(spec);
        let script = add_script(&mut command, spec)?;
        let mut child = spawn_on(&mut command, &spec.cores)?;
        let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let (sender, lines) = sync_channel(LINES_WAITING);
        let stderr = Arc::new(Mutex::new(VecDeque::new()));
        let begins_after = spec
            .remote
            .as_ref()
            .map(|remote| remote.begins_after.clone());
        if let Some(stdout) = child.stdout.take() {
            let kept = Arc::clone(&stderr);
            named("worker-stdout", move || {
                let mut reader = BufReader::with_capacity(64 << 10, stdout);
                if let Some(line) = begins_after {
                    skip_greeting(&mut reader, &line, longest, &kept);
                }
                read_lines(reader, longest, &sender);
            })?;
        }
        if let Some(pipe) = child.stderr.take() {
            let kept = Arc::clone(&stderr);
            named("worker-stderr", move || keep_end(pipe, &kept))?;
        }
        let stdin = child.stdin.take();
        let mut process = Self {
            child,
            group,
            stdin: stdin.map(|stdin| Arc::new(Mutex::new(stdin))),
            beats: None,
            lines,
            stderr,
            oom_kills_before,
            is_guarded: spec.remote.as_ref().is_some_and(|remote| remote.is_guarded),
            ended: None,
            is_over: false,
            _script: script,
        };
        if process.is_guarded {
            process.keep_alive()?;
        }
        Ok(process)
    }

    /// Has what reads its standard input over there hear an empty line from time to time, for as long as it is not
    /// ended: a connection whose other end went away without a word says nothing.
    pub(crate) fn keep_alive(&mut self) -> io::Result<()> {
        let Some(stdin) = self.stdin.as_ref().map(Arc::downgrade) else {
            return Ok(());
        };
        let (over, is_over) = sync_channel::<()>(0);
        named("keeps-alive", move || {
            while matches!(is_over.recv_timeout(BEAT), Err(RecvTimeoutError::Timeout)) {
                let Some(stdin) = stdin.upgrade() else {
                    return;
                };
                // A question that is being written is a sign of life, too.
                if stdin
                    .try_lock()
                    .is_ok_and(|mut stdin| stdin.write_all(b"\n").is_err())
                {
                    return;
                }
            }
        })?;
        self.beats = Some(over);
        Ok(())
    }

    /// Its process number.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Writes one line to its standard input.
    pub fn send(&mut self, line: &str) -> io::Result<()> {
        let stdin = self
            .stdin
            .as_ref()
            .ok_or_else(|| io::Error::from(io::ErrorKind::BrokenPipe))?;
        let mut stdin = stdin.lock().unwrap_or_else(PoisonError::into_inner);
        stdin.write_all(line.as_bytes())?;
        stdin.write_all(b"\n")?;
        stdin.flush()
    }

    /// The next line of its standard output, waited for at most so long.
    pub fn next(&self, limit: Duration) -> Incoming {
        match self.lines.recv_timeout(limit) {
            Ok(incoming) => incoming,
            Err(RecvTimeoutError::Timeout) => Incoming::Silence,
            Err(RecvTimeoutError::Disconnected) => Incoming::End,
        }
    }

    /// Whether it was ended by us, or its end was reported already.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// How it ended, where it did so by itself since it was last looked at.
    pub fn ended_by_itself(&mut self) -> Option<ProcessEnd> {
        let is_gone = !self.is_over && matches!(self.child.try_wait(), Ok(Some(_)));
        is_gone.then(|| self.end())
    }

    /// What the kernel reports of its stops since it was last asked, the oldest first; nothing where there was none.
    pub(crate) fn stop_change(&self) -> Option<ChildChange> {
        if self.ended.is_some() {
            return None;
        }
        let wanted = WaitIdOptions::STOPPED | WaitIdOptions::CONTINUED | WaitIdOptions::NOHANG;
        let change = waitid(WaitId::Pid(self.group?), wanted).ok()??;
        if change.continued() {
            Some(ChildChange::Continued)
        } else {
            change.stopped().then_some(ChildChange::Stopped)
        }
    }

    /// Ends it and its whole group: politely, then not. Says how it ended.
    pub fn end(&mut self) -> ProcessEnd {
        self.close_input();
        self.is_over = true;
        let by_itself = self.wait(GRACE);
        if by_itself.is_none() {
            self.signal(Signal::TERM);
            if self.wait(GRACE).is_none() {
                self.signal(Signal::KILL);
                self.wait(Duration::from_secs(10));
            }
        }
        self.describe_end(by_itself)
    }

    /// Lets it come to its end by itself, and ends it where that takes longer than `limit` or the wait is
    /// cancelled.
    pub fn finish(&mut self, limit: Duration, cancel: &CancelToken) -> ProcessEnd {
        self.close_input();
        self.is_over = true;
        let deadline = Instant::now() + limit;
        while !cancel.is_cancelled() && Instant::now() < deadline {
            // A full pipe would block it.
            while let Incoming::Line(_) | Incoming::Torn(_) = self.next(Duration::ZERO) {}
            if let Some(status) = self.wait(FINISH_LOOK) {
                return self.describe_end(Some(status));
            }
        }
        self.end()
    }

    /// Ends it and its whole group at once.
    pub fn kill(&mut self) {
        self.close_input();
        self.is_over = true;
        self.signal(Signal::KILL);
        self.wait(Duration::from_secs(10));
    }

    fn close_input(&mut self) {
        self.beats = None;
        self.stdin = None;
    }

    fn describe_end(&self, by_itself: Option<ExitStatus>) -> ProcessEnd {
        // Whatever the child left running goes too, and with it the writers of its pipes.
        self.signal(Signal::KILL);
        let stderr = self.stderr_end();
        let how = by_itself.map_or_else(|| "ended by Powerband".to_owned(), how_it_ended);
        let ending = ProcessEnd {
            memory: by_itself.and_then(|status| self.blames_memory(status, &stderr)),
            is_failure: by_itself.is_some_and(|status| !status.success()),
            is_lost: false,
            how,
            stderr,
        };
        if self.is_guarded && by_itself.is_some() {
            ending.guarded()
        } else {
            ending
        }
    }

    fn blames_memory(&self, status: ExitStatus, stderr: &str) -> Option<String> {
        if status.signal() == Some(9) && oom_kills() > self.oom_kills_before {
            return Some("the system killed the worker to free memory (OOM killer)".to_owned());
        }
        let words = [
            "memory allocation of",
            "failed to allocate",
            "bad_alloc",
            "Cannot allocate memory",
            "out of memory",
        ];
        let said = stderr
            .lines()
            .find(|line| words.iter().any(|word| line.contains(word)))?;
        Some(format!("the worker could not allocate ({})", said.trim()))
    }

    fn stderr_end(&self) -> String {
        // The reader may be a moment behind the end of the process.
        thread::sleep(Duration::from_millis(20));
        let kept = self.stderr.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes: Vec<u8> = kept.iter().copied().collect();
        String::from_utf8_lossy(&bytes).trim().to_owned()
    }

    fn wait(&mut self, limit: Duration) -> Option<ExitStatus> {
        let deadline = Instant::now() + limit;
        loop {
            if let Ok(Some(status)) = self.child.try_wait() {
                self.ended = Some(status);
                return Some(status);
            }
            if Instant::now() >= deadline {
                return None;
            }
            thread::sleep(Duration::from_millis(2));
        }
    }

    /// Signals the group. After the leader was reaped its number stays taken while the group has
    /// members, so a stranger is never hit; an empty group answers with an error that means nothing.
    fn signal(&self, signal: Signal) {
        if let Some(group) = self.group {
            kill_process_group(group, signal).unwrap_or_default();
        }
    }
}

impl Drop for ChildProcess {
    fn drop(&mut self) {
        if self.ended.is_none() {
            self.kill();
        }
    }
}

/// What a process said that ran to its end.
#[derive(Clone, Debug)]
pub struct Finished {
    /// Whether its exit status was zero.
    pub success: bool,
    /// In words.
    pub how: String,
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
}

/// Runs a process to its end, or to the limit, and returns what it wrote.
pub fn run_to_end(
    spec: &ProcessSpec,
    limit: Duration,
    cancel: &CancelToken,
) -> io::Result<Finished> {
    run_watched(spec, limit, cancel, &mut |_line| {})
}

/// Runs a process to its end within our own group, so that a signal to the group ends both. Returns what it
/// wrote and how long it took, in nanoseconds.
pub fn run_within_group(spec: &ProcessSpec) -> io::Result<(Finished, u64)> {
    let mut command = bare(spec);
    command.stdin(Stdio::null());
    let start = Instant::now();
    let output = command.output()?;
    let spent_ns = start.elapsed().as_nanos() as u64;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let finished = Finished {
        success: output.status.success(),
        how: how_it_ended(output.status),
        stdout: text(&output.stdout),
        stderr: text(&output.stderr),
    };
    Ok((finished, spent_ns))
}

/// As [`run_to_end`], with each line of its standard output passed on as it comes.
pub(crate) fn run_watched(
    spec: &ProcessSpec,
    limit: Duration,
    cancel: &CancelToken,
    watcher: &mut dyn FnMut(&str),
) -> io::Result<Finished> {
    let mut process = ChildProcess::start(spec, 1 << 20)?;
    process.stdin = process.stdin.take().filter(|_| process.is_guarded);
    Ok(collect(process, limit, cancel, watcher, &mut || ()))
}

/// As [`run_to_end`], with its standard input written by `feed` on a thread of its own; `while_waiting` is called a few
/// times a second.
pub(crate) fn run_fed(
    spec: &ProcessSpec,
    limit: Duration,
    cancel: &CancelToken,
    feed: impl FnOnce(&mut dyn io::Write) -> io::Result<()> + Send + 'static,
    while_waiting: &mut dyn FnMut(),
) -> io::Result<Finished> {
    let mut process = ChildProcess::start(spec, 1 << 20)?;
    if let Some(stdin) = process.stdin.take() {
        // What ends early says why itself; that the pipe is broken is only the consequence.
        named("feed", move || {
            let mut stdin = stdin.lock().unwrap_or_else(PoisonError::into_inner);
            feed(&mut *stdin).unwrap_or_default();
        })?;
    }
    Ok(collect(
        process,
        limit,
        cancel,
        &mut |_line| {},
        while_waiting,
    ))
}

fn collect(
    mut process: ChildProcess,
    limit: Duration,
    cancel: &CancelToken,
    watcher: &mut dyn FnMut(&str),
    while_waiting: &mut dyn FnMut(),
) -> Finished {
    let deadline = Instant::now() + limit;
    let mut stdout = String::new();
    loop {
        if cancel.is_cancelled() || Instant::now() >= deadline {
            process.kill();
            let how = if cancel.is_cancelled() {
                "was cancelled".to_owned()
            } else {
                format!("did not end within {} s", limit.as_secs())
            };
            return Finished {
                success: false,
                how,
                stdout,
                stderr: process.stderr_end(),
            };
        }
        match process.next(Duration::from_millis(100)) {
            Incoming::Line(line) | Incoming::Torn(line) => {
                watcher(&line);
                stdout.push_str(&line);
                stdout.push('\n');
            }
            Incoming::End => break,
            Incoming::Garbled(_) => {}
            Incoming::Silence => while_waiting(),
        }
    }
    let ending = process.end();
    let success = process.ended.is_some_and(|status| status.success());
    Finished {
        success,
        how: ending.how,
        stdout,
        stderr: ending.stderr,
    }
}

/// A process that neither hears nor says anything and is not ended with us.
#[expect(clippy::disallowed_methods, reason = "this is the one place")]
pub(crate) fn silent(program: &Path, argument: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .arg(argument)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0);
    command
}

/// Has ONNX Runtime neither keep nor send what it learns of its users; what its own interface has for this
/// does not stop it.
const SILENCE: &str = "ORT_DISABLE_TELEMETRY";

#[expect(clippy::disallowed_methods, reason = "this is the one place")]
pub(super) fn bare(spec: &ProcessSpec) -> Command {
    let mut command = Command::new(&spec.program);
    if std::env::var_os(SILENCE).is_none() {
        command.env(SILENCE, "1");
    }
    command
        .args(&spec.args)
        .envs(spec.env.iter().map(|(name, value)| (name, value)));
    command
}

/// Starts a child on these processors, or on ours where there are none given.
///
/// A child begins where the thread that starts it may run, so this thread goes there for that moment:
/// no thread of the child is ever anywhere else.
pub(super) fn spawn_on(command: &mut Command, cores: &[usize]) -> io::Result<Child> {
    if cores.is_empty() {
        return command.spawn();
    }
    let refused = |error: rustix::io::Errno| {
        let names: Vec<String> = cores.iter().map(ToString::to_string).collect();
        io::Error::other(format!(
            "it cannot run on the processors {}: {error}",
            names.join(", ")
        ))
    };
    let before = sched_getaffinity(None).map_err(refused)?;
    let mut wanted = CpuSet::new();
    for &core in cores.iter().filter(|&&core| core < CpuSet::MAX_CPU) {
        wanted.set(core);
    }
    sched_setaffinity(None, &wanted).map_err(refused)?;
    let spawned = command.spawn();
    sched_setaffinity(None, &before).map_err(refused)?;
    spawned
}

/// Has the program run the script, from a temporary folder that goes with the process.
pub(super) fn add_script(command: &mut Command, spec: &ProcessSpec) -> io::Result<Option<TempDir>> {
    let Some(script) = &spec.script else {
        return Ok(None);
    };
    let temporary = tempfile::Builder::new().prefix("powerband-").tempdir()?;
    let folder = temporary.path().join(script.name);
    fs::create_dir(&folder)?;
    for (name, text) in script.files {
        fs::write(folder.join(name), text)?;
    }
    command.arg(folder);
    Ok(Some(temporary))
}

fn command(spec: &ProcessSpec) -> Command {
    let mut command = bare(spec);
    // Where memory has run out, a panic that collects where it was never ends.
    command
        .env("RUST_BACKTRACE", "0")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    command
}

pub fn named(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new()
        .name(name.to_owned())
        .spawn(work)
        .map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> ProcessSpec {
        ProcessSpec::new("sh").args(["-c", script])
    }

    #[test]
    fn output_and_status_come_back() {
        let done = run_to_end(
            &shell("echo a; echo b; echo c >&2; exit 4"),
            Duration::from_secs(20),
            &CancelToken::default(),
        )
        .unwrap();
        assert_eq!(
            (done.stdout.as_str(), done.stderr.as_str(), done.success),
            ("a\nb\n", "c", false)
        );
        assert!(done.how.contains("exit status 4"), "{}", done.how);
    }

    #[test]
    fn an_unexpected_end_is_reported_once_with_its_last_words() {
        let mut process =
            ChildProcess::start(&shell("echo farewell >&2; kill -9 $$"), 1 << 20).unwrap();
        let deadline = Instant::now() + Duration::from_secs(20);
        let ending = loop {
            if let Some(ending) = process.ended_by_itself() {
                break ending;
            }
            assert!(Instant::now() < deadline, "it lives on");
            thread::sleep(Duration::from_millis(5));
        };
        assert!(ending.is_failure && process.is_over());
        assert!(process.ended_by_itself().is_none());
        let told = ending.to_string();
        assert!(told.contains("signal 9"), "{told}");
        assert!(told.ends_with("Its last words: farewell"), "{told}");
    }

    #[test]
    fn the_whole_group_is_ended() {
        let mut process = ChildProcess::start(
            &shell("trap '' TERM; sleep 300 & echo $!; wait; sleep 300"),
            1 << 20,
        )
        .unwrap();
        let Incoming::Line(pid) = process.next(Duration::from_secs(20)) else {
            panic!("no line");
        };
        assert_eq!(process.end().how, "ended by Powerband");
        let child = format!("/proc/{pid}/stat");
        let deadline = Instant::now() + Duration::from_secs(20);
        // A zombie waits for its new parent; it runs no more.
        while std::fs::read_to_string(&child).is_ok_and(|stat| !stat.contains(") Z")) {
            assert!(Instant::now() < deadline, "the grandchild lives on");
            thread::sleep(Duration::from_millis(10));
        }
    }

    #[test]
    fn a_child_stays_on_its_processors_and_we_go_back_to_ours() {
        let before = sched_getaffinity(None).unwrap();
        let first = (0..CpuSet::MAX_CPU).find(|core| before.is_set(*core));
        let first = first.unwrap();
        let spec = shell("grep Cpus_allowed_list /proc/self/status").on_cores(vec![first]);
        let said = run_to_end(&spec, Duration::from_secs(20), &CancelToken::default()).unwrap();
        let (_, allowed) = said.stdout.split_once(':').unwrap();
        assert_eq!(allowed.trim(), first.to_string());
        assert!(sched_getaffinity(None).unwrap() == before);
        let nowhere = shell(":").on_cores(vec![CpuSet::MAX_CPU - 1]);
        let refused = ChildProcess::start(&nowhere, 1 << 20)
            .unwrap_err()
            .to_string();
        assert!(
            refused.contains("cannot run on the processors"),
            "{refused}"
        );
    }

    #[test]
    fn a_missing_program_is_an_error() {
        let spec = ProcessSpec::new("/nowhere/at-all");
        assert!(run_to_end(&spec, Duration::from_secs(1), &CancelToken::default()).is_err());
    }
}
