//! Sessions written to a file with their timelines beside it.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use powerband_core::domain::session::Session;
use powerband_core::domain::trace::Trace;

use crate::session_file::{self, WriteError};
use crate::trace_file;

/// Why what was imported was not kept.
#[derive(Debug, thiserror::Error)]
pub enum KeepError {
    /// The session.
    #[error(transparent)]
    Session(#[from] WriteError),
    /// A timeline.
    #[error(transparent)]
    Trace(#[from] trace_file::TraceWriteError),
}

/// Writes the session, and the timelines beside it.
pub fn keep(session: &mut Session, traces: &[Arc<Trace>], path: &Path) -> Result<(), KeepError> {
    let traces = traces.iter().cloned().enumerate();
    let open: Vec<_> = traces.filter(|(_, trace)| !trace.is_empty()).collect();
    *session = keep_copy(session, &open, None, path)?;
    Ok(())
}

/// Writes a session to another file, with its timelines beside it, and returns what was written.
///
/// The timelines are those that are open, by the place of their profile, and copies of those that lie beside
/// the file that the session is from.
pub fn keep_copy(
    session: &Session,
    open: &[(usize, Arc<Trace>)],
    from: Option<&Path>,
    path: &Path,
) -> Result<Session, KeepError> {
    let mut session = session.clone();
    for (number, profile) in session.profiles.iter_mut().enumerate() {
        let held = open.iter().find(|(place, _)| *place == number);
        let lies = profile.trace_file.as_ref();
        let lies = lies.and_then(|name| trace_file::found(from, name));
        let lies = lies.filter(|file| *file != trace_file::path(path, number));
        profile.trace_file = match (held, lies) {
            (Some((_, trace)), _) => Some(trace_file::put_beside(path, number, |to| {
                trace_file::write(to, trace)
            })?),
            (None, Some(file)) => Some(trace_file::put_beside(path, number, |to| {
                fs::copy(&file, to).map(|_| ())
            })?),
            _ => continue,
        };
    }
    session_file::write(path, &session)?;
    Ok(session)
}
