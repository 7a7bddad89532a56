//! Over there: starts a worker, passes on what it is asked, and ends it when the connection closes or says nothing
//! any more.
//!
//! Behind the hidden subcommand `remote worker`. The worker's own output goes to the connection directly, so that the
//! guard costs nothing while it measures.

use std::io::{self, BufRead as _, Write as _};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use std::os::unix::process::CommandExt as _;

use crate::ending::{FAREWELL, FOR_MEMORY, how_it_ended, oom_kills};
use crate::process::{add_script, bare, named, spawn_on};
use powerband_core::base::process_spec::ProcessSpec;

/// How long a worker may take to end by itself once the connection is closed, and again after SIGTERM.
const GRACE: Duration = Duration::from_secs(3);
/// A connection that says nothing for so long is lost: the other side sends an empty line every few seconds. Without
/// this a server may take hours to notice that the network is gone.
pub(super) const SILENCE: Duration = Duration::from_mins(1);

/// How what was guarded ended.
#[derive(Debug)]
pub struct GuardedEnd {
    /// For the other side.
    pub farewell: String,
    pub success: bool,
}

/// Runs a worker, or another command, to its end.
pub fn run(spec: &ProcessSpec) -> io::Result<GuardedEnd> {
    let oom_kills_before = oom_kills();
    let mut command = bare(spec);
    let _script = add_script(&mut command, spec)?;
    command
        .env("RUST_BACKTRACE", "0")
        .stdin(Stdio::piped())
        .process_group(0);
    let mut child = spawn_on(&mut command, &spec.cores)?;
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let mut stdin = child.stdin.take();
    let heard = listen(move |line| match &mut stdin {
        Some(stdin) if line != b"\n" => stdin.write_all(line).and_then(|()| stdin.flush()),
        _ => Ok(()),
    })?;
    let (over, is_over) = sync_channel::<()>(1);
    let is_silent = Arc::new(AtomicBool::new(false));
    let fell_silent = Arc::clone(&is_silent);
    let is_lost = Arc::new(AtomicBool::new(false));
    let was_lost = Arc::clone(&is_lost);
    named("ends-worker", move || {
        fell_silent.store(until_lost(&heard), Ordering::Relaxed);
        was_lost.store(true, Ordering::Relaxed);
        for signal in [Signal::TERM, Signal::KILL] {
            if !matches!(is_over.recv_timeout(GRACE), Err(RecvTimeoutError::Timeout)) {
                return;
            }
            if let Some(group) = group {
                kill_process_group(group, signal).unwrap_or_default();
            }
        }
    })?;
    let status = child.wait()?;
    drop(over);
    // What it started goes with it; where the connection is gone, it gets a moment to clean up, too.
    if let Some(group) = group {
        let deadline = Instant::now() + GRACE;
        while is_lost.load(Ordering::Relaxed)
            && test_kill_process_group(group).is_ok()
            && Instant::now() < deadline
        {
            thread::sleep(Duration::from_millis(50));
        }
        kill_process_group(group, Signal::KILL).unwrap_or_default();
    }
    if is_silent.load(Ordering::Relaxed) {
        let seconds = SILENCE.as_secs();
        return Ok(GuardedEnd {
            farewell: format!(
                "the worker was ended because nothing came over the connection for {seconds} s"
            ),
            success: false,
        });
    }
    let how = how_it_ended(status);
    let was_killed = how.starts_with("signal 9 ") && oom_kills() > oom_kills_before;
    let reason = if was_killed {
        format!("; {FOR_MEMORY}")
    } else {
        String::new()
    };
    Ok(GuardedEnd {
        farewell: format!("{FAREWELL}{how}{reason}"),
        success: status.success(),
    })
}

/// Holds a connection that is shared, until it closes or says nothing any more.
pub fn hold() -> io::Result<()> {
    until_lost(&listen(|_line| Ok(()))?);
    Ok(())
}

/// Has each line of standard input passed on. What comes back hears of every line, and is closed when standard input
/// closes, or when what the lines are passed to is gone.
fn listen(
    mut pass_on: impl FnMut(&[u8]) -> io::Result<()> + Send + 'static,
) -> io::Result<Receiver<()>> {
    let (heard, hears) = sync_channel::<()>(1);
    named("requests", move || {
        let mut input = io::stdin().lock();
        let mut line = Vec::new();
        while matches!(input.read_until(b'\n', &mut line), Ok(1..)) {
            if pass_on(&line).is_err() {
                return;
            }
            line.clear();
            // One that was not looked at yet is as good.
            heard.try_send(()).unwrap_or_default();
        }
    })?;
    Ok(hears)
}

/// Waits for the end of the connection. Returns whether it is open, for all that is known, and has been silent.
fn until_lost(heard: &Receiver<()>) -> bool {
    loop {
        match heard.recv_timeout(SILENCE) {
            Ok(()) => {}
            Err(end) => return end == RecvTimeoutError::Timeout,
        }
    }
}
