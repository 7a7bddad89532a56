//! The window: the only crate that uses egui. It reads the application and returns actions.

#![cfg_attr(
    target_arch = "wasm32",
    expect(
        dead_code,
        unused_imports,
        reason = "what needs a machine is left out of a page"
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
#[cfg(not(target_arch = "wasm32"))]
mod start;
mod system_theme;
mod theme;
mod views;
mod widgets;
mod window;

pub use screen_text::ScreenText;
#[cfg(not(target_arch = "wasm32"))]
pub use start::{Failure, run};
pub use window::{Started, Window};
