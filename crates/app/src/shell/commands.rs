//! Commands about the window itself.

use super::hints;
use super::layout::Pane;
use super::settings::Theme;
use crate::App;
use crate::action::{Action, Shell};
use crate::command::entry::{Command, command};

/// Why nothing can be done with a pane.
const NO_PANE: &str = "no screen is shown there";

pub(crate) const ALL: &[Command] = &[
    command("palette", "Find a command", "Ctrl+K", |app| {
        Ok(shell(Shell::Palette(!app.shared.window.palette_open)))
    }),
    command("back", "Back out", "Escape", |_| Ok(Action::Back)),
    command("earlier", "Go back", "Alt+ArrowLeft", |app| {
        let can = app.shared.trail.has_past().then(|| shell(Shell::Earlier));
        can.ok_or("there is no place before this one")
    }),
    command("later", "Go forward", "Alt+ArrowRight", |app| {
        let can = app.shared.trail.has_future().then(|| shell(Shell::Later));
        can.ok_or("there is no place after this one")
    }),
    command(
        "swap-screens",
        "Exchange the screen with the one at the right",
        "",
        |app| exchange(app, Pane::Right),
    ),
    command(
        "swap-below",
        "Exchange the screen with the one below",
        "",
        |app| exchange(app, Pane::Below),
    ),
    command("one-screen", "Close the screen at the right", "", |app| {
        close(app, Pane::Right)
    }),
    command("close-below", "Close the screen below", "", |app| {
        close(app, Pane::Below)
    }),
    command(
        "rail-labels",
        "Show or hide the names on the rail",
        "Ctrl+Shift+B",
        |app| {
            let is_alone = app.shared.remembered.rail_icons_only;
            Ok(shell(Shell::RailIconsOnly(!is_alone)))
        },
    ),
    command("hints", "Show the hints for newcomers", "", |_| {
        Ok(shell(Shell::Hint(0)))
    })
    .on_machine(),
    command("close-hints", "Close the hints for newcomers", "", |app| {
        let shown = app.shared.hint().ok_or("the hints are closed");
        shown.map(|_| shell(Shell::Hint(hints::ALL.len())))
    })
    .on_machine(),
    command(
        "guide",
        "Open the guide's page of this screen",
        "F1",
        |app| Ok(shell(Shell::Guide(!app.shared.window.guide_open))),
    )
    .on_machine()
    .also("Shift+Questionmark"),
    command("log", "Show the log", "Ctrl+L", |app| {
        Ok(shell(Shell::Log(!app.shared.window.log_open)))
    }),
    command(
        "toggle-library",
        "Show or hide the library",
        "Ctrl+B",
        |_| Ok(shell(Shell::ToggleLibrary)),
    )
    .on_machine(),
    command("theme-next", "Next theme", "", |_| {
        Ok(shell(Shell::NextTheme))
    }),
    command("theme-system", "Theme: as the system", "", |_| {
        Ok(shell(Shell::Theme(Theme::System)))
    }),
    command("theme-light", "Theme: light", "", |_| {
        Ok(shell(Shell::Theme(Theme::Light)))
    }),
    command("theme-dark", "Theme: dark", "", |_| {
        Ok(shell(Shell::Theme(Theme::Dark)))
    }),
    command("larger", "Zoom in", "Ctrl+Plus", |_| {
        Ok(shell(Shell::Zoom(1)))
    }),
    command("smaller", "Zoom out", "Ctrl+Minus", |_| {
        Ok(shell(Shell::Zoom(-1)))
    }),
    command("normal-size", "Reset zoom", "Ctrl+0", |_| {
        Ok(shell(Shell::Zoom(0)))
    }),
    command("reset-shortcuts", "Reset all shortcuts", "", |_| {
        Ok(shell(Shell::ResetShortcuts))
    }),
    command("dismiss", "Dismiss the newest notice", "Ctrl+D", |app| {
        let shown = app.shared.notices.newest_up().ok_or("there is no notice");
        shown.map(|_| shell(Shell::DismissNewest))
    }),
    command("copy-notice", "Copy the newest notice", "", |app| {
        let newest = app
            .shared
            .notices
            .on_screen()
            .last()
            .ok_or("there is no notice")?;
        Ok(shell(Shell::Copy(newest.text.clone())))
    }),
    command("copy-log", "Copy the log", "", |app| {
        let text = app.bench.log_text(&app.shared);
        if text.is_empty() {
            return Err("the log is empty");
        }
        Ok(shell(Shell::Copy(text)))
    }),
    command("close", "Close Powerband", "Ctrl+Q", |_| {
        Ok(shell(Shell::AskClose))
    })
    .on_machine(),
];

fn shell(change: Shell) -> Action {
    Action::Shell(change)
}

fn exchange(app: &App, pane: Pane) -> Result<Action, &'static str> {
    let can = app.shared.screen_in(pane);
    can.map(|_| shell(Shell::Pane(pane, Some(app.shared.screen))))
        .ok_or(NO_PANE)
}

fn close(app: &App, pane: Pane) -> Result<Action, &'static str> {
    let can = app.shared.screen_in(pane);
    can.map(|_| shell(Shell::Pane(pane, None))).ok_or(NO_PANE)
}
