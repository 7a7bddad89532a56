//! What can be done with a door of the rail.

use super::layout::{Pane, ROOM_BELOW, ROOM_FOR_TWO};
use crate::App;
use crate::action::{Action, Shell};
use crate::palette_entries::entry::{Groups, anywhere};
use crate::screen::Door;

/// The screens behind a door, to be shown alone or beside the one that is shown.
pub(crate) fn door_menu(app: &App, door: Door) -> Groups {
    let shell = |title: &str, request| anywhere(title, Action::Shell(request));
    let room = |pane: Pane| match pane {
        _ if app.shared.has_room_for(pane) => Ok(()),
        Pane::Below => Err(format!(
            "the window has no room below: that needs {ROOM_BELOW} points of height"
        )),
        _ => Err(format!(
            "the window has no room for two screens: they need {ROOM_FOR_TWO} points beside the rail and the library"
        )),
    };
    let screens = || door.screens().iter().copied();
    let go = screens().map(|screen| {
        let title = match door.screens() {
            [_] => "Go there".to_owned(),
            _ => format!("Go to {}", screen.title()),
        };
        anywhere(title, Action::Go(screen))
    });
    let others = screens().filter(|screen| *screen != app.shared.screen);
    let mut divided: Vec<_> = others
        .flat_map(|screen| {
            [Pane::Right, Pane::Below].map(|pane| {
                let title = format!("Show {} {}", screen.title(), pane.place());
                shell(&title, Shell::Pane(pane, Some(screen))).only_if(room(pane))
            })
        })
        .collect();
    for (pane, exchange, close) in [
        (
            Pane::Right,
            "Exchange the screen with the one at the right",
            "Close the screen at the right",
        ),
        (
            Pane::Below,
            "Exchange the screen with the one below",
            "Close the screen below",
        ),
    ] {
        if app.shared.screen_in(pane).is_some() {
            let main = Some(app.shared.screen);
            divided.push(shell(exchange, Shell::Pane(pane, main)));
            divided.push(shell(close, Shell::Pane(pane, None)));
        }
    }
    vec![go.collect(), divided]
}
