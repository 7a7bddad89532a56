//! About tables and charts, wherever they are.

use super::{Command, command};
use crate::action::{Action, Compare, Curves, Figures, History, Journey, Kernels};
use crate::command_guards::figure;
use crate::screen::Screen;

/// These commands.
pub(super) const ALL: &[Command] = &[
    command(
        "copy-table",
        "Copy the table",
        "Ctrl+Shift+C",
        |app| match app.screen {
            Screen::Compare => Ok(Action::Compare(Compare::CopyTable)),
            Screen::History => Ok(Action::History(History::CopyTable)),
            Screen::Journey => Ok(Action::Journey(Journey::CopyTable)),
            Screen::Kernels => Ok(Action::Kernels(Kernels::CopyTable)),
            _ => Ok(Action::Curves(Curves::CopyTable)),
        },
    ),
    command(
        "copy-picture",
        "Copy the picture of a chart",
        "Ctrl+I",
        |app| figure(app, Figures::CopyNear),
    ),
    command("save-figure", "Save a chart as…", "Ctrl+Shift+I", |app| {
        figure(app, Figures::SaveNear)
    }),
];
