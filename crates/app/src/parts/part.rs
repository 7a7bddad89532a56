//! What a part of the application is.

use crate::App;
use crate::command::entry::Command;
use crate::palette_entries::entry::Offered;

/// What the application asks of each of its parts.
pub(crate) struct AppPart {
    /// Its commands, with their keys.
    pub commands: &'static [Command],
    /// Whether all of it needs a machine.
    pub needs_machine: bool,
    /// What it can do beyond these, which depends on what is open, planned or saved.
    pub palette: fn(&App) -> Vec<Offered>,
}

impl AppPart {
    /// Nothing of all this.
    pub(crate) const NONE: Self = Self {
        commands: &[],
        needs_machine: false,
        palette: |_| Vec::new(),
    };
}
