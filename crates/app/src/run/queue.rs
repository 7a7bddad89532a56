//! Plans that wait for the run in progress.

use super::{QueuedRun, Stage};
use crate::doors::BenchDoor;
use crate::notices::NoticeLevel;
use crate::shared::Shared;
use powerband_core::domain::request::ProgramTrust;
use powerband_core::domain::session::Completion;

impl BenchDoor {
    /// Whether the plan can be queued, or why not.
    pub fn can_queue(&self) -> Result<(), &'static str> {
        match (self.is_running(), self.planner.obstacle()) {
            (false, _) => Err("no run is in progress, so the plan can be started"),
            (true, Some(_)) => Err("the plan has fields to fix"),
            (true, None) => Ok(()),
        }
    }

    /// Queues a copy of the plan.
    pub(super) fn queue_plan(&mut self, programs: ProgramTrust, shared: &mut Shared) {
        let Some(request) = self.plan_request(programs) else {
            return;
        };
        let queued = QueuedRun { request };
        let text = format!("{} starts after the run in progress", queued.title());
        self.queue.push_back(queued);
        shared.notify(NoticeLevel::Info, text);
    }

    /// Takes a plan out of the queue.
    pub(super) fn unqueue(&mut self, place: usize) {
        self.queue.remove(place);
    }

    /// Starts the next plan of the queue. The screen that is shown stays.
    pub(super) fn start_next(&mut self, shared: &mut Shared) {
        if self.is_running() {
            return;
        }
        let Some(next) = self.queue.pop_front() else {
            return;
        };
        let screen = shared.screen;
        self.start(next.request, shared);
        shared.screen = screen;
    }

    /// After a run: the next plan begins by itself where this one was measured to its end. One that was stopped or
    /// failed leaves the queue to the user.
    pub(super) fn go_on_with_queue(&mut self, shared: &mut Shared) {
        let Some(run) = self.run.as_ref().filter(|run| !run.close_after) else {
            return;
        };
        let is_whole = run
            .session
            .as_ref()
            .is_some_and(|session| session.completion == Completion::Complete);
        if is_whole && matches!(run.stage, Stage::Saved(_)) {
            self.start_next(shared);
        }
    }
}
