//! Actions on open sessions, and the results of reading and saving.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::work::{self, Opened};
use super::{LIVE, OnDisk, OpenSession, SessionId};
use crate::action::{Action, Sessions};
use crate::doors::BenchDoor;
use crate::notices::NoticeLevel;
use crate::plan::{PlanEdit, PlanField};
use crate::screen::Screen;
use crate::shared::{FollowUp, Shared};
use crate::{App, Ask, WindowRequest, plan};
use powerband_core::domain::session::Session;
use powerband_core::domain::trace::Trace;
use powerband_store::examples;
use powerband_store::library::{self, Stamp};
use powerband_store::session_file::ReadError;

impl Shared {
    pub(crate) fn sessions(&mut self, sessions: Sessions) {
        let opens = matches!(
            sessions,
            Sessions::Open(_)
                | Sessions::OpenExample(_)
                | Sessions::OpenOnly(_)
                | Sessions::Toggle(_)
        );
        self.opening.shows_opened = opens;
        self.opening.alone = opens.then(BTreeSet::new);
        match sessions {
            Sessions::Choose => self.outputs.push(WindowRequest::Ask(Ask::Open)),
            Sessions::Open(paths) => self.open_files(paths),
            Sessions::Add(path) => {
                self.opening.shows_opened = true;
                if let Some(open) = self.sessions.by_path(&path) {
                    self.follow_ups.push_back(FollowUp::DrawAlso(open.id));
                }
                self.open_sessions(vec![path]);
            }
            Sessions::OpenExample(place) => self.open_example(place),
            Sessions::OpenOnly(path) => self.open_only(path),
            Sessions::Toggle(path) => match self.sessions.by_path(&path).map(|open| open.id) {
                Some(id) => self.close_sessions(vec![id]),
                None => self.open_sessions(vec![path]),
            },
            Sessions::Close(id) => self.close_sessions(vec![id]),
            Sessions::CloseAll => self.close_all_sessions(),
            Sessions::Reload(id) => {
                if let Some(path) = self.sessions.get(id).and_then(|open| open.path.clone()) {
                    self.read_sessions(vec![(id, path)]);
                }
            }
            Sessions::RunAgain(id) => self.follow_ups.push_back(FollowUp::PlanAgain(id)),
            Sessions::RunFileAgain(path) => {
                let work = move || plan::work::plan_of(&path);
                self.jobs.spawn_for("plan", work, BenchDoor::plan_found);
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
                self.screen = Screen::Plan;
                let model = path.display().to_string();
                let edit = PlanEdit::Text(PlanField::Model, model);
                self.then(Action::Plan(edit));
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
            self.follow_ups.push_back(FollowUp::OpenTraces(traces));
        }
    }

    /// Opens sessions by their files; those that are open or being read stay as they are.
    pub(crate) fn open_sessions(&mut self, paths: Vec<PathBuf>) {
        let mut opening: BTreeSet<PathBuf> = self.opening.files.values().cloned().collect();
        let mut wanted = Vec::new();
        let mut is_one_open = false;
        for path in paths {
            if let Some(open) = self.sessions.by_path(&path) {
                is_one_open = true;
                if let Some(alone) = &mut self.opening.alone {
                    alone.insert(open.id);
                }
            } else if opening.insert(path.clone()) {
                let id = self.sessions.new_id();
                self.opening.files.insert(id, path.clone());
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
        let broken = |app: &mut App, (_, path): (_, PathBuf), why: String| {
            app.shared.not_opened(&path, &why);
        };
        self.jobs
            .spawn_each("open", files, broken, |(id, path), outlet| {
                let read = work::open(id, &path);
                outlet.send(move |app| app.shared.session_read(&path, read));
            });
    }

    /// Opens a session and closes all others. One that is open stays as it is, because its file may be gone.
    fn open_only(&mut self, path: PathBuf) {
        let Some(kept) = self.sessions.by_path(&path).map(|open| open.id) else {
            self.sessions(Sessions::CloseAll);
            self.open_sessions(vec![path]);
            return;
        };
        let others = self.sessions.iter().map(|open| open.id);
        let others = others.filter(|id| *id != kept && *id != LIVE);
        self.close_sessions(others.collect());
        self.go_to_opened();
    }

    pub(crate) fn close_all_sessions(&mut self) {
        let all = self.sessions.iter().map(|open| open.id);
        self.close_sessions(all.filter(|id| *id != LIVE).collect());
    }

    /// Closes sessions; what is made of the open ones is made anew once for all of them.
    pub(crate) fn close_sessions(&mut self, ids: Vec<SessionId>) {
        for id in &ids {
            self.sessions.close(*id);
            self.opening.examples.remove(id);
        }
        self.follow_ups.push_back(FollowUp::SessionsClosed(ids));
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
        let opening = &self.opening;
        opening.files.contains_key(&id)
            || opening.examples.contains_key(&id)
            || self.sessions.get(id).is_some()
    }

    pub(crate) fn opened(&mut self, opened: Opened) {
        self.opening.files.remove(&opened.id);
        if let Some(version) = opened.newer {
            let text = format!(
                "{} was written by a newer Powerband (session version {version}); this version shows what it can read and opens it read-only.",
                opened.session.name
            );
            self.notify(NoticeLevel::Info, text);
        }
        if let Some(alone) = &mut self.opening.alone
            && self.sessions.get(opened.id).is_none()
        {
            alone.insert(opened.id);
        }
        self.sessions.put(OpenSession {
            path: opened.path,
            stamp: opened.stamp,
            newer: opened.newer,
            ..OpenSession::unsaved(opened.id, opened.session, opened.findings)
        });
        if self.opening.files.is_empty() {
            self.sessions.all_are_read();
        }
        self.opening.has_opened = true;
    }

    /// What the user opened is drawn alone; what else is open stays in the legend.
    pub(crate) fn draw_opened_alone(&mut self) {
        let alone = self.opening.alone.clone().unwrap_or_default();
        if !alone.is_empty() {
            self.follow_ups.push_back(FollowUp::DrawOnly(alone));
        }
    }

    /// A file could not be opened.
    fn not_opened(&mut self, path: &Path, reason: &str) {
        self.opening.files.retain(|_, opening| opening != path);
        self.follow_ups.push_back(FollowUp::NotOpened);
        if self.opening.files.is_empty() {
            self.sessions.all_are_read();
            self.follow_ups.push_back(FollowUp::SessionsChanged);
        }
        let path = path.display().to_string();
        let which = if reason.contains(&path) {
            String::new()
        } else {
            format!("{path}: ")
        };
        self.notify(NoticeLevel::Trouble, format!("Not opened: {which}{reason}"));
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
                return self.notify(NoticeLevel::Trouble, text);
            }
        };
        let text = format!("Saved to {}", path.display());
        if let Some(open) = self.sessions.get_mut(id) {
            open.session = session;
            open.path = Some(path);
            open.stamp = Some(stamp);
            open.on_disk = OnDisk::Same;
        }
        self.notify(NoticeLevel::Done, text);
        self.follow_ups.push_back(FollowUp::SessionsChanged);
        self.jobs.rescan_library();
    }

    pub(crate) fn on_disk(&mut self, path: &Path, stamp: Option<Stamp>) {
        let Some(open) = self.sessions.by_path(path) else {
            return;
        };
        let (id, name) = (open.id, open.session.name.clone());
        let on_disk = match &stamp {
            None => OnDisk::Gone,
            Some(_) if stamp == open.stamp => OnDisk::Same,
            Some(_) => OnDisk::Changed,
        };
        let is_news = open.on_disk != on_disk;
        if let Some(open) = self.sessions.get_mut(id) {
            open.on_disk = on_disk;
        }
        match on_disk {
            OnDisk::Changed if is_news => {
                let again = Action::Sessions(Sessions::Reload(id));
                let text = format!("Another program changed the file of {name}.");
                self.notify_with_button(NoticeLevel::Info, text, "Reload", again);
            }
            OnDisk::Gone if is_news => {
                let save = Action::Sessions(Sessions::SaveAs(id, None));
                let text = format!("The file of {name} is missing; the session is in memory only.");
                self.notify_with_button(NoticeLevel::Trouble, text, "Save as…", save);
            }
            _ => {}
        }
    }

    /// Saves a session; without a path it asks for one, beside its file or in the library.
    pub(crate) fn save_as(&mut self, id: SessionId, path: Option<PathBuf>) {
        let Some(open) = self.sessions.get(id) else {
            return;
        };
        let Some(path) = path else {
            let name = format!("{}.ron", library::safe(&open.session.name));
            let beside = open.path.as_deref().and_then(Path::parent);
            let beside = beside.filter(|folder| folder.is_absolute());
            let path = beside.unwrap_or(&self.place.paths.library).join(name);
            self.outputs
                .push(WindowRequest::Ask(Ask::SaveSession(id, path)));
            return;
        };
        if let Some(version) = open.newer {
            let text = format!(
                "{} was written by a newer Powerband (session version {version}) and is read-only here.",
                open.session.name
            );
            return self.notify(NoticeLevel::Trouble, text);
        }
        self.follow_ups.push_back(FollowUp::SaveSession(id, path));
    }

    /// Saves a session with its timelines that are open, by their profiles.
    pub(crate) fn save_session(
        &self,
        id: SessionId,
        path: PathBuf,
        timelines: Vec<(usize, Arc<Trace>)>,
    ) {
        let Some(open) = self.sessions.get(id) else {
            return;
        };
        let session = Arc::clone(&open.session);
        let from = open.path.clone();
        let work = move || {
            let saved = work::save_as(&session, (&timelines, from.as_deref()), &path);
            (path, saved)
        };
        self.jobs
            .spawn_then("save", work, move |app, (path, saved)| {
                app.shared.saved_as(id, path, saved);
            });
    }

    /// After the user opened a session, leaves a screen that cannot show it. The run's screen stays a click
    /// away.
    pub(crate) fn go_to_opened(&mut self) {
        let leaves = matches!(self.screen, Screen::Home | Screen::Library | Screen::Run);
        if std::mem::take(&mut self.opening.shows_opened) && leaves {
            let sessions = self.sessions.iter().map(|open| &*open.session);
            self.screen = Self::first_screen(sessions);
        }
    }

    /// The screen that shows opened sessions first: a profile alone has no curves.
    pub(crate) fn first_screen<'a>(mut sessions: impl Iterator<Item = &'a Session>) -> Screen {
        let has_curves =
            |session: &Session| session.profiles.is_empty() || !session.cases.is_empty();
        if sessions.any(has_curves) {
            Screen::Curves
        } else {
            Screen::Kernels
        }
    }

    /// Opens sessions that are in no file.
    pub(crate) fn open_unsaved(&mut self, sessions: Vec<Session>) {
        self.opening.alone = Some(BTreeSet::new());
        for session in sessions {
            let id = self.sessions.new_id();
            self.jobs.spawn_then(
                "open",
                move || Opened::unsaved(id, session),
                |app, opened| {
                    app.shared.opened(opened);
                },
            );
        }
    }

    /// Opens one of the built-in examples by its place.
    pub(crate) fn open_example(&mut self, place: usize) {
        let Some(example) = examples::ALL.get(place) else {
            return;
        };
        let id = self.sessions.new_id();
        self.opening.examples.insert(id, place);
        let work = move || work::open_example(id, example);
        self.jobs.spawn_then("open", work, |app, read| {
            app.shared.session_read(Path::new(example.file), read);
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
            let open = self.sessions.get(id);
            open.is_some_and(|open| open.path.is_some())
        };
        let open = self
            .opening
            .examples
            .iter()
            .filter(|(id, _)| !has_file(**id));
        open.filter_map(|(_, place)| Some(examples::ALL.get(*place)?.file.to_owned()))
            .collect()
    }

    pub(crate) fn watch_session_files(&self) {
        let open = self.sessions.iter();
        let files = open.filter_map(|open| open.path.clone()).collect();
        self.jobs.watch_files(files);
    }
}
