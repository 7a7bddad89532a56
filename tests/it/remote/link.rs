//! A link between the program and a server that is slow, loses packets, or is dead: two network namespaces of the
//! test's own.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdout, Command, Stdio};

use crate::support;

/// A link, with the address of its far end. It is gone with this.
pub(super) struct Link {
    holder: Child,
    said: BufReader<ChildStdout>,
    here: u32,
    there: u32,
}

impl Link {
    /// The server's end.
    pub(super) const THERE: &str = "10.91.0.2";

    /// A link without delay and loss; nothing, with a word, where the right to make one is missing.
    #[expect(
        clippy::disallowed_methods,
        reason = "the test makes its own surroundings"
    )]
    pub(super) fn new() -> Option<Self> {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/remote/link.py");
        let started = Command::new("unshare")
            .args(["--net", "python3", script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        let made = started.ok().and_then(|mut holder| {
            let mut said = BufReader::new(holder.stdout.take()?);
            let mut line = String::new();
            said.read_line(&mut line).ok()?;
            let mut numbers = line.split_whitespace().skip(1).map(str::parse);
            let (here, there) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
            Some(Self {
                holder,
                said,
                here,
                there,
            })
        });
        let what = "root, python3, network namespaces and netem or TUN devices (apt-get install iproute2 util-linux)";
        support::component(made, what)
    }

    /// Has every packet wait so long and be lost so often, in both directions, from now on.
    pub(super) fn set(&mut self, delay_ms: u32, loss_percent: u32) {
        let stdin = self.holder.stdin.as_mut().expect("a pipe");
        writeln!(stdin, "{delay_ms} {loss_percent}").expect("it listens");
        let mut line = String::new();
        self.said.read_line(&mut line).expect("it answers");
        assert_eq!(line.trim(), "set");
    }

    /// The option of `nsenter` for the program's end.
    pub(super) fn here(&self) -> String {
        format!("--net=/proc/{}/ns/net", self.here)
    }

    /// The same for the server's end.
    pub(super) fn there(&self) -> String {
        format!("--net=/proc/{}/ns/net", self.there)
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        drop(self.holder.stdin.take());
        self.holder.wait().map(drop).unwrap_or_default();
    }
}
