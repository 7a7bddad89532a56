//! Actions on the history of a case, and its results.

use std::sync::Arc;
use std::thread;

use super::{Followed, work};
use crate::App;
use crate::action::History;
use crate::screen::Screen;
use crate::sessions::LIVE;
use powerband_findings::tables::history::of_history;

impl App {
    pub(crate) fn history(&mut self, change: &History) {
        match change {
            History::Follow(following) => {
                self.history.following = Some(*following);
                self.follow_if_wanted();
            }
            History::Only(files) => {
                self.history.only = files.clone().map(|files| files.into_iter().collect());
                self.history.is_stale = true;
                self.follow_if_wanted();
            }
        }
    }

    /// A case is followed while its screen is shown: that means to read many files.
    pub(crate) fn follow_if_wanted(&mut self) {
        self.history.settle(&self.sessions);
        if self.history.result.is_none() {
            self.tables.remove("history");
        }
        if !self.shows(Screen::History) {
            return;
        }
        let Some(following) = self.history.wanted() else {
            return;
        };
        let (followed, others): (Vec<_>, Vec<_>) = self
            .sessions
            .iter()
            .filter(|open| open.id != LIVE)
            .partition(|open| open.id == following.session);
        let search = work::Search {
            following,
            read: std::mem::take(&mut self.history.read),
            n_threads: n_threads(self.is_running()),
            folder: self.place.paths.library.clone(),
            known: self.library.found.clone(),
            only: self.history.only.clone(),
            colour: self.sessions.colour(following.session, following.setup),
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
        };
        self.history.busy = Some(following);
        self.history.is_stale = false;
        self.jobs
            .spawn_then("history", move || work::follow(search), Self::followed);
    }

    fn followed(&mut self, found: Option<Followed>) {
        let Some(mut found) = found else {
            return;
        };
        self.history.read = std::mem::take(&mut found.read);
        if self.history.busy == Some(found.following) {
            self.history.busy = None;
        }
        if self.history.following == Some(found.following) {
            self.tables.put("history", of_history(&found.history));
            self.history.result = Some(Arc::new(found));
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
