//! The window itself: what it remembers, and what can be asked for whichever screen is shown.

pub(crate) mod action;
mod back_and_forward;
pub(crate) mod commands;
pub mod hints;
pub mod layout;
pub(crate) mod menu;
pub(crate) mod palette;
pub mod pane;
mod remember;
pub mod settings;
pub mod trail;
mod update;
