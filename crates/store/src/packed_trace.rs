//! A timeline as packed bytes, for a page that has it beside its session.

use std::io::{self, Read as _};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

use powerband_core::domain::trace::Trace;
use powerband_core::domain::trace_columns::TraceColumns;

/// A timeline may unpack to so many bytes.
const MOST_UNPACKED: u64 = 1 << 30;

/// Packs a timeline.
pub fn pack(trace: &Trace) -> io::Result<Vec<u8>> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::best());
    serde_json::to_writer(&mut packer, &TraceColumns::from_trace(trace))?;
    packer.finish()
}

/// The timeline that was packed.
pub fn unpack(bytes: &[u8]) -> io::Result<Trace> {
    let mut text = Vec::new();
    GzDecoder::new(bytes)
        .take(MOST_UNPACKED)
        .read_to_end(&mut text)?;
    let columns: TraceColumns = serde_json::from_slice(&text)?;
    let damaged = |error| io::Error::new(io::ErrorKind::InvalidData, error);
    columns.into_trace().map_err(damaged)
}
