//! Neighbours of setups: processes that work beside a visit to a case, and only then.

use super::ActiveRun;
use crate::roofs::neighbour::{self, BackgroundLoad, BackgroundLoadKind};
use powerband_core::domain::setup::Setup;
use powerband_devices::cores::{Cores, spelled};
use powerband_planning::engine_options;
use powerband_planning::engine_options::BackgroundWork;
use powerband_worker::supervisor::WorkerError;

impl ActiveRun<'_, '_> {
    /// Starts the neighbour that a setup asks for and has it work; nothing where it asks for none. Dropping it ends it,
    /// so it lives as long as the visit, however that ends.
    pub(super) fn start_neighbour(
        &self,
        setup: usize,
    ) -> Result<Option<BackgroundLoad>, WorkerError> {
        let Some(kind) = self.load_beside(setup)? else {
            return Ok(None);
        };
        let mut neighbour = self.start_resting_neighbour(setup)?;
        neighbour.switch_to(Some(kind)).map_err(failed)?;
        Ok(Some(neighbour))
    }

    /// The load that a setup asks for beside it.
    pub(super) fn load_beside(
        &self,
        setup: usize,
    ) -> Result<Option<BackgroundLoadKind>, WorkerError> {
        let Some(spec) = self.spec(setup) else {
            return Ok(None);
        };
        let beside = engine_options::background_work(spec).map_err(failed)?;
        Ok(beside.map(|work| match work {
            BackgroundWork::Streams => BackgroundLoadKind::Streaming,
            BackgroundWork::Computes => BackgroundLoadKind::Computing,
        }))
    }

    /// A neighbour on the cores that the worker of a setup leaves, which rests until it is switched to something.
    pub(super) fn start_resting_neighbour(
        &self,
        setup: usize,
    ) -> Result<BackgroundLoad, WorkerError> {
        let missing = || failed("the plan has no such setup");
        let spec = self.spec(setup).ok_or_else(missing)?;
        let taken = engine_options::cores(spec).map_err(failed)?;
        let idle = Cores::here().idle_beside(&taken);
        if idle.is_empty() {
            return Err(failed(format!(
                "cores={} leaves no core idle",
                spelled(&taken)
            )));
        }
        let started = neighbour::start(&self.request.program, &idle);
        started.map_err(failed)
    }

    fn spec(&self, setup: usize) -> Option<&Setup> {
        self.request.beginning.plan.setups.get(setup)
    }
}

fn failed(reason: impl std::fmt::Display) -> WorkerError {
    WorkerError::Start(format!("its neighbour: {reason}"))
}

/// Fails a round whose background load ended before it.
pub(super) fn check_working(neighbour: &mut BackgroundLoad) -> Result<(), WorkerError> {
    if neighbour.is_working() {
        return Ok(());
    }
    Err(WorkerError::Start(
        "its neighbour ended while the case was measured".to_owned(),
    ))
}
