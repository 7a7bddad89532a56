//! What actions about open sessions do, where it takes more than a line: saving them elsewhere, and the
//! built-in examples.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::notices::Weight;
use crate::screen::Screen;
use crate::sessions::SessionId;
use crate::{App, Ask, Output, work};
use powerband_core::domain::trace::Trace;
use powerband_store::{examples, library};

impl App {
    /// Saves a session; asks where if nobody said: beside its file, else in the library.
    pub(super) fn save_as(&mut self, id: SessionId, path: Option<PathBuf>) {
        let Some(open) = self.sessions.get(id) else {
            return;
        };
        let Some(path) = path else {
            let name = format!("{}.ron", library::safe(&open.session.name));
            let beside = open.path.as_deref().and_then(Path::parent);
            let beside = beside.filter(|folder| folder.is_absolute());
            let path = beside.unwrap_or(&self.place.paths.library).join(name);
            self.outputs.push(Output::Ask(Ask::SaveSession(id, path)));
            return;
        };
        if let Some(version) = open.newer {
            let text = format!(
                "{} was written by a newer Powerband (session version {version}) and is not written to.",
                open.session.name
            );
            return self.say(Weight::Trouble, text);
        }
        let session = Arc::clone(&open.session);
        let from = open.path.clone();
        let traces = self.timeline.traces.iter();
        let own = traces.filter_map(|(_, open)| {
            let (session, profile) = open.owner?;
            (session == id).then(|| (profile, Arc::clone(&open.trace)))
        });
        let own: Vec<(usize, Arc<Trace>)> = own.collect();
        self.jobs.spawn("save", move |outlet| {
            work::save_as(id, &session, (&own, from.as_deref()), path, outlet);
        });
    }

    /// Leaves a screen that shows nothing of the sessions that are open, where somebody opened one there.
    /// A run that goes on is a click away.
    pub(crate) fn go_to_opened(&mut self) {
        let leaves = matches!(self.screen, Screen::Home | Screen::Library | Screen::Run);
        if std::mem::take(&mut self.shows_opened) && leaves {
            self.screen = Screen::Curves;
        }
    }

    /// Opens one of the built-in examples by its place.
    pub(super) fn open_example(&mut self, place: usize) {
        let id = self.sessions.new_id();
        self.examples.insert(id, place);
        self.jobs
            .spawn("open", move |outlet| work::open_example(id, place, outlet));
    }

    /// Opens the examples that were open last time, by their files.
    pub(crate) fn open_examples_again(&mut self, files: &[String]) {
        for file in files {
            let place = examples::ALL
                .iter()
                .position(|example| example.file == *file);
            if let Some(place) = place {
                self.open_example(place);
            }
        }
    }

    /// Files of the examples that are open, but for those that were saved and so have a file of their own.
    pub(crate) fn open_examples(&self) -> Vec<String> {
        let has_file = |id: SessionId| {
            let open = self.sessions.get(id);
            open.is_some_and(|open| open.path.is_some())
        };
        let open = self.examples.iter().filter(|(id, _)| !has_file(**id));
        open.filter_map(|(_, place)| Some(examples::ALL.get(*place)?.file.to_owned()))
            .collect()
    }
}
