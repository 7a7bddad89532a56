//! What the desktop and the system below the window do for it: file dialogs, settings, its display, its memory.
//!
//! A page of a browser has none of it, and `page.rs` says so; all else in this folder is built for desktops alone.

pub(crate) mod dialog_request;
#[cfg(not(target_arch = "wasm32"))]
mod file_chooser;
#[cfg(not(target_arch = "wasm32"))]
pub mod heap;
#[cfg(not(target_arch = "wasm32"))]
pub(crate) mod lost_display;
#[cfg(not(target_arch = "wasm32"))]
pub(crate) mod missing_libraries;
#[cfg(target_arch = "wasm32")]
mod page;
#[cfg(not(target_arch = "wasm32"))]
mod portal;
mod setting;

pub(crate) use dialog_request::{DesktopDialog, DialogKind, DialogRequest};
#[cfg(not(target_arch = "wasm32"))]
pub(crate) use file_chooser::open_dialog;
#[cfg(not(target_arch = "wasm32"))]
pub(crate) use lost_display::note_running;
#[cfg(target_arch = "wasm32")]
pub(crate) use page::{follow_settings, has_session_bus, note_running, open_dialog};
#[cfg(not(target_arch = "wasm32"))]
pub(crate) use portal::{follow_settings, has_session_bus};
pub(crate) use setting::{DesktopSetting, Scheme};
