//! One case over the sessions of the library.

pub(crate) mod action;
pub(crate) mod palette;
mod update;
mod work;

use powerband_core::domain::point::Point;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use crate::compare::side::ComparisonSide;
use crate::derived::Derived;
use crate::sessions::{LIVE, OpenSession, OpenSessions, SessionId, Snapshot};
use powerband_core::domain::again;
use powerband_core::domain::session::Session;
use powerband_findings::analysis::case_rows::CaseRow;
use powerband_findings::analysis::headline::Headline;
use powerband_findings::analysis::history::{self, History, HistoryPoint};
use powerband_findings::analysis::movers::Mover;
use powerband_findings::chart::spec::ChartSpec;
use powerband_store::library::Stamp;

/// The case that is followed: one of an open session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Following {
    /// Which session.
    pub session: SessionId,
    /// Which of its setups.
    pub setup: usize,
    /// Which batch size.
    pub point: Point,
}

/// What was found.
#[derive(Debug)]
pub struct Followed {
    /// Whose case.
    pub following: Following,
    /// The case over time.
    pub history: History,
    /// The file of each point's session; nothing for one that has none.
    pub files: Vec<Option<PathBuf>>,
    /// The answer, and what changed.
    pub headline: Headline,
    /// The chart of it.
    pub chart: ChartSpec,
    /// The session of each file, with no other case.
    sessions: Vec<Arc<SingleCaseSession>>,
    /// Sessions that could not be read, a sentence each.
    pub troubles: Vec<String>,
    /// What was read for it.
    pub(crate) read: Read,
}

impl Followed {
    /// The case in the session of a point.
    fn side_of(&self, point: &HistoryPoint) -> Option<ComparisonSide> {
        let session = &self.sessions.get(point.source)?.session;
        Some(ComparisonSide {
            session: Snapshot(Arc::clone(session)),
            setup: Some(session.cases.first()?.setup),
            point: Some(self.following.point),
        })
    }
}

/// All cases of a session over time, worst first.
#[derive(Debug, Default)]
pub struct FollowedCases {
    /// Sessions that could not be read, a sentence each.
    pub troubles: Vec<String>,
    /// What was read for it.
    read: Arc<ReadFiles>,
    /// The cases.
    pub movers: Arc<Vec<Mover>>,
    /// The chart of each.
    pub charts: Vec<ChartSpec>,
}

/// All cases of sessions, by their files: the state in which each was read, and what is needed of it.
type ReadFiles = BTreeMap<PathBuf, (Stamp, Arc<SingleCaseSession>)>;

/// What of each file of the library a case needs, so that it is read once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Read {
    /// Which case.
    case: Option<history::FollowedCase>,
    /// By file: the state in which it was read, and what is needed.
    files: BTreeMap<PathBuf, (Stamp, Arc<SingleCaseSession>)>,
    /// What was found in them and in these open sessions; nothing where other files were there then.
    found: Option<(Vec<Arc<Session>>, History)>,
}

/// A session with no other case than is needed, and its cases as rows.
#[derive(Debug)]
pub(crate) struct SingleCaseSession {
    session: Arc<Session>,
    rows: Vec<CaseRow>,
}

/// The history screen.
#[derive(Debug, Default)]
pub struct HistoryState {
    /// The case that is followed.
    pub following: Option<Following>,
    /// The case over time, and the version of what it was looked for in.
    pub found: Derived<(Following, u32), Arc<Followed>>,
    /// Whether all cases of its session are shown.
    pub shows_all_cases: bool,
    /// All cases of a session, and the version of what they were looked for in.
    pub movers: Derived<(SessionId, u32), Arc<FollowedCases>>,
    /// What the last search for all cases read.
    read_with_all_cases: Arc<ReadFiles>,
    /// The sessions that it is followed through, by their files; nothing for all.
    pub only: Option<BTreeSet<PathBuf>>,
    /// Counts how often there were other sessions to look in.
    pub(crate) version: u32,
}

/// What to do where nothing that is open can be followed.
pub fn empty_help(open: &OpenSessions) -> &'static str {
    if open.is_empty() {
        "Open a session: each of its cases can be followed through the library, with a verdict at every step."
    } else if open.iter().all(|open| open.id == LIVE) {
        "The run in progress can be followed through the library once it is saved."
    } else {
        "No open session has cases that were measured here. Open one: each of its cases can be followed through the library."
    }
}

/// The same batch size where the session has it, else its first.
pub fn point_or_first(open: &OpenSession, point: Point) -> Point {
    let points = &open.session.plan.points;
    if points.contains(&point) {
        return point;
    }
    points.first().copied().unwrap_or(point)
}

impl HistoryState {
    /// Drops a case that is no longer open; the default is the first one of the first session.
    pub fn drop_missing_case(&mut self, open: &OpenSessions) {
        let exists = |following: &Following| {
            open.get(following.session).is_some_and(|open| {
                let plan = &open.session.plan;
                following.setup < plan.setups.len() && plan.points.contains(&following.point)
            })
        };
        self.following = self.following.filter(exists).or_else(|| {
            let mut saved = open.iter().filter(|open| open.id != LIVE);
            let (first, case) = saved.find_map(|open| Some((open, open.session.cases.first()?)))?;
            Some(Following {
                session: first.id,
                setup: case.setup,
                point: case.point,
            })
        });
        self.found.keep_if(|(of, _)| Some(*of) == self.following);
        let session = self.following.map(|following| following.session);
        self.movers.keep_if(|(of, _)| Some(*of) == session);
    }

    /// The last two sessions as the sides of a run that measures both again, in turns, or why not.
    pub fn sides_to_measure_again(&self) -> Result<[ComparisonSide; 2], String> {
        let found = self.found.result.as_deref();
        let found = found.filter(|_| self.is_fresh());
        let sides = found.and_then(|found| {
            let [.., before, after] = found.history.points.as_slice() else {
                return None;
            };
            Some([found.side_of(before)?, found.side_of(after)?])
        });
        let sides = sides.ok_or("no case is followed through two sessions")?;
        again::request_for(sides[0].session_part(), sides[1].session_part())
            .map(|_| sides)
            .map_err(|error| error.to_string())
    }

    /// Whether the result is of the case that is followed, in the sessions that there are now.
    pub fn is_fresh(&self) -> bool {
        let key = self.following.map(|following| (following, self.version));
        key.is_some_and(|key| self.found.is_of(&key))
    }

    /// The case that ought to be looked for and is not yet. What one search read helps the next one, so they wait for
    /// each other.
    pub(crate) fn wanted(&self) -> Option<(Following, u32)> {
        let following = self.following?;
        let busy = self.found.busy().map(|(busy, _)| *busy);
        (!self.is_fresh() && busy != Some(following)).then_some((following, self.version))
    }
}

impl HistoryState {
    /// The session whose cases ought to be looked for, all of them, and are not yet.
    pub(crate) fn wanted_movers(&self) -> Option<(SessionId, u32)> {
        let key = (
            self.following.filter(|_| self.shows_all_cases)?.session,
            self.version,
        );
        // What one search read helps the next one.
        let busy = self.movers.busy().map(|(session, _)| *session);
        let is_busy = busy == Some(key.0);
        (!is_busy && self.movers.needs(&key)).then_some(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sessions::OpenSession;
    use powerband_findings::analysis::testing::session;

    fn put(open: &mut OpenSessions, id: SessionId) {
        let session = session(&[], &[]);
        open.put(OpenSession::from_session(id, session));
    }

    #[test]
    fn what_is_open_decides_what_helps() {
        let mut open = OpenSessions::default();
        assert!(empty_help(&open).starts_with("Open a session"));
        put(&mut open, LIVE);
        assert!(empty_help(&open).contains("once it is saved"));
        put(&mut open, SessionId(1));
        assert!(empty_help(&open).starts_with("No open session has cases"));
    }
}
