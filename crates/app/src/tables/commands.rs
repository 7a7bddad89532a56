//! Commands about the tables of the screen that is shown.

use super::action::Change;
use crate::action::Action;
use crate::command::entry::{Command, command};

/// These commands.
pub(crate) const ALL: &[Command] = &[command(
    "select-rows",
    "Select all rows of the table",
    "Ctrl+A",
    |app| {
        let id = app.tables.at_hand(app.screen).ok_or("no table is shown")?;
        Ok(Action::Table(id, Change::SelectAll))
    },
)];
