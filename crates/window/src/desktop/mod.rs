//! What the desktop and the system below the window do for it: file dialogs, settings, its display, its memory.
//!
//! A page of a browser has none of it, and on Windows it is not built: `viewing.rs` stands in its place.

pub(crate) mod dialog_request;
#[cfg(unix)]
mod file_chooser;
#[cfg(unix)]
pub mod heap;
#[cfg(unix)]
pub(crate) mod lost_display;
#[cfg(unix)]
pub(crate) mod missing_libraries;
#[cfg(unix)]
mod portal;
mod setting;
#[cfg(not(unix))]
mod viewing;

pub(crate) use dialog_request::{DesktopDialog, DialogKind, DialogRequest};
#[cfg(unix)]
pub(crate) use file_chooser::open_dialog;
#[cfg(unix)]
pub(crate) use lost_display::note_running;
#[cfg(unix)]
pub(crate) use portal::{follow_settings, has_session_bus};
pub(crate) use setting::{DesktopSetting, Scheme};
#[cfg(not(unix))]
pub(crate) use viewing::{follow_settings, has_session_bus, note_running, open_dialog};
