//! Background work for the library: changing, copying, discarding and restoring files of sessions.

use std::path::{Path, PathBuf};

use super::LibraryState;
use crate::jobs::Outlet;
use powerband_core::base::paths::Paths;
use powerband_core::domain::session::Session;
use powerband_store::library::{self, Stamp};
use powerband_store::trash::{Discarded, discard as move_to_trash, restore as bring_back};

/// The file and the name of a session, and what the trash did with it.
pub(crate) type Trashed = (PathBuf, String, Result<Discarded, String>);
/// A session's name, and what came of restoring it: why its timeline is missing, or why it was not restored.
pub(crate) type Restored = (String, Result<Option<String>, (Discarded, String)>);

/// Changes a session's file.
pub(crate) fn edit(
    path: PathBuf,
    expected: Option<Stamp>,
    change: impl FnOnce(&mut Session),
    outlet: &Outlet,
) {
    let edited = library::edit(&path, expected, change).map_err(|error| error.to_string());
    outlet.send_to(move |library: &mut LibraryState, shared| library.edited(&path, edited, shared));
}

/// Makes a copy of a session beside it.
pub(crate) fn duplicate(path: &Path) -> Result<(String, PathBuf), String> {
    match library::duplicate(path) {
        Ok(copy) => Ok((format!("Copied to {}", copy.display()), copy)),
        Err(error) => Err(format!("{} was not copied: {error}", path.display())),
    }
}

/// Moves to the trash.
pub(crate) fn discard(paths: &Paths, path: PathBuf, name: String) -> Trashed {
    let discarded = move_to_trash(paths, &path);
    (path, name, discarded)
}

/// Restores from the trash.
pub(crate) fn restore(discarded: Discarded, name: String) -> Restored {
    let restored = bring_back(&discarded).map_err(|error| (discarded, error));
    (name, restored)
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
