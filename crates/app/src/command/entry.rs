//! What a command is.

use crate::App;
use crate::action::Action;

/// A command.
#[derive(Clone, Copy)]
pub struct Command {
    /// Its name in the settings file; never changed.
    pub id: &'static str,
    /// Its title.
    pub title: &'static str,
    /// Its default keys; empty for none.
    pub keys: &'static str,
    /// More keys that lead to it, as long as its own are not changed; empty for none.
    pub more_keys: &'static str,
    /// Its action now, or why it is not available.
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
        more_keys: "",
        act,
    }
}

impl Command {
    /// The same with more keys.
    pub(crate) const fn also(self, more_keys: &'static str) -> Self {
        Self { more_keys, ..self }
    }
}
