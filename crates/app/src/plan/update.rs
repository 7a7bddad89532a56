//! Actions on the plan, and the results of reading for it.

use super::{Draft, MatrixEdit, ModelFacts, PlanEdit, saved, work};
use crate::action::Action;
use crate::notices::NoticeLevel;
use crate::option_names::without_options;
use crate::screen::Screen;
use crate::sessions::Pin;
use crate::{App, Ask, WindowRequest, library};
use powerband_core::domain::model::ModelSummary;
use powerband_planning::ladders;

/// What the notice offers after a plan was replaced.
const UNDO: Action = Action::Plan(PlanEdit::Undo);

impl App {
    pub(crate) fn plan(&mut self, edit: PlanEdit) {
        let model = self.bench.planner.draft.model.clone();
        if !matches!(
            edit,
            PlanEdit::ChooseModel
                | PlanEdit::ChoosePath(..)
                | PlanEdit::More(_)
                | PlanEdit::Keep
                | PlanEdit::Forget(_)
        ) {
            // The step that the notice undoes is the last one no more.
            self.shared
                .notices
                .withdraw_offers(|action| *action == UNDO);
        }
        match &edit {
            PlanEdit::ChooseModel => self.shared.outputs.push(WindowRequest::Ask(Ask::Model)),
            PlanEdit::ChoosePath(setup, key) => {
                let ask = if super::respell::names_folder(key) {
                    Ask::KeyFolder(*setup, key.clone())
                } else {
                    Ask::KeyFile(*setup, key.clone())
                };
                self.shared.outputs.push(WindowRequest::Ask(ask));
            }
            PlanEdit::Matrix(edit) => self.matrix(edit.clone()),
            PlanEdit::Keep => self.keep_plan(),
            PlanEdit::Use(path) => {
                let kept = self
                    .bench
                    .planner
                    .kept
                    .iter()
                    .find(|(kept, _)| kept == path);
                if let Some((_, draft)) = kept {
                    self.replace_plan(draft.clone());
                }
            }
            PlanEdit::Ladder(id) => {
                if let Ok(ladder) = ladders::find(id) {
                    let request = ladder.request(&self.shared.machine.ladder_machine());
                    self.replace_plan(Draft::of_request(&request));
                }
            }
            PlanEdit::LargerBatches(pin) => self.plan_larger_batches(*pin),
            PlanEdit::First => {
                let request = self.first_request();
                self.replace_plan(Draft::of_request(&request));
            }
            PlanEdit::Forget(path) => {
                let (path, paths) = (path.clone(), self.shared.place.paths.clone());
                let kept = self
                    .bench
                    .planner
                    .kept
                    .iter()
                    .find(|(kept, _)| *kept == path);
                let title = kept.map_or_else(String::new, |(_, draft)| saved::title(draft));
                self.shared.jobs.spawn("forget-plan", move |outlet| {
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
            self.shared.screen = Screen::Plan;
        }
        self.bench.planner.edit(edit);
        if self.bench.planner.draft.model != model {
            self.inspect_model();
        }
    }

    fn plan_larger_batches(&mut self, pin: Pin) {
        if let Some(open) = self.shared.sessions.get(pin.session) {
            let draft = Draft::of_larger_batches(&open.session, pin.case);
            self.plan_found(draft);
        }
    }

    /// Puts another plan in place of the one that is typed, and says so where that is nowhere else.
    fn replace_plan(&mut self, draft: Draft) {
        let own = &self.bench.planner.draft;
        let is_saved = self.bench.planner.kept.iter().any(|(_, kept)| kept == own);
        let is_lost = !is_saved && *own != draft && *own != Draft::default();
        let title = saved::title(&draft);
        self.bench.planner.replace(draft);
        if is_lost {
            let text = format!("The plan {title} replaced yours, which was not saved");
            self.shared
                .notify_with_button(NoticeLevel::Info, text, "Undo", UNDO);
        }
    }

    fn model_inspected(&mut self, name: &str, facts: Result<Box<ModelSummary>, String>) {
        if name == self.bench.planner.draft.model.trim() {
            let facts = facts.map_err(without_options);
            self.bench.planner.facts = facts.map_or_else(ModelFacts::Refused, ModelFacts::Known);
        }
    }

    /// The plan of a session becomes the plan.
    pub(crate) fn plan_found(&mut self, found: Result<Draft, String>) {
        match found {
            Ok(draft) => {
                self.replace_plan(draft);
                self.shared.screen = Screen::Plan;
                self.inspect_model();
            }
            Err(reason) => self
                .shared
                .notify(NoticeLevel::Trouble, format!("{reason}.")),
        }
    }

    fn keep_plan(&self) {
        let (paths, draft) = (
            self.shared.place.paths.clone(),
            self.bench.planner.draft.clone(),
        );
        self.shared.jobs.spawn("keep-plan", move |outlet| {
            let kept = saved::save_replacing(&paths, &draft);
            outlet.send(|app| app.plan_kept(kept));
            let saved = saved::list(&saved::folder(&paths));
            outlet.send(|app| app.bench.planner.kept = saved);
        });
    }

    fn plan_kept(&mut self, kept: Result<String, String>) {
        match kept {
            Ok(done) => {
                self.shared.notify(NoticeLevel::Done, done);
                self.shared.jobs.rescan_library();
            }
            Err(error) => self.shared.notify(
                NoticeLevel::Trouble,
                format!("The plan was not saved: {error}"),
            ),
        }
    }

    pub(crate) fn list_plans(&self) {
        let folder = saved::folder(&self.shared.place.paths);
        let work = move || saved::list(&folder);
        self.shared
            .jobs
            .spawn_then("plans", work, |app, saved| app.bench.planner.kept = saved);
    }

    pub(crate) fn inspect_model(&mut self) {
        self.learn_if_wanted();
        let name = self.bench.planner.draft.model.trim().to_owned();
        if name.is_empty() {
            self.bench.planner.facts = ModelFacts::Unknown;
            return;
        }
        self.bench.planner.facts = ModelFacts::Reading;
        let paths = self.shared.place.paths.clone();
        let work = move || (work::inspect_model(&name, &paths), name);
        self.shared
            .jobs
            .spawn_then("inspect-model", work, |app, (facts, name)| {
                app.model_inspected(&name, facts);
            });
    }
}
