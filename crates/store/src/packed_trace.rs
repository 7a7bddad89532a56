//! A timeline as packed bytes, for a page that has it beside its session.

use std::io;

use super::packed_json;
use powerband_core::domain::trace::Trace;
use powerband_core::domain::trace_columns::TraceColumns;

/// Packs a timeline.
pub fn pack(trace: &Trace) -> io::Result<Vec<u8>> {
    packed_json::pack(&TraceColumns::from_trace(trace))
}

/// The timeline that was packed.
pub fn unpack(bytes: &[u8]) -> io::Result<Trace> {
    let columns: TraceColumns = packed_json::unpack(bytes)?;
    let damaged = |error| io::Error::new(io::ErrorKind::InvalidData, error);
    columns.into_trace().map_err(damaged)
}
