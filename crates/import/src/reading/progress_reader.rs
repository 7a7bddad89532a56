//! Bytes read with progress and cancelling, for readers that support neither.

use std::io::{self, Read};

use crate::reading::read_progress::ReadProgress;
use crate::reading::source::Stream;

/// Bytes of a file. Reading stops with an error once it is cancelled.
#[derive(Debug)]
pub struct ProgressReader<'a> {
    stream: Stream,
    watch: &'a ReadProgress<'a>,
    /// Stopped by the user.
    pub is_stopped: bool,
}

impl<'a> ProgressReader<'a> {
    /// Begins to read.
    pub fn new(stream: Stream, watch: &'a ReadProgress<'a>) -> Self {
        Self {
            stream,
            watch,
            is_stopped: false,
        }
    }
}

impl Read for ProgressReader<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.watch.tick(self.stream.bytes_read()).is_err() {
            self.is_stopped = true;
            return Err(io::Error::other("stopped"));
        }
        self.stream.read(into)
    }
}
