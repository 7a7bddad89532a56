//! Looks for detached runs, collects and cancels them.

use std::sync::Arc;

use super::work;
use crate::action::Detached;
use crate::backend::Backend;
use crate::doors::SettingsDoor;
use crate::jobs::Outlet;
use crate::notices::NoticeLevel;
use crate::plan::Draft;
use crate::screen::Screen;
use crate::shared::Shared;
use powerband_core::domain::request::RunRequest;
use powerband_core::domain::setup::{Setup, WHERE_KEY};
use powerband_planning::transport::SetupMachine;

impl SettingsDoor {
    pub(crate) fn detached(&mut self, action: Detached, shared: &Shared) {
        if self.detached.is_busy {
            return;
        }
        let paths = shared.place.paths.clone();
        self.ask_about_detached(
            move |backend, outlet| match action {
                Detached::Look => Ok(()),
                Detached::Collect(id) => work::collect(&paths, backend, &id, outlet),
                Detached::Cancel(id) => backend.cancel_detached(&paths, &id),
            },
            shared,
        );
    }

    /// Does something in the background, and looks how far they are then.
    fn ask_about_detached(
        &mut self,
        ask: impl FnOnce(&dyn Backend, &Outlet) -> Result<(), String> + Send + 'static,
        shared: &Shared,
    ) {
        self.detached.is_busy = true;
        let paths = shared.place.paths.clone();
        let backend = Arc::clone(&shared.backend);
        let failed = |door: &mut Self, reason: String, shared: &mut Shared| {
            door.detached.is_busy = false;
            shared.notify(NoticeLevel::Trouble, format!("Detached runs: {reason}"));
        };
        shared.jobs.spawn_or_for("detached", failed, move |outlet| {
            if let Err(reason) = ask(&*backend, outlet) {
                outlet.send_to(move |door: &mut Self, shared| failed(door, reason, shared));
            }
            let (runs, trouble) = backend.detached_runs(&paths);
            outlet.send_to(|door: &mut Self, _| {
                door.detached.is_busy = false;
                door.detached.runs = runs;
                door.detached.trouble = trouble;
            });
        });
    }

    /// Whether a plan can be measured in jobs of Slurm.
    pub fn can_detach(&self, plan: &Draft, shared: &Shared) -> Result<(), &'static str> {
        let Ok(request) = plan.request() else {
            return Err("the plan cannot be run yet");
        };
        self.can_submit(&request, shared)
    }

    fn can_submit(&self, request: &RunRequest, shared: &Shared) -> Result<(), &'static str> {
        let machines = &shared.place.machines;
        let is_scheduled = |setup: &Setup| {
            let place = setup.options.get(WHERE_KEY);
            let found = place.map(|place| SetupMachine::find(place, machines));
            matches!(found, Some(Ok(Some(machine))) if machine.transport.is_scheduled())
        };
        if self.detached.is_busy {
            Err("Slurm is being asked")
        } else if request.setups.is_empty() || !request.setups.iter().all(is_scheduled) {
            Err("every setup needs where=slurm")
        } else {
            Ok(())
        }
    }

    /// Submits a plan.
    pub(crate) fn detach(&mut self, request: RunRequest, shared: &mut Shared) {
        if let Err(reason) = self.can_submit(&request, shared) {
            return shared.notify(NoticeLevel::Trouble, format!("Not detached: {reason}."));
        }
        shared.screen = Screen::Run;
        let place = shared.place.clone();
        self.ask_about_detached(
            move |backend, outlet| work::submit(&place, backend, &request, outlet),
            shared,
        );
    }
}
