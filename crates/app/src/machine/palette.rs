//! In the command palette: environments that have engines, and a reset of chosen locations.

use super::PathSetting;
use crate::App;
use crate::action::{Action, MachineAction};
use crate::palette_entries::entry::{Offered, seen_on};
use crate::screen::Screen;
use powerband_planning::engine_options::OfferedEnvironment;

pub(crate) fn entries(app: &App) -> Vec<Offered> {
    let chosen = PathSetting::ALL
        .into_iter()
        .filter(|pointed| pointed.chosen(&app.shared.place).is_some());
    let found_again = chosen.map(|pointed| {
        let title = format!("Settings: use the first {} found", pointed.title());
        seen_on(
            Screen::Settings,
            title,
            Action::Machine(MachineAction::Point(pointed, None)),
        )
    });
    let engines = app.shared.machine.engines.iter().flatten();
    let environments = engines.flat_map(|engine| {
        let use_it = move |offer: &OfferedEnvironment| {
            let point = MachineAction::Point(engine.pointed()?, Some(offer.path.clone()));
            let title = engine.use_title(offer);
            Some(seen_on(Screen::Home, title, Action::Machine(point)))
        };
        engine.offers.iter().filter_map(use_it)
    });
    found_again.chain(environments).collect()
}
