//! Estimates of plans from earlier sessions of this machine.

use std::collections::BTreeSet;

use super::{Sources, work};
use crate::App;
use powerband_core::domain::plan::Plan;
use powerband_findings::analysis::past_durations::PastDurations;
use powerband_findings::analysis::plan_estimate::{self, PlanEstimate};

/// Most sessions of a network to read, the newest first.
const SESSIONS: usize = 3;

/// Known durations and their sessions.
#[derive(Debug, Default)]
pub(crate) struct PastDurationCache {
    from: Sources,
    pub known: PastDurations,
}

impl App {
    /// How long a plan will take where some setups, by their places, cannot run; without points that its network
    /// cannot take.
    pub fn estimate(&self, plan: &Plan, refused: &BTreeSet<usize>) -> PlanEstimate {
        let plan = self.without_refused_points(plan);
        plan_estimate::plan_estimate(&plan, refused, &self.bench.past_durations.known)
    }

    /// Looks into the newest sessions of what may be measured next, where they are others than before. Never
    /// during a run: reading takes something from what is measured.
    pub(crate) fn learn_if_wanted(&mut self) {
        let Some(environment) = self.shared.machine.environment.as_ref() else {
            return;
        };
        let from = self.sessions_to_read();
        if self.is_running() || from == self.bench.past_durations.from {
            return;
        }
        self.bench.past_durations.from.clone_from(&from);
        let cpu = environment.cpu.clone();
        let work = move || (work::experience(&from, &cpu), from);
        self.shared
            .jobs
            .spawn_then("estimate", work, |app, (known, from)| {
                if from == app.bench.past_durations.from {
                    app.bench.past_durations.known = known;
                }
            });
    }

    /// Sessions of the plan's network and of the large button's, newest first.
    fn sessions_to_read(&self) -> Sources {
        let first = self.first_request().model;
        let models: BTreeSet<&str> = [self.bench.planner.draft.model.trim(), &first].into();
        let of_model = |model: &str| {
            let entries = self.library.newest();
            let entries = entries.filter_map(|(_, scanned)| scanned.entry.as_ref().ok());
            let entries = entries.filter(|entry| entry.may_be_of(model) && entry.is_quickly_read());
            let sources = entries.map(|entry| (entry.path.clone(), entry.stamp));
            sources.take(SESSIONS).collect::<Sources>()
        };
        models.into_iter().flat_map(of_model).collect()
    }
}
