//! A side of a comparison; and with its session, for a run that measures both sides again.

use std::sync::Arc;

use crate::sessions::{OpenSessions, SessionId, Snapshot};
use powerband_core::domain::again::SessionPart;
use powerband_core::domain::point::Point;

/// One side: a setup of an open session, at one batch size or at all, or a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SideChoice {
    /// Which session.
    pub session: SessionId,
    /// Which of its setups.
    pub setup: usize,
    /// Which batch size; nothing for all.
    pub point: Option<Point>,
    /// Whether all setups in common are compared. Both sides are whole, or neither.
    pub whole: bool,
    /// Which of the session's profiles, where that is the side and no setup.
    pub profile: Option<usize>,
}

impl SideChoice {
    /// A setup, at all of its points.
    pub fn of_setup(session: SessionId, setup: usize) -> Self {
        Self {
            session,
            setup,
            point: None,
            whole: false,
            profile: None,
        }
    }

    /// All setups of a session.
    pub fn of_session(session: SessionId) -> Self {
        Self {
            whole: true,
            ..Self::of_setup(session, 0)
        }
    }

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

/// A side of a comparison with its session.
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
