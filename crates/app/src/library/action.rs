//! What can be asked for about the files of the library.

use std::path::PathBuf;

/// About the files of the library.
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
    /// To the trash.
    Discard(PathBuf),
    /// Back from the trash, the last one first.
    Restore,
    /// The session that was in this file back from the trash.
    RestoreThis(PathBuf),
    /// Shows the file in the file manager.
    Reveal(PathBuf),
}
