//! Commands to each screen.

use super::entry::{Command, command};
use crate::action::Action;
use crate::screen::Screen;

pub(crate) const ALL: &[Command] = &[
    command("go-home", "Go to Home", "Ctrl+1", |_| {
        Ok(Action::Go(Screen::Home))
    }),
    command("go-plan", "Go to Plan", "Ctrl+2", |_| {
        Ok(Action::Go(Screen::Plan))
    }),
    command("go-run", "Go to Run", "Ctrl+3", |_| {
        Ok(Action::Go(Screen::Run))
    }),
    command("go-curves", "Go to Curves", "Ctrl+4", |_| {
        Ok(Action::Go(Screen::Curves))
    }),
    command("go-compare", "Go to Compare", "Ctrl+5", |_| {
        Ok(Action::Go(Screen::Compare))
    }),
    command("go-fleet", "Go to Fleet", "Ctrl+Shift+M", |_| {
        Ok(Action::Go(Screen::Fleet))
    }),
    command("go-history", "Go to History", "Ctrl+6", |_| {
        Ok(Action::Go(Screen::History))
    }),
    command("go-journey", "Go to Steps", "Ctrl+7", |_| {
        Ok(Action::Go(Screen::Journey))
    }),
    command("go-kernels", "Go to Kernels", "Ctrl+8", |_| {
        Ok(Action::Go(Screen::Kernels))
    }),
    command("go-why", "Go to Why", "Ctrl+Shift+Y", |_| {
        Ok(Action::Go(Screen::Why))
    }),
    command("go-timeline", "Go to Timeline", "Ctrl+Shift+T", |_| {
        Ok(Action::Go(Screen::Timeline))
    }),
    command("go-library", "Go to Library", "Ctrl+9", |_| {
        Ok(Action::Go(Screen::Library))
    }),
    command("go-settings", "Go to Settings", "Ctrl+Comma", |_| {
        Ok(Action::Go(Screen::Settings))
    }),
];
