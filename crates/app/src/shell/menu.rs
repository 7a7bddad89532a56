//! What can be done with a door of the rail.

use super::layout::ROOM_FOR_TWO;
use crate::App;
use crate::action::{Action, Shell};
use crate::palette_entries::entry::{Groups, anywhere};
use crate::screen::Door;

/// The screens behind a door, to be shown alone or at the right of the one that is shown.
pub(crate) fn door_menu(app: &App, door: Door) -> Groups {
    let shell = |title: &str, request| anywhere(title, Action::Shell(request));
    let room = if app.shared.window.has_room_for_two {
        Ok(())
    } else {
        Err(format!(
            "the window has no room for two screens: they need {ROOM_FOR_TWO} points beside the rail and the library"
        ))
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
        .map(|screen| {
            let title = format!("Show {} at the right", screen.title());
            shell(&title, Shell::Divide(Some(screen))).only_if(room.clone())
        })
        .collect();
    if app.shared.right_screen().is_some() {
        divided.push(shell("Exchange the two screens", Shell::SwapScreens));
        divided.push(shell("Show one screen alone", Shell::Divide(None)));
    }
    vec![go.collect(), divided]
}
