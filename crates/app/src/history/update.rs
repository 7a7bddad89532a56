//! Actions on the history of a case, and its results.

use std::sync::Arc;
use std::thread;

use super::work;
use crate::action::History;
use crate::doors::CompareDoor;
use crate::screen::Screen;
use crate::sessions::{LIVE, SessionId};
use crate::shared::Shared;
use powerband_findings::tables::history::{of_changes, of_history};
use powerband_findings::tables::movers::of_movers;

impl CompareDoor {
    pub(crate) fn history(&mut self, change: &History, shared: &mut Shared) {
        match change {
            History::Follow(following) => {
                self.history.following = Some(*following);
                self.follow_if_wanted(shared);
            }
            History::Only(files) => {
                self.history.only = files.clone().map(|files| files.into_iter().collect());
                self.renew_history(shared);
            }
            History::AllCases(all) => {
                self.history.shows_all_cases = *all;
                self.follow_if_wanted(shared);
            }
        }
    }

    pub(crate) fn renew_history(&mut self, shared: &mut Shared) {
        self.history.version += 1;
        self.follow_if_wanted(shared);
    }

    /// The library may have other sessions than when the screen was shown before.
    pub(crate) fn history_shown(&mut self, shared: &mut Shared) {
        if shared.shows(Screen::History) {
            self.renew_history(shared);
        }
    }

    /// A case is followed while its screen is shown: that means to read many files.
    pub(crate) fn follow_if_wanted(&mut self, shared: &mut Shared) {
        self.history.drop_missing_case(&shared.sessions);
        if self.history.found.result.is_none() {
            shared.tables.remove("history");
            shared.tables.remove("levels");
        }
        if self.history.movers.result.is_none() {
            shared.tables.remove("movers");
        }
        if !shared.shows(Screen::History) {
            return;
        }
        if let Some(key) = self.history.wanted_movers()
            && let Some(search) = self.case_search(shared)
        {
            let known = Arc::clone(&self.history.read_with_all_cases);
            let work = move |_: &_| Some(Arc::new(work::follow_all(&search, &known)));
            shared.derive(
                self,
                "history of all cases",
                |door| &mut door.history.movers,
                key,
                work,
                Self::followed_all,
            );
        }
        if let Some(key) = self.history.wanted()
            && let Some(search) = self.case_search(shared)
        {
            let work = |_: &_| work::follow(search).map(Arc::new);
            shared.derive(
                self,
                "history",
                |door| &mut door.history.found,
                key,
                work,
                Self::followed,
            );
        }
    }

    /// What the case that is followed is looked for in.
    fn case_search(&self, shared: &Shared) -> Option<work::CaseSearch> {
        let following = self.history.following?;
        let (followed, others): (Vec<_>, Vec<_>) = shared
            .sessions
            .iter()
            .filter(|open| open.id != LIVE)
            .partition(|open| open.id == following.session);
        let known = self.history.found.result.as_ref();
        Some(work::CaseSearch {
            following,
            read: known.map(|found| found.read.clone()).unwrap_or_default(),
            n_threads: n_threads(shared.is_running),
            folder: shared.place.paths.library.clone(),
            known: Arc::clone(&shared.library_files),
            only: self.history.only.clone(),
            colours: colours_of_setups(shared, following.session),
            open: followed
                .into_iter()
                .chain(others)
                .filter(|open| {
                    let only = self.history.only.as_ref().zip(open.path.as_ref());
                    open.id == following.session
                        || only.is_none_or(|(only, path)| only.contains(path))
                })
                .map(|open| (Arc::clone(&open.session), open.path.clone()))
                .collect(),
        })
    }

    fn followed(&mut self, shared: &mut Shared) {
        if let Some(found) = &self.history.found.result {
            let tables = &mut shared.tables;
            tables.set_table("history", of_history(&found.history));
            tables.set_table("levels", of_changes(&found.history));
        }
        self.follow_if_wanted(shared);
    }

    fn followed_all(&mut self, shared: &mut Shared) {
        if let Some(found) = &self.history.movers.result {
            self.history.read_with_all_cases = Arc::clone(&found.read);
            let table = of_movers(Arc::clone(&found.movers));
            shared.tables.set_table("movers", table);
        }
        self.follow_if_wanted(shared);
    }
}

/// The colour of each setup of a session.
fn colours_of_setups(shared: &Shared, session: SessionId) -> Vec<usize> {
    let open = shared.sessions.get(session);
    let setups = open.map_or(0, |open| open.session.plan.setups.len());
    (0..setups)
        .map(|setup| shared.sessions.colour(session, setup))
        .collect()
}

/// How many threads read files: one where a run is measured beside it.
fn n_threads(is_running: bool) -> usize {
    const MOST: usize = 4;
    if is_running {
        return 1;
    }
    thread::available_parallelism().map_or(1, |cores| cores.get().min(MOST))
}
