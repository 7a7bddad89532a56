//! The window: the only folder that uses egui. It reads the application and returns actions.

mod dialog_text;
mod dialogs;
mod file_chooser;
pub mod heap;
mod icon;
mod keyboard;
mod lost_display;
mod missing_libraries;
mod portal;
mod repaint_throttle;
mod shell;
mod system_theme;
mod theme;
mod views;
mod widgets;
mod window;

pub use window::{Failure, Started, Window, run};
