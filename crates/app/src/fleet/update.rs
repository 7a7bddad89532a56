//! Actions on the comparison of machines, and its results.

use std::sync::Arc;

use super::{FleetRequest, FoundFleet};
use crate::App;
use crate::action::Fleet;
use crate::screen::Screen;
use powerband_core::domain::session::Session;
use powerband_findings::analysis::fleet::{self, NamedSession};
use powerband_findings::analysis::machine_lines;
use powerband_findings::tables;

/// Columns of machines that have no room in a usual window.
const LESS_OFTEN_NEEDED: [&str; 5] = ["address", "memory", "load_before", "program", "clock"];
/// Columns that say nothing where no machine has a card.
const OF_CARDS: [&str; 3] = ["cards", "driver", "settings"];

impl App {
    pub(crate) fn fleet(&mut self, change: Fleet) {
        match change {
            Fleet::Show(choice) => self.compare.fleet.chosen = Some(choice),
            Fleet::Only(files) => {
                self.compare.fleet.each_session &= files.is_some();
                self.compare.fleet.only = files.map(|files| files.into_iter().collect());
            }
            Fleet::EachSession(is_on) => self.compare.fleet.each_session = is_on,
        }
        self.compare_machines_if_wanted();
    }

    /// Machines are compared while their screen is shown.
    pub(crate) fn compare_machines_if_wanted(&mut self) {
        let wanted = self.compare.fleet.wanted(&self.shared.sessions);
        let is_new = self.compare.fleet.found.needs(&wanted);
        if wanted.sessions.is_empty() {
            self.compare.fleet.found.drop_result();
        } else if is_new && self.shows(Screen::Fleet) {
            let work = |wanted: &FleetRequest| Some(Arc::new(compare(wanted.clone())));
            self.derive(
                "machines",
                |app| &mut app.compare.fleet.found,
                wanted,
                work,
                Self::compare_machines_if_wanted,
            );
        } else if is_new {
            // What is old is not kept: it has all samples of sessions that may be closed.
            self.compare.fleet.found.drop_result();
        }
        self.compare.fleet.redraw();
        self.fleet_tables();
    }

    fn fleet_tables(&mut self) {
        let shown = self.compare.fleet.shown().map(tables::fleet::of_case);
        let effects = &self.compare.fleet.drawn.effects;
        let effects = (!effects.is_empty())
            .then(|| tables::fleet_effects::of_all(effects).hiding(&["point"]));
        let found = self.compare.fleet.found.result.as_ref();
        let machines = found.map(|found| {
            let lines = &found.machines;
            let mut hidden = LESS_OFTEN_NEEDED.to_vec();
            if lines.iter().all(|line| line.cards().is_none()) {
                hidden.extend(OF_CARDS);
            }
            tables::machines::of_machines(lines.clone()).hiding(&hidden)
        });
        for (id, table) in [
            ("fleet", shown),
            ("fleet-effects", effects),
            ("machines", machines),
        ] {
            match table {
                Some(table) => self.shared.tables.set_table(id, table),
                None => self.shared.tables.remove(id),
            }
        }
    }
}

fn compare(wanted: FleetRequest) -> FoundFleet {
    let named: Vec<NamedSession<'_>> = wanted
        .sessions
        .iter()
        .map(|(_, name, session)| (name.as_str(), &*session.0))
        .collect();
    let names = if wanted.each_session {
        fleet::names_by_session(&named)
    } else {
        fleet::names_by_hardware(&named)
    };
    let sessions = named.iter().map(|(_, session)| *session);
    let named: Vec<(&str, &Session)> = names.iter().map(String::as_str).zip(sessions).collect();
    FoundFleet {
        fleet: fleet::compare_machines(&named),
        effects: fleet::effects(&named),
        machines: machine_lines::machines_of_sessions(&named),
        wanted,
    }
}
