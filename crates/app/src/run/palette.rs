//! In the command palette: cases of the run that can be left out.

use crate::App;
use crate::action::{Action, Run};
use crate::palette_entries::entry::{Offered, seen_on};
use crate::screen::Screen;

pub(crate) fn entries(app: &App) -> Vec<Offered> {
    let Some(run) = app.run.as_ref().filter(|run| run.stage.is_going_on()) else {
        return Vec::new();
    };
    let Some(session) = &run.session else {
        return Vec::new();
    };
    let waiting = session
        .cases
        .iter()
        .filter(|case| !case.outcome.is_final() && !run.skipped.contains(&case.key()));
    waiting
        .map(|case| {
            let setup = session.setup_label(case.setup);
            let title = format!("Run: skip batch {} of {setup}", case.batch);
            seen_on(Screen::Run, title, Action::Run(Run::Skip(case.key())))
        })
        .collect()
}
