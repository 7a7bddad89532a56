//! The window itself: what it remembers, and what can be asked for whichever screen is shown.

pub(crate) mod action;
pub(crate) mod commands;
pub(crate) mod palette;
pub mod settings;
mod update;
