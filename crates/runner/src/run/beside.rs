//! Neighbours of setups: processes that work beside a visit to a case, and only then.

use super::ActiveRun;
use crate::roofs::neighbour::{self, BackgroundLoad, BackgroundLoadKind};
use powerband_devices::cores::{Cores, spelled};
use powerband_planning::engine_options;
use powerband_planning::engine_options::BackgroundWork;
use powerband_worker::supervisor::WorkerError;

impl ActiveRun<'_, '_> {
    /// Starts the neighbour that a setup asks for, on the cores that its worker leaves; nothing where it asks for
    /// none. Dropping it ends it, so it lives as long as the visit, however that ends.
    pub(super) fn start_neighbour(
        &self,
        setup: usize,
    ) -> Result<Option<BackgroundLoad>, WorkerError> {
        let Some(spec) = self.request.beginning.plan.setups.get(setup) else {
            return Ok(None);
        };
        let failed = |reason: String| WorkerError::Start(format!("its neighbour: {reason}"));
        let Some(beside) = engine_options::background_work(spec).map_err(failed)? else {
            return Ok(None);
        };
        let taken = engine_options::cores(spec).map_err(failed)?;
        let idle = Cores::here().idle_beside(&taken);
        if idle.is_empty() {
            return Err(failed(format!(
                "cores={} leaves no core idle",
                spelled(&taken)
            )));
        }
        let kind = match beside {
            BackgroundWork::Streams => BackgroundLoadKind::Streaming,
            BackgroundWork::Computes => BackgroundLoadKind::Computing,
        };
        let started = neighbour::start(&self.request.program, kind, &idle);
        started.map(Some).map_err(|error| failed(error.to_string()))
    }
}

/// Fails a round whose background load ended before it.
pub(super) fn check_still_working(neighbour: Option<BackgroundLoad>) -> Result<(), WorkerError> {
    let works = neighbour.is_none_or(|mut neighbour| neighbour.is_working());
    if works {
        return Ok(());
    }
    Err(WorkerError::Start(
        "its neighbour ended while the case was measured".to_owned(),
    ))
}
