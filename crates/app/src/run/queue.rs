//! Plans that wait for the run in progress.

use super::Stage;
use crate::App;
use crate::notices::NoticeLevel;
use powerband_core::domain::request::{ProgramTrust, RunRequest};
use powerband_core::domain::session::Completion;

/// A plan as it was when it was queued.
#[derive(Clone, Debug)]
pub struct QueuedRun {
    request: RunRequest,
}

impl QueuedRun {
    /// What it is called: its name, else that of its model.
    pub fn title(&self) -> &str {
        let RunRequest { name, model, .. } = &self.request;
        name.as_deref().unwrap_or(model)
    }
}

impl App {
    /// Whether the plan can be queued, or why not.
    pub fn can_queue(&self) -> Result<(), &'static str> {
        match (self.is_running(), self.bench.planner.obstacle()) {
            (false, _) => Err("no run is in progress, so the plan can be started"),
            (true, Some(_)) => Err("the plan has fields to fix"),
            (true, None) => Ok(()),
        }
    }

    /// Queues a copy of the plan.
    pub(super) fn queue_plan(&mut self, programs: ProgramTrust) {
        let Ok(request) = self.bench.planner.draft.request() else {
            return;
        };
        let queued = QueuedRun {
            request: RunRequest {
                programs,
                ..request
            },
        };
        let text = format!("{} starts after the run in progress", queued.title());
        self.bench.queue.push_back(queued);
        self.shared.notify(NoticeLevel::Info, text);
    }

    /// Takes a plan out of the queue.
    pub(super) fn unqueue(&mut self, place: usize) {
        self.bench.queue.remove(place);
    }

    /// Starts the next plan of the queue. The screen that is shown stays.
    pub(super) fn start_next(&mut self) {
        if self.is_running() {
            return;
        }
        let Some(next) = self.bench.queue.pop_front() else {
            return;
        };
        let screen = self.shared.screen;
        self.start(next.request);
        self.shared.screen = screen;
    }

    /// After a run: the next plan begins by itself where this one was measured to its end. One that was stopped or
    /// failed leaves the queue to the user.
    pub(super) fn go_on_with_queue(&mut self) {
        let Some(run) = self.bench.run.as_ref().filter(|run| !run.close_after) else {
            return;
        };
        let is_whole = run
            .session
            .as_ref()
            .is_some_and(|session| session.completion == Completion::Complete);
        if is_whole && matches!(run.stage, Stage::Saved(_)) {
            self.start_next();
        }
    }
}
