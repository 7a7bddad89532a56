//! Commands about detached runs.

use crate::action::{Action, Detached};
use crate::command::entry::{Command, command};

pub(crate) const ALL: &[Command] = &[command(
    "detached-runs",
    "Look for detached runs",
    "",
    |app| {
        if app.settings.detached.is_busy {
            return Err("they are looked for");
        }
        Ok(Action::Detached(Detached::Look))
    },
)];
