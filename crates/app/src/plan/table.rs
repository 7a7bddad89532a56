//! The table of what the plan will measure, made anew where it would be another one.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash as _, Hasher as _};

use crate::doors::BenchDoor;
use crate::screen::Screen;
use crate::shared::Shared;
use powerband_core::domain::case::CaseKey;
use powerband_core::domain::plan::Plan;
use powerband_findings::analysis::plan_estimate::{self, CaseEstimate};
use powerband_findings::tables::planned::{self, PlannedCase};

/// The table, among the application's tables.
const ID: &str = "planned";

impl BenchDoor {
    /// Makes the table of the plan's cases anew where anything changed. Only while it can be seen.
    pub(crate) fn planned_table(&mut self, shared: &mut Shared) {
        if !shared.shows(Screen::Plan) {
            return;
        }
        let Some(plan) = self.planned(shared) else {
            return shared.tables.remove(ID);
        };
        self.check_plan_if_wanted(&plan, shared);
        let cases = self.planned_cases(&plan, shared);
        let mark = mark(&cases);
        if shared.tables.mark(ID) != mark {
            let table = planned::of_plan(cases);
            shared.tables.put_marked(ID, table, mark);
        }
    }

    /// The cases of a plan, in its order, with those that cannot run here.
    fn planned_cases(&self, plan: &Plan, shared: &Shared) -> Vec<PlannedCase> {
        let refused = shared.machine.refused(plan);
        let known = &self.past_durations.known;
        let shorter = self.without_refused_points(plan);
        let estimates = plan_estimate::case_estimates(&shorter, &refused, known);
        // In the order of the plan, without the cases that cannot run.
        let mut estimates = estimates.into_iter().peekable();
        let reason_of = |case: CaseKey| {
            let setup = plan.setups.get(case.setup);
            let refusal = setup.and_then(|setup| shared.machine.refusal(setup));
            let of_network = || self.refused_case(plan, case).map(str::to_owned);
            refusal.or_else(of_network).unwrap_or_default()
        };
        let cases = plan.cases().into_iter();
        cases
            .map(|case| PlannedCase {
                setup: plan.label(case.setup).unwrap_or_default(),
                spec: plan
                    .setups
                    .get(case.setup)
                    .map_or_else(String::new, ToString::to_string),
                point: case.point,
                rounds: plan.measure.rounds,
                estimate: estimates
                    .next_if(|estimate| estimate.case == case)
                    .filter(|_| self.refused_case(plan, case).is_none())
                    .ok_or_else(|| reason_of(case)),
            })
            .collect()
    }
}

/// A number that is another one whenever the cases are; never 0.
fn mark(cases: &[PlannedCase]) -> u64 {
    let mut hasher = DefaultHasher::new();
    for case in cases {
        (&case.setup, &case.spec, case.point, case.rounds).hash(&mut hasher);
        match &case.estimate {
            Ok(CaseEstimate {
                low_s,
                high_s,
                is_known,
                is_compiled,
                ..
            }) => (low_s.to_bits(), high_s.to_bits(), is_known, is_compiled).hash(&mut hasher),
            Err(reason) => reason.hash(&mut hasher),
        }
    }
    hasher.finish().max(1)
}
