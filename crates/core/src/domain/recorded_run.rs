//! A run that is over.

use std::path::PathBuf;

use super::session::Session;

/// A finished run, saved or not.
#[derive(Debug)]
pub struct RecordedRun {
    /// What was measured.
    pub session: Session,
    /// The session's file; or why there is none, and where its journal is.
    pub saved: Result<PathBuf, String>,
    /// Why the session is not where it was wanted, but in the library or in the temporary folder.
    pub diverted: Option<String>,
    /// What else went wrong without doing harm, a sentence each.
    pub notes: Vec<String>,
}
