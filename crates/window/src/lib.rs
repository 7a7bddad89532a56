//! The window: the only crate that uses egui. It reads the application and returns actions.

#![cfg_attr(
    not(unix),
    expect(
        dead_code,
        unused_imports,
        reason = "what measures is left out of pages and on Windows"
    )
)]

pub mod desktop;
mod dialog_text;
mod dialogs;
mod icon;
mod keyboard;
mod repaint_throttle;
mod screen_text;
mod shell;
#[cfg(unix)]
mod start;
mod system_theme;
mod theme;
mod views;
mod widgets;
mod window;

pub use screen_text::ScreenText;
#[cfg(unix)]
pub use start::{Failure, run};
pub use window::{Started, Window};
