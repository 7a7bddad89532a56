//! Actions on the comparison of machines, and its results.

use std::sync::Arc;

use super::{FleetRequest, FoundFleet};
use crate::action::Fleet;
use crate::doors::CompareDoor;
use crate::screen::Screen;
use crate::shared::Shared;
use powerband_core::domain::session::Session;
use powerband_findings::analysis::fleet::{self, NamedSession};
use powerband_findings::analysis::machine_lines;
use powerband_findings::tables;

/// Columns of machines that have no room in a usual window.
const LESS_OFTEN_NEEDED: [&str; 5] = ["address", "memory", "load_before", "program", "clock"];
/// Columns that say nothing where no machine has a card.
const OF_CARDS: [&str; 3] = ["cards", "driver", "settings"];

impl CompareDoor {
    pub(crate) fn fleet(&mut self, change: Fleet, shared: &mut Shared) {
        match change {
            Fleet::Show(choice) => self.fleet.chosen = Some(choice),
            Fleet::Only(files) => {
                self.fleet.each_session &= files.is_some();
                self.fleet.only = files.map(|files| files.into_iter().collect());
            }
            Fleet::EachSession(is_on) => self.fleet.each_session = is_on,
        }
        self.compare_machines_if_wanted(shared);
    }

    /// The machines of the run in progress, or of saved sessions while their screen is shown.
    pub(crate) fn compare_machines_if_wanted(&mut self, shared: &mut Shared) {
        match self.fleet.found_in_run(&shared.sessions) {
            Some(found) => {
                // What is on its way of saved sessions must not take its place.
                self.fleet.found.forget();
                let wanted = found.wanted.clone();
                self.fleet.found.put(wanted, Arc::new(found));
            }
            None => self.compare_saved_machines(shared),
        }
        self.fleet.redraw();
        self.fleet_tables(shared);
    }

    fn compare_saved_machines(&mut self, shared: &Shared) {
        let wanted = self.fleet.wanted(&shared.sessions);
        let is_new = self.fleet.found.needs(&wanted);
        if wanted.sessions.is_empty() {
            self.fleet.found.drop_result();
        } else if is_new && shared.shows(Screen::Fleet) {
            let work = |wanted: &FleetRequest| Some(Arc::new(compare(wanted.clone())));
            shared.derive(
                self,
                "machines",
                |door| &mut door.fleet.found,
                wanted,
                work,
                Self::compare_machines_if_wanted,
            );
        } else if is_new {
            // What is old is not kept: it has all samples of sessions that may be closed.
            self.fleet.found.drop_result();
        }
    }

    fn fleet_tables(&self, shared: &mut Shared) {
        let shown = self.fleet.shown().map(tables::fleet::of_case);
        let effects = &self.fleet.drawn.effects;
        let effects = (!effects.is_empty())
            .then(|| tables::fleet_effects::of_all(effects).hiding(&["point"]));
        let found = self.fleet.found.result.as_ref();
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
                Some(table) => shared.tables.set_table(id, table),
                None => shared.tables.remove(id),
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
