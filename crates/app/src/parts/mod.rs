//! The parts of the application: what each can do now, and what it does when something changes elsewhere.
//!
//! A part is a folder. To add one: an entry in [`ALL`].

pub(crate) mod part;

use part::{Layer, Part};

use super::command::screens;
use super::screen::Screen;
use super::{
    App, charts, compare, curves, detached, figures, fleet, history, items, journey, kernels,
    library, machine, plan, roofs, run, sessions, shell, tables, timeline, why,
};

/// Every part: each comes after those that it follows when sessions change.
pub(crate) const ALL: &[Part] = &[
    Part {
        commands: screens::ALL,
        ..Part::NONE
    },
    Part {
        commands: shell::commands::ALL,
        palette: shell::palette::entries,
        back: App::close_overlay,
        ..Part::NONE
    },
    Part {
        commands: machine::commands::ALL,
        palette: machine::palette::entries,
        ..Part::NONE
    },
    Part {
        commands: roofs::commands::ALL,
        palette: roofs::palette::entries,
        ..Part::NONE
    },
    Part {
        commands: detached::commands::ALL,
        palette: detached::palette::entries,
        ..Part::NONE
    },
    Part {
        commands: sessions::commands::ALL,
        palette: sessions::palette::entries,
        sessions_changed: App::watch_session_files,
        ..Part::NONE
    },
    Part {
        commands: run::commands::ALL,
        palette: run::palette::entries,
        back: App::close_programs_question,
        ..Part::NONE
    },
    Part {
        commands: plan::commands::ALL,
        palette: plan::palette::entries,
        ..Part::NONE
    },
    Part {
        commands: curves::commands::ALL,
        palette: curves::palette::entries,
        sessions_changed: App::redraw_all_curves,
        back: App::clear_pins,
        ..Part::NONE
    },
    Part {
        commands: charts::commands::ALL,
        back: App::show_all_of_charts,
        ..Part::NONE
    },
    Part {
        commands: compare::commands::ALL,
        palette: compare::palette::entries,
        sessions_changed: App::renew_comparison,
        ..Part::NONE
    },
    Part {
        palette: fleet::palette::entries,
        sessions_changed: App::compare_machines_if_wanted,
        screen_shown: App::compare_machines_if_wanted,
        ..Part::NONE
    },
    Part {
        palette: history::palette::entries,
        sessions_changed: App::renew_history,
        screen_shown: App::history_shown,
        ..Part::NONE
    },
    Part {
        palette: journey::palette::entries,
        sessions_changed: App::compare_steps_if_wanted,
        screen_shown: App::compare_steps_if_wanted,
        ..Part::NONE
    },
    Part {
        commands: figures::commands::ALL,
        ..Part::NONE
    },
    Part {
        commands: kernels::commands::ALL,
        palette: kernels::palette::entries,
        sessions_changed: App::add_up_if_wanted,
        screen_shown: App::add_up_if_wanted,
        back: App::clear_kernel_choices,
    },
    Part {
        commands: why::commands::ALL,
        palette: why::palette::entries,
        sessions_changed: App::find_limits_if_wanted,
        screen_shown: App::find_limits_if_wanted,
        back: App::clear_node,
    },
    Part {
        commands: timeline::commands::ALL,
        palette: timeline::palette::entries,
        back: App::leaves_selection,
        ..Part::NONE
    },
    Part {
        commands: library::commands::ALL,
        palette: library::palette::entries,
        back: App::clear_search,
        ..Part::NONE
    },
    Part {
        commands: tables::commands::ALL,
        palette: tables::palette::entries,
        back: App::clear_rows,
        ..Part::NONE
    },
    Part {
        palette: items::palette::entries,
        ..Part::NONE
    },
];

impl App {
    /// Closes the innermost thing that is open. Rows of a table are within their screen, so later parts come first.
    pub(crate) fn back(&mut self) {
        for layer in Layer::ALL {
            for part in ALL.iter().rev() {
                if (part.back)(self, layer) {
                    return;
                }
            }
        }
        self.screen = Screen::Home;
    }

    pub(crate) fn refresh_shown(&mut self) {
        for part in ALL {
            (part.screen_shown)(self);
        }
    }

    pub(crate) fn sessions_changed(&mut self) {
        for part in ALL {
            (part.sessions_changed)(self);
        }
    }
}
