//! What background work reported, taken in. Drained for a few milliseconds at a time.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::action::{Action, Library, Machine, Run, Sessions};
use super::history::Followed;
use super::inbox::{
    FindingMessage, MachineMessage, Message, Opened, PlanMessage, RunMessage, RunOver,
    SessionMessage, TraceMessage,
};
use super::notices::Weight;
use super::plan::ModelFacts;
use super::run::Stage;
use super::screen::Screen;
use super::sessions::{Findings, LIVE, OnDisk, OpenSession};
use super::{App, Output};
use powerband_core::base::clock;
use powerband_core::domain::event::{RunEvent, Stamped};
use powerband_core::domain::session::Completion;
use powerband_findings::analysis::progress::Tally;
use powerband_store::library::Stamp;

impl App {
    /// Takes in what was reported, for no longer than `budget`; tells whether something is left.
    pub fn receive(&mut self, budget: Duration) -> bool {
        let begun = Instant::now();
        while let Some(message) = self.jobs.next() {
            self.take(message);
            if begun.elapsed() >= budget {
                return true;
            }
        }
        let now = clock::monotonic_ns();
        self.notices.age(now);
        self.remember_now_and_then(now);
        if let Some(run) = &mut self.run {
            run.tick(now);
        }
        false
    }

    fn take(&mut self, message: Message) {
        match message {
            Message::Machine(message) => self.machine_message(message),
            Message::Plan(message) => self.plan_message(message),
            Message::Session(message) => self.session_message(message),
            Message::Finding(message) => self.finding_message(message),
            Message::Trace(message) => self.trace_message(message),
            Message::Run(message) => self.run_message(message),
            Message::Picture(picture) => {
                self.outputs.push(Output::CopyPicture(picture));
                self.say(Weight::Done, "Copied the picture to the clipboard");
            }
            Message::Done(text) => {
                self.say(Weight::Done, text);
                self.jobs.rescan_library();
            }
            Message::Failed(text) => self.say(Weight::Trouble, text),
        }
    }

    fn machine_message(&mut self, message: MachineMessage) {
        match message {
            MachineMessage::Devices(devices, missing) => {
                self.machine.devices = Some((devices, missing));
            }
            MachineMessage::Environment(environment) => {
                self.machine.environment = Some(*environment);
                self.learn_if_wanted();
            }
            MachineMessage::Engines(engines) => {
                self.machine.engines = Some(engines);
                self.survey_is_over();
            }
            MachineMessage::NotSurveyed(why) => {
                self.survey_is_over();
                self.say(Weight::Trouble, why);
            }
            MachineMessage::MissingProfilers(missing) => self.machine.missing_profilers = missing,
            MachineMessage::InstallStep(step, share) => {
                if let Some(installing) = &mut self.machine.installing {
                    installing.step = step;
                    installing.share = share;
                }
            }
            MachineMessage::Installed(result) => self.installed(result),
        }
    }

    fn plan_message(&mut self, message: PlanMessage) {
        match message {
            PlanMessage::Model(name, facts) => {
                if name == self.planner.draft.model.trim() {
                    self.planner.facts = facts.map_or_else(ModelFacts::Refused, ModelFacts::Known);
                }
            }
            PlanMessage::Found(found) => self.plan_found(found.map(|draft| *draft)),
            PlanMessage::Saved(plans) => self.planner.kept = plans,
        }
    }

    fn session_message(&mut self, message: SessionMessage) {
        match message {
            SessionMessage::Abandoned(runs) => self.abandoned(&runs),
            SessionMessage::Recovered(name, path) => {
                let open = Action::Sessions(Sessions::Open(vec![path]));
                self.offer(Weight::Done, format!("Recovered {name}"), "Open it", open);
                self.jobs.rescan_library();
            }
            SessionMessage::Living(living) => self.living(living),
            SessionMessage::Library(Ok(found)) => {
                self.library.trouble = None;
                self.library.take(found);
                self.learn_if_wanted();
            }
            SessionMessage::Library(Err(trouble)) => {
                self.library.trouble = Some(trouble.clone());
                self.library.take(BTreeMap::new());
                self.say(Weight::Trouble, trouble);
            }
            SessionMessage::OnDisk(path, stamp) => self.on_disk(&path, stamp),
            SessionMessage::Opened(opened) => self.opened(*opened),
            SessionMessage::NotOpened(path, reason) => {
                self.opening.retain(|_, opening| *opening != path);
                let path = path.display().to_string();
                let which = if reason.contains(&path) {
                    String::new()
                } else {
                    format!("{path}: ")
                };
                self.say(Weight::Trouble, format!("Not opened: {which}{reason}"));
            }
            SessionMessage::Edited(path, Ok(stamp)) => self.edited(&path, stamp),
            SessionMessage::Edited(path, Err(reason)) => {
                self.say(
                    Weight::Trouble,
                    format!("{} was not changed: {reason}", path.display()),
                );
            }
            SessionMessage::SavedAs(id, path, stamp, session) => {
                if let Some(open) = self.sessions.get_mut(id) {
                    open.session = session;
                    open.path = Some(path.clone());
                    open.stamp = Some(stamp);
                    open.on_disk = OnDisk::Same;
                }
                self.say(Weight::Done, format!("Saved to {}", path.display()));
                self.sessions_changed();
                self.jobs.rescan_library();
            }
            SessionMessage::Discarded(path, name, Ok(discarded)) => {
                let undo = Library::RestoreThis(discarded.original().to_path_buf());
                self.library.discarded.push((discarded, name.clone()));
                self.library.found.remove(&path);
                let left = std::mem::take(&mut self.library.found);
                self.library.take(left);
                if let Some(id) = self.sessions.by_path(&path).map(|open| open.id) {
                    self.act(Action::Sessions(Sessions::Close(id)));
                }
                self.offer(Weight::Done, in_trash(&name), "Undo", Action::Library(undo));
                self.jobs.rescan_library();
            }
            SessionMessage::Discarded(_, name, Err(reason)) => {
                self.say(
                    Weight::Trouble,
                    format!("{name} was not moved to the trash: {reason}"),
                );
            }
            SessionMessage::Restored(name, Ok(left)) => {
                self.restored(&name, left);
            }
            SessionMessage::Restored(name, Err((discarded, reason))) => {
                self.library.discarded.push((discarded, name.clone()));
                self.say(
                    Weight::Trouble,
                    format!("{name} was not brought back: {reason}"),
                );
            }
        }
    }

    fn finding_message(&mut self, message: FindingMessage) {
        match message {
            FindingMessage::Compared(before, after, comparison) => {
                if self.compare.busy == Some((before, after)) {
                    self.compare.busy = None;
                }
                self.compare.result = Some((before, after, comparison));
                self.compare_if_wanted();
                self.compare.redraw(&self.sessions, &self.curves.options);
            }
            FindingMessage::Learned(from, known) => self.learned(&from, *known),
            FindingMessage::Followed(found) => self.followed(found),
            FindingMessage::ComparedSteps(found) => self.compared_steps(*found),
            FindingMessage::AddedUp(found) => self.added_up(*found),
            FindingMessage::RulesChanged(changed) => self.rules_changed(changed),
            FindingMessage::Pinned(pinned) => {
                if self.curves.pin == Some(pinned.pin) {
                    self.curves.pinned = Some(Arc::from(pinned));
                }
            }
        }
    }

    fn trace_message(&mut self, message: TraceMessage) {
        match message {
            TraceMessage::Read(id, read) => self.trace_read(id, read),
            TraceMessage::NotRead(ids, why) => self.traces_not_read(&ids, why),
            TraceMessage::WithoutTimes(id, screen) => self.without_times(id, screen),
            TraceMessage::Found(id, hits) => self.timeline_found(id, *hits),
            TraceMessage::Summed(id, measured, statistics) => {
                self.timeline_summed(id, &measured, *statistics);
            }
        }
    }

    fn survey_is_over(&mut self) {
        self.machine.is_looking = false;
        if std::mem::take(&mut self.machine.looks_again) {
            self.look_for_engines();
        }
    }

    /// Offers to recover what interrupted runs measured, until that is done or dismissed.
    fn abandoned(&mut self, runs: &[String]) {
        let text = match runs {
            [one] => format!(
                "A run was interrupted before it was saved: {one}. What was measured can be kept."
            ),
            several => format!(
                "{} runs were interrupted before they were saved: {}. What was measured can be kept.",
                several.len(),
                several.join("; ")
            ),
        };
        let recover = Action::Run(Run::Recover);
        self.notices.settle(|action| *action == recover);
        self.offer(Weight::Question, text, "Recover", recover);
    }

    fn followed(&mut self, found: Box<Followed>) {
        if self.history.busy == Some(found.following) {
            self.history.busy = None;
        }
        if self.history.following == Some(found.following) {
            self.history.result = Some(Arc::from(found));
        }
        self.follow_if_wanted();
    }

    fn restored(&mut self, name: &str, left: Option<String>) {
        self.notices.withdraw(&in_trash(name));
        self.list_plans();
        match left {
            None => self.say(Weight::Done, format!("{name} is back")),
            Some(why) => {
                let words = format!("{name} is back without a timeline: {why}");
                self.say(Weight::Trouble, words);
            }
        }
        self.jobs.rescan_library();
    }

    fn run_message(&mut self, message: RunMessage) {
        let Some(run) = &mut self.run else {
            return;
        };
        match message {
            RunMessage::Began(beginning) => run.begin(*beginning, clock::monotonic_ns()),
            RunMessage::WentOn(session, rounds) => {
                run.go_on(*session, rounds, clock::monotonic_ns());
            }
            RunMessage::Refused(reason) => {
                run.stage = Stage::Refused(reason.clone());
                let close = run.close_after;
                self.say(Weight::Trouble, format!("The run did not begin: {reason}"));
                if close {
                    self.outputs.push(Output::Close);
                }
            }
            RunMessage::Broke(why) => {
                // Its journal is free from now on: what was measured is there.
                run.stage = Stage::NotSaved(why.clone());
                run.current = None;
                self.offer(Weight::Trouble, why, "Recover", Action::Run(Run::Recover));
            }
            RunMessage::Event(event) => {
                let (stamped, findings) = *event;
                self.run_event(stamped, findings);
            }
            RunMessage::Over(over) => self.run_over(*over),
        }
    }

    /// The run's session is an open session from the first round on, so that its curve is seen growing.
    fn run_event(&mut self, stamped: Stamped, findings: Option<Findings>) {
        let Some(run) = &mut self.run else {
            return;
        };
        let has_news = findings.is_some();
        let is_measured = matches!(stamped.event, RunEvent::RoundFinished { .. });
        run.take(stamped, findings);
        let Some(session) = run.session.as_ref().filter(|_| has_news) else {
            return;
        };
        let is_open = self.sessions.get(LIVE).is_some();
        if !is_open && !is_measured {
            return;
        }
        // Samples stay with the run while it goes on; the curves need none of them.
        let seen = Arc::new(session.without_samples());
        self.sessions
            .put(OpenSession::unsaved(LIVE, seen, run.findings.clone()));
        self.curves.redraw(&self.sessions);
        self.compare_steps_if_wanted();
    }

    fn run_over(&mut self, over: RunOver) {
        let Some(run) = &mut self.run else {
            return;
        };
        run.find(over.findings.clone());
        run.session = Some(Arc::clone(&over.session));
        run.current = None;
        let close = run.close_after;
        let name = over.session.name.clone();
        let (path, stamp) = match &over.saved {
            Ok((path, stamp)) => (Some(path.clone()), *stamp),
            Err(_) => (None, None),
        };
        run.stage = match over.saved {
            Ok((path, _)) => Stage::Saved(path),
            Err(reason) => Stage::NotSaved(reason),
        };
        run.redraw_lanes();
        let stage = run.stage.clone();
        self.sessions.close(LIVE);
        self.curves.forget(LIVE);
        // A session that got more rounds stays the one that it was.
        let grown = path.as_deref().and_then(|path| self.sessions.by_path(path));
        let grown = grown.map(|open| open.id);
        let id = grown.unwrap_or_else(|| self.sessions.new_id());
        run.became = Some(id);
        self.compare.result = None;
        self.journey.run_is_over(id);
        self.sessions.put(OpenSession {
            path,
            stamp,
            ..OpenSession::unsaved(id, over.session, over.findings)
        });
        self.sessions_changed();
        self.jobs.rescan_library();
        for note in over.notes {
            self.say(Weight::Info, note);
        }
        if let Stage::NotSaved(reason) = &stage {
            if close {
                self.outputs.push(Output::Show);
            }
            let save = Action::Sessions(Sessions::SaveAs(id, None));
            self.offer(
                Weight::Trouble,
                format!("{name} was not saved: {reason}"),
                "Save as…",
                save,
            );
        } else {
            let session = self.sessions.get(id).map(|open| &open.session);
            let whole = session.filter(|session| session.completion == Completion::Complete);
            let text = match whole {
                Some(session) => format!("{name} is done: {}", Tally::of(session)),
                None => format!("{name} was stopped; what was measured is saved"),
            };
            self.offer(
                Weight::Done,
                text,
                "Show curves",
                Action::Go(Screen::Curves),
            );
            if close {
                self.outputs.push(Output::Close);
            }
        }
    }

    fn installed(&mut self, result: Result<String, String>) {
        self.machine.installing = None;
        match result {
            Ok(version) => {
                self.say(Weight::Done, format!("{version} is installed and loads"));
                self.look_for_engines();
            }
            Err(reason) => self.offer(
                Weight::Trouble,
                format!("ONNX Runtime was not installed: {reason}"),
                "Try again",
                Action::Machine(Machine::InstallOnnxRuntime),
            ),
        }
    }

    fn opened(&mut self, opened: Opened) {
        self.opening.remove(&opened.id);
        if let Some(version) = opened.newer {
            let text = format!(
                "{} was written by a newer Powerband (session version {version}); it is shown as far as this one understands it, and will not be written to.",
                opened.session.name
            );
            self.say(Weight::Info, text);
        }
        self.sessions.put(OpenSession {
            path: opened.path,
            stamp: opened.stamp,
            newer: opened.newer,
            ..OpenSession::unsaved(opened.id, opened.session, opened.findings)
        });
        self.compare.result = None;
        self.sessions_changed();
        self.go_to_opened();
    }

    fn edited(&mut self, path: &Path, stamp: Stamp) {
        if let Some(scanned) = self.library.found.get_mut(path) {
            scanned.stamp = stamp;
        }
        if let Some(open) = self.sessions.by_path(path) {
            let id = open.id;
            self.act(Action::Sessions(Sessions::Reload(id)));
            if let Some(open) = self.sessions.get_mut(id) {
                open.stamp = Some(stamp);
            }
        }
        self.jobs.rescan_library();
    }

    fn on_disk(&mut self, path: &Path, stamp: Option<Stamp>) {
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
                let text = format!("The file of {name} was changed by something else.");
                self.offer(Weight::Info, text, "Read it again", again);
            }
            OnDisk::Gone if is_news => {
                let save = Action::Sessions(Sessions::SaveAs(id, None));
                let text = format!("The file of {name} is gone; what is shown is in memory alone.");
                self.offer(Weight::Trouble, text, "Save as…", save);
            }
            _ => {}
        }
    }
}

/// What is said of a session that went to the trash, until it is back.
fn in_trash(name: &str) -> String {
    format!("{name} is in the trash")
}
