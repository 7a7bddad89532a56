//! The plan: a draft with undo, saved plans, and facts of the model.

pub(crate) mod action;
mod check;
mod choices;
pub(crate) mod commands;
mod completion;
mod edit;
pub mod fields;
mod form;
mod help;
mod matrix;
mod matrix_setups;
pub(crate) mod menu;
pub(crate) mod palette;
mod past_durations;
mod planned;
pub mod saved;
mod shown_fields;
pub mod sweeps;
mod table;
mod update;
pub(crate) mod work;

use std::path::PathBuf;

use crate::option_names::without_options;
use powerband_core::domain::model::ModelSummary;
use powerband_core::domain::plan::Plan;
use powerband_core::domain::point::BATCH;
pub use powerband_core::domain::sizes::show as show_batches;
use powerband_core::domain::sizes::{self, SizeError};
use powerband_findings::analysis::past_durations::PastDurations;
use powerband_onnx::zoo;
use powerband_planning::engine_options;
pub use powerband_planning::engine_options::{Takes, offered_ids};
pub use powerband_planning::form::fields::preset_help;
pub use powerband_planning::form::{
    ArrivalMode, Draft, DraftSetup, Fix, PROFILE_STARTS, PlanError, PlanField,
};
use powerband_planning::ladders;
use powerband_planning::plan_check::NamedSize;
pub use powerband_planning::plan_check::PlanCheck;
use powerband_store::library::Stamp;

pub use action::PlanEdit;
use edit::{Typing, apply, change_machines, typing};
pub use form::{Alternative, Completion, Control};
pub use help::{SetupHelp, setup_help};
pub use matrix::{Combination, Matrix, MatrixEdit, MatrixRow};

/// Sessions as they were when it was looked up how long they took.
pub(crate) type Sources = Vec<(PathBuf, Stamp)>;

/// Reads batch sizes as they are typed.
pub fn parse_batches(text: &str) -> Result<Vec<usize>, SizeError> {
    sizes::parse(BATCH, text)
}

/// Most undo steps.
const UNDO_STEPS: usize = 200;

/// What is known of the model.
#[derive(Clone, Debug, Default)]
pub enum ModelFacts {
    /// Nothing yet.
    #[default]
    Unknown,
    /// Being read.
    Reading,
    /// Read.
    Known(Box<ModelSummary>),
    /// Cannot be used, and why.
    Refused(String),
}

/// What is checked of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckSubject {
    /// The plan, without what no refusal depends on.
    plan: Plan,
    /// Sizes that the screen offers to add.
    offered: Vec<NamedSize>,
}

/// What a run would refuse of the plan.
#[derive(Debug, Default)]
pub(crate) struct Checking {
    found: Option<(CheckSubject, PlanCheck)>,
    found_ns: u64,
    is_busy: bool,
}

/// Known durations and their sessions.
#[derive(Debug, Default)]
pub(crate) struct PastDurationCache {
    from: Sources,
    pub known: PastDurations,
}

/// The plan with its history.
#[derive(Debug, Default)]
pub struct Planner {
    /// The plan as it stands.
    pub draft: Draft,
    /// What is known of its model.
    pub facts: ModelFacts,
    /// Saved plans, by file.
    pub kept: Vec<(PathBuf, Draft)>,
    /// The setup whose keys are all shown, by its place.
    pub more: Option<usize>,
    /// The matrix, while it is shown.
    pub matrix: Option<Matrix>,
    /// What a run would refuse.
    checking: Checking,
    undo: Vec<Draft>,
    redo: Vec<Draft>,
    /// The text field of the last change: further letters in it are the same step.
    typing: Option<Typing>,
}

impl Planner {
    /// A plan without a history.
    pub fn new(draft: Draft) -> Self {
        Self {
            draft,
            ..Self::default()
        }
    }

    /// What is wrong with the plan's text, with names of fields in place of options.
    pub fn faults(&self) -> Vec<PlanError> {
        let faults = self.draft.request().err().into_iter().flatten();
        let shown = faults.map(|fault| PlanError {
            text: without_options(fault.text),
            ..fault
        });
        shown.collect()
    }

    /// Why the plan cannot be run, by what is typed and what is known of its model.
    pub(crate) fn obstacle(&self) -> Option<String> {
        match (self.faults().into_iter().next(), &self.facts) {
            (Some(fault), _) => Some(fault.text),
            (None, ModelFacts::Refused(reason)) => Some(reason.clone()),
            (None, _) => None,
        }
    }

    /// Whether there is a step before.
    pub fn can_undo(&self) -> bool {
        !self.undo.is_empty()
    }

    /// Whether there is a step after.
    pub fn can_redo(&self) -> bool {
        !self.redo.is_empty()
    }

    /// Puts another plan in place of this one, as a step that can be undone.
    pub fn replace(&mut self, draft: Draft) {
        self.remember(None);
        self.draft = draft;
        self.forget_places();
    }

    /// Setups may stand elsewhere now.
    fn forget_places(&mut self) {
        self.more = None;
        if let Some(matrix) = &mut self.matrix {
            matrix.base = None;
        }
    }

    /// Changes the draft. What needs files or dialogs is left to `update.rs`.
    pub fn edit(&mut self, edit: PlanEdit) {
        match edit {
            PlanEdit::Undo | PlanEdit::Redo => {
                self.step(edit == PlanEdit::Undo);
                self.forget_places();
            }
            PlanEdit::ChooseModel
            | PlanEdit::Keep
            | PlanEdit::Use(_)
            | PlanEdit::Ladder(_)
            | PlanEdit::LargerBatches(_)
            | PlanEdit::First
            | PlanEdit::ChoosePath(..)
            | PlanEdit::Matrix(_)
            | PlanEdit::Forget(_) => {}
            PlanEdit::More(place) => self.more = place,
            edit => {
                let typing = typing(&edit);
                self.more = self.more.and_then(|place| followed(place, &edit));
                if let Some(matrix) = &mut self.matrix {
                    matrix.base = matrix.base.and_then(|place| followed(place, &edit));
                }
                let before = self.draft.clone();
                apply(&mut self.draft, edit);
                if self.draft != before {
                    let after = std::mem::replace(&mut self.draft, before);
                    self.remember(typing);
                    self.draft = after;
                }
            }
        }
    }

    /// Adds setups at the end, as one step.
    pub(crate) fn add_all(&mut self, specs: Vec<String>) {
        self.remember(None);
        let added = specs.into_iter().map(|spec| DraftSetup {
            spec,
            ..DraftSetup::default()
        });
        change_machines(&mut self.draft, |draft| draft.setups.extend(added));
    }

    fn remember(&mut self, typing: Option<Typing>) {
        if typing.is_none() || typing != self.typing {
            self.undo.push(self.draft.clone());
            if self.undo.len() > UNDO_STEPS {
                self.undo.remove(0);
            }
        }
        self.redo.clear();
        self.typing = typing;
    }

    fn step(&mut self, back: bool) {
        let (from, to) = if back {
            (&mut self.undo, &mut self.redo)
        } else {
            (&mut self.redo, &mut self.undo)
        };
        if let Some(draft) = from.pop() {
            to.push(std::mem::replace(&mut self.draft, draft));
        }
        self.typing = None;
    }
}

/// Where a setup stands after a change; nothing where it is gone.
fn followed(place: usize, edit: &PlanEdit) -> Option<usize> {
    match *edit {
        PlanEdit::Remove(gone) if gone == place => None,
        PlanEdit::Remove(gone) if gone < place => Some(place - 1),
        PlanEdit::Duplicate(one) if one < place => Some(place + 1),
        PlanEdit::Move(from, to) if from == place => Some(to),
        PlanEdit::Move(from, to) if from < place && to >= place => Some(place - 1),
        PlanEdit::Move(from, to) if from > place && to <= place => Some(place + 1),
        PlanEdit::Clear => None,
        _ => Some(place),
    }
}

/// The built-in networks: id and title of each.
pub fn built_in() -> impl Iterator<Item = (&'static str, &'static str)> {
    zoo::ALL.iter().map(|model| (model.id, model.title))
}

/// Built-in plans.
pub fn ladders() -> impl Iterator<Item = &'static ladders::Ladder> {
    ladders::ALL.iter()
}

/// What people call an engine; what is written where there is none.
pub fn engine_title(id: &str) -> &str {
    engine_options::find(id).map_or(id, |engine| engine.title())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_setups_are_two_fields() {
        let mut planner = Planner::default();
        planner.edit(PlanEdit::Add("ort".to_owned()));
        planner.edit(PlanEdit::Add("ort".to_owned()));
        for (setup, text) in [(0, "o"), (0, "or"), (1, "t")] {
            planner.edit(PlanEdit::Text(PlanField::Setup(setup), text.to_owned()));
        }
        planner.edit(PlanEdit::Undo);
        let specs = planner.draft.setups.iter().map(|setup| setup.spec.as_str());
        assert_eq!(specs.collect::<Vec<_>>(), ["or", "ort"]);
    }

    #[test]
    fn letters_of_one_field_are_one_step() {
        let mut planner = Planner::default();
        for text in ["r", "re", "res"] {
            planner.edit(PlanEdit::Text(PlanField::Name, text.to_owned()));
        }
        planner.edit(PlanEdit::Add("tract".to_owned()));
        planner.edit(PlanEdit::Undo);
        assert_eq!(
            (planner.draft.name.as_str(), planner.draft.setups.len()),
            ("res", 0)
        );
        planner.edit(PlanEdit::Undo);
        assert_eq!(planner.draft, Draft::default());
        assert!(!planner.can_undo());
        planner.edit(PlanEdit::Redo);
        planner.edit(PlanEdit::Redo);
        assert_eq!(
            (planner.draft.name.as_str(), planner.draft.setups.len()),
            ("res", 1)
        );
    }

    #[test]
    fn setups_are_moved_and_copied() {
        let mut planner = Planner::default();
        for spec in ["tract", "ort:cpu"] {
            planner.edit(PlanEdit::Add(spec.to_owned()));
        }
        planner.edit(PlanEdit::Move(1, 0));
        planner.edit(PlanEdit::Duplicate(0));
        planner.edit(PlanEdit::Remove(9));
        let specs: Vec<&str> = planner
            .draft
            .setups
            .iter()
            .map(|s| s.spec.as_str())
            .collect();
        assert_eq!(specs, ["ort:cpu", "ort:cpu", "tract"]);
    }
}
