//! What a child writes: its standard output line by line, the end of its standard error kept.

use std::collections::VecDeque;
use std::io::{self, BufRead as _, Read};
use std::sync::mpsc::SyncSender;
use std::sync::{Mutex, PoisonError};

/// How much of a child's standard error is kept.
const STDERR_KEPT: usize = 16 << 10;

/// What came from a child's standard output.
#[derive(Debug)]
pub enum Incoming {
    /// A line without its end.
    Line(String),
    /// The last line, without its end: the process stopped in the middle of it.
    Torn(String),
    /// A line longer than allowed, or not text.
    Garbled(String),
    /// Nothing more will come.
    End,
    /// Nothing came in time.
    Silence,
}

/// Passes over what a machine says before the program speaks, and keeps its end among the errors: it may be the
/// reason why the program never does.
pub(super) fn skip_greeting(
    reader: &mut impl io::BufRead,
    last: &str,
    longest: usize,
    kept: &Mutex<VecDeque<u8>>,
) {
    loop {
        let mut line = Vec::new();
        let read = reader
            .by_ref()
            .take(longest as u64)
            .read_until(b'\n', &mut line);
        let is_over = matches!(read, Ok(0) | Err(_));
        if is_over || line.trim_ascii_end().ends_with(last.as_bytes()) {
            return;
        }
        keep(&line, kept);
    }
}

/// Reads lines until the pipe closes or the receiver is gone.
pub(super) fn read_lines(
    mut reader: impl io::BufRead,
    longest: usize,
    sender: &SyncSender<Incoming>,
) {
    loop {
        let mut line = Vec::new();
        let read = reader
            .by_ref()
            .take(longest as u64 + 1)
            .read_until(b'\n', &mut line);
        let incoming = match read {
            Ok(0) | Err(_) => Incoming::End,
            Ok(_) if line.len() > longest => {
                Incoming::Garbled(format!("a line of more than {longest} bytes"))
            }
            Ok(_) if line.last() != Some(&b'\n') => torn(text_line(line)),
            Ok(_) => text_line(line),
        };
        let last = matches!(incoming, Incoming::End | Incoming::Garbled(_));
        if sender.send(incoming).is_err() || last {
            return;
        }
    }
}

fn torn(line: Incoming) -> Incoming {
    match line {
        Incoming::Line(text) => Incoming::Torn(text),
        other => other,
    }
}

fn text_line(mut line: Vec<u8>) -> Incoming {
    while line
        .last()
        .is_some_and(|byte| matches!(byte, b'\n' | b'\r'))
    {
        line.pop();
    }
    String::from_utf8(line).map_or_else(
        |_| Incoming::Garbled("a line that is not text".to_owned()),
        Incoming::Line,
    )
}

pub(super) fn keep_end(mut pipe: impl Read, kept: &Mutex<VecDeque<u8>>) {
    let mut chunk = [0; 4096];
    while let Ok(read @ 1..) = pipe.read(&mut chunk) {
        keep(&chunk[..read], kept);
    }
}

fn keep(bytes: &[u8], kept: &Mutex<VecDeque<u8>>) {
    let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
    kept.extend(bytes);
    let excess = kept.len().saturating_sub(STDERR_KEPT);
    kept.drain(..excess);
}
