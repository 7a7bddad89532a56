//! The parts of the application: what each can do now, and what it does when something changes elsewhere.
//!
//! A part is a folder. To add one: an entry in [`ALL`].

pub(crate) mod part;

use part::{AppPart, Layer};

use super::command::screens;
use super::screen::Screen;
use super::{
    App, charts, compare, curves, detached, figures, fleet, history, items, journey, kernels,
    library, machine, plan, roofs, run, sessions, shell, tables, timeline, why,
};

/// Every part: each comes after those that it follows when sessions change.
pub(crate) const ALL: &[AppPart] = &[
    AppPart {
        commands: screens::ALL,
        ..AppPart::NONE
    },
    AppPart {
        commands: shell::commands::ALL,
        palette: shell::palette::entries,
        back: App::close_overlay,
        ..AppPart::NONE
    },
    AppPart {
        commands: machine::commands::ALL,
        palette: machine::palette::entries,
        ..AppPart::NONE
    },
    AppPart {
        commands: roofs::commands::ALL,
        palette: roofs::palette::entries,
        ..AppPart::NONE
    },
    AppPart {
        commands: detached::commands::ALL,
        palette: detached::palette::entries,
        ..AppPart::NONE
    },
    AppPart {
        commands: sessions::commands::ALL,
        palette: sessions::palette::entries,
        sessions_changed: App::watch_session_files,
        ..AppPart::NONE
    },
    AppPart {
        commands: run::commands::ALL,
        palette: run::palette::entries,
        back: App::close_programs_question,
        ..AppPart::NONE
    },
    AppPart {
        commands: plan::commands::ALL,
        palette: plan::palette::entries,
        ..AppPart::NONE
    },
    AppPart {
        commands: curves::commands::ALL,
        palette: curves::palette::entries,
        sessions_changed: App::redraw_all_curves,
        back: App::clear_pins,
        ..AppPart::NONE
    },
    AppPart {
        commands: charts::commands::ALL,
        back: App::show_all_of_charts,
        ..AppPart::NONE
    },
    AppPart {
        commands: compare::commands::ALL,
        palette: compare::palette::entries,
        sessions_changed: App::renew_comparison,
        ..AppPart::NONE
    },
    AppPart {
        palette: fleet::palette::entries,
        sessions_changed: App::compare_machines_if_wanted,
        screen_shown: App::compare_machines_if_wanted,
        ..AppPart::NONE
    },
    AppPart {
        palette: history::palette::entries,
        sessions_changed: App::renew_history,
        screen_shown: App::history_shown,
        ..AppPart::NONE
    },
    AppPart {
        palette: journey::palette::entries,
        sessions_changed: App::compare_steps_if_wanted,
        screen_shown: App::compare_steps_if_wanted,
        ..AppPart::NONE
    },
    AppPart {
        commands: figures::commands::ALL,
        ..AppPart::NONE
    },
    AppPart {
        commands: kernels::commands::ALL,
        palette: kernels::palette::entries,
        sessions_changed: App::add_up_if_wanted,
        screen_shown: App::add_up_if_wanted,
        back: App::clear_kernel_choices,
    },
    AppPart {
        commands: why::commands::ALL,
        palette: why::palette::entries,
        sessions_changed: App::find_limits_if_wanted,
        screen_shown: App::find_limits_if_wanted,
        back: App::clear_node,
    },
    AppPart {
        commands: timeline::commands::ALL,
        palette: timeline::palette::entries,
        back: App::leaves_selection,
        ..AppPart::NONE
    },
    AppPart {
        commands: library::commands::ALL,
        palette: library::palette::entries,
        back: App::clear_search,
        ..AppPart::NONE
    },
    AppPart {
        commands: tables::commands::ALL,
        palette: tables::palette::entries,
        back: App::clear_rows,
        ..AppPart::NONE
    },
    AppPart {
        palette: items::palette::entries,
        ..AppPart::NONE
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
        self.shared.screen = Screen::Home;
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
