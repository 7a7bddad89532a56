//! Plans as this machine would run them: which engines, rules and batch sizes fill what the user left open.

use std::collections::BTreeSet;

use crate::App;
use powerband_core::domain::plan::Plan;
use powerband_core::domain::telemetry::DeviceKind;
use powerband_measure::runner::request::{RunRequest, preset_rules};
use powerband_measure::runner::{default_benchmark, prepare};
use powerband_measure::telemetry::sampler::USUAL_HZ;

impl App {
    /// The plan as it would be run, for an estimate; nothing where it makes no sense yet.
    pub fn planned(&self) -> Option<Plan> {
        Some(self.planned_of(self.planner.draft.request().ok()?))
    }

    /// A request as it would be run here, for an estimate.
    pub fn planned_of(&self, request: RunRequest) -> Plan {
        let mut setups = request.setups;
        if setups.is_empty() {
            let ready = self.machine.ready();
            let ids: BTreeSet<&str> = ready.map(|engine| engine.id).collect();
            setups = ids.into_iter().filter_map(|id| id.parse().ok()).collect();
        }
        let mut rules = request
            .rules
            .unwrap_or_else(|| preset_rules(request.preset, &setups));
        if let Some(rounds) = request.rounds {
            rules.measure.rounds = rounds;
            rules.measure.target_ci95_rel = None;
        }
        if request.energy {
            let rate_hz = self.remembered.watching.rate_hz();
            rules.measure.allow_for_energy(rate_hz.unwrap_or(USUAL_HZ));
        }
        let batches = request
            .batches
            .unwrap_or_else(|| prepare::DEFAULT_BATCHES.to_vec());
        Plan {
            model: request.model,
            ladder: if request.journey {
                prepare::ladder(&setups, &request.looks, &batches)
            } else {
                Vec::new()
            },
            setups,
            looks: request.looks,
            batches,
            shapes: request.shapes,
            batch_axis: request.batch_axis,
            preset: request.preset,
            measure: rules.measure,
            warm_up: rules.warm_up,
            limits: rules.limits,
            seed: 0,
            load: request.load,
            keeping: request.keeping,
            judging: request.judging,
            profiling: request.profiling,
        }
    }

    /// What the large button measures, as far as it is known yet what this machine has.
    pub fn first_request(&self) -> RunRequest {
        let devices = self.machine.devices.iter().flat_map(|(found, _)| found);
        let kinds: Vec<DeviceKind> = devices.map(|device| device.kind).collect();
        default_benchmark::request(&self.machine.here(), &kinds)
    }

    /// The setup that "add a setup" adds: the best engine that the plan does not have yet.
    pub fn next_setup(&self) -> String {
        let planned = self.planner.draft.setups.iter();
        self.machine
            .next_setup(planned.map(|setup| setup.spec.as_str()))
    }
}
