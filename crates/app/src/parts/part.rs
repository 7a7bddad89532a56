//! What a part of the application is.

use crate::App;
use crate::command::entry::Command;
use crate::palette_entries::entry::Offered;

/// What the application asks of each of its parts.
pub(crate) struct AppPart {
    /// Its commands, with their keys.
    pub commands: &'static [Command],
    /// What it can do beyond these, which depends on what is open, planned or saved.
    pub palette: fn(&App) -> Vec<Offered>,
}

impl AppPart {
    /// Nothing of all this.
    pub(crate) const NONE: Self = Self {
        commands: &[],
        palette: |_| Vec::new(),
    };
}

/// What *back* closes, the innermost first.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layer {
    /// What lies over the window.
    Overlay,
    /// A question before a run.
    Question,
    /// The log and the notices.
    Messages,
    /// A zoomed chart.
    Zoom,
    /// What is selected.
    Selection,
    /// What rows are filtered by.
    Filter,
    /// The search in the library.
    Library,
}

impl Layer {
    pub(crate) const ALL: [Self; 7] = [
        Self::Overlay,
        Self::Question,
        Self::Messages,
        Self::Zoom,
        Self::Selection,
        Self::Filter,
        Self::Library,
    ];
}
