//! Which sessions a report is about.

mod update;
mod work;

use crate::sessions::SessionId;

/// What a report is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subject {
    /// The session; of two, the baseline.
    pub first: SessionId,
    /// The candidate.
    pub second: Option<SessionId>,
}

impl Subject {
    /// A session alone.
    pub fn of(session: SessionId) -> Self {
        Self {
            first: session,
            second: None,
        }
    }
}
