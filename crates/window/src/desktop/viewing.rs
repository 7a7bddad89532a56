//! A page of a browser, or a desktop on which results are only looked at: there are no dialogs for files, and the theme
//! comes with each frame.

use eframe::egui::Context;

use super::dialog_request::{DesktopDialog, DialogRequest};
use super::setting::DesktopSetting;

/// No dialog is open.
pub(crate) fn open_dialog(_: DialogRequest, _: Context) -> Option<DesktopDialog> {
    None
}

/// There is no bus.
pub(crate) fn has_session_bus() -> bool {
    false
}

/// Nothing is reported.
pub(crate) fn follow_settings(_: impl FnMut(DesktopSetting)) {}

/// Nothing runs here.
pub(crate) fn note_running(_: bool) {}
