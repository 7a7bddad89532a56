//! JSON as packed bytes, no longer than a page can unpack.

use std::io::{self, Read as _, Write};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use powerband_core::base::humanize;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// So many bytes come of it at most.
const MOST_UNPACKED: u64 = 1 << 30;

/// Passes bytes on, and counts them.
struct Counted<W> {
    inner: W,
    n_bytes: u64,
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n_written = self.inner.write(bytes)?;
        self.n_bytes += n_written as u64;
        if self.n_bytes > MOST_UNPACKED {
            let most = humanize::bytes(MOST_UNPACKED);
            return Err(io::Error::other(format!(
                "more than {most} of it are too much for a page"
            )));
        }
        Ok(n_written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// Packs a value.
pub(crate) fn pack(value: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut counted = Counted {
        inner: GzEncoder::new(Vec::new(), Compression::best()),
        n_bytes: 0,
    };
    serde_json::to_writer(&mut counted, value)?;
    counted.inner.finish()
}

/// The value that was packed.
pub(crate) fn unpack<T: DeserializeOwned>(bytes: &[u8]) -> io::Result<T> {
    let mut text = Vec::new();
    let mut unpacked = GzDecoder::new(bytes).take(MOST_UNPACKED);
    unpacked.read_to_end(&mut text)?;
    Ok(serde_json::from_slice(&text)?)
}
