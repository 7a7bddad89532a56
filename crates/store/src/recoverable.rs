//! What can be recovered: journals of interrupted runs, and sessions that wait in the temporary folder.
//!
//! A session waits there where neither the place that was asked for nor the library had room, each in a folder of its
//! own.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use powerband_core::base::paths::Paths;
use powerband_core::base::system;
use powerband_core::domain::session::Session;

use crate::journal::{self, JournalError};
use crate::library;
use crate::session_file::{self, WriteError};

/// How the folder of such a session is called, before some random letters.
const PREFIX: &str = "powerband-unsaved-";

/// Writes a session into the temporary folder, where only this user can look at it.
pub fn keep_aside(session: &Session) -> Result<PathBuf, WriteError> {
    let folder = tempfile::Builder::new().prefix(PREFIX).tempdir();
    let folder = folder.map_err(|source| WriteError::Io {
        path: tempfile::env::temp_dir(),
        source,
    })?;
    let path = folder
        .path()
        .join(format!("{}.ron", library::safe(&session.name)));
    session_file::write(&path, session)?;
    // Not removed as a temporary folder would be.
    drop(folder.keep());
    Ok(path)
}

/// All that can be recovered: sessions first, then journals, oldest first.
pub fn all(paths: &Paths) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = fs::read_dir(tempfile::env::temp_dir())
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| is_own_folder(&entry.path()))
        .flat_map(|folder| fs::read_dir(folder.path()).into_iter().flatten().flatten())
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|end| end == "ron"))
        .collect();
    found.sort();
    found.extend(journal::abandoned(&library::journals(paths)));
    found
}

/// Whether it is a folder that this program made for this user. Anyone can make one of this name in the temporary
/// folder.
fn is_own_folder(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| name.starts_with(PREFIX))
        && fs::symlink_metadata(path).is_ok_and(|folder| folder.is_dir() && system::is_own(&folder))
}

/// The folder in the temporary folder in which a session waits.
fn own_folder(path: &Path) -> Option<&Path> {
    path.parent().filter(|folder| is_own_folder(folder))
}

/// What was measured.
pub fn session(path: &Path) -> Result<Session, JournalError> {
    let aside = own_folder(path).and_then(|_| session_file::read(path).ok());
    aside.map_or_else(|| journal::recover(path), |read| Ok(read.session))
}

/// Whether it is a session that waits in the temporary folder.
pub fn is_aside(path: &Path) -> bool {
    own_folder(path).is_some()
}

/// Removes what was recovered.
pub fn remove(path: &Path) -> io::Result<()> {
    fs::remove_file(path)?;
    own_folder(path).map_or(Ok(()), fs::remove_dir)
}
