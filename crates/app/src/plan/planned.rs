//! Plans as this machine would run them: which engines, rules and batch sizes fill what the user left open.

use super::ModelFacts;
use crate::doors::BenchDoor;
use crate::machine::MachineState;
use crate::shared::Shared;
use powerband_core::domain::plan::Plan;
use powerband_core::domain::request::RunRequest;
use powerband_core::domain::telemetry::DeviceKind;
use powerband_core::domain::telemetry_paths::USUAL_HZ;
use powerband_planning::default_benchmark;
use powerband_planning::plans;

impl BenchDoor {
    /// The plan as it would be run, for an estimate; `None` where it is invalid.
    pub fn planned(&self, shared: &Shared) -> Option<Plan> {
        Some(self.planned_of(self.planner.draft.request().ok()?, shared))
    }

    /// A request as it would be run here, for an estimate.
    pub fn planned_of(&self, request: RunRequest, shared: &Shared) -> Plan {
        let names_none = request.setups.is_empty();
        let setups = plans::candidates(&request)
            .into_iter()
            .filter(|(_, engine)| !names_none || shared.machine.has_engine(engine.id()))
            .map(|(setup, _)| setup);
        let inputs = match &self.planner.facts {
            ModelFacts::Known(summary) if self.planner.draft.model.trim() == request.model => {
                summary.inputs.as_slice()
            }
            _ => &[],
        };
        let rate_hz = shared.remembered.watching.rate_hz().unwrap_or(USUAL_HZ);
        plans::plan(request, setups.collect(), inputs, rate_hz)
    }

    /// The setup that "add a setup" adds: the best engine that the plan does not have yet.
    pub fn next_setup(&self, shared: &Shared) -> String {
        let planned = self.planner.draft.setups.iter();
        let specs = planned.map(|setup| setup.spec.as_str());
        shared.machine.next_setup(specs)
    }
}

impl MachineState {
    /// What the large button measures, as far as it is known yet what this machine has.
    pub fn first_request(&self) -> RunRequest {
        let devices = self.devices.iter().flat_map(|(found, _)| found);
        let kinds: Vec<DeviceKind> = devices.map(|device| device.kind).collect();
        default_benchmark::request(&self.ladder_machine(), &kinds)
    }
}
