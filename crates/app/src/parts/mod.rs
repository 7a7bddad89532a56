//! The parts of the application: what each can do now, and what it does when something changes elsewhere.
//!
//! A part is a folder. To add one: an entry in [`ALL`].

pub(crate) mod layer;
pub(crate) mod part;

use layer::Layer;
use part::AppPart;

use super::command::screens;
use super::doors::DoorState;
use super::screen::Screen;
use super::shared::Shared;
use super::{
    App, charts, compare, curves, detached, figures, fleet, history, items, journey, kernels,
    library, machine, network, plan, roofs, run, sessions, shell, tables, timeline, why,
};

/// Every part: each comes after those that it follows when sessions change.
pub(crate) const ALL: &[AppPart] = &[
    AppPart {
        commands: screens::ALL,
        ..AppPart::NONE
    },
    AppPart {
        commands: shell::commands::ALL,
        ..AppPart::NONE
    },
    #[cfg(unix)]
    AppPart {
        needs_machine: true,
        commands: machine::commands::ALL,
        palette: machine::palette::entries,
    },
    #[cfg(unix)]
    AppPart {
        needs_machine: true,
        commands: roofs::commands::ALL,
        palette: roofs::palette::entries,
    },
    #[cfg(unix)]
    AppPart {
        needs_machine: true,
        commands: detached::commands::ALL,
        palette: detached::palette::entries,
    },
    AppPart {
        commands: sessions::commands::ALL,
        palette: sessions::palette::entries,
        ..AppPart::NONE
    },
    #[cfg(unix)]
    AppPart {
        needs_machine: true,
        commands: run::commands::ALL,
        palette: run::palette::entries,
    },
    #[cfg(unix)]
    AppPart {
        needs_machine: true,
        commands: plan::commands::ALL,
        palette: plan::palette::entries,
    },
    AppPart {
        commands: curves::commands::ALL,
        palette: curves::palette::entries,
        ..AppPart::NONE
    },
    AppPart {
        commands: charts::commands::ALL,
        ..AppPart::NONE
    },
    AppPart {
        commands: compare::commands::ALL,
        palette: compare::palette::entries,
        ..AppPart::NONE
    },
    AppPart {
        palette: fleet::palette::entries,
        ..AppPart::NONE
    },
    AppPart {
        palette: history::palette::entries,
        ..AppPart::NONE
    },
    AppPart {
        palette: journey::palette::entries,
        ..AppPart::NONE
    },
    #[cfg(unix)]
    AppPart {
        needs_machine: true,
        commands: figures::commands::ALL,
        ..AppPart::NONE
    },
    AppPart {
        commands: kernels::commands::ALL,
        palette: kernels::palette::entries,
        ..AppPart::NONE
    },
    AppPart {
        commands: network::commands::ALL,
        palette: network::palette::entries,
        ..AppPart::NONE
    },
    AppPart {
        commands: why::commands::ALL,
        palette: why::palette::entries,
        ..AppPart::NONE
    },
    AppPart {
        commands: timeline::commands::ALL,
        palette: timeline::palette::entries,
        ..AppPart::NONE
    },
    #[cfg(unix)]
    AppPart {
        needs_machine: true,
        commands: library::commands::ALL,
        palette: library::palette::entries,
    },
    AppPart {
        commands: tables::commands::ALL,
        palette: tables::palette::entries,
        ..AppPart::NONE
    },
    AppPart {
        palette: items::palette::entries,
        ..AppPart::NONE
    },
];

impl App {
    /// Closes the innermost thing that is open, and never leaves the screen. Rows of a table are within their
    /// screen, so they come first.
    pub(crate) fn back(&mut self) {
        for layer in Layer::ALL {
            if self.shared.clear_rows(layer) || self.shared.show_all_of_charts(layer) {
                return;
            }
            let mut is_closed = false;
            self.each_door(|door, shared| is_closed = is_closed || door.back(layer, shared));
            if is_closed || self.shared.close_overlay(layer) {
                return;
            }
        }
    }

    /// Updates the layout for the window's width and height.
    pub fn fit_panes(&mut self, room: [f32; 2]) {
        let had: Vec<Screen> = self.shared.shown_screens().collect();
        self.shared.window.room = room;
        if !self.shared.shown_screens().eq(had) {
            self.refresh_shown();
        }
    }

    pub(crate) fn refresh_shown(&mut self) {
        self.each_door(|door, shared| door.screen_shown(shared));
    }

    pub(crate) fn sessions_changed(&mut self) {
        self.shared.watch_session_files();
        self.each_door(|door, shared| door.sessions_changed(shared));
    }

    /// Every door: each before those whose panes lie within its own.
    fn each_door(&mut self, mut visit: impl FnMut(&mut dyn DoorState, &mut Shared)) {
        let doors: [&mut dyn DoorState; 6] = [
            &mut self.library,
            &mut self.profile,
            &mut self.curves,
            &mut self.compare,
            &mut self.bench,
            &mut self.settings,
        ];
        for door in doors {
            visit(door, &mut self.shared);
        }
    }
}
