//! What is done with several sessions of the library at once.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::work::{self, Restored, Trashed};
use super::{AfterOpening, LibraryState};
use crate::action::{Action, Compare, Fleet, History, Library, Sessions};
use crate::compare::{self, is_comparable};
use crate::history::Following;
use crate::notices::NoticeLevel;
use crate::screen::Screen;
use crate::shared::{FollowUp, Shared};
use powerband_core::base::humanize;
use powerband_store::library::Stamp;
use powerband_store::trash::Discarded;

impl LibraryState {
    /// The files of the sessions that are selected in the library's table.
    pub fn selected_files(&self, shared: &Shared) -> Vec<PathBuf> {
        let rows = shared.tables.selected_in_order("sessions").into_iter();
        let listed = rows.filter_map(|row| self.listed_at(row));
        listed.map(|(path, _)| path.clone()).collect()
    }

    fn named(&self, path: &Path) -> String {
        let entry = self.entry(path);
        entry.map_or_else(|| path.display().to_string(), |entry| entry.name.clone())
    }

    pub(super) fn tag_all(&self, files: Vec<PathBuf>, tags: Vec<String>, shared: &Shared) {
        let stamp = |file: &PathBuf| self.found.get(file).map(|scanned| scanned.stamp);
        let files: Vec<(PathBuf, Option<Stamp>)> = files
            .into_iter()
            .map(|file| (file.clone(), stamp(&file)))
            .collect();
        shared
            .jobs
            .spawn("tag", move |outlet| work::tag_all(files, &tags, outlet));
    }

    pub(super) fn discard_all(&self, files: Vec<PathBuf>, shared: &Shared) {
        let named = files.into_iter().map(|file| {
            let name = self.named(&file);
            (file, name)
        });
        let files: Vec<(PathBuf, String)> = named.collect();
        let paths = shared.place.paths.clone();
        let discard = move |(file, name)| work::discard(&paths, file, name);
        let work = move || files.into_iter().map(discard).collect();
        shared.jobs.spawn_for("discard", work, Self::discarded_all);
    }

    /// Several sessions went to the trash; one notice takes all of them back.
    fn discarded_all(&mut self, trashed: Vec<Trashed>, shared: &mut Shared) {
        let mut gone = Vec::new();
        for (path, name, discarded) in trashed {
            match discarded {
                Ok(discarded) => {
                    gone.push(discarded.original().to_path_buf());
                    self.is_in_trash(&path, name, discarded, shared);
                }
                Err(reason) => {
                    let text = format!("{name} was not moved to the trash: {reason}");
                    shared.notify(NoticeLevel::Trouble, text);
                }
            }
        }
        shared.jobs.rescan_library();
        if gone.is_empty() {
            return;
        }
        let sessions = humanize::pluralised(gone.len() as u64, "session");
        let are = if gone.len() == 1 { "is" } else { "are" };
        self.together.push(gone.clone());
        let undo = Action::Library(Library::RestoreAll(gone));
        let text = format!("{sessions} {are} in the trash");
        shared.notify_with_button(NoticeLevel::Done, text, "Undo", undo);
    }

    /// Files that were discarded together with the last one, it included.
    pub(super) fn last_discarded(&self) -> Vec<PathBuf> {
        let Some((last, _)) = self.discarded.last() else {
            return Vec::new();
        };
        let last = last.original().to_path_buf();
        let together = self.together.last().filter(|all| all.contains(&last));
        together.cloned().unwrap_or_else(|| vec![last])
    }

    pub(super) fn restore_all(&mut self, files: &[PathBuf], shared: &mut Shared) {
        let undo = Action::Library(Library::RestoreAll(files.to_vec()));
        shared.notices.withdraw_offers(|action| *action == undo);
        self.together.retain(|all| all != files);
        let mut back = Vec::new();
        for file in files {
            let is_it = |(discarded, _): &(Discarded, String)| discarded.original() == file;
            if let Some(place) = self.discarded.iter().rposition(is_it) {
                back.push(self.discarded.remove(place));
            }
        }
        let restore = |(discarded, name)| work::restore(discarded, name);
        let work = move || back.into_iter().map(restore).collect();
        shared.jobs.spawn_for("restore", work, Self::restored_all);
    }

    /// Several sessions were restored.
    fn restored_all(&mut self, restored: Vec<Restored>, shared: &mut Shared) {
        let mut back = 0;
        for (name, restored) in restored {
            match restored {
                Ok(None) => back += 1,
                Ok(Some(why)) => {
                    back += 1;
                    let text = format!("{name} is restored without a timeline: {why}");
                    shared.notify(NoticeLevel::Trouble, text);
                }
                Err((discarded, reason)) => {
                    let text = format!("{name} was not restored: {reason}");
                    self.discarded.push((discarded, name));
                    shared.notify(NoticeLevel::Trouble, text);
                }
            }
        }
        let are = if back == 1 { "is" } else { "are" };
        let sessions = humanize::pluralised(back, "session");
        shared.notify(NoticeLevel::Done, format!("{sessions} {are} restored"));
        shared.follow_ups.push_back(FollowUp::PlansChanged);
        shared.jobs.rescan_library();
    }

    /// Compares two sessions, the older one as the baseline.
    pub(super) fn compare_files(&mut self, one: PathBuf, other: PathBuf, shared: &mut Shared) {
        let created = |file: &PathBuf| self.entry(file).map(|entry| entry.created.clone());
        let next = if created(&one) <= created(&other) {
            AfterOpening::Compare(one, other)
        } else {
            AfterOpening::Compare(other, one)
        };
        self.open_then(next, shared);
    }

    /// Opens what is needed and not open, and does it then.
    pub(super) fn open_then(&mut self, next: AfterOpening, shared: &mut Shared) {
        let files = next.files();
        self.next = Some(next);
        shared.open_sessions(files);
        self.go_on_once_open(shared);
    }

    /// Does what waited for sessions, where all of them are open.
    pub(crate) fn go_on_once_open(&mut self, shared: &mut Shared) {
        let Some(next) = self.next.take() else {
            return;
        };
        let open = |file: &PathBuf| shared.sessions.by_path(file).map(|open| open.id);
        let ids: Option<Vec<_>> = next.files().iter().map(open).collect();
        let Some(ids) = ids else {
            self.next = Some(next);
            return;
        };
        match next {
            AfterOpening::Compare(..) => {
                let can = |id| shared.sessions.get(id).is_some_and(is_comparable);
                if !ids.iter().all(|id| can(*id)) {
                    let text = "Published numbers are not compared: both sessions need setups.";
                    return shared.notify(NoticeLevel::Info, text);
                }
                let pick = compare::SideChoice::of_session;
                shared.then(Action::Go(Screen::Compare));
                shared.then(Action::Compare(Compare::Before(pick(ids[0]))));
                shared.then(Action::Compare(Compare::After(pick(ids[1]))));
            }
            AfterOpening::History(files) => {
                let open = shared.sessions.get(ids[0]);
                let case = open.and_then(|open| open.session.cases.first());
                let Some(case) = case else {
                    let text = "The first selected session has no case to follow.";
                    return shared.notify(NoticeLevel::Info, text);
                };
                let following = Following {
                    session: ids[0],
                    setup: case.setup,
                    point: case.point,
                };
                shared.then(Action::History(History::Only(Some(files))));
                shared.then(Action::History(History::Follow(following)));
                shared.then(Action::Go(Screen::History));
            }
            AfterOpening::Fleet(files) => {
                shared.then(Action::Fleet(Fleet::Only(Some(files))));
                shared.then(Action::Fleet(Fleet::EachSession(true)));
                shared.then(Action::Go(Screen::Fleet));
            }
        }
    }

    /// Closes a session that went to the trash, and remembers how to restore it.
    pub(super) fn is_in_trash(
        &mut self,
        path: &Path,
        name: String,
        discarded: Discarded,
        shared: &mut Shared,
    ) {
        self.discarded.push((discarded, name));
        let mut left = Arc::unwrap_or_clone(std::mem::take(&mut self.found));
        left.remove(path);
        self.take_files(left, shared);
        if let Some(id) = shared.sessions.by_path(path).map(|open| open.id) {
            shared.then(Action::Sessions(Sessions::Close(id)));
        }
    }
}
