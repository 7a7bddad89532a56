//! What can be done with a screen on the rail.

use super::layout::ROOM_FOR_TWO;
use crate::App;
use crate::action::{Action, Shell};
use crate::palette_entries::entry::{Groups, anywhere};
use crate::screen::Screen;

/// What can be done with a screen.
pub(crate) fn of_screen(app: &App, screen: Screen) -> Groups {
    let shell = |title: &str, request| anywhere(title, Action::Shell(request));
    let room = if app.shared.window.has_room_for_two {
        Ok(())
    } else {
        Err(format!(
            "the window has no room for two screens: they need {ROOM_FOR_TWO} points beside the rail and the library"
        ))
    };
    let mut divided = Vec::new();
    if screen != app.shared.screen {
        let right = shell("Show at the right", Shell::Divide(Some(screen)));
        divided.push(right.only_if(room));
    }
    if app.shared.right_screen().is_some() {
        divided.push(shell("Exchange the two screens", Shell::SwapScreens));
        divided.push(shell("Show one screen alone", Shell::Divide(None)));
    }
    vec![vec![anywhere("Go there", Action::Go(screen))], divided]
}
