//! Actions on the library, and the results of changes in it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::several::AfterOpening;
use super::work::{self, Restored, Trashed};
use super::{SEARCH, SEARCH_BESIDE};
use crate::action::{Action, Library, Sessions};
use crate::notices::NoticeLevel;
use crate::parts::part::Layer;
use crate::screen::Screen;
use crate::{App, WindowRequest};
use powerband_core::domain::session::Session;
use powerband_measure::worker::desktop;
use powerband_store::library::{ScannedFile, Stamp, unique_tags};
use powerband_store::trash::Discarded;

impl App {
    pub(crate) fn library(&mut self, change: Library) {
        match change {
            Library::Search(words) => {
                self.library.search(words);
                self.sessions_table();
            }
            Library::FocusSearch => {
                let field = if self.shared.screen == Screen::Library {
                    SEARCH
                } else {
                    self.show_library(true);
                    SEARCH_BESIDE
                };
                self.shared
                    .outputs
                    .push(WindowRequest::Cursor(field.to_owned()));
            }
            Library::Select(path) => self.library.selected = path,
            Library::Rename(path, name) => self.edit(path, move |session| session.name = name),
            Library::Tags(path, tags) => {
                self.edit(path, move |session| session.tags = unique_tags(&tags));
            }
            Library::Notes(path, notes) => self.edit(path, move |session| session.notes = notes),
            Library::Duplicate(path) => {
                let work = move || work::duplicate(&path);
                self.shared
                    .jobs
                    .spawn_then("duplicate", work, Self::file_written);
            }
            Library::Discard(path) => {
                let name = self.library.entry(&path).map(|entry| entry.name.clone());
                let name = name.unwrap_or_else(|| path.display().to_string());
                let paths = self.shared.place.paths.clone();
                let work = move || work::discard(&paths, path, name);
                self.shared
                    .jobs
                    .spawn_then("discard", work, Self::discarded);
            }
            Library::TagAll(files, tags) => self.tag_all(files, tags),
            Library::DiscardAll(files) => self.discard_all(files),
            Library::RestoreAll(files) => self.restore_all(&files),
            Library::Compare(one, other) => self.compare_files(one, other),
            Library::History(files) => self.open_then(AfterOpening::History(files)),
            Library::Fleet(files) => self.open_then(AfterOpening::Fleet(files)),
            Library::Restore => match self.last_discarded() {
                files if files.len() > 1 => self.restore_all(&files),
                _ => self.restore(self.library.discarded.len().checked_sub(1)),
            },
            Library::RestoreThis(path) => {
                let was_there = |(discarded, _): &(Discarded, String)| discarded.original() == path;
                let newest = self.library.discarded.iter().rposition(was_there);
                self.restore(newest);
            }
            Library::Reveal(path) => {
                self.shared.jobs.spawn("reveal", move |outlet| {
                    if let Err(error) = desktop::show_folder(&path) {
                        let path = path.display();
                        outlet.failed(format!("{path} cannot be shown: {error}"));
                    }
                });
            }
        }
    }

    /// Clears the search, else the selection of the library's screen.
    pub(crate) fn clear_search(&mut self, layer: Layer) -> bool {
        if layer != Layer::Library {
            return false;
        }
        if !self.library.search.is_empty() {
            self.library(Library::Search(String::new()));
            return true;
        }
        self.shared.screen == Screen::Library && self.library.selected.take().is_some()
    }

    pub(super) fn sessions_table(&mut self) {
        self.shared
            .tables
            .set_table("sessions", self.library.table());
    }

    /// Restores a discarded session, by its place in the list.
    fn restore(&mut self, place: Option<usize>) {
        if let Some(place) = place {
            let (discarded, name) = self.library.discarded.remove(place);
            let work = move || work::restore(discarded, name);
            self.shared.jobs.spawn_then("restore", work, Self::restored);
        }
    }

    fn edit(&self, path: PathBuf, change: impl FnOnce(&mut Session) + Send + 'static) {
        let expected = self.library.found.get(&path).map(|scanned| scanned.stamp);
        self.shared.jobs.spawn("edit", move |outlet| {
            work::edit(path, expected, change, outlet);
        });
    }

    /// The library was looked through.
    pub(crate) fn library_scanned(
        &mut self,
        found: Result<BTreeMap<PathBuf, ScannedFile>, String>,
    ) {
        match found {
            Ok(found) => {
                self.library.trouble = None;
                self.library.take(found);
                self.sessions_table();
                self.learn_if_wanted();
            }
            Err(trouble) => {
                self.library.trouble = Some(trouble.clone());
                self.library.take(BTreeMap::new());
                self.sessions_table();
                self.shared.notify(NoticeLevel::Trouble, trouble);
            }
        }
    }

    /// A session's file was changed, or was not.
    pub(crate) fn edited(&mut self, path: &Path, edited: Result<Stamp, String>) {
        let stamp = match edited {
            Ok(stamp) => stamp,
            Err(reason) => {
                let text = format!("{} was not changed: {reason}", path.display());
                return self.shared.notify(NoticeLevel::Trouble, text);
            }
        };
        if let Some(scanned) = self.library.found.get_mut(path) {
            scanned.stamp = stamp;
        }
        if let Some(open) = self.shared.sessions.by_path(path) {
            let id = open.id;
            self.act(Action::Sessions(Sessions::Reload(id)));
            if let Some(open) = self.shared.sessions.get_mut(id) {
                open.stamp = Some(stamp);
            }
        }
        self.shared.jobs.rescan_library();
    }

    /// A session went to the trash, or did not.
    pub(crate) fn discarded(&mut self, (path, name, discarded): Trashed) {
        let discarded = match discarded {
            Ok(discarded) => discarded,
            Err(reason) => {
                let text = format!("{name} was not moved to the trash: {reason}");
                return self.shared.notify(NoticeLevel::Trouble, text);
            }
        };
        let undo = Library::RestoreThis(discarded.original().to_path_buf());
        let done = in_trash(&name);
        self.is_in_trash(&path, name, discarded);
        self.shared
            .notify_with_button(NoticeLevel::Done, done, "Undo", Action::Library(undo));
        self.shared.jobs.rescan_library();
    }

    /// A session was restored from the trash, or was not.
    fn restored(&mut self, (name, restored): Restored) {
        let left = match restored {
            Ok(left) => left,
            Err((discarded, reason)) => {
                let text = format!("{name} was not restored: {reason}");
                self.library.discarded.push((discarded, name));
                return self.shared.notify(NoticeLevel::Trouble, text);
            }
        };
        self.shared.notices.withdraw(&in_trash(&name));
        self.list_plans();
        match left {
            None => self
                .shared
                .notify(NoticeLevel::Done, format!("{name} is restored")),
            Some(why) => {
                let words = format!("{name} is restored without a timeline: {why}");
                self.shared.notify(NoticeLevel::Trouble, words);
            }
        }
        self.shared.jobs.rescan_library();
    }
}

/// The notice about a trashed session, until it is restored.
fn in_trash(name: &str) -> String {
    format!("{name} is in the trash")
}
