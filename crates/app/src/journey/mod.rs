//! The steps of an open session, and what each one gained.

pub(crate) mod action;
pub(crate) mod palette;
mod update;

use std::sync::Arc;

use crate::derived::Derived;
use crate::sessions::{LIVE, OpenSession, OpenSessions, SessionId, Snapshot};
use powerband_core::domain::point::Point;
use powerband_findings::analysis::headline::Headline;
use powerband_findings::analysis::journey::Journey;
use powerband_findings::chart::journey as chart;
use powerband_findings::chart::spec::ChartSpec;

/// The session and point whose steps are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepsSubject {
    /// Which session.
    pub session: SessionId,
    /// At which batch size; for a plan with a ladder its first, and of no account.
    pub point: Point,
}

/// What was found.
#[derive(Clone, Debug)]
pub struct ComparedSteps {
    /// Whose steps.
    pub looking: StepsSubject,
    /// The steps.
    pub journey: Arc<Journey>,
}

/// The journey screen.
#[derive(Debug, Default)]
pub struct JourneyState {
    /// The session and point whose steps are shown.
    pub looking: Option<StepsSubject>,
    /// Whether the user chose that; until then it follows from what is open.
    pub is_chosen: bool,
    /// The steps of it, with the session as it was then.
    pub found: Derived<(StepsSubject, Snapshot), ComparedSteps>,
    /// The charts of it.
    pub drawn: StepsCharts,
}

/// The charts of a journey, made when there is something new and not for each frame.
#[derive(Debug, Default)]
pub struct StepsCharts {
    /// Speed-up of each step vs. the previous one.
    pub over_before: ChartSpec,
    /// Speed-up of each step vs. the baseline.
    pub over_start: ChartSpec,
    /// The answer, and what changed.
    pub headline: Headline,
}

/// Whether a session has steps: a ladder, or setups that can stand for one.
pub fn has_steps(open: &OpenSession) -> bool {
    has_ladder(open) || open.session.plan.setups.len() > 1
}

/// Whether the session's plan says which its steps are.
pub fn has_ladder(open: &OpenSession) -> bool {
    !open.comparable_session().plan.ladder.is_empty()
}

/// What to do where nothing that is open has steps.
pub fn empty_help(open: &OpenSessions) -> &'static str {
    if open.is_empty() {
        "Open a session with several setups, or start with one of these plans."
    } else if open.iter().all(|open| open.session.plan.setups.is_empty()) {
        "What is open has no setups: its numbers were published or imported. Open a session with several setups, or start with one of these plans."
    } else {
        "The open session has one setup. Open a session with several, or start with one of these plans."
    }
}

impl StepsSubject {
    /// The steps of a session, at its first batch size.
    pub fn at_first_point(open: &OpenSession) -> Self {
        Self {
            session: open.id,
            point: open.comparable_session().plan.first_point(),
        }
    }

    fn exists(self, open: &OpenSessions) -> bool {
        open.get(self.session).is_some_and(|open| {
            let points = &open.comparable_session().plan.points;
            has_steps(open) && points.contains(&self.point)
        })
    }
}

impl JourneyState {
    /// Keeps to a session that is there: the one chosen, or the run in progress and the first one with a
    /// ladder, or the first one with several setups.
    pub fn drop_missing_session(&mut self, open: &OpenSessions) {
        let chosen = self.looking.filter(|looking| looking.exists(open));
        self.is_chosen &= chosen.is_some();
        self.looking = chosen.filter(|_| self.is_chosen).or_else(|| {
            let live = open.get(LIVE).into_iter();
            let measured = live
                .chain(open.iter())
                .filter(|open| !open.session.is_published_only());
            let mut of_ladders = measured.filter(|open| has_ladder(open));
            let first = of_ladders.next();
            let is_measured = |open: &&OpenSession| !open.session.is_published_only();
            let with_steps = || open.iter().filter(|open| has_steps(open));
            let first = first.or_else(|| with_steps().find(is_measured));
            let first = first.or_else(|| with_steps().next());
            first.map(StepsSubject::at_first_point)
        });
        self.found.keep_if(|(of, _)| Some(*of) == self.looking);
    }

    /// The request to make now, where the session or the choice changed.
    pub fn wanted(&self, open: &OpenSessions) -> Option<(StepsSubject, Snapshot)> {
        let looking = self.looking?;
        let session = open.get(looking.session)?.comparable_session();
        let key = (looking, Snapshot(Arc::clone(session)));
        self.found.needs(&key).then_some(key)
    }

    /// A screen that showed the run now shows its session.
    pub(crate) fn run_is_over(&mut self, id: SessionId) {
        if let Some(looking) = self.looking.as_mut().filter(|l| l.session == LIVE) {
            looking.session = id;
            self.is_chosen = true;
        }
    }

    /// Makes the charts anew.
    pub(crate) fn redraw(&mut self, open: &OpenSessions) {
        self.drawn = self
            .found
            .result
            .as_ref()
            .map_or_else(StepsCharts::default, |found| {
                let colour = |setup| open.colour(found.looking.session, setup);
                StepsCharts {
                    over_before: chart::vs_previous(&found.journey, colour),
                    over_start: chart::vs_baseline(&found.journey, colour),
                    headline: open
                        .get(found.looking.session)
                        .map(|open| Headline::of_steps(open.comparable_session(), &found.journey))
                        .unwrap_or_default(),
                }
            });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use powerband_core::domain::case::CaseKey;
    use powerband_core::domain::plan::OptimisationStep;
    use powerband_core::domain::session::Session;
    use powerband_findings::analysis::testing::{measure_near, session};

    fn open(sessions: &mut OpenSessions, id: SessionId, session: Session) {
        sessions.put(OpenSession::from_session(id, session));
    }

    fn of_ladder() -> Session {
        let mut session = session(&["ort:cpu", "tract:cpu"], &[1]);
        let title = "start".to_owned();
        let case = CaseKey {
            setup: 0,
            point: Point::of_batch(1),
        };
        session.plan.ladder = vec![OptimisationStep { title, case }];
        session
    }

    #[test]
    fn a_ladder_comes_before_setups_and_the_run_before_others() {
        let mut sessions = OpenSessions::default();
        let mut state = JourneyState::default();
        let looked_at = |state: &mut JourneyState, sessions: &OpenSessions| {
            state.drop_missing_session(sessions);
            state.looking.map(|looking| looking.session.0)
        };
        assert!(empty_help(&sessions).starts_with("Open a session"));
        open(&mut sessions, SessionId(9), session(&[], &[]));
        assert!(empty_help(&sessions).contains("has no setups"));
        sessions.close(SessionId(9));
        open(&mut sessions, SessionId(1), session(&["ort:cpu"], &[1]));
        assert!(empty_help(&sessions).contains("has one setup"));
        assert_eq!(looked_at(&mut state, &sessions), None, "one setup only");
        let two = session(&["ort:cpu", "tract:cpu"], &[4, 8]);
        open(&mut sessions, SessionId(2), two);
        assert_eq!(looked_at(&mut state, &sessions), Some(2));
        assert_eq!(
            state.looking.map(|looking| looking.point),
            Some(Point::of_batch(4))
        );
        open(&mut sessions, SessionId(3), of_ladder());
        assert_eq!(looked_at(&mut state, &sessions), Some(3));
        open(&mut sessions, LIVE, of_ladder());
        assert_eq!(looked_at(&mut state, &sessions), Some(0));
        state.is_chosen = true;
        state.looking = sessions.get(SessionId(2)).map(StepsSubject::at_first_point);
        assert_eq!(looked_at(&mut state, &sessions), Some(2), "as chosen");
        sessions.close(SessionId(2));
        assert_eq!(looked_at(&mut state, &sessions), Some(0));
        assert!(!state.is_chosen);
    }

    #[test]
    fn a_session_that_was_read_again_is_looked_at_again() {
        let mut sessions = OpenSessions::default();
        let mut two = session(&["ort:cpu", "tract:cpu"], &[1]);
        measure_near(&mut two, 0, 1, 4_000);
        measure_near(&mut two, 1, 1, 1_000);
        open(&mut sessions, SessionId(1), two.clone());
        let mut state = JourneyState::default();
        state.drop_missing_session(&sessions);
        let wanted = state.wanted(&sessions).unwrap();
        let opened = sessions.get(SessionId(1)).unwrap();
        let steps = ComparedSteps {
            looking: wanted.0,
            journey: Arc::new(powerband_findings::analysis::journey::compare_steps(
                &opened.session,
                &opened.findings.rows,
                Point::of_batch(1),
            )),
        };
        state.found.put(wanted.clone(), steps);
        assert_eq!(state.wanted(&sessions), None);
        state.redraw(&sessions);
        assert!(!state.drawn.over_start.is_empty());
        open(&mut sessions, SessionId(1), two);
        let again = state.wanted(&sessions).unwrap();
        assert!(again.0 == wanted.0 && again != wanted);
    }
}
