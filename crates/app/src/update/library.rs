//! What actions about the library do.

use std::path::PathBuf;

use crate::action::Library;
use crate::inbox::Message;
use crate::library::{SEARCH, SEARCH_BESIDE};
use crate::screen::Screen;
use crate::{App, Output, work};
use powerband_core::domain::session::Session;
use powerband_measure::worker::process;
use powerband_store::library::unique_tags;
use powerband_store::trash::Discarded;

impl App {
    pub(super) fn library(&mut self, change: Library) {
        match change {
            Library::Search(words) => self.library.search(words),
            Library::FocusSearch => {
                let field = if self.screen == Screen::Library {
                    SEARCH
                } else {
                    self.show_library(true);
                    SEARCH_BESIDE
                };
                self.outputs.push(Output::Cursor(field.to_owned()));
            }
            Library::Sort(column) => self.library.sort_by(column),
            Library::Select(path) => self.library.selected = path,
            Library::Rename(path, name) => self.edit(path, move |session| session.name = name),
            Library::Tags(path, tags) => {
                self.edit(path, move |session| session.tags = unique_tags(&tags));
            }
            Library::Notes(path, notes) => self.edit(path, move |session| session.notes = notes),
            Library::Duplicate(path) => {
                self.jobs
                    .spawn("duplicate", move |outlet| work::duplicate(&path, outlet));
            }
            Library::Discard(path) => {
                let name = self.library.entry(&path).map(|entry| entry.name.clone());
                let name = name.unwrap_or_else(|| path.display().to_string());
                let paths = self.place.paths.clone();
                self.jobs.spawn("discard", move |outlet| {
                    work::discard(&paths, path, name, outlet);
                });
            }
            Library::Restore => {
                let last = self.library.discarded.len().checked_sub(1);
                self.restore(last);
            }
            Library::RestoreThis(path) => {
                let was_there = |(discarded, _): &(Discarded, String)| discarded.original() == path;
                let newest = self.library.discarded.iter().rposition(was_there);
                self.restore(newest);
            }
            Library::Reveal(path) => {
                self.jobs.spawn("reveal", move |outlet| {
                    if let Err(error) = process::open_outside(&path) {
                        let path = path.display();
                        outlet.send(Message::Failed(format!("{path} cannot be shown: {error}")));
                    }
                });
            }
        }
    }

    /// Brings back what was discarded, by its place among what was.
    fn restore(&mut self, place: Option<usize>) {
        if let Some(place) = place {
            let (discarded, name) = self.library.discarded.remove(place);
            self.jobs.spawn("restore", move |outlet| {
                work::restore(discarded, name, outlet);
            });
        }
    }

    fn edit(&self, path: PathBuf, change: impl FnOnce(&mut Session) + Send + 'static) {
        let expected = self.library.found.get(&path).map(|scanned| scanned.stamp);
        self.jobs.spawn("edit", move |outlet| {
            work::edit(path, expected, change, outlet);
        });
    }
}
