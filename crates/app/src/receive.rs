//! Hands each report of background work to the folder that it is about, for a few milliseconds at a time.

use std::time::{Duration, Instant};

use super::action::{Action, Shell};
use super::inbox::{FindingMessage, Message, SessionMessage};
use super::notices::Weight;
use super::{App, Output};
use powerband_core::base::clock;

impl App {
    /// Takes in reports for at most `budget`; returns whether some are left.
    pub fn receive(&mut self, budget: Duration) -> bool {
        let begun = Instant::now();
        let mut is_more_left = false;
        while let Some(message) = self.jobs.next() {
            self.on_the_trail(|app| app.take(message));
            if begun.elapsed() >= budget {
                is_more_left = true;
                break;
            }
        }
        self.on_the_trail(Self::all_opened);
        if is_more_left {
            return true;
        }
        let now = self.stopped_at_ns.unwrap_or_else(clock::monotonic_ns);
        self.notices.age(now);
        self.remember_now_and_then(now);
        if let Some(run) = &mut self.run {
            run.tick(now);
        }
        self.run_table();
        self.planned_table();
        self.refresh_curves();
        false
    }

    fn take(&mut self, message: Message) {
        match message {
            Message::Machine(message) => self.machine_message(message),
            Message::Roofs(message) => self.roofs_message(message),
            Message::Detached(message) => self.detached_message(message),
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
            Message::Written(text, path) => {
                let open = Action::Shell(Shell::OpenFile(path));
                self.offer(Weight::Done, text, "Open", open);
                self.jobs.rescan_library();
            }
            Message::Failed(text) => self.say(Weight::Trouble, text),
            Message::NotRemembered(reason) => self.not_remembered(&reason),
        }
    }

    fn session_message(&mut self, message: SessionMessage) {
        match message {
            SessionMessage::Abandoned(runs) => self.abandoned(&runs),
            SessionMessage::Recovered(name, path) => self.recovered(&name, path),
            SessionMessage::Living(living) => self.living(living),
            SessionMessage::Library(found) => self.library_scanned(found),
            SessionMessage::OnDisk(path, stamp) => self.on_disk(&path, stamp),
            SessionMessage::Opened(opened) => self.opened(*opened),
            SessionMessage::NotOpened(path, reason) => self.not_opened(&path, &reason),
            SessionMessage::Edited(path, edited) => self.edited(&path, edited),
            SessionMessage::SavedAs(id, path, stamp, session) => {
                self.saved_as(id, path, stamp, session);
            }
            SessionMessage::Discarded(path, name, discarded) => {
                self.discarded(&path, name, discarded);
            }
            SessionMessage::Restored(name, restored) => self.restored(name, restored),
            SessionMessage::DiscardedAll(trashed) => self.discarded_all(trashed),
            SessionMessage::RestoredAll(restored) => self.restored_all(restored),
        }
    }

    fn finding_message(&mut self, message: FindingMessage) {
        match message {
            FindingMessage::Compared(before, after, comparison) => {
                self.compared(before, after, comparison);
            }
            FindingMessage::Learned(from, known) => self.learned(&from, *known),
            FindingMessage::Followed(found) => self.followed(found),
            FindingMessage::MachinesCompared(found) => self.machines_compared(found),
            FindingMessage::ComparedSteps(found) => self.compared_steps(*found),
            FindingMessage::AddedUp(found) => self.added_up(*found),
            FindingMessage::Limits(found) => self.limits_found(*found),
            FindingMessage::TraceOfKernels(pick, read) => self.trace_of_kernels(pick, read),
            FindingMessage::Instances(pick, kernel, found) => {
                self.instances_found(pick, &kernel, found);
            }
            FindingMessage::RulesChanged(changed) => self.rules_changed(changed),
            FindingMessage::Pinned(pinned) => self.pinned(pinned),
            FindingMessage::TwoPinned(two) => self.two_pinned(two),
        }
    }
}
