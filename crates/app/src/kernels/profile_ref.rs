//! Which profile is meant.

use crate::sessions::SessionId;

/// A profile of an open session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProfileRef {
    /// Which session.
    pub session: SessionId,
    /// The place of the profile in it.
    pub profile: usize,
}
