//! Commands about tables and charts, wherever they are.

use crate::App;
use crate::action::{Action, FigureAction};
use crate::command::entry::{Command, command};
use crate::tables::{self, action::TableChange};

pub(crate) const ALL: &[Command] = &[
    command("copy-table", "Copy the table", "Ctrl+Shift+C", |app| {
        table(app, TableChange::Copy)
    }),
    command("export-table", "Export the table…", "", |app| {
        table(app, TableChange::Export(None))
    })
    .on_machine(),
    command(
        "copy-picture",
        "Copy the picture of a chart",
        "Ctrl+I",
        |app| figure(app, FigureAction::CopyNear),
    )
    .on_machine(),
    command("save-figure", "Save a chart as…", "Ctrl+Shift+I", |app| {
        figure(app, FigureAction::SaveNear)
    })
    .on_machine(),
];

/// A request about the first table of the screen.
fn table(app: &App, change: TableChange) -> Result<Action, &'static str> {
    let here = tables::ALL
        .iter()
        .filter(|kind| kind.screen == app.shared.screen);
    let mut shown = here.filter(|kind| app.shared.tables.view(kind.id).is_some());
    let kind = shown.next().ok_or("there is no table on this screen")?;
    Ok(Action::Table(kind.id, change))
}

/// A request about the figures of a screen that has some.
fn figure(app: &App, request: FigureAction) -> Result<Action, &'static str> {
    if app.shared.window.has_figure {
        Ok(Action::Figures(request))
    } else {
        Err("there is no chart on this screen")
    }
}
