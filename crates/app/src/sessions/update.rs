//! Actions on open sessions, and the results of reading and saving.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::work::{self, Opened};
use super::{LIVE, OnDisk, OpenSession, SessionId};
use crate::action::{Action, Curves, Sessions};
use crate::doors::BenchDoor;
use crate::notices::NoticeLevel;
use crate::plan::{Draft, PlanEdit, PlanField};
use crate::screen::Screen;
use crate::shared::Shared;
use crate::{App, Ask, WindowRequest, plan};
use powerband_core::domain::session::Session;
use powerband_core::domain::trace::Trace;
use powerband_store::examples;
use powerband_store::library::{self, Stamp};
use powerband_store::session_file::ReadError;

impl App {
    pub(crate) fn sessions(&mut self, sessions: Sessions) {
        let opens = matches!(
            sessions,
            Sessions::Open(_)
                | Sessions::OpenExample(_)
                | Sessions::OpenOnly(_)
                | Sessions::Toggle(_)
        );
        self.shared.opening.shows_opened = opens;
        self.shared.opening.alone = opens.then(BTreeSet::new);
        match sessions {
            Sessions::Choose => self.shared.outputs.push(WindowRequest::Ask(Ask::Open)),
            Sessions::Open(paths) => self.open_files(paths),
            Sessions::Add(path) => {
                self.shared.opening.shows_opened = true;
                if let Some(open) = self.shared.sessions.by_path(&path) {
                    let id = open.id;
                    self.curves.draw_session_too(id, &mut self.shared);
                }
                self.open_sessions(vec![path]);
            }
            Sessions::OpenExample(place) => self.open_example(place),
            Sessions::OpenOnly(path) => self.open_only(path),
            Sessions::Toggle(path) => match self.shared.sessions.by_path(&path).map(|open| open.id)
            {
                Some(id) => self.close_session(id),
                None => self.open_sessions(vec![path]),
            },
            Sessions::Close(id) => self.close_session(id),
            Sessions::CloseAll => {
                let all = self.shared.sessions.iter().map(|open| open.id);
                self.close_sessions(all.filter(|id| *id != LIVE).collect());
            }
            Sessions::Reload(id) => {
                if let Some(path) = self
                    .shared
                    .sessions
                    .get(id)
                    .and_then(|open| open.path.clone())
                {
                    self.read_sessions(vec![(id, path)]);
                }
            }
            Sessions::RunAgain(id) => {
                if let Some(open) = self.shared.sessions.get(id) {
                    let found = Draft::from_session(&open.session);
                    self.bench.plan_found(found, &mut self.shared);
                }
            }
            Sessions::RunFileAgain(path) => {
                let work = move || plan::work::plan_of(&path);
                self.shared
                    .jobs
                    .spawn_for("plan", work, BenchDoor::plan_found);
            }
            Sessions::SaveAs(id, path) => self.save_as(id, path),
        }
    }

    /// Sessions are opened; an ONNX file becomes the plan's model, and any other file is one of another
    /// tool.
    fn open_files(&mut self, paths: Vec<PathBuf>) {
        let mut sessions = Vec::new();
        let mut traces = Vec::new();
        for path in paths {
            let ends_with = |wanted: &str| {
                path.extension()
                    .is_some_and(|extension| extension.eq_ignore_ascii_case(wanted))
            };
            if ends_with("onnx") {
                self.shared.screen = Screen::Plan;
                let model = path.display().to_string();
                let model = PlanEdit::Text(PlanField::Model, model);
                self.bench.plan(model, &mut self.shared);
            } else if ends_with("ron") {
                sessions.push(path);
            } else {
                traces.push(path);
            }
        }
        if !sessions.is_empty() {
            self.open_sessions(sessions);
        }
        if !traces.is_empty() {
            self.profile.open_traces(traces, &mut self.shared);
        }
    }

    /// Opens sessions by their files; those that are open or being read stay as they are.
    pub(crate) fn open_sessions(&mut self, paths: Vec<PathBuf>) {
        let mut opening: BTreeSet<PathBuf> = self.shared.opening.files.values().cloned().collect();
        let mut wanted = Vec::new();
        let mut is_one_open = false;
        for path in paths {
            if let Some(open) = self.shared.sessions.by_path(&path) {
                is_one_open = true;
                if let Some(alone) = &mut self.shared.opening.alone {
                    alone.insert(open.id);
                }
            } else if opening.insert(path.clone()) {
                let id = self.shared.sessions.new_id();
                self.shared.opening.files.insert(id, path.clone());
                wanted.push((id, path));
            }
        }
        if is_one_open {
            self.draw_opened_alone();
            self.go_to_opened();
        }
        self.read_sessions(wanted);
    }

    fn read_sessions(&self, files: Vec<(SessionId, PathBuf)>) {
        let broken = |app: &mut Self, (_, path): (_, PathBuf), why: String| {
            app.not_opened(&path, &why);
        };
        self.shared
            .jobs
            .spawn_each("open", files, broken, |(id, path), outlet| {
                let read = work::open(id, &path);
                outlet.send(move |app| app.session_read(&path, read));
            });
    }

    /// Opens a session and closes all others. One that is open stays as it is, because its file may be gone.
    fn open_only(&mut self, path: PathBuf) {
        let Some(kept) = self.shared.sessions.by_path(&path).map(|open| open.id) else {
            self.sessions(Sessions::CloseAll);
            self.open_sessions(vec![path]);
            return;
        };
        let others = self.shared.sessions.iter().map(|open| open.id);
        let others = others.filter(|id| *id != kept && *id != LIVE);
        self.close_sessions(others.collect());
        self.go_to_opened();
    }

    fn close_session(&mut self, id: SessionId) {
        self.close_sessions(vec![id]);
    }

    /// Closes sessions; what is made of the open ones is made anew once for all of them.
    fn close_sessions(&mut self, ids: Vec<SessionId>) {
        let was_pinned = self.curves.pins().any(|pin| ids.contains(&pin.session));
        for id in ids {
            self.shared.sessions.close(id);
            self.shared.opening.examples.remove(&id);
            self.curves.forget(id);
            self.profile.close_traces_of(id, &mut self.shared);
        }
        if was_pinned {
            self.curves
                .act(Curves::Pin(self.curves.pin), &mut self.shared);
        }
        self.sessions_changed();
        self.curves.draw_what_is_left(&mut self.shared);
    }

    fn session_read(&mut self, path: &Path, read: Result<Opened, ReadError>) {
        match read {
            // One that was read anew may have been closed since.
            Ok(opened) if !self.is_asked_for(opened.id) => {}
            Ok(opened) => self.opened(opened),
            Err(error) => self.not_opened(path, &error.to_string()),
        }
    }

    fn is_asked_for(&self, id: SessionId) -> bool {
        let opening = &self.shared.opening;
        opening.files.contains_key(&id)
            || opening.examples.contains_key(&id)
            || self.shared.sessions.get(id).is_some()
    }

    pub(crate) fn opened(&mut self, opened: Opened) {
        self.shared.opening.files.remove(&opened.id);
        if let Some(version) = opened.newer {
            let text = format!(
                "{} was written by a newer Powerband (session version {version}); this version shows what it can read and opens it read-only.",
                opened.session.name
            );
            self.shared.notify(NoticeLevel::Info, text);
        }
        if let Some(alone) = &mut self.shared.opening.alone
            && self.shared.sessions.get(opened.id).is_none()
        {
            alone.insert(opened.id);
        }
        self.shared.sessions.put(OpenSession {
            path: opened.path,
            stamp: opened.stamp,
            newer: opened.newer,
            ..OpenSession::unsaved(opened.id, opened.session, opened.findings)
        });
        if self.shared.opening.files.is_empty() {
            self.shared.sessions.all_are_read();
        }
        self.compare.sides.found.forget();
        self.shared.opening.has_opened = true;
    }

    /// After reports were taken in: what is made of the open sessions is made anew once, however many were opened.
    pub(crate) fn all_opened(&mut self) {
        if std::mem::take(&mut self.shared.opening.has_opened) {
            self.sessions_changed();
            self.draw_opened_alone();
            // What a run or another window adds later comes beside what is drawn then.
            if self.shared.opening.files.is_empty() {
                self.shared.opening.alone = None;
            }
            self.go_to_opened();
            self.library.go_on_once_open(&mut self.shared);
        }
    }

    /// What the user opened is drawn alone; what else is open stays in the legend.
    fn draw_opened_alone(&mut self) {
        let alone = self.shared.opening.alone.clone().unwrap_or_default();
        if !alone.is_empty() {
            self.curves.draw_sessions(&alone, &mut self.shared);
        }
    }

    /// A file could not be opened.
    fn not_opened(&mut self, path: &Path, reason: &str) {
        self.shared
            .opening
            .files
            .retain(|_, opening| opening != path);
        self.library.next = None;
        if self.shared.opening.files.is_empty() {
            self.shared.sessions.all_are_read();
            self.sessions_changed();
        }
        let path = path.display().to_string();
        let which = if reason.contains(&path) {
            String::new()
        } else {
            format!("{path}: ")
        };
        self.shared
            .notify(NoticeLevel::Trouble, format!("Not opened: {which}{reason}"));
    }

    /// A file was written, and is the session's own from now on; or why not.
    fn saved_as(
        &mut self,
        id: SessionId,
        path: PathBuf,
        saved: Result<(Stamp, Arc<Session>), String>,
    ) {
        let (stamp, session) = match saved {
            Ok(saved) => saved,
            Err(error) => {
                let text = format!("The session was not saved: {error}");
                return self.shared.notify(NoticeLevel::Trouble, text);
            }
        };
        let text = format!("Saved to {}", path.display());
        if let Some(open) = self.shared.sessions.get_mut(id) {
            open.session = session;
            open.path = Some(path);
            open.stamp = Some(stamp);
            open.on_disk = OnDisk::Same;
        }
        self.shared.notify(NoticeLevel::Done, text);
        self.sessions_changed();
        self.shared.jobs.rescan_library();
    }

    pub(crate) fn on_disk(&mut self, path: &Path, stamp: Option<Stamp>) {
        let Some(open) = self.shared.sessions.by_path(path) else {
            return;
        };
        let (id, name) = (open.id, open.session.name.clone());
        let on_disk = match &stamp {
            None => OnDisk::Gone,
            Some(_) if stamp == open.stamp => OnDisk::Same,
            Some(_) => OnDisk::Changed,
        };
        let is_news = open.on_disk != on_disk;
        if let Some(open) = self.shared.sessions.get_mut(id) {
            open.on_disk = on_disk;
        }
        match on_disk {
            OnDisk::Changed if is_news => {
                let again = Action::Sessions(Sessions::Reload(id));
                let text = format!("Another program changed the file of {name}.");
                self.shared
                    .notify_with_button(NoticeLevel::Info, text, "Reload", again);
            }
            OnDisk::Gone if is_news => {
                let save = Action::Sessions(Sessions::SaveAs(id, None));
                let text = format!("The file of {name} is missing; the session is in memory only.");
                self.shared
                    .notify_with_button(NoticeLevel::Trouble, text, "Save as…", save);
            }
            _ => {}
        }
    }

    /// Saves a session; without a path it asks for one, beside its file or in the library.
    pub(crate) fn save_as(&mut self, id: SessionId, path: Option<PathBuf>) {
        let Some(open) = self.shared.sessions.get(id) else {
            return;
        };
        let Some(path) = path else {
            let name = format!("{}.ron", library::safe(&open.session.name));
            let beside = open.path.as_deref().and_then(Path::parent);
            let beside = beside.filter(|folder| folder.is_absolute());
            let path = beside
                .unwrap_or(&self.shared.place.paths.library)
                .join(name);
            self.shared
                .outputs
                .push(WindowRequest::Ask(Ask::SaveSession(id, path)));
            return;
        };
        if let Some(version) = open.newer {
            let text = format!(
                "{} was written by a newer Powerband (session version {version}) and is read-only here.",
                open.session.name
            );
            return self.shared.notify(NoticeLevel::Trouble, text);
        }
        let session = Arc::clone(&open.session);
        let from = open.path.clone();
        let traces = self.profile.timeline.traces.iter();
        let own = traces.filter_map(|(_, open)| {
            let (session, profile) = open.owner?;
            (session == id).then(|| (profile, Arc::clone(&open.trace)))
        });
        let own: Vec<(usize, Arc<Trace>)> = own.collect();
        let work = move || {
            let saved = work::save_as(&session, (&own, from.as_deref()), &path);
            (path, saved)
        };
        self.shared
            .jobs
            .spawn_then("save", work, move |app, (path, saved)| {
                app.saved_as(id, path, saved);
            });
    }

    /// After the user opened a session, leaves a screen that cannot show it. The run's screen stays a click
    /// away.
    pub(crate) fn go_to_opened(&mut self) {
        let leaves = matches!(
            self.shared.screen,
            Screen::Home | Screen::Library | Screen::Run
        );
        if std::mem::take(&mut self.shared.opening.shows_opened) && leaves {
            self.shared.screen = Screen::Curves;
        }
    }

    /// Opens one of the built-in examples by its place.
    pub(crate) fn open_example(&mut self, place: usize) {
        let Some(example) = examples::ALL.get(place) else {
            return;
        };
        let id = self.shared.sessions.new_id();
        self.shared.opening.examples.insert(id, place);
        let work = move || work::open_example(id, example);
        self.shared.jobs.spawn_then("open", work, |app, read| {
            app.session_read(Path::new(example.file), read);
        });
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
            let open = self.shared.sessions.get(id);
            open.is_some_and(|open| open.path.is_some())
        };
        let open = self
            .shared
            .opening
            .examples
            .iter()
            .filter(|(id, _)| !has_file(**id));
        open.filter_map(|(_, place)| Some(examples::ALL.get(*place)?.file.to_owned()))
            .collect()
    }
}

impl Shared {
    pub(crate) fn watch_session_files(&self) {
        let open = self.sessions.iter();
        let files = open.filter_map(|open| open.path.clone()).collect();
        self.jobs.watch_files(files);
    }
}
