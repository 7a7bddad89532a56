//! The cases of a session over time, those that got slower first.

use super::case_rows::CaseRow;
use super::followed::FollowedCase;
use super::history::{self, History};
use super::history_levels::LevelChange;
use super::verdict::Call;
use powerband_core::domain::case::CaseKey;
use powerband_core::domain::session::Session;

/// A case of a session, and its history.
#[derive(Clone, Debug, PartialEq)]
pub struct Mover {
    /// Which case of the session.
    pub key: CaseKey,
    /// The same, as it is looked for in others.
    pub case: FollowedCase,
    pub history: History,
}

impl Mover {
    /// The last change of its level.
    pub fn last_change(&self) -> Option<&LevelChange> {
        self.history.changes.last()
    }

    /// The speed-up that it is sorted by: of the newest session where a verdict carries it, else of the last change; 1
    /// where nothing is known to have changed.
    fn speed_up(&self) -> f64 {
        let newest = self.history.points.last();
        let newest = newest.and_then(|point| point.vs_earlier.as_ref());
        let newest = newest.filter(|one| matches!(one.verdict.call, Call::Faster | Call::Slower));
        let newest = newest.map(|one| one.ratio.speed_up);
        let change = self.last_change().map(|change| change.ratio.speed_up);
        newest.or(change).unwrap_or(1.0)
    }
}

/// Follows cases of a session through sessions in any order; worst first.
pub fn worst_first(
    session: &Session,
    keys: impl IntoIterator<Item = CaseKey>,
    sessions: &[(&Session, &[CaseRow])],
) -> Vec<Mover> {
    let follow = |key: CaseKey| {
        let case = FollowedCase::new(session, key.setup, key.point);
        let history = history::case_history(&case, sessions);
        Mover { key, case, history }
    };
    let movers = keys.into_iter().map(follow);
    let mut movers: Vec<Mover> = movers
        .filter(|one| !one.history.points.is_empty())
        .collect();
    movers.sort_by(|a, b| a.speed_up().total_cmp(&b.speed_up()));
    movers
}
