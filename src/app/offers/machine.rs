//! What engines need, found again where the user pointed elsewhere.

use super::{Offered, seen_on};
use crate::app::App;
use crate::app::action::{Action, Machine};
use crate::app::machine::Pointed;
use crate::app::screen::Screen;

pub(super) fn of(app: &App) -> Vec<Offered> {
    let chosen = Pointed::ALL
        .into_iter()
        .filter(|pointed| pointed.chosen(&app.place).is_some());
    chosen
        .map(|pointed| {
            let title = format!("Settings: use the {} that is found", pointed.title());
            seen_on(
                Screen::Settings,
                title,
                Action::Machine(Machine::Point(pointed, None)),
            )
        })
        .collect()
}
