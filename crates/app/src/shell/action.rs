//! What can be asked for about the window itself.

use super::settings::{Theme, Watching};
use crate::keys::Shortcut;

/// About the window itself.
#[derive(Clone, Debug, PartialEq)]
pub enum Shell {
    /// Opens or closes the command palette.
    Palette(bool),
    /// Opens or closes the log of notices.
    Log(bool),
    /// Shows or hides the library beside the rail.
    ToggleLibrary,
    /// Light, dark, or as the system has it.
    Theme(Theme),
    /// The next theme in turn.
    NextTheme,
    /// Everything a step larger (above 0), smaller (below 0) or back to its size (0).
    Zoom(i8),
    /// How often devices are read during the next run.
    Watching(Watching),
    /// Another shortcut for a command; nothing removes it.
    Shortcut(&'static str, Option<Shortcut>),
    /// Every shortcut as it was delivered.
    ResetShortcuts,
    /// Takes a notice down.
    Dismiss(u64),
    /// Takes the newest notice down.
    DismissNewest,
    /// To the clipboard.
    Copy(String),
    /// Puts the cursor into a field of the screen, by its name.
    Cursor(String),
    /// The user wants to close the window.
    AskClose,
    /// The answer to the question that closing in mid-run raises.
    Close(Closing),
}

/// What becomes of a run when its window closes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closing {
    /// The window stays.
    Stay,
    /// The window goes out of sight; the run goes on, is saved, and the program ends.
    Finish,
    /// The run stops, what was measured is saved, and the program ends.
    Stop,
}
