//! Looks for detached runs, collects and cancels them.

use super::work;
use crate::App;
use crate::action::{Action, Detached, Sessions};
use crate::inbox::{DetachedMessage, Message};
use crate::jobs::Outlet;
use crate::notices::Weight;
use crate::screen::Screen;
use powerband_core::domain::setup::{Setup, WHERE_KEY};
use powerband_measure::runner::request::RunRequest;
use powerband_measure::worker::transport::Machine;

impl App {
    pub(crate) fn detached(&mut self, action: Detached) {
        if self.detached.is_busy {
            return;
        }
        let paths = self.place.paths.clone();
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
        self.detached.is_busy = true;
        let paths = self.place.paths.clone();
        let broken = |why| Message::Detached(DetachedMessage::Failed(why));
        self.jobs.spawn_or("detached", broken, move |outlet| {
            if let Err(reason) = ask(outlet) {
                outlet.send(Message::Detached(DetachedMessage::Failed(reason)));
            }
            work::look(&paths, outlet);
        });
    }

    /// Whether the plan can be measured in jobs of Slurm.
    pub fn can_detach(&self) -> Result<(), &'static str> {
        let Ok(request) = self.planner.draft.request() else {
            return Err("the plan cannot be run yet");
        };
        let machines = &self.place.machines;
        let is_scheduled = |setup: &Setup| {
            let place = setup.options.get(WHERE_KEY);
            let found = place.map(|place| Machine::find(place, machines));
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

    /// Submits the plan.
    pub(crate) fn detach(&mut self, request: RunRequest) {
        if let Err(reason) = self.can_detach() {
            return self.say(Weight::Trouble, format!("Not detached: {reason}."));
        }
        self.screen = Screen::Run;
        let place = self.place.clone();
        self.ask_about_detached(move |outlet| work::submit(&place, &request, outlet));
    }

    pub(crate) fn detached_message(&mut self, message: DetachedMessage) {
        match message {
            DetachedMessage::Found(runs, trouble) => {
                self.detached.is_busy = false;
                self.detached.runs = runs;
                self.detached.trouble = trouble;
            }
            DetachedMessage::Collected(path, left) => {
                if let Some(left) = left {
                    self.say(Weight::Info, left);
                }
                self.act(Action::Sessions(Sessions::Open(vec![path])));
            }
            DetachedMessage::Submitted(jobs) => {
                self.say(
                    Weight::Done,
                    format!("Detached: {jobs}. It goes on without this window."),
                );
            }
            DetachedMessage::Failed(reason) => {
                self.detached.is_busy = false;
                self.say(Weight::Trouble, format!("Detached runs: {reason}"));
            }
        }
    }
}
