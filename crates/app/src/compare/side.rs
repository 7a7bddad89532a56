//! A side of a comparison with its session, for a run that measures both sides again.

use std::sync::Arc;

use super::SideChoice;
use crate::sessions::{OpenSessions, Snapshot};
use powerband_core::domain::again::SessionPart;
use powerband_core::domain::point::Point;

/// A side of a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComparisonSide {
    /// Its session.
    pub session: Snapshot,
    /// Which of its setups; nothing for all that both sides have.
    pub setup: Option<usize>,
    /// Which point; nothing for all that both sides have.
    pub point: Option<Point>,
}

impl ComparisonSide {
    /// The side as a part of a session that the runner measures.
    pub(crate) fn session_part(&self) -> SessionPart<'_> {
        SessionPart {
            session: &self.session.0,
            setup: self.setup,
            point: self.point,
        }
    }
}

impl SideChoice {
    /// It with its session, where that is open.
    pub(crate) fn side(self, open: &OpenSessions) -> Option<ComparisonSide> {
        if self.profile.is_some() {
            return None;
        }
        Some(ComparisonSide {
            session: Snapshot(Arc::clone(open.get(self.session)?.comparable_session())),
            setup: (!self.whole).then_some(self.setup),
            point: self.point,
        })
    }
}
