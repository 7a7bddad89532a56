//! Commands about the question why.

use super::ask;
use crate::action::{Action, RunAction, Why};
use crate::command::entry::{Command, command};
use crate::plan::PlanEdit;

pub(crate) const ALL: &[Command] = &[
    command(
        "why-ask",
        "Why: measure experiments on this case",
        "",
        |app| ask::case_to_ask(app).map(|pin| Action::Run(RunAction::Why(pin, None))),
    )
    .on_machine(),
    command(
        "why-batches",
        "Why: plan larger batches of this case",
        "",
        |app| ask::case_to_ask(app).map(|pin| Action::Plan(PlanEdit::LargerBatches(pin))),
    )
    .on_machine(),
    command("why-none", "Why: select nothing", "", |app| {
        match app.profile.why.selected {
            Some(_) => Ok(Action::Why(Why::Select(None))),
            None => Err("no node is selected"),
        }
    }),
];
