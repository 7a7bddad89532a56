//! Neighbours of setups: processes that work beside a visit to a case, and only then.

use super::Run;
use crate::engines::{self, Beside};
use crate::roofs::neighbour::{self, Neighbour, NeighbourKind};
use crate::telemetry::cores::{Cores, spelled};
use crate::worker::supervisor::WorkerError;

impl Run<'_, '_> {
    /// Starts the neighbour that a setup asks for, on the cores that its worker leaves; nothing where it asks for
    /// none. Dropping it ends it, so it lives as long as the visit, however that ends.
    pub(super) fn start_neighbour(&self, setup: usize) -> Result<Option<Neighbour>, WorkerError> {
        let Some(spec) = self.request.beginning.plan.setups.get(setup) else {
            return Ok(None);
        };
        let failed = |reason: String| WorkerError::Start(format!("its neighbour: {reason}"));
        let Some(beside) = engines::neighbour(spec).map_err(failed)? else {
            return Ok(None);
        };
        let taken = engines::cores(spec).map_err(failed)?;
        let idle = Cores::here().idle_beside(&taken);
        if idle.is_empty() {
            return Err(failed(format!(
                "cores={} leaves no core idle",
                spelled(&taken)
            )));
        }
        let kind = match beside {
            Beside::Streams => NeighbourKind::Streaming,
            Beside::Computes => NeighbourKind::Computing,
        };
        let started = neighbour::start(&self.request.program, kind, &idle);
        started.map(Some).map_err(|error| failed(error.to_string()))
    }
}

/// Refuses a round through which the neighbour did not work.
pub(super) fn worked_on(neighbour: Option<Neighbour>) -> Result<(), WorkerError> {
    let works = neighbour.is_none_or(|mut neighbour| neighbour.is_working());
    if works {
        return Ok(());
    }
    Err(WorkerError::Start(
        "its neighbour ended while the case was measured".to_owned(),
    ))
}
