//! Actions on the open sessions.

use std::path::PathBuf;

use super::SessionId;

/// Actions on the open sessions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sessions {
    /// Asks for files to open.
    Choose,
    /// Opens files: sessions, or an ONNX file for the plan.
    Open(Vec<PathBuf>),
    /// Opens a session beside what is drawn; the others open theirs alone, and leave what is open undrawn.
    Add(PathBuf),
    /// Opens one of the built-in examples, by its place.
    OpenExample(usize),
    /// Opens a session and closes all others.
    OpenOnly(PathBuf),
    /// Opens it, or closes it if it is open.
    Toggle(PathBuf),
    /// Closes one.
    Close(SessionId),
    /// Closes all.
    CloseAll,
    /// Reads a session again from its file.
    Reload(SessionId),
    /// Makes a session's plan the plan.
    RunAgain(SessionId),
    /// The same with a session that may not be open, by its file.
    RunFileAgain(PathBuf),
    /// Writes a session to a file of the user's choice; nothing stands for asking which.
    SaveAs(SessionId, Option<PathBuf>),
}
