//! Which case it is that is looked for in other sessions: a model file, a setup and a point.

use powerband_core::domain::point::Point;
use powerband_core::domain::session::Session;

/// The case whose history is shown.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FollowedCase {
    /// Checksum of its model.
    pub sha256: String,
    /// How its setup is spelled.
    pub setup: String,
    /// Its point of the sweep.
    pub point: Point,
    /// What its setup is called where no model file is known: what one tool measured is all spelled alike.
    label: Option<String>,
}

impl FollowedCase {
    /// The case of a session.
    pub fn new(session: &Session, setup: usize, point: Point) -> Self {
        Self {
            sha256: session.model_of(setup).sha256.clone(),
            setup: session.setup_spec(setup),
            point,
            label: label(session, setup),
        }
    }

    /// The session with no other case than this, which is all that is needed of it.
    pub fn narrowed(&self, session: &Session) -> Session {
        let setup = self.setup_in(session);
        let mut narrowed = session.without_samples();
        narrowed.cases = session
            .cases
            .iter()
            .filter(|case| Some(case.setup) == setup && case.point == self.point)
            .cloned()
            .collect();
        // A comparison of two cases needs none of these, and they may be most of a session.
        narrowed.profiles.clear();
        narrowed.examinations.clear();
        narrowed
    }

    /// Its setup in a session that has it.
    pub(crate) fn setup_in(&self, session: &Session) -> Option<usize> {
        (0..session.plan.setups.len()).find(|&setup| {
            session.setup_spec(setup) == self.setup
                && session.model_of(setup).sha256 == self.sha256
                && label(session, setup) == self.label
        })
    }
}

fn label(session: &Session, setup: usize) -> Option<String> {
    let is_unknown = session.model_of(setup).sha256.is_empty();
    is_unknown.then(|| session.setup_label(setup))
}
