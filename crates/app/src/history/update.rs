//! Actions on the history of a case, and its results.

use std::sync::Arc;
use std::thread;

use super::work;
use crate::App;
use crate::action::History;
use crate::screen::Screen;
use crate::sessions::LIVE;
use powerband_findings::tables::history::of_history;

impl App {
    pub(crate) fn history(&mut self, change: &History) {
        match change {
            History::Follow(following) => {
                self.compare.history.following = Some(*following);
                self.follow_if_wanted();
            }
            History::Only(files) => {
                self.compare.history.only = files.clone().map(|files| files.into_iter().collect());
                self.renew_history();
            }
        }
    }

    pub(crate) fn renew_history(&mut self) {
        self.compare.history.version += 1;
        self.follow_if_wanted();
    }

    /// The library may have other sessions than when the screen was shown before.
    pub(crate) fn history_shown(&mut self) {
        if self.shows(Screen::History) {
            self.renew_history();
        }
    }

    /// A case is followed while its screen is shown: that means to read many files.
    pub(crate) fn follow_if_wanted(&mut self) {
        self.compare
            .history
            .drop_missing_case(&self.shared.sessions);
        if self.compare.history.found.result.is_none() {
            self.shared.tables.remove("history");
        }
        if !self.shows(Screen::History) {
            return;
        }
        let Some(key) = self.compare.history.wanted() else {
            return;
        };
        let following = key.0;
        let (followed, others): (Vec<_>, Vec<_>) = self
            .shared
            .sessions
            .iter()
            .filter(|open| open.id != LIVE)
            .partition(|open| open.id == following.session);
        let known = self.compare.history.found.result.as_ref();
        let search = work::CaseSearch {
            following,
            read: known.map(|found| found.read.clone()).unwrap_or_default(),
            n_threads: n_threads(self.is_running()),
            folder: self.shared.place.paths.library.clone(),
            known: self.library.found.clone(),
            only: self.compare.history.only.clone(),
            colour: self
                .shared
                .sessions
                .colour(following.session, following.setup),
            open: followed
                .into_iter()
                .chain(others)
                .filter(|open| {
                    let only = self.compare.history.only.as_ref().zip(open.path.as_ref());
                    open.id == following.session
                        || only.is_none_or(|(only, path)| only.contains(path))
                })
                .map(|open| (Arc::clone(&open.session), open.path.clone()))
                .collect(),
        };
        let work = |_: &_| work::follow(search).map(Arc::new);
        self.derive(
            "history",
            |app| &mut app.compare.history.found,
            key,
            work,
            Self::followed,
        );
    }

    fn followed(&mut self) {
        if let Some(found) = &self.compare.history.found.result {
            self.shared
                .tables
                .set_table("history", of_history(&found.history));
        }
        self.follow_if_wanted();
    }
}

/// How many threads read files: one where a run is measured beside it.
fn n_threads(is_running: bool) -> usize {
    const MOST: usize = 4;
    if is_running {
        return 1;
    }
    thread::available_parallelism().map_or(1, |cores| cores.get().min(MOST))
}
