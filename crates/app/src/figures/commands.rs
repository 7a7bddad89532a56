//! Commands about tables and charts, wherever they are.

use crate::App;
use crate::action::{Action, Compare, Curves, Figures, History, Journey, Kernels};
use crate::command::entry::{Command, command};
use crate::screen::Screen;

/// These commands.
pub(crate) const ALL: &[Command] = &[
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

/// A request about the figures of a screen that has some.
fn figure(app: &App, request: Figures) -> Result<Action, &'static str> {
    if app.has_figure {
        Ok(Action::Figures(request))
    } else {
        Err("there is no chart on this screen")
    }
}
