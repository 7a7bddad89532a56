//! Actions on the files of the library.

use std::path::PathBuf;

/// Actions on the files of the library.
#[derive(Clone, Debug, PartialEq)]
pub enum Library {
    /// Shows sessions with these words only.
    Search(String),
    /// Puts the cursor into the search field.
    FocusSearch,
    /// Shows a session's details.
    Select(Option<PathBuf>),
    /// The session's name.
    Rename(PathBuf, String),
    /// The session's tags.
    Tags(PathBuf, Vec<String>),
    /// The session's notes.
    Notes(PathBuf, String),
    /// A copy beside it.
    Duplicate(PathBuf),
    /// Moves to the trash.
    Discard(PathBuf),
    /// Restores the last discarded session.
    Restore,
    /// Restores the session of this file from the trash.
    RestoreThis(PathBuf),
    /// Shows the file in the file manager.
    Reveal(PathBuf),
}
