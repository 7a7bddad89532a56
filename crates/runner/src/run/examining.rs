//! Looking at what an engine makes of a setup's model, once a session and before its worker starts.
//!
//! A process of its own does it, because watching every node costs time and memory, and a crash in it is
//! no outcome of any case.

use std::time::Duration;

use super::ActiveRun;
use powerband_core::domain::case::CaseKey;
use powerband_core::domain::event::{Activity, RunEvent};
use powerband_core::domain::examination::Examination;
use powerband_planning::transport;
use powerband_worker::engines;
use powerband_worker::protocol::{Reply, Request};
use powerband_worker::supervisor::{Worker, WorkerError};

impl ActiveRun<'_, '_> {
    /// Examines a setup that was not examined yet. What goes wrong here goes wrong again when the model
    /// is loaded to be measured, and is reported there; only what does not is worth a remark.
    pub(super) fn examine(&mut self, setup: usize) -> Result<(), WorkerError> {
        if self.session.examinations.contains_key(&setup) || !self.unexamined.insert(setup) {
            return Ok(());
        }
        let Some(request) = self.examination_of(setup) else {
            return Ok(());
        };
        let request = self.sent_examination(setup, request)?;
        let activity = Activity::Examining { setup };
        self.tell(RunEvent::Turned { activity });
        match self.ask_examiner(setup, &request) {
            Ok(examination) => {
                self.unexamined.remove(&setup);
                let examination = Box::new(examination);
                self.tell(RunEvent::Examined { setup, examination });
                Ok(())
            }
            Err(WorkerError::Lost(reason)) => Err(WorkerError::Lost(reason)),
            Err(WorkerError::Cancelled) => {
                // Not tried again, because it may be what hangs.
                if !self.control.is_cancelled() {
                    let label = self.session.setup_label(setup);
                    let text = format!(
                        "What the engine of {label} makes of the model was not looked at to the end, because the case was skipped meanwhile."
                    );
                    self.tell(RunEvent::Warned { text });
                }
                Err(WorkerError::Cancelled)
            }
            Err(WorkerError::Refused(_) | WorkerError::Start(_)) => Ok(()),
            Err(error) => {
                let label = self.session.setup_label(setup);
                let text = format!(
                    "It could not be seen what the engine of {label} makes of the model: {error}."
                );
                self.tell(RunEvent::Warned { text });
                Ok(())
            }
        }
    }

    /// What is to be asked, at the smallest batch size; nothing for an engine that cannot be examined.
    fn examination_of(&self, setup: usize) -> Option<Request> {
        let plan = &self.request.beginning.plan;
        let spec = plan.setups.get(setup)?;
        engines::find(&spec.engine).filter(|engine| engine.examines())?;
        let cases: Vec<CaseKey> = plan.cases();
        let case = cases.iter().filter(|case| case.setup == setup).min()?;
        let inputs = self.request.inputs.get(case)?.as_ref().ok()?.clone();
        Some(Request::Examine {
            setup: transport::over_there(spec),
            model: self.model(setup),
            runtime: self.runtime(setup),
            inputs,
            seed: plan.seed,
            generate: self.requests_of(*case),
        })
    }

    fn ask_examiner(
        &mut self,
        setup: usize,
        request: &Request,
    ) -> Result<Examination, WorkerError> {
        let plan = &self.request.beginning.plan;
        let limits = plan.limits.clone();
        let start_limit = Duration::from_millis(limits.start_ms);
        let process = self.worker_of(setup)?;
        let mut examiner = Worker::start_process(&process, start_limit, &self.stop)?;
        let limit = Duration::from_millis(limits.load_ms);
        let stop = self.stop.clone();
        let answer = examiner.ask_while_waiting(request, limit, &stop, &mut || self.poll_devices());
        match answer? {
            Reply::Examined(examination) => {
                if let Some(ending) = examiner.end() {
                    self.warn_of_death(setup, &ending.sentence("after its graph was examined"));
                }
                Ok(*examination)
            }
            other => Err(examiner.confused(&other)),
        }
    }
}
