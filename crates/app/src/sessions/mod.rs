//! The sessions that are open, with what was found in them. Everything here is shared and never changed
//! in place, so that a view may hold it while the next version is being made.

pub(crate) mod action;
mod colours;
pub(crate) mod commands;
pub(crate) mod menu;
pub(crate) mod palette;
mod published;
mod update;
pub(crate) mod work;

use std::path::PathBuf;
use std::sync::Arc;

use colours::{ColourRequest, Colours};
use powerband_core::base::humanize;
use powerband_core::domain::case::CaseKey;
use powerband_core::domain::point::Point;
use powerband_core::domain::session::Session;
use powerband_findings::analysis::batch_curve::{self, BatchCurve};
use powerband_findings::analysis::case_rows::{self, CaseRow};
use powerband_findings::analysis::fleet::Fleet;
use powerband_findings::analysis::journey::Journey;
use powerband_findings::chart::spec::SeriesId;
use powerband_store::library::Stamp;
pub use published::Claims;

/// An open session, for as long as the window is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(pub u64);

/// The run in progress has this number.
pub const LIVE: SessionId = SessionId(0);

/// Bits of a series' number that say which setup.
const SETUP_BITS: u32 = 20;

/// Bits that say which session; those before them say which of a setup's curves.
const SESSION_BITS: u32 = 24;

/// The series of one setup of one session.
pub fn series(session: SessionId, setup: usize) -> SeriesId {
    SeriesId((session.0 << SETUP_BITS) | setup as u64)
}

/// One of several series of a setup, which differ in the sizes of other dimensions than the one along x.
pub fn nth_series(session: SessionId, setup: usize, place: usize) -> SeriesId {
    let place = (place as u64) << (SETUP_BITS + SESSION_BITS);
    SeriesId(series(session, setup).0 | place)
}

/// The session and the setup of a series.
pub fn of_series(series: SeriesId) -> (SessionId, usize) {
    (
        SessionId((series.0 >> SETUP_BITS) & ((1 << SESSION_BITS) - 1)),
        (series.0 & ((1 << SETUP_BITS) - 1)) as usize,
    )
}

/// Which of a setup's series it is.
pub fn place_of_series(series: SeriesId) -> usize {
    (series.0 >> (SETUP_BITS + SESSION_BITS)) as usize
}

/// A case of an open session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pin {
    /// Whose.
    pub session: SessionId,
    /// Which.
    pub case: CaseKey,
}

/// What was found in a session.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// Every case in numbers.
    pub rows: Arc<Vec<CaseRow>>,
    /// A curve for each setup.
    pub curves: Arc<Vec<BatchCurve>>,
    /// The steps of a run in progress; those of other sessions are computed when they are shown.
    pub journey: Option<Arc<Journey>>,
    /// The machines of a run in progress, where it has several.
    pub fleet: Option<Arc<Fleet>>,
    /// What the session publishes, and what does not add up in it; nothing of a run in progress.
    pub claims: Arc<Claims>,
}

impl Findings {
    /// Finds everything. Takes a while, so it belongs on a thread that may.
    pub fn from_session(session: &Session) -> Self {
        Self {
            claims: Arc::new(Claims::from_session(session)),
            ..Self::of_rows(case_rows::case_rows(session))
        }
    }

    /// Finds what follows from the rows.
    pub fn of_rows(rows: Vec<CaseRow>) -> Self {
        Self {
            curves: Arc::new(batch_curve::batch_curves(&rows)),
            rows: Arc::new(rows),
            journey: None,
            fleet: None,
            claims: Arc::default(),
        }
    }
}

/// A session as it is at a moment; equal to itself only, for as long as it is not read again.
#[derive(Clone, Debug)]
pub struct Snapshot(pub(crate) Arc<Session>);

impl PartialEq for Snapshot {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Snapshot {}

/// A session that is open.
#[derive(Clone, Debug)]
pub struct OpenSession {
    /// Which.
    pub id: SessionId,
    /// Its file; nothing for one that has none yet.
    pub path: Option<PathBuf>,
    /// The session.
    pub session: Arc<Session>,
    /// What was found in it.
    pub findings: Findings,
    /// The file as it was when it was read.
    pub stamp: Option<Stamp>,
    /// The version of a file that is newer than this program, and so is not written to.
    pub newer: Option<u32>,
    /// State of its file since then.
    pub on_disk: OnDisk,
}

impl OpenSession {
    pub(crate) fn snapshot(&self) -> Snapshot {
        Snapshot(Arc::clone(&self.session))
    }

    /// One that no file holds.
    pub(crate) fn unsaved(id: SessionId, session: Arc<Session>, findings: Findings) -> Self {
        Self {
            id,
            path: None,
            session,
            findings,
            stamp: None,
            newer: None,
            on_disk: OnDisk::Same,
        }
    }

    /// One that no file holds, looked through.
    #[cfg(test)]
    pub fn from_session(id: SessionId, session: Session) -> Self {
        let findings = Findings::from_session(&session);
        Self::unsaved(id, Arc::new(session), findings)
    }

    /// The colour that its plan has for each series: one for each curve, and one for its place in a list where
    /// it has none.
    fn saved_colours(&self) -> Vec<Option<usize>> {
        let published = self.findings.claims.curves.len();
        let setups = self.session.plan.setups.len();
        let comparable = self.comparable_session().plan.setups.len();
        let looks = &self.session.plan.looks;
        let saved = (0..setups).map(|setup| looks.get(setup)?.colour);
        let mut saved: Vec<Option<usize>> = saved.collect();
        saved.resize((setups + published).max(comparable).max(1), None);
        saved
    }

    /// What comparisons take it for: with what it publishes as further setups.
    pub fn comparable_session(&self) -> &Arc<Session> {
        let comparable = self.findings.claims.comparable.as_ref();
        comparable.map_or(&self.session, |comparable| &comparable.session)
    }

    /// The cases of that.
    pub fn comparable_rows(&self) -> &Arc<Vec<CaseRow>> {
        let comparable = self.findings.claims.comparable.as_ref();
        comparable.map_or(&self.findings.rows, |comparable| &comparable.rows)
    }

    /// By what it is known again when it is closed and opened.
    fn key(&self) -> String {
        let session = &self.session;
        let unsaved = || format!("{}, {}", session.created, session.name);
        let path = self.path.as_ref();
        path.map_or_else(unsaved, |path| path.display().to_string())
    }

    /// Whether the first series, by which it is known in lists, is published and not measured.
    pub fn is_hollow(&self) -> bool {
        self.session.plan.setups.is_empty() && self.session.is_published_only()
    }
}

/// State of an open session's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnDisk {
    /// It is as it was read.
    Same,
    /// Something else wrote to it.
    Changed,
    /// It is gone.
    Gone,
}

/// All open sessions, in the order in which they were opened.
#[derive(Debug, Default)]
pub struct OpenSessions {
    list: Vec<OpenSession>,
    next: u64,
    colours: Colours,
}

impl OpenSessions {
    /// In the order in which they were opened.
    pub fn iter(&self) -> impl Iterator<Item = &OpenSession> {
        self.list.iter()
    }

    /// Whether none is open.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// How many are open.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// One by its number.
    pub fn get(&self, id: SessionId) -> Option<&OpenSession> {
        self.list.iter().find(|open| open.id == id)
    }

    /// The point that a mark on a chart stands for; a batch size where the session is not open.
    pub fn point_of_tag(&self, id: SessionId, tag: u64) -> Point {
        let points = self
            .get(id)
            .map_or(&[][..], |open| &open.session.plan.points);
        let found = points.iter().find(|point| point.tag() == tag);
        found
            .copied()
            .unwrap_or_else(|| Point::of_batch(tag as usize))
    }

    /// One by its number, to change.
    pub fn get_mut(&mut self, id: SessionId) -> Option<&mut OpenSession> {
        self.list.iter_mut().find(|open| open.id == id)
    }

    /// One by its file.
    pub fn by_path(&self, path: &std::path::Path) -> Option<&OpenSession> {
        self.list
            .iter()
            .find(|open| open.path.as_deref() == Some(path))
    }

    /// A number for a session that is about to be opened.
    pub fn new_id(&mut self) -> SessionId {
        self.next += 1;
        SessionId(self.next)
    }

    /// Adds one, or puts it where the one of its number was.
    pub fn put(&mut self, open: OpenSession) {
        if open.id != LIVE && self.get(open.id).is_none() {
            self.colours.note_opened(open.id);
        }
        self.assign(&open);
        if let Some(old) = self.get_mut(open.id) {
            *old = open;
            return;
        }
        // Files are read side by side; what is open stands in the order in which it was asked for.
        let order = |id: SessionId| if id == LIVE { u64::MAX } else { id.0 };
        let place = self
            .list
            .partition_point(|other| order(other.id) <= order(open.id));
        self.list.insert(place, open);
    }

    /// Closes one.
    pub fn close(&mut self, id: SessionId) {
        self.list.retain(|open| open.id != id);
        self.colours.close(id);
    }

    /// The run in progress is over, and what was measured is this session from now on: it keeps the colours of
    /// the run unless it was open before.
    pub(crate) fn replace_run(&mut self, id: SessionId) {
        self.list.retain(|open| open.id != LIVE);
        self.colours.hand_over(LIVE, id);
    }

    /// The palette index of a setup: the colour saved in the plan where no other open series has it, else a free
    /// one. It stays while the session is open. The first one is also the session's own, which one has that
    /// measured nothing.
    pub fn colour(&self, id: SessionId, setup: usize) -> usize {
        self.colours.colour(id, setup).unwrap_or(setup)
    }

    /// The palette index of a published curve; they are counted on from the session's measured ones.
    pub(crate) fn colour_of_published(&self, open: &OpenSession, curve: usize) -> usize {
        self.colour(open.id, open.session.plan.setups.len() + curve)
    }

    /// The run that begins adds rounds to an open session, and has its colours.
    pub(crate) fn lend_colours_to_run(&mut self, id: SessionId) {
        self.colours.lend(id, LIVE);
    }

    /// The palette indices of a run that begins, in the order of its setups.
    pub(crate) fn colours_of_run(&mut self, session: &Arc<Session>) -> Vec<usize> {
        let open = OpenSession::unsaved(LIVE, Arc::clone(session), Findings::default());
        self.assign(&open);
        self.colours_of(LIVE, session)
    }

    /// The palette indices of a session's setups.
    pub(crate) fn colours_of(&self, id: SessionId, session: &Session) -> Vec<usize> {
        let setups = 0..session.plan.setups.len();
        setups.map(|setup| self.colour(id, setup)).collect()
    }

    /// Every file that was asked for was read. Colours go by the order in which they were asked for, which the
    /// readers do not keep.
    pub(crate) fn all_are_read(&mut self) {
        let fresh = self.colours.take_fresh();
        let fresh = self.list.iter().filter(|open| fresh.contains(&open.id));
        for open in fresh.cloned().collect::<Vec<_>>() {
            self.assign(&open);
        }
    }

    fn assign(&mut self, open: &OpenSession) {
        let wanted = ColourRequest {
            key: open.key(),
            saved: &open.saved_colours(),
        };
        self.colours.assign(open.id, &wanted);
    }

    /// What an open session is called: its name, with its time where another one is called the same.
    pub fn name(&self, open: &OpenSession) -> String {
        if open.id == LIVE {
            format!("{}, being measured", open.session.name)
        } else {
            self.distinct_name(open)
        }
    }

    fn distinct_name(&self, open: &OpenSession) -> String {
        let name = &open.session.name;
        let mut twins = self.list.iter().filter(|one| one.session.name == *name);
        if twins.nth(1).is_none() {
            return name.clone();
        }
        format!("{name}, {}", humanize::short_moment(&open.session.created))
    }

    /// What a series is called: the setup's name, with the session's where several are open.
    pub fn series_name(&self, id: SessionId, setup: usize) -> String {
        let Some(open) = self.get(id) else {
            return String::new();
        };
        let label = open.comparable_session().setup_label(setup);
        if self.list.len() == 1 {
            return label;
        }
        format!("{label} · {}", self.distinct_name(open))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use powerband_findings::analysis::testing::session;

    #[test]
    fn no_two_open_sessions_have_one_mark() {
        let mut open = OpenSessions::default();
        // A trace alone has no setups.
        for setups in [&["ort:cpu", "tract:cpu"][..], &[], &[], &["ort:cpu"]] {
            let id = open.new_id();
            let session = session(setups, &[1]);
            open.put(OpenSession::from_session(id, session));
        }
        let marks: Vec<usize> = open.iter().map(|one| open.colour(one.id, 0)).collect();
        assert_eq!(marks, [0, 2, 3, 4]);
    }

    #[test]
    fn a_series_knows_its_session_and_setup() {
        let id = series(SessionId(7), 12);
        assert_eq!(of_series(id), (SessionId(7), 12));
        assert_eq!(place_of_series(id), 0);
        let third = nth_series(SessionId(7), 12, 2);
        assert_eq!(of_series(third), (SessionId(7), 12));
        assert_eq!(place_of_series(third), 2);
    }
}
