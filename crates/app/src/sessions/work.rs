//! Background work for open sessions: reading them and saving copies.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Findings, SessionId};
use crate::inbox::{Message, Opened, SessionMessage};
use crate::jobs::Outlet;
use powerband_core::domain::session::Session;
use powerband_core::domain::trace::Trace;
use powerband_measure::runner::importing;
use powerband_store::library::Stamp;
use powerband_store::{examples, session_file};

/// Reads a session and finds what is in it.
pub(crate) fn open(id: SessionId, path: PathBuf, outlet: &Outlet) {
    let stamp = Stamp::of(&path).ok();
    match session_file::read(&path) {
        Ok(read) => outlet.send(Message::Session(SessionMessage::Opened(Box::new(Opened {
            id,
            findings: Findings::of(&read.session),
            session: Arc::new(read.session),
            path: Some(path),
            stamp,
            newer: read.newer,
        })))),
        Err(error) => outlet.send(Message::Session(SessionMessage::NotOpened(
            path,
            error.to_string(),
        ))),
    }
}

/// Opens one of the built-in examples.
pub(crate) fn open_example(id: SessionId, place: usize, outlet: &Outlet) {
    let Some(example) = examples::ALL.get(place) else {
        return;
    };
    match example.open() {
        Ok(read) => outlet.send(Message::Session(SessionMessage::Opened(Box::new(Opened {
            id,
            findings: Findings::of(&read.session),
            session: Arc::new(read.session),
            path: None,
            stamp: None,
            newer: read.newer,
        })))),
        Err(error) => outlet.send(Message::Session(SessionMessage::NotOpened(
            example.file.into(),
            error.to_string(),
        ))),
    }
}

/// Writes a session to a file of the user's choice, with its timelines: those that are open, and those
/// that lie beside its file.
pub(crate) fn save_as(
    id: SessionId,
    session: &Session,
    (open, from): (&[(usize, Arc<Trace>)], Option<&Path>),
    path: PathBuf,
    outlet: &Outlet,
) {
    let saved = session_file::check_target(&path, true)
        .map_err(|error| error.to_string())
        .and_then(|()| {
            importing::keep_copy(session, open, from, &path).map_err(|error| error.to_string())
        })
        .and_then(|session| {
            let stamp = Stamp::of(&path).map_err(|error| error.to_string())?;
            Ok((stamp, Arc::new(session)))
        });
    outlet.send(match saved {
        Ok((stamp, session)) => Message::Session(SessionMessage::SavedAs(id, path, stamp, session)),
        Err(error) => Message::Failed(format!("The session was not saved: {error}")),
    });
}
