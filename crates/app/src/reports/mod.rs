//! Which sessions a report is about.

mod screen;
mod update;
mod work;

use crate::sessions::SessionId;

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
