//! Actions that measure, open and write files, or start programs, and what follows from them.
//!
//! In a page of a browser, and on Windows, all of it is left out: `without_machine.rs` says which
//! actions are not offered there.

use crate::App;
use crate::action::Action;
use crate::shared::FollowUp;
#[cfg(unix)]
use crate::{action::Shell, doors::BenchDoor, figures};

#[cfg(not(unix))]
impl App {
    pub(crate) fn apply_on_machine(&mut self, _: Action) {}

    pub(crate) fn follow_up_on_machine(&mut self, _: FollowUp) {}

    pub(crate) fn refresh_bench(&mut self) {}
}

#[cfg(unix)]
impl App {
    pub(crate) fn apply_on_machine(&mut self, action: Action) {
        match action {
            Action::Shell(Shell::Close(closing)) => self.bench.close(closing, &mut self.shared),
            Action::Sessions(sessions) => self.shared.sessions(sessions),
            Action::Machine(machine) => self.shared.machine(machine),
            Action::Roofs(roofs) => self.settings.roofs(roofs, &mut self.shared),
            Action::Detached(detached) => self.settings.detached(detached, &self.shared),
            Action::Plan(edit) => self.bench.plan(edit, &mut self.shared),
            Action::Run(run) => self.bench.run(&run, &mut self.shared),
            Action::OpenTrace(path) => self.profile.open_traces(vec![path], &mut self.shared),
            Action::Library(library) => self.library.act(library, &mut self.shared),
            Action::Figures(change) => {
                let sources = figures::figure_sources(self);
                self.shared.figures(change, sources);
            }
            Action::Report(subject, target) => {
                let answers = self.screen_answers(subject);
                self.shared.report(subject, target, answers);
            }
            Action::Page(change) => self.page(change),
            _ => {}
        }
    }

    pub(crate) fn follow_up_on_machine(&mut self, next: FollowUp) {
        match next {
            FollowUp::OpenTraces(files) => self.profile.open_traces(files, &mut self.shared),
            FollowUp::PlanAgain(id) => self.bench.plan_again(id, &mut self.shared),
            FollowUp::SaveSession(id, path) => {
                let timelines = self.profile.timeline.traces_of(id);
                self.shared.save_session(id, path, timelines);
            }
            FollowUp::PlansChanged => BenchDoor::list_plans(&self.shared),
            FollowUp::PastDurationsWanted => self.bench.learn_if_wanted(&self.shared),
            FollowUp::RoofsWanted(setup) => self.settings.measure_roofs_for(setup, &self.shared),
            FollowUp::RunBegan => {
                self.settings.stop_roofs();
                self.compare.sides.forget_run();
            }
            FollowUp::Detach(request) => self.settings.detach(*request, &mut self.shared),
            _ => {}
        }
    }

    /// The tables of the plan and of the run.
    pub(crate) fn refresh_bench(&mut self) {
        self.bench.run_table(&mut self.shared);
        self.bench.planned_table(&mut self.shared);
    }
}
