//! Background work for the library: changing, copying, discarding and restoring files of sessions.

use std::path::{Path, PathBuf};

use crate::inbox::{Message, SessionMessage};
use crate::jobs::Outlet;
use powerband_core::base::paths::Paths;
use powerband_core::domain::session::Session;
use powerband_store::library::{self, Stamp};
use powerband_store::trash::{Discarded, discard as move_to_trash, restore as bring_back};

/// Changes a session's file.
pub(crate) fn edit(
    path: PathBuf,
    expected: Option<Stamp>,
    change: impl FnOnce(&mut Session),
    outlet: &Outlet,
) {
    let edited = library::edit(&path, expected, change).map_err(|error| error.to_string());
    outlet.send(Message::Session(SessionMessage::Edited(path, edited)));
}

/// Makes a copy of a session beside it.
pub(crate) fn duplicate(path: &Path, outlet: &Outlet) {
    outlet.send(match library::duplicate(path) {
        Ok(copy) => Message::Written(format!("Copied to {}", copy.display()), copy),
        Err(error) => Message::Failed(format!("{} was not copied: {error}", path.display())),
    });
}

/// Moves to the trash.
pub(crate) fn discard(paths: &Paths, path: PathBuf, name: String, outlet: &Outlet) {
    let discarded = move_to_trash(paths, &path);
    outlet.send(Message::Session(SessionMessage::Discarded(
        path, name, discarded,
    )));
}

/// Restores from the trash.
pub(crate) fn restore(discarded: Discarded, name: String, outlet: &Outlet) {
    let restored = bring_back(&discarded).map_err(|error| (discarded, error));
    outlet.send(Message::Session(SessionMessage::Restored(name, restored)));
}

/// Adds tags to sessions, one after the other.
pub(crate) fn tag_all(files: Vec<(PathBuf, Option<Stamp>)>, tags: &[String], outlet: &Outlet) {
    for (file, stamp) in files {
        let add = |session: &mut Session| {
            let all = [session.tags.as_slice(), tags].concat();
            session.tags = library::unique_tags(&all);
        };
        edit(file, stamp, add, outlet);
    }
}

/// Moves sessions to the trash, and reports all of them together.
pub(crate) fn discard_all(paths: &Paths, files: Vec<(PathBuf, String)>, outlet: &Outlet) {
    let trashed = files.into_iter().map(|(file, name)| {
        let discarded = move_to_trash(paths, &file);
        (file, name, discarded)
    });
    let trashed = SessionMessage::DiscardedAll(trashed.collect());
    outlet.send(Message::Session(trashed));
}

/// Restores sessions from the trash, and reports all of them together.
pub(crate) fn restore_all(discarded: Vec<(Discarded, String)>, outlet: &Outlet) {
    let restored = discarded.into_iter().map(|(discarded, name)| {
        let restored = bring_back(&discarded).map_err(|error| (discarded, error));
        (name, restored)
    });
    let restored = SessionMessage::RestoredAll(restored.collect());
    outlet.send(Message::Session(restored));
}
