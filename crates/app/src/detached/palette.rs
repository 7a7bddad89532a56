//! In the command palette: detached runs that can be collected or cancelled.

use crate::App;
use crate::action::{Action, Detached};
use crate::palette_entries::entry::{Offered, seen_on};
use crate::screen::Screen;

pub(crate) fn entries(app: &App) -> Vec<Offered> {
    let runs = app.settings.detached.runs.iter();
    runs.map(|run| {
        let (verb, act) = if run.is_alive {
            ("cancel", Detached::Cancel(run.id.clone()))
        } else {
            ("collect", Detached::Collect(run.id.clone()))
        };
        let title = format!("Run: {verb} detached run {}, {}", run.id, run.name);
        seen_on(Screen::Run, title, Action::Detached(act))
    })
    .collect()
}
