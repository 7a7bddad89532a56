//! The connection to a machine, which all commands for it share.
//!
//! Where the transport can share one, a first command opens it and holds it: it reads its standard input until we
//! close it, or are gone, and then the connection ends by itself.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::RemoteError;
use crate::worker::process::{self, Finished, Incoming, Process};
use crate::worker::transport::{Machine, Share, script};
use powerband_core::base::cancel::CancelToken;
use powerband_core::base::process_spec::{ProcessSpec, Remote};

/// How long opening may take: a jump host, or a second factor on a telephone.
const OPEN_LIMIT: Duration = Duration::from_mins(1);
/// A question that takes longer than this over there is given up.
pub(super) const ASK_LIMIT: Duration = Duration::from_mins(1);
/// How often a wait looks at its cancel token.
const LOOK: Duration = Duration::from_millis(100);
/// The longest path of a socket, less what `ssh` adds to it while it makes one.
const LONGEST_SOCKET: usize = 80;

/// An open connection.
#[derive(Debug)]
pub(crate) struct Link {
    /// Where it leads.
    pub machine: Machine,
    /// Holds a connection that is shared.
    holder: Option<Process>,
    /// Where the socket of our own shared connection is.
    socket: Option<(PathBuf, TempDir)>,
}

impl Link {
    /// Opens it.
    pub(crate) fn open(machine: &Machine, cancel: &CancelToken) -> Result<Self, RemoteError> {
        let mut link = Self {
            machine: machine.clone(),
            holder: None,
            socket: None,
        };
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
            link.socket = socket();
        }
        link.hold(cancel)?;
        Ok(link)
    }

    /// Starts the command that holds the connection, and waits until it is open.
    fn hold(&mut self, cancel: &CancelToken) -> Result<(), RemoteError> {
        let share = match &self.socket {
            Some((socket, _)) => Share::Begin(socket),
            None => Share::None,
        };
        let line = format!(
            "echo; echo {}; echo open; exec cat >/dev/null",
            script::BEGINS
        );
        let spec = self.spec(share, &line);
        let mut holder =
            Process::start(&spec, 1 << 16).map_err(|error| RemoteError::Lost(error.to_string()))?;
        let deadline = Instant::now() + OPEN_LIMIT;
        loop {
            match holder.next(LOOK) {
                Incoming::Line(_) => break,
                Incoming::Silence if cancel.is_cancelled() => return Err(RemoteError::Cancelled),
                Incoming::Silence if Instant::now() < deadline => {}
                Incoming::Silence => {
                    let seconds = OPEN_LIMIT.as_secs();
                    return Err(RemoteError::Lost(format!(
                        "no connection within {seconds} s"
                    )));
                }
                Incoming::End | Incoming::Torn(_) | Incoming::Garbled(_) => {
                    let ending = holder.end();
                    return Err(self.lost(&ending.stderr));
                }
            }
        }
        self.holder = Some(holder);
        Ok(())
    }

    fn spec(&self, share: Share<'_>, line: &str) -> ProcessSpec {
        let Machine {
            transport, target, ..
        } = &self.machine;
        ProcessSpec {
            remote: Some(Remote {
                begins_after: script::BEGINS.to_owned(),
                is_guarded: false,
            }),
            ..transport.around(target, share, line)
        }
    }

    /// A command that runs over there, after what is to come before the program.
    pub(crate) fn command(&self, line: &str) -> ProcessSpec {
        let share = match &self.socket {
            Some((socket, _)) => Share::Join(socket),
            None => Share::None,
        };
        self.spec(share, &script::announced(&self.machine.before, line))
    }

    /// Runs a line of shell over there to its end.
    pub(crate) fn run(&self, line: &str, cancel: &CancelToken) -> Result<Finished, RemoteError> {
        let finished = process::run_to_end(&self.command(line), ASK_LIMIT, cancel);
        finished_or_not(finished, cancel)
    }

    /// Why the connection is gone, where it is.
    pub(crate) fn broke(&mut self) -> Option<String> {
        let ending = self.holder.as_mut()?.ended_by_itself()?;
        self.holder = None;
        let transport = self.machine.transport;
        Some(transport.trouble(&self.machine.target, &ending.stderr))
    }

    /// No connection, for the reason that its program wrote.
    pub(crate) fn lost(&self, stderr: &str) -> RemoteError {
        let Machine {
            transport, target, ..
        } = &self.machine;
        RemoteError::Lost(transport.trouble(target, stderr))
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
