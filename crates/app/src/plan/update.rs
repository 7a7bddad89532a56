//! Actions on the plan, and the results of reading for it.

use super::{Draft, MatrixEdit, ModelFacts, PlanEdit, saved, work};
use crate::action::Action;
use crate::doors::BenchDoor;
use crate::notices::NoticeLevel;
use crate::option_names::without_options;
use crate::screen::Screen;
use crate::sessions::{Pin, SessionId};
use crate::shared::Shared;
use crate::{Ask, WindowRequest, library};
use powerband_core::domain::model::ModelSummary;
use powerband_planning::form::respell;
use powerband_planning::ladders;

/// What the notice offers after a plan was replaced.
const UNDO: Action = Action::Plan(PlanEdit::Undo);

impl BenchDoor {
    pub(crate) fn plan(&mut self, edit: PlanEdit, shared: &mut Shared) {
        let model = self.planner.draft.model.clone();
        if !matches!(
            edit,
            PlanEdit::ChooseModel
                | PlanEdit::ChoosePath(..)
                | PlanEdit::More(_)
                | PlanEdit::Keep
                | PlanEdit::Forget(_)
        ) {
            // The step that the notice undoes is the last one no more.
            shared.notices.withdraw_offers(|action| *action == UNDO);
        }
        match &edit {
            PlanEdit::ChooseModel => shared.outputs.push(WindowRequest::Ask(Ask::Model)),
            PlanEdit::ChoosePath(setup, key) => {
                let ask = if respell::names_folder(key) {
                    Ask::KeyFolder(*setup, key.clone())
                } else {
                    Ask::KeyFile(*setup, key.clone())
                };
                shared.outputs.push(WindowRequest::Ask(ask));
            }
            PlanEdit::Matrix(edit) => self.matrix(edit.clone(), shared),
            PlanEdit::Keep => self.keep_plan(shared),
            PlanEdit::Use(path) => {
                let kept = self.planner.kept.iter().find(|(kept, _)| kept == path);
                if let Some((_, draft)) = kept {
                    self.replace_plan(draft.clone(), shared);
                }
            }
            PlanEdit::Ladder(id) => {
                if let Ok(ladder) = ladders::find(id) {
                    let request = ladder.request(&shared.machine.ladder_machine());
                    self.replace_plan(Draft::of_request(&request), shared);
                }
            }
            PlanEdit::LargerBatches(pin) => self.plan_larger_batches(*pin, shared),
            PlanEdit::First => {
                let request = shared.machine.first_request();
                self.replace_plan(Draft::of_request(&request), shared);
            }
            PlanEdit::Forget(path) => {
                let (path, paths) = (path.clone(), shared.place.paths.clone());
                let kept = self.planner.kept.iter().find(|(kept, _)| *kept == path);
                let title = kept.map_or_else(String::new, |(_, draft)| saved::title(draft));
                shared.jobs.spawn("forget-plan", move |outlet| {
                    let trashed = library::work::discard(&paths, path, format!("The plan {title}"));
                    outlet.send(|app| app.library.discarded(trashed, &mut app.shared));
                    let saved = saved::list(&saved::folder(&paths));
                    outlet.send(|app| app.bench.planner.kept = saved);
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
            shared.screen = Screen::Plan;
        }
        self.planner.edit(edit);
        if self.planner.draft.model != model {
            self.inspect_model(shared);
        }
    }

    fn plan_larger_batches(&mut self, pin: Pin, shared: &mut Shared) {
        if let Some(open) = shared.sessions.get(pin.session) {
            let draft = Draft::of_larger_batches(&open.session, pin.case);
            self.plan_found(draft, shared);
        }
    }

    /// The plan of an open session becomes the plan.
    pub(crate) fn plan_again(&mut self, id: SessionId, shared: &mut Shared) {
        if let Some(open) = shared.sessions.get(id) {
            let draft = Draft::from_session(&open.session);
            self.plan_found(draft, shared);
        }
    }

    /// Puts another plan in place of the one that is typed, and says so where that is nowhere else.
    fn replace_plan(&mut self, draft: Draft, shared: &mut Shared) {
        let own = &self.planner.draft;
        let is_saved = self.planner.kept.iter().any(|(_, kept)| kept == own);
        let is_lost = !is_saved && *own != draft && *own != Draft::default();
        let title = saved::title(&draft);
        self.planner.replace(draft);
        if is_lost {
            let text = format!("The plan {title} replaced yours, which was not saved");
            shared.notify_with_button(NoticeLevel::Info, text, "Undo", UNDO);
        }
    }

    fn model_inspected(&mut self, name: &str, facts: Result<Box<ModelSummary>, String>) {
        if name == self.planner.draft.model.trim() {
            let facts = facts.map_err(without_options);
            self.planner.facts = facts.map_or_else(ModelFacts::Refused, ModelFacts::Known);
        }
    }

    /// The plan of a session becomes the plan.
    pub(crate) fn plan_found(&mut self, found: Result<Draft, String>, shared: &mut Shared) {
        match found {
            Ok(draft) => {
                self.replace_plan(draft, shared);
                shared.screen = Screen::Plan;
                self.inspect_model(shared);
            }
            Err(reason) => shared.notify(NoticeLevel::Trouble, format!("{reason}.")),
        }
    }

    fn keep_plan(&self, shared: &Shared) {
        let (paths, draft) = (shared.place.paths.clone(), self.planner.draft.clone());
        shared.jobs.spawn("keep-plan", move |outlet| {
            let kept = saved::save_replacing(&paths, &draft);
            outlet.send_to(|_: &mut Self, shared| Self::plan_kept(kept, shared));
            let saved = saved::list(&saved::folder(&paths));
            outlet.send(|app| app.bench.planner.kept = saved);
        });
    }

    fn plan_kept(kept: Result<String, String>, shared: &mut Shared) {
        match kept {
            Ok(done) => {
                shared.notify(NoticeLevel::Done, done);
                shared.jobs.rescan_library();
            }
            Err(error) => shared.notify(
                NoticeLevel::Trouble,
                format!("The plan was not saved: {error}"),
            ),
        }
    }

    pub(crate) fn list_plans(shared: &Shared) {
        let folder = saved::folder(&shared.place.paths);
        let work = move || saved::list(&folder);
        shared
            .jobs
            .spawn_for("plans", work, |door: &mut Self, saved, _| {
                door.planner.kept = saved;
            });
    }

    pub(crate) fn inspect_model(&mut self, shared: &Shared) {
        self.learn_if_wanted(shared);
        let name = self.planner.draft.model.trim().to_owned();
        if name.is_empty() {
            self.planner.facts = ModelFacts::Unknown;
            return;
        }
        self.planner.facts = ModelFacts::Reading;
        let paths = shared.place.paths.clone();
        let work = move || (work::inspect_model(&name, &paths), name);
        shared.jobs.spawn_for(
            "inspect-model",
            work,
            |door: &mut Self, (facts, name), _| {
                door.model_inspected(&name, facts);
            },
        );
    }
}
