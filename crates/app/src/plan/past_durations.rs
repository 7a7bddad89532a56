//! Estimates of plans from earlier sessions of this machine.

use std::collections::BTreeSet;

use super::{Sources, work};
use crate::doors::BenchDoor;
use crate::library::SessionEntry;
use crate::shared::Shared;
use powerband_core::domain::plan::Plan;
use powerband_findings::analysis::plan_estimate::{self, PlanEstimate};

/// Most sessions of a network to read, the newest first.
const SESSIONS: usize = 3;

impl BenchDoor {
    /// How long a plan will take where some setups, by their places, cannot run; without points that its network
    /// cannot take.
    pub fn estimate(&self, plan: &Plan, refused: &BTreeSet<usize>) -> PlanEstimate {
        let plan = self.without_refused_points(plan);
        plan_estimate::plan_estimate(&plan, refused, &self.past_durations.known)
    }

    /// Looks into the newest sessions of what may be measured next, where they are others than before. Never
    /// during a run: reading takes something from what is measured.
    pub(crate) fn learn_if_wanted(&mut self, shared: &Shared) {
        let Some(environment) = shared.machine.environment.as_ref() else {
            return;
        };
        let from = self.sessions_to_read(shared);
        if self.is_running() || from == self.past_durations.from {
            return;
        }
        self.past_durations.from.clone_from(&from);
        let cpu = environment.cpu.clone();
        let work = move || (work::experience(&from, &cpu), from);
        shared
            .jobs
            .spawn_for("estimate", work, |door: &mut Self, (known, from), _| {
                if from == door.past_durations.from {
                    door.past_durations.known = known;
                }
            });
    }

    /// Sessions of the plan's network and of the large button's, newest first.
    fn sessions_to_read(&self, shared: &Shared) -> Sources {
        let first = shared.machine.first_request().model;
        let models: BTreeSet<&str> = [self.planner.draft.model.trim(), &first].into();
        let of_model = |model: &str| {
            let files = shared.library_files.values();
            let entries = files.filter_map(|scanned| scanned.entry.as_ref().ok());
            let entries = entries.filter(|entry| entry.may_be_of(model) && entry.is_quickly_read());
            let mut newest: Vec<&SessionEntry> = entries.collect();
            newest.sort_by(|a, b| b.created.cmp(&a.created));
            newest.truncate(SESSIONS);
            let sources = newest.into_iter();
            sources.map(|entry| (entry.path.clone(), entry.stamp))
        };
        models.into_iter().flat_map(of_model).collect()
    }
}
