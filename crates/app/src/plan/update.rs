//! Actions on the plan, and the results of reading for it.

use super::{Draft, MatrixEdit, ModelFacts, PlanEdit, saved, work};
use crate::inbox::{Message, PlanMessage};
use crate::notices::Weight;
use crate::option_names::without_options;
use crate::screen::Screen;
use crate::{App, Ask, Output, library};
use powerband_measure::runner::ladders;

impl App {
    pub(crate) fn plan(&mut self, edit: PlanEdit) {
        let model = self.planner.draft.model.clone();
        match &edit {
            PlanEdit::ChooseModel => self.outputs.push(Output::Ask(Ask::Model)),
            PlanEdit::ChoosePath(setup, key) => {
                let ask = if super::respell::names_folder(key) {
                    Ask::KeyFolder(*setup, key.clone())
                } else {
                    Ask::KeyFile(*setup, key.clone())
                };
                self.outputs.push(Output::Ask(ask));
            }
            PlanEdit::Matrix(edit) => self.matrix(edit.clone()),
            PlanEdit::Keep => self.keep_plan(),
            PlanEdit::Use(path) => {
                let kept = self.planner.kept.iter().find(|(kept, _)| kept == path);
                if let Some((_, draft)) = kept {
                    let draft = draft.clone();
                    self.planner.replace(draft);
                }
            }
            PlanEdit::Ladder(id) => {
                if let Ok(ladder) = ladders::find(id) {
                    let request = ladder.request(&self.machine.here());
                    self.planner.replace(Draft::of_request(&request));
                }
            }
            PlanEdit::First => {
                let request = self.first_request();
                self.planner.replace(Draft::of_request(&request));
            }
            PlanEdit::Forget(path) => {
                let (path, paths) = (path.clone(), self.place.paths.clone());
                let kept = self.planner.kept.iter().find(|(kept, _)| *kept == path);
                let title = kept.map_or_else(String::new, |(_, draft)| saved::title(draft));
                self.jobs.spawn("forget-plan", move |outlet| {
                    library::work::discard(&paths, path, format!("The plan {title}"), outlet);
                    outlet.send(Message::Plan(PlanMessage::Saved(saved::list(
                        &saved::folder(&paths),
                    ))));
                });
            }
            _ => {}
        }
        if let PlanEdit::Use(_)
        | PlanEdit::Ladder(_)
        | PlanEdit::First
        | PlanEdit::Clear
        | PlanEdit::Matrix(MatrixEdit::Open)
        | PlanEdit::Add(_) = edit
        {
            self.screen = Screen::Plan;
        }
        self.planner.edit(edit);
        if self.planner.draft.model != model {
            self.inspect_model();
        }
    }

    pub(crate) fn plan_message(&mut self, message: PlanMessage) {
        match message {
            PlanMessage::Model(name, facts) => {
                if name == self.planner.draft.model.trim() {
                    let facts = facts.map_err(without_options);
                    self.planner.facts = facts.map_or_else(ModelFacts::Refused, ModelFacts::Known);
                }
            }
            PlanMessage::Found(found) => self.plan_found(found.map(|draft| *draft)),
            PlanMessage::Saved(plans) => self.planner.kept = plans,
        }
    }

    /// The plan of a session becomes the plan.
    pub(crate) fn plan_found(&mut self, found: Result<Draft, String>) {
        match found {
            Ok(draft) => {
                self.planner.replace(draft);
                self.screen = Screen::Plan;
                self.inspect_model();
            }
            Err(reason) => self.say(Weight::Trouble, format!("{reason}.")),
        }
    }

    fn keep_plan(&self) {
        let (paths, draft) = (self.place.paths.clone(), self.planner.draft.clone());
        self.jobs.spawn("keep-plan", move |outlet| {
            outlet.send(match saved::keep_instead(&paths, &draft) {
                Ok(done) => Message::Done(done),
                Err(error) => Message::Failed(format!("The plan was not saved: {error}")),
            });
            outlet.send(Message::Plan(PlanMessage::Saved(saved::list(
                &saved::folder(&paths),
            ))));
        });
    }

    pub(crate) fn list_plans(&self) {
        let folder = saved::folder(&self.place.paths);
        self.jobs.spawn("plans", move |outlet| {
            outlet.send(Message::Plan(PlanMessage::Saved(saved::list(&folder))));
        });
    }

    pub(crate) fn inspect_model(&mut self) {
        self.learn_if_wanted();
        let name = self.planner.draft.model.trim().to_owned();
        if name.is_empty() {
            self.planner.facts = ModelFacts::Unknown;
            return;
        }
        self.planner.facts = ModelFacts::Reading;
        let paths = self.place.paths.clone();
        self.jobs.spawn("inspect-model", move |outlet| {
            work::inspect_model(name, &paths, outlet);
        });
    }
}
