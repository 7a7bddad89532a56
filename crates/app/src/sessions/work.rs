//! Background work for open sessions: reading them and saving copies.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Findings, SessionId};
use powerband_core::domain::session::Session;
use powerband_core::domain::trace::Trace;
use powerband_store::examples::Example;
use powerband_store::library::Stamp;
use powerband_store::session_copy;
use powerband_store::session_file::{self, ReadError};

/// A session that was read.
#[derive(Debug)]
pub(crate) struct Opened {
    /// The number that it gets.
    pub id: SessionId,
    /// Its file; nothing for a built-in example.
    pub path: Option<PathBuf>,
    pub session: Arc<Session>,
    /// What was found in it.
    pub findings: Findings,
    /// The file as it was.
    pub stamp: Option<Stamp>,
    /// The version of a file that is newer than this program.
    pub newer: Option<u32>,
}

impl Opened {
    /// A session in no file, with what is found in it.
    pub(crate) fn unsaved(id: SessionId, session: Session) -> Self {
        Self {
            id,
            findings: Findings::from_session(&session),
            session: Arc::new(session),
            path: None,
            stamp: None,
            newer: None,
        }
    }
}

/// Reads a session and finds what is in it.
pub(crate) fn open(id: SessionId, path: &Path) -> Result<Opened, ReadError> {
    let stamp = Stamp::read(path).ok();
    let read = session_file::read(path)?;
    Ok(Opened {
        path: Some(path.to_path_buf()),
        stamp,
        newer: read.newer,
        ..Opened::unsaved(id, read.session)
    })
}

/// Opens one of the built-in examples.
pub(crate) fn open_example(id: SessionId, example: &Example) -> Result<Opened, ReadError> {
    let read = example.open()?;
    Ok(Opened {
        newer: read.newer,
        ..Opened::unsaved(id, read.session)
    })
}

/// Writes a session to a file of the user's choice, with its timelines: those that are open, and those
/// that lie beside its file.
pub(crate) fn save_as(
    session: &Session,
    (open, from): (&[(usize, Arc<Trace>)], Option<&Path>),
    path: &Path,
) -> Result<(Stamp, Arc<Session>), String> {
    session_file::check_target(path, true)
        .map_err(|error| error.to_string())
        .and_then(|()| {
            session_copy::keep_copy(session, open, from, path).map_err(|error| error.to_string())
        })
        .and_then(|session| {
            let stamp = Stamp::read(path).map_err(|error| error.to_string())?;
            Ok((stamp, Arc::new(session)))
        })
}
