//! What can be done with a setup of the plan.

use super::{MatrixEdit, PlanEdit};
use crate::App;
use crate::action::{Action, Shell};
use crate::palette_entries::entry::{Groups, all_of, anywhere, seen_on};
use crate::screen::Screen;

/// What can be done with a setup of the plan, by its place.
pub(crate) fn of_setup(app: &App, place: usize) -> Groups {
    let setups = &app.bench.planner.draft.setups;
    let Some(setup) = setups.get(place) else {
        return Vec::new();
    };
    let plan = |title: &str, edit| seen_on(Screen::Plan, title, Action::Plan(edit));
    let mut moves = Vec::new();
    if place > 0 {
        moves.push(plan("Move up", PlanEdit::Move(place, place - 1)));
    }
    if place + 1 < setups.len() {
        moves.push(plan("Move down", PlanEdit::Move(place, place + 1)));
    }
    let copy = Action::Shell(Shell::Copy(setup.spec.clone()));
    let is_open = app.bench.planner.more == Some(place);
    let more = if is_open {
        plan("Fewer options", PlanEdit::More(None))
    } else {
        plan("More options", PlanEdit::More(Some(place)))
    };
    let matrix = MatrixEdit::Base(place);
    let vary = all_of(
        "Matrix of this setup…",
        vec![
            Action::Plan(PlanEdit::Matrix(MatrixEdit::Open)),
            Action::Plan(PlanEdit::Matrix(matrix)),
        ],
    );
    vec![
        vec![more, vary],
        vec![
            plan("Duplicate", PlanEdit::Duplicate(place)),
            anywhere("Copy as text", copy),
        ],
        moves,
        vec![plan("Remove", PlanEdit::Remove(place))],
    ]
}
