//! Over there: starts a worker, passes on what it is asked, and ends it when the connection closes.
//!
//! Behind the hidden subcommand `remote worker`. The worker's own output goes to the connection directly, so that the
//! guard costs nothing while it measures.

use std::io;
use std::process::Stdio;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use std::os::unix::process::CommandExt as _;

use crate::worker::ending::{FAREWELL, FOR_MEMORY, how_it_ended, oom_kills};
use crate::worker::process::{bare, named, spawn_on, written};
use powerband_core::base::process_spec::ProcessSpec;

/// How long a worker may take to end by itself once the connection is closed, and again after SIGTERM.
const GRACE: Duration = Duration::from_secs(3);

/// Runs a worker to its end. Returns how it ended, for the other side.
pub fn run(spec: &ProcessSpec) -> io::Result<String> {
    let oom_kills_before = oom_kills();
    let mut command = bare(spec);
    let script = spec.script.as_ref().map(written).transpose()?;
    if let (Some(folder), Some(script)) = (&script, &spec.script) {
        command.arg(folder.path().join(script.name));
    }
    command
        .env("RUST_BACKTRACE", "0")
        .stdin(Stdio::piped())
        .process_group(0);
    let mut child = spawn_on(&mut command, &spec.cores)?;
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let (closed, is_closed) = sync_channel::<()>(1);
    if let Some(mut stdin) = child.stdin.take() {
        named("requests", move || {
            // Whether the connection or the worker ended, there is nothing left to pass on.
            io::copy(&mut io::stdin().lock(), &mut stdin)
                .map(drop)
                .unwrap_or_default();
            drop(stdin);
            drop(closed);
        })?;
    }
    let (over, is_over) = sync_channel::<()>(1);
    named("ends-worker", move || {
        if matches!(is_closed.recv(), Ok(())) {
            return;
        }
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
    // What it started goes with it.
    if let Some(group) = group {
        kill_process_group(group, Signal::KILL).unwrap_or_default();
    }
    let how = how_it_ended(status);
    let was_killed = how.starts_with("signal 9 ") && oom_kills() > oom_kills_before;
    let reason = if was_killed {
        format!("; {FOR_MEMORY}")
    } else {
        String::new()
    };
    Ok(format!("{FAREWELL}{how}{reason}"))
}
