//! Commands about the tables of the screen that is shown.

use super::action::TableChange;
use crate::action::Action;
use crate::command::entry::{Command, command};

pub(crate) const ALL: &[Command] = &[command(
    "select-rows",
    "Select all rows of the table",
    "Ctrl+A",
    |app| {
        let id = app
            .shared
            .tables
            .focused_table(app.shared.screen)
            .ok_or("no table is shown")?;
        Ok(Action::Table(id, TableChange::SelectAll))
    },
)];
