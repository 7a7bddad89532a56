//! Actions on the steps of a session.

use super::StepsSubject;

/// Actions on the steps of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Journey {
    /// Whose steps are shown.
    Look(StepsSubject),
}
