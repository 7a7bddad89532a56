//! Looks for detached runs, collects and cancels them.

use super::work;
use crate::App;
use crate::action::Detached;
use crate::jobs::Outlet;
use crate::notices::NoticeLevel;
use crate::screen::Screen;
use powerband_core::domain::setup::{Setup, WHERE_KEY};
use powerband_measure::runner::request::RunRequest;
use powerband_measure::worker::transport::SetupMachine;

impl App {
    pub(crate) fn detached(&mut self, action: Detached) {
        if self.settings.detached.is_busy {
            return;
        }
        let paths = self.shared.place.paths.clone();
        self.ask_about_detached(move |outlet| match action {
            Detached::Look => Ok(()),
            Detached::Collect(id) => work::collect(&paths, &id, outlet),
            Detached::Cancel(id) => work::cancel(&paths, &id),
        });
    }

    /// Does something in the background, and looks how far they are then.
    fn ask_about_detached(
        &mut self,
        ask: impl FnOnce(&Outlet) -> Result<(), String> + Send + 'static,
    ) {
        self.settings.detached.is_busy = true;
        let paths = self.shared.place.paths.clone();
        let failed = |app: &mut Self, reason: String| {
            app.settings.detached.is_busy = false;
            app.shared
                .notify(NoticeLevel::Trouble, format!("Detached runs: {reason}"));
        };
        self.shared
            .jobs
            .spawn_or("detached", failed, move |outlet| {
                if let Err(reason) = ask(outlet) {
                    outlet.send(move |app| failed(app, reason));
                }
                let (runs, trouble) = work::check_runs(&paths);
                outlet.send(|app| {
                    app.settings.detached.is_busy = false;
                    app.settings.detached.runs = runs;
                    app.settings.detached.trouble = trouble;
                });
            });
    }

    /// Whether the plan can be measured in jobs of Slurm.
    pub fn can_detach(&self) -> Result<(), &'static str> {
        let Ok(request) = self.bench.planner.draft.request() else {
            return Err("the plan cannot be run yet");
        };
        let machines = &self.shared.place.machines;
        let is_scheduled = |setup: &Setup| {
            let place = setup.options.get(WHERE_KEY);
            let found = place.map(|place| SetupMachine::find(place, machines));
            matches!(found, Some(Ok(Some(machine))) if machine.transport.is_scheduled())
        };
        if self.settings.detached.is_busy {
            Err("Slurm is being asked")
        } else if request.setups.is_empty() || !request.setups.iter().all(is_scheduled) {
            Err("every setup needs where=slurm")
        } else {
            Ok(())
        }
    }

    /// Submits the plan.
    pub(crate) fn detach(&mut self, request: RunRequest) {
        if let Err(reason) = self.can_detach() {
            return self
                .shared
                .notify(NoticeLevel::Trouble, format!("Not detached: {reason}."));
        }
        self.shared.screen = Screen::Run;
        let place = self.shared.place.clone();
        self.ask_about_detached(move |outlet| work::submit(&place, &request, outlet));
    }
}
