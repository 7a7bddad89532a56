//! Actions on the library, and the results of changes in it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::work::{self, Restored, Trashed};
use super::{AfterOpening, LibraryState, SEARCH, SEARCH_BESIDE};
use crate::WindowRequest;
use crate::action::{Action, Library, Sessions};
use crate::notices::NoticeLevel;
use crate::parts::layer::Layer;
use crate::screen::Screen;
use crate::shared::{FollowUp, Shared};
use powerband_core::domain::session::Session;
use powerband_store::library::{ScannedFile, Stamp, unique_tags};
use powerband_store::trash::Discarded;

impl LibraryState {
    pub(crate) fn act(&mut self, change: Library, shared: &mut Shared) {
        match change {
            Library::Search(words) => {
                self.search(words);
                self.sessions_table(shared);
            }
            Library::FocusSearch => {
                let field = if shared.screen == Screen::Library {
                    SEARCH
                } else {
                    shared.show_library(true);
                    SEARCH_BESIDE
                };
                shared.outputs.push(WindowRequest::Cursor(field.to_owned()));
            }
            Library::Select(path) => self.selected = path,
            Library::Rename(path, name) => {
                self.edit(path, move |session| session.name = name, shared);
            }
            Library::Tags(path, tags) => {
                self.edit(
                    path,
                    move |session| session.tags = unique_tags(&tags),
                    shared,
                );
            }
            Library::Notes(path, notes) => {
                self.edit(path, move |session| session.notes = notes, shared);
            }
            Library::Duplicate(path) => {
                let work = move || work::duplicate(&path);
                shared.jobs.spawn_then("duplicate", work, |app, written| {
                    app.shared.file_written(written);
                });
            }
            Library::Discard(path) => {
                let name = self.entry(&path).map(|entry| entry.name.clone());
                let name = name.unwrap_or_else(|| path.display().to_string());
                let paths = shared.place.paths.clone();
                let work = move || work::discard(&paths, path, name);
                shared.jobs.spawn_for("discard", work, Self::discarded);
            }
            Library::TagAll(files, tags) => self.tag_all(files, tags, shared),
            Library::DiscardAll(files) => self.discard_all(files, shared),
            Library::RestoreAll(files) => self.restore_all(&files, shared),
            Library::Compare(one, other) => self.compare_files(one, other, shared),
            Library::History(files) => self.open_then(AfterOpening::History(files), shared),
            Library::Fleet(files) => self.open_then(AfterOpening::Fleet(files), shared),
            Library::Restore => match self.last_discarded() {
                files if files.len() > 1 => self.restore_all(&files, shared),
                _ => self.restore(self.discarded.len().checked_sub(1), shared),
            },
            Library::RestoreThis(path) => {
                let was_there = |(discarded, _): &(Discarded, String)| discarded.original() == path;
                let newest = self.discarded.iter().rposition(was_there);
                self.restore(newest, shared);
            }
            Library::Reveal(path) => {
                let backend = Arc::clone(&shared.backend);
                shared.jobs.spawn("reveal", move |outlet| {
                    if let Err(error) = backend.show_folder(&path) {
                        let path = path.display();
                        outlet.failed(format!("{path} cannot be shown: {error}"));
                    }
                });
            }
        }
    }

    /// Clears the search, else the selection of the library's screen.
    pub(crate) fn clear_search(&mut self, layer: Layer, shared: &mut Shared) -> bool {
        if layer != Layer::Library {
            return false;
        }
        if !self.search.is_empty() {
            self.act(Library::Search(String::new()), shared);
            return true;
        }
        shared.screen == Screen::Library && self.selected.take().is_some()
    }

    pub(super) fn sessions_table(&self, shared: &mut Shared) {
        shared.tables.set_table("sessions", self.table());
    }

    /// Restores a discarded session, by its place in the list.
    fn restore(&mut self, place: Option<usize>, shared: &Shared) {
        if let Some(place) = place {
            let (discarded, name) = self.discarded.remove(place);
            let work = move || work::restore(discarded, name);
            shared.jobs.spawn_for("restore", work, Self::restored);
        }
    }

    fn edit(
        &self,
        path: PathBuf,
        change: impl FnOnce(&mut Session) + Send + 'static,
        shared: &Shared,
    ) {
        let expected = self.found.get(&path).map(|scanned| scanned.stamp);
        shared.jobs.spawn("edit", move |outlet| {
            work::edit(path, expected, change, outlet);
        });
    }

    /// The library was looked through.
    pub(crate) fn library_scanned(
        &mut self,
        found: Result<BTreeMap<PathBuf, ScannedFile>, String>,
        shared: &mut Shared,
    ) {
        match found {
            Ok(found) => {
                self.trouble = None;
                self.take_files(found, shared);
                shared.follow_ups.push_back(FollowUp::PastDurationsWanted);
            }
            Err(trouble) => {
                self.trouble = Some(trouble.clone());
                self.take_files(BTreeMap::new(), shared);
                shared.notify(NoticeLevel::Trouble, trouble);
            }
        }
    }

    /// The library has these files from now on.
    pub(super) fn take_files(
        &mut self,
        found: BTreeMap<PathBuf, ScannedFile>,
        shared: &mut Shared,
    ) {
        self.take(found);
        shared.library_files = Arc::clone(&self.found);
        self.sessions_table(shared);
    }

    /// A session's file was changed, or was not.
    pub(crate) fn edited(
        &mut self,
        path: &Path,
        edited: Result<Stamp, String>,
        shared: &mut Shared,
    ) {
        let stamp = match edited {
            Ok(stamp) => stamp,
            Err(reason) => {
                let text = format!("{} was not changed: {reason}", path.display());
                return shared.notify(NoticeLevel::Trouble, text);
            }
        };
        if let Some(scanned) = Arc::make_mut(&mut self.found).get_mut(path) {
            scanned.stamp = stamp;
        }
        shared.library_files = Arc::clone(&self.found);
        if let Some(open) = shared.sessions.by_path(path) {
            let id = open.id;
            shared.then(Action::Sessions(Sessions::Reload(id)));
            if let Some(open) = shared.sessions.get_mut(id) {
                open.stamp = Some(stamp);
            }
        }
        shared.jobs.rescan_library();
    }

    /// A session went to the trash, or did not.
    pub(crate) fn discarded(&mut self, (path, name, discarded): Trashed, shared: &mut Shared) {
        let discarded = match discarded {
            Ok(discarded) => discarded,
            Err(reason) => {
                let text = format!("{name} was not moved to the trash: {reason}");
                return shared.notify(NoticeLevel::Trouble, text);
            }
        };
        let undo = Library::RestoreThis(discarded.original().to_path_buf());
        let done = in_trash(&name);
        self.is_in_trash(&path, name, discarded, shared);
        shared.notify_with_button(NoticeLevel::Done, done, "Undo", Action::Library(undo));
        shared.jobs.rescan_library();
    }

    /// A session was restored from the trash, or was not.
    fn restored(&mut self, (name, restored): Restored, shared: &mut Shared) {
        let left = match restored {
            Ok(left) => left,
            Err((discarded, reason)) => {
                let text = format!("{name} was not restored: {reason}");
                self.discarded.push((discarded, name));
                return shared.notify(NoticeLevel::Trouble, text);
            }
        };
        shared.notices.withdraw(&in_trash(&name));
        shared.follow_ups.push_back(FollowUp::PlansChanged);
        match left {
            None => shared.notify(NoticeLevel::Done, format!("{name} is restored")),
            Some(why) => {
                let words = format!("{name} is restored without a timeline: {why}");
                shared.notify(NoticeLevel::Trouble, words);
            }
        }
        shared.jobs.rescan_library();
    }
}

/// The notice about a trashed session, until it is restored.
fn in_trash(name: &str) -> String {
    format!("{name} is in the trash")
}
