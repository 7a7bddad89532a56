//! The worker of a loop that runs in a Python program, which speaks the worker protocol on a socket.
//!
//! It carries lines between this program, which asks, and that one. Without such a program each request is refused.

use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;

use rustix::process::{Signal, set_parent_process_death_signal};
use signal_hook::low_level;

use super::child;
use super::process;
use super::protocol::Reply;
use crate::engines::EngineError;

/// The variable that names the socket.
const SOCKET: &str = "POWERBAND_LOOP";

/// Carries lines until either side closes.
pub fn run() -> io::Result<()> {
    let Some(socket) = std::env::var_os(SOCKET) else {
        return child::serve(&mut |_request| {
            Ok(Reply::Refused(EngineError::Unsupported(
                "this loop ran in a Python program, which measures it with powerband.measure; run that program again"
                    .to_owned(),
            )))
        });
    };
    set_parent_process_death_signal(Some(Signal::KILL))?;
    let asked = UnixStream::connect(socket)?;
    let answered = BufReader::new(asked.try_clone()?);
    process::named("replies", move || {
        drop(carry(answered, io::stdout()));
        drop(io::stderr().write_all(b"the Python program whose loop is measured has ended\n"));
        // The thread of the other direction blocks on standard input, so the process ends without joining it.
        low_level::exit(1);
    })?;
    carry(io::stdin().lock(), asked)
}

/// Passes lines on, each as soon as it is there.
fn carry(mut from: impl BufRead, mut to: impl Write) -> io::Result<()> {
    loop {
        let bytes = from.fill_buf()?;
        if bytes.is_empty() {
            return Ok(());
        }
        to.write_all(bytes)?;
        to.flush()?;
        let read = bytes.len();
        from.consume(read);
    }
}
