//! What a run would refuse of the plan as it stands: found in the background while the plan is on the screen, by the
//! functions that the run itself asks.

use std::borrow::Cow;
use std::sync::Arc;

use super::{CheckSubject, ModelFacts};
use crate::doors::BenchDoor;
use crate::notices::NoticeLevel;
use crate::shared::Shared;
use powerband_core::base::clock;
use powerband_core::domain::case::CaseKey;
use powerband_core::domain::plan::{Load, Plan, PresetName, WorkerLifetime};
use powerband_core::domain::request::preset_rules;
use powerband_planning::plan_check::PlanCheck;

/// How long a refusal counts without another look: a file may have been put right.
const LOOK_AGAIN_NS: u64 = 2_000_000_000;

impl BenchDoor {
    /// Why the plan cannot be run as it stands, as far as is known.
    pub fn plan_obstacle(&self, shared: &Shared) -> Option<String> {
        self.planner.obstacle().or_else(|| {
            let plan = self.planned(shared)?;
            self.plan_check(&plan)?.whole.clone()
        })
    }

    /// What a run of this plan would refuse, where that is known.
    pub fn plan_check(&self, plan: &Plan) -> Option<&PlanCheck> {
        let (subject, found) = self.planner.checking.found.as_ref()?;
        (subject.plan == essentials(plan)).then_some(found)
    }

    /// Why a case of the plan would not be measured, whatever engine it has.
    pub fn refused_case(&self, plan: &Plan, case: CaseKey) -> Option<&str> {
        let reason = self.plan_check(plan)?.cases.get(&case)?;
        Some(reason)
    }

    /// The plan without points that the network cannot take, which take no time.
    pub fn without_refused_points<'a>(&self, plan: &'a Plan) -> Cow<'a, Plan> {
        let Some(check) = self
            .plan_check(plan)
            .filter(|check| !check.cases.is_empty())
        else {
            return Cow::Borrowed(plan);
        };
        let is_refused = |point| {
            let mut setups = 0..plan.setups.len();
            setups.all(|setup| check.cases.contains_key(&CaseKey { setup, point }))
        };
        let mut shorter = plan.clone();
        shorter.points.retain(|point| !is_refused(*point));
        shorter.ladder.retain(|step| !is_refused(step.case.point));
        Cow::Owned(shorter)
    }

    /// Looks at the plan where it is another one than before. Never during a run: reading takes something from what
    /// is measured.
    pub(super) fn check_plan_if_wanted(&mut self, plan: &Plan, shared: &Shared) {
        let is_read = matches!(self.planner.facts, ModelFacts::Known(_));
        if !is_read || self.planner.checking.is_busy || self.is_running() {
            return;
        }
        let subject = CheckSubject {
            plan: essentials(plan),
            offered: self.planner.offered_sizes(),
        };
        let checking = &mut self.planner.checking;
        let age_ns = clock::monotonic_ns().saturating_sub(checking.found_ns);
        if let Some((before, found)) = &checking.found
            && *before == subject
            && (found.whole.is_none() || age_ns < LOOK_AGAIN_NS)
        {
            return;
        }
        checking.is_busy = true;
        let (place, backend) = (shared.place.clone(), Arc::clone(&shared.backend));
        let unknown = subject.clone();
        let broken = |door: &mut Self, why, shared: &mut Shared| {
            door.plan_checked(unknown, PlanCheck::default());
            shared.notify(NoticeLevel::Trouble, why);
        };
        shared
            .jobs
            .spawn_or_for("check-plan", broken, move |outlet| {
                let CheckSubject { plan, offered } = &subject;
                let found = backend.check_plan(&place, plan, offered);
                outlet.send_to(|door: &mut Self, _| door.plan_checked(subject, found));
            });
    }

    fn plan_checked(&mut self, subject: CheckSubject, found: PlanCheck) {
        let checking = &mut self.planner.checking;
        checking.is_busy = false;
        checking.found = Some((subject, found));
        checking.found_ns = clock::monotonic_ns();
    }
}

/// The plan without what no refusal depends on, so that a change of that needs no other look.
fn essentials(plan: &Plan) -> Plan {
    let preset = PresetName::Standard;
    let rules = preset_rules(preset, &plan.setups);
    Plan {
        preset,
        looks: Vec::new(),
        ladder: Vec::new(),
        measure: rules.measure,
        warm_up: rules.warm_up,
        limits: rules.limits,
        seed: 0,
        load: Load::Closed,
        keeping: WorkerLifetime::Together,
        experiments: None,
        ..plan.clone()
    }
}
