//! Which sessions a report is about.

mod screen;
mod update;
mod work;

use std::path::PathBuf;

use crate::sessions::SessionId;

/// Where a report goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReportTarget {
    /// The file that the user is asked for.
    Ask,
    /// This file.
    File(PathBuf),
    /// Into the cache, and opened by the desktop's browser.
    Preview,
}

/// What a report is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReportSubject {
    /// The session; of two, the baseline.
    pub first: SessionId,
    /// The candidate.
    pub second: Option<SessionId>,
}

impl ReportSubject {
    /// A session alone.
    pub fn of_session(session: SessionId) -> Self {
        Self {
            first: session,
            second: None,
        }
    }
}
