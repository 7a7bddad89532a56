//! Commands to each door, and to each screen behind one.

use super::entry::{Command, command};
use crate::App;
use crate::action::Action;
use crate::screen::{Door, Screen};

pub(crate) const ALL: &[Command] = &[
    command("go-home", "Go to Home", "1", |app| Ok(go(app, Door::Home)))
        .on_machine()
        .also("Ctrl+1"),
    command("go-bench", "Go to Bench", "2", |app| {
        Ok(go(app, Door::Bench))
    })
    .on_machine(),
    command("go-curves", "Go to Curves", "3", |app| {
        Ok(go(app, Door::Curves))
    })
    .also("Ctrl+4"),
    command("go-compare", "Go to Compare", "4", |app| {
        Ok(go(app, Door::Compare))
    }),
    command("go-profile", "Go to Profile", "5", |app| {
        Ok(go(app, Door::Profile))
    }),
    command("go-library", "Go to Library", "6", |app| {
        Ok(go(app, Door::Library))
    })
    .on_machine()
    .also("Ctrl+9"),
    command("go-settings", "Go to Settings", "7", |app| {
        Ok(go(app, Door::Settings))
    })
    .also("Ctrl+Comma"),
    command("go-plan", "Bench: the plan", "Ctrl+2", |_| {
        Ok(Action::Go(Screen::Plan))
    })
    .on_machine(),
    command("go-run", "Bench: the run", "Ctrl+3", |_| {
        Ok(Action::Go(Screen::Run))
    })
    .on_machine(),
    command("go-sides", "Compare: two sides", "Ctrl+5", |_| {
        Ok(Action::Go(Screen::Compare))
    }),
    command("go-history", "Compare: over time", "Ctrl+6", |_| {
        Ok(Action::Go(Screen::History))
    }),
    command("go-journey", "Compare: steps", "Ctrl+7", |_| {
        Ok(Action::Go(Screen::Journey))
    }),
    command("go-fleet", "Compare: machines", "Ctrl+Shift+M", |_| {
        Ok(Action::Go(Screen::Fleet))
    }),
    command("go-kernels", "Profile: kernels", "Ctrl+8", |_| {
        Ok(Action::Go(Screen::Kernels))
    }),
    command("go-network", "Profile: network", "Ctrl+Shift+G", |_| {
        Ok(Action::Go(Screen::Network))
    }),
    command("go-timeline", "Profile: timeline", "Ctrl+Shift+T", |_| {
        Ok(Action::Go(Screen::Timeline))
    }),
    command("go-why", "Profile: why", "Ctrl+Shift+Y", |_| {
        Ok(Action::Go(Screen::Why))
    }),
];

fn go(app: &App, door: Door) -> Action {
    Action::Go(app.shared.screen_behind(door))
}
