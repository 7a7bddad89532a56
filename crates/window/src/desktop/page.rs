//! A page of a browser in place of a desktop: it has no dialogs for files, and its theme comes with each frame.

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

/// Nothing runs in a page.
pub(crate) fn note_running(_: bool) {}
