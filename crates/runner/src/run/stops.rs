//! Rounds during which a worker, this program or the machine was stopped: they are measured again, with a warning.

use std::time::Duration;

use super::ActiveRun;
use powerband_core::domain::case::CaseKey;
use powerband_core::domain::event::RunEvent;
use powerband_worker::engines::EngineError;
use powerband_worker::protocol::{Reply, Request};
use powerband_worker::stops::Stops;
use powerband_worker::supervisor::WorkerError;

/// A round that is disturbed so often in a row ends its case.
const ATTEMPTS: u32 = 3;

impl ActiveRun<'_, '_> {
    /// Asks for a round until nothing was stopped during it.
    pub(super) fn ask_undisturbed(
        &mut self,
        case: CaseKey,
        round: u32,
        request: &Request,
        limit: Duration,
    ) -> Result<Reply, WorkerError> {
        let mut attempt = 0;
        loop {
            attempt += 1;
            let reply = self.ask(case.setup, request, limit)?;
            let Reply::Measured(measured) = &reply else {
                return Ok(reply);
            };
            let Some(what) = self.stops.spoils(measured) else {
                return Ok(reply);
            };
            if attempt == ATTEMPTS {
                let reason = format!(
                    "{what} in each of {ATTEMPTS} attempts at round {}",
                    round + 1
                );
                return Err(EngineError::Failed(reason).into());
            }
            let label = self.session.setup_label(case.setup);
            let text = format!(
                "{label}, {}: {what} in round {}, which is measured again.",
                case.point,
                round + 1
            );
            self.tell(RunEvent::Warned { text });
        }
    }

    /// Warns that something was stopped during times that are kept, those of loading and opening.
    pub(super) fn take_in_stops(&mut self, setup: usize, request: &Request, stops: Stops) {
        self.stops = stops;
        let doing = match request {
            Request::Load { .. } => "loaded",
            Request::Open { .. } => "opened and run for the first time",
            Request::WarmUp { .. } => "warmed up",
            _ => return,
        };
        if let Some(what) = stops.stop_text() {
            let label = self.session.setup_label(setup);
            let text =
                format!("{label}: {what} while the model was {doing}; that time says nothing.");
            self.tell(RunEvent::Warned { text });
        }
    }
}
