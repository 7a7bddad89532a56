//! Commands about the comparison.

use crate::action::{Action, Compare, Kernels, RunAction};
use crate::command::entry::{Command, command};
use crate::screen::Screen;

pub(crate) const ALL: &[Command] = &[
    command(
        "more-rounds",
        "Compare: measure the missing rounds",
        "",
        |app| {
            let missing = app.compare.sides.rounds_to_settle(&app.shared.sessions);
            let (session, more) = missing.ok_or("more rounds would change no verdict")?;
            Ok(Action::Run(RunAction::More(session, more.rounds)))
        },
    ),
    command(
        "measure-again",
        "Compare: measure both again, in turns",
        "",
        |app| {
            let sides = app
                .compare
                .sides
                .sides_to_measure_again(&app.shared.sessions);
            let sides = sides.ok();
            let (before, after) =
                sides.ok_or("no two sessions are compared that can be measured here")?;
            Ok(Action::Run(RunAction::Again(before, after)))
        },
    ),
    command(
        "measure-history-again",
        "History: measure the last two sessions again, in turns",
        "",
        |app| {
            let sides = app.compare.history.sides_to_measure_again();
            let sides = sides.ok();
            sides
                .map(|sides| Action::Run(RunAction::AgainInHistory(Box::new(sides))))
                .ok_or("History shows no two sessions that can be measured here")
        },
    ),
    command(
        "swap",
        "Compare: swap before and after",
        "Ctrl+Shift+X",
        |app| match app.shared.screen {
            Screen::Kernels => Ok(Action::Kernels(Kernels::Swap)),
            _ => Ok(Action::Compare(Compare::Swap)),
        },
    ),
];
