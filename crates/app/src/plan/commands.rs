//! Commands about the plan.

use super::{MatrixEdit, PlanEdit};
use crate::action::{Action, Library};
use crate::command::entry::{Command, command};
use crate::screen::Screen;
use powerband_core::domain::plan::PresetName;

pub(crate) const ALL: &[Command] = &[
    // Undo works where its effect is visible: a plan changed behind another screen would be measured unnoticed.
    command("undo", "Undo", "Ctrl+Z", |app| match app.shared.screen {
        Screen::Plan if app.bench.planner.can_undo() => Ok(plan(PlanEdit::Undo)),
        Screen::Library if !app.library.discarded.is_empty() => {
            Ok(Action::Library(Library::Restore))
        }
        Screen::Plan | Screen::Library => Err("nothing to undo"),
        _ => Err("undo works on Plan (changes) and on Library (trash)"),
    }),
    command("redo", "Redo", "Ctrl+Shift+Z", |app| {
        match app.shared.screen {
            Screen::Plan if app.bench.planner.can_redo() => Ok(plan(PlanEdit::Redo)),
            Screen::Plan => Err("nothing to redo"),
            _ => Err("redo works on Plan"),
        }
    }),
    command("choose-model", "Choose an ONNX file…", "Ctrl+M", |_| {
        Ok(plan(PlanEdit::ChooseModel))
    }),
    command("add-setup", "Add a setup", "Ctrl+N", |app| {
        Ok(plan(PlanEdit::Add(app.bench.next_setup(&app.shared))))
    }),
    command(
        "setup-matrix",
        "Matrix of setups…",
        "Ctrl+Alt+N",
        |app| match app.bench.planner.matrix {
            None => Ok(plan(PlanEdit::Matrix(MatrixEdit::Open))),
            Some(_) => Ok(plan(PlanEdit::Matrix(MatrixEdit::Close))),
        },
    ),
    command("preset-quick", "Preset: quick", "", |_| {
        Ok(plan(PlanEdit::Preset(PresetName::Quick)))
    }),
    command("preset-standard", "Preset: standard", "", |_| {
        Ok(plan(PlanEdit::Preset(PresetName::Standard)))
    }),
    command("preset-publish", "Preset: publish", "", |_| {
        Ok(plan(PlanEdit::Preset(PresetName::Publish)))
    }),
    command("keep-plan", "Save the plan", "Ctrl+S", |_| {
        Ok(plan(PlanEdit::Keep))
    }),
    command("clear-plan", "New plan", "Ctrl+Shift+N", |_| {
        Ok(plan(PlanEdit::Clear))
    }),
    command(
        "plan-resnet50-case-study",
        "Plan: ResNet-50 case study",
        "",
        |_| Ok(plan(PlanEdit::Ladder("resnet50-case-study"))),
    ),
    command(
        "plan-densenet121-suite",
        "Plan: DenseNet-121 suite",
        "",
        |_| Ok(plan(PlanEdit::Ladder("densenet121-suite"))),
    ),
    command(
        "plan-everything",
        "Plan: Everything this machine can do",
        "",
        |_| Ok(plan(PlanEdit::Ladder("everything"))),
    ),
];

fn plan(edit: PlanEdit) -> Action {
    Action::Plan(edit)
}
