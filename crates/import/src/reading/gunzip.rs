//! Packed files unpacked: one gzip member after the other, a gzip within a gzip, and whatever follows the last member
//! left out, as `gunzip` does.

use std::io::{self, BufRead, BufReader, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use flate2::bufread::GzDecoder;

/// What packed files begin with.
pub(crate) const GZIP: [u8; 2] = [0x1f, 0x8b];
/// So often a file may be packed.
const LAYERS: usize = 4;
/// Read at once.
const CHUNK: usize = 1 << 18;

/// Unpacks a file through all its layers, each held to a limit. `trailing` becomes true where bytes follow the packed
/// ones.
pub(crate) fn unpack(
    packed: impl Read + Send + 'static,
    limit: u64,
    trailing: &Arc<AtomicBool>,
) -> Box<dyn Read + Send> {
    let layer = |reader: BufReader<Box<dyn Read + Send>>| {
        let members = Members {
            member: Some(GzDecoder::new(reader)),
            trailing: Arc::clone(trailing),
        };
        LimitedReader {
            reader: members,
            left: limit,
        }
    };
    let mut unpacked = layer(BufReader::with_capacity(CHUNK, Box::new(packed)));
    for _ in 1..LAYERS {
        let mut inner: BufReader<Box<dyn Read + Send>> =
            BufReader::with_capacity(CHUNK, Box::new(unpacked));
        match inner.fill_buf() {
            Ok(bytes) if bytes.starts_with(&GZIP) => {}
            Ok(_) => return Box::new(inner),
            Err(error) => return Box::new(FailingReader(Some(error))),
        }
        unpacked = layer(inner);
    }
    Box::new(unpacked)
}

/// A reader that fails with an error.
struct FailingReader(Option<io::Error>);

impl Read for FailingReader {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

/// The members of one layer.
struct Members<R> {
    /// The one that is read; nothing behind the last.
    member: Option<GzDecoder<R>>,
    trailing: Arc<AtomicBool>,
}

impl<R: BufRead> Read for Members<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if into.is_empty() {
            return Ok(0);
        }
        while let Some(member) = &mut self.member {
            let read = member.read(into)?;
            if read > 0 {
                return Ok(read);
            }
            self.next_member()?;
        }
        Ok(0)
    }
}

impl<R: BufRead> Members<R> {
    /// Goes on behind the end of a member.
    fn next_member(&mut self) -> io::Result<()> {
        let Some(member) = self.member.take() else {
            return Ok(());
        };
        let mut rest = member.into_inner();
        let after = rest.fill_buf()?;
        let has_second = after.get(1).is_none_or(|byte| *byte == GZIP[1]);
        if after.first() == Some(&GZIP[0]) && has_second {
            self.member = Some(GzDecoder::new(rest));
        } else if after.iter().any(|byte| *byte != 0) {
            // Tapes and block devices are filled up with zeros, which are nothing.
            self.trailing.store(true, Ordering::Relaxed);
        }
        Ok(())
    }
}

/// Bytes up to a limit.
struct LimitedReader<R> {
    reader: R,
    left: u64,
}

impl<R: Read> Read for LimitedReader<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(into)?;
        self.left = self
            .left
            .checked_sub(read as u64)
            .ok_or_else(|| io::Error::other(OverLimit))?;
        Ok(read)
    }
}

/// More came out than is allowed.
#[derive(Debug, thiserror::Error)]
#[error("more comes out than is allowed")]
pub(crate) struct OverLimit;
