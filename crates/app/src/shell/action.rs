//! Actions on the window itself.

use super::pane::Pane;
use std::path::PathBuf;

use super::settings::{ReadingRate, Theme};
use crate::keys::Shortcut;
use crate::screen::Screen;

/// Actions on the window itself.
#[derive(Clone, Debug, PartialEq)]
pub enum Shell {
    /// Opens or closes the command palette.
    Palette(bool),
    /// Opens or closes the guide's page of the screen.
    Guide(bool),
    /// Opens or closes the log of notices.
    Log(bool),
    /// Shows or hides the library beside the rail.
    ToggleLibrary,
    /// To the place before.
    Earlier,
    /// To the place after, where one went back.
    Later,
    /// Shows a screen in a pane, in exchange where it is in another; nothing closes the pane.
    Pane(Pane, Option<Screen>),
    /// The size of a part of the window, by its id; nothing for the usual one.
    Resize(String, Option<f32>),
    /// Shows the rail's icons without the names of its doors.
    RailIconsOnly(bool),
    /// Light, dark, or as the system has it.
    Theme(Theme),
    /// The next theme in turn.
    NextTheme,
    /// Zooms in (above 0), out (below 0) or back to 100 % (0).
    Zoom(i8),
    /// How often devices are read during the next run.
    Watching(ReadingRate),
    /// Changes the shortcut of a command; `None` removes it.
    Shortcut(&'static str, Option<Shortcut>),
    /// Resets every shortcut.
    ResetShortcuts,
    /// Dismisses a notice.
    Dismiss(u64),
    /// Dismisses the newest notice.
    DismissNewest,
    /// Copies text to the clipboard.
    Copy(String),
    /// Which hint for newcomers is shown; one beyond the last for none.
    Hint(usize),
    /// Opens a file that was written with the program that the desktop has for it.
    OpenFile(PathBuf),
    /// Puts the cursor into a field of the screen, by its name.
    Cursor(String),
    /// The user wants to close the window.
    AskClose,
    /// The answer to the question on closing during a run.
    Close(Closing),
}

/// What happens to a run when its window closes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closing {
    /// The window stays.
    Stay,
    /// The window hides; the run continues, is saved, and the program ends.
    Finish,
    /// The run stops, what was measured is saved, and the program ends.
    Stop,
}
