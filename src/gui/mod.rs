//! The window: the only folder that knows egui. It reads the application, and gives it actions back.

mod dialog_text;
mod dialogs;
mod icon;
mod keyboard;
mod portal;
mod repaint_throttle;
mod shell;
mod system_theme;
mod theme;
mod views;
mod widgets;
mod window;

pub use window::{Started, Window, run};
