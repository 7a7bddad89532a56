//! What a command is.

use crate::App;
use crate::action::Action;
use crate::shared::Shared;

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
    /// Whether it needs a machine: one that measures, has files, and starts programs.
    pub needs_machine: bool,
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
        needs_machine: false,
    }
}

impl Command {
    /// Whether it is offered: without a machine, only if it needs none.
    pub fn is_offered(&self, shared: &Shared) -> bool {
        shared.has_machine() || !self.needs_machine
    }

    /// The same, which is offered on a machine alone.
    pub(crate) const fn on_machine(self) -> Self {
        Self {
            needs_machine: true,
            ..self
        }
    }

    /// The same with more keys.
    pub(crate) const fn also(self, more_keys: &'static str) -> Self {
        Self { more_keys, ..self }
    }
}
