//! What a command is.

use crate::App;
use crate::action::Action;

/// A command.
#[derive(Clone, Copy)]
pub struct Command {
    /// Its name in the settings file; never changed.
    pub id: &'static str,
    /// What people read.
    pub title: &'static str,
    /// The keys that it is delivered with; empty for none.
    pub keys: &'static str,
    /// What it does now, or why it cannot be done.
    pub act: fn(&App) -> Result<Action, &'static str>,
}

pub(crate) const fn command(
    id: &'static str,
    title: &'static str,
    keys: &'static str,
    act: fn(&App) -> Result<Action, &'static str>,
) -> Command {
    Command {
        id,
        title,
        keys,
        act,
    }
}
