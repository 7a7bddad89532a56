//! A plan that waits for the run in progress.

use powerband_core::domain::request::RunRequest;

/// A plan as it was when it was queued.
#[derive(Clone, Debug)]
pub struct QueuedRun {
    pub(super) request: RunRequest,
}

impl QueuedRun {
    /// What it is called: its name, else that of its model.
    pub fn title(&self) -> &str {
        let RunRequest { name, model, .. } = &self.request;
        name.as_deref().unwrap_or(model)
    }
}
