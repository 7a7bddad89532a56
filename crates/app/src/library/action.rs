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
    /// Adds tags to several sessions.
    TagAll(Vec<PathBuf>, Vec<String>),
    /// Moves several sessions to the trash.
    DiscardAll(Vec<PathBuf>),
    /// Restores the sessions of these files from the trash.
    RestoreAll(Vec<PathBuf>),
    /// Opens two sessions and compares them, the older one as the baseline.
    Compare(PathBuf, PathBuf),
    /// Opens the first of several sessions, and follows its case through them alone.
    History(Vec<PathBuf>),
    /// Opens several sessions, and compares the machines that they were measured on.
    Fleet(Vec<PathBuf>),
    /// Restores what was discarded last: a session, or several that were discarded together.
    Restore,
    /// Restores the session of this file from the trash.
    RestoreThis(PathBuf),
    /// Shows the file in the file manager.
    Reveal(PathBuf),
}
