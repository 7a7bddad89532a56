//! Actions on the comparison of machines, and its results.

use std::sync::Arc;

use super::{FoundFleet, Wanted};
use crate::App;
use crate::action::Fleet;
use crate::screen::Screen;
use powerband_core::domain::session::Session;
use powerband_findings::analysis::fleet::{self, Named};
use powerband_findings::analysis::machine_lines;
use powerband_findings::tables;

/// Columns of machines that have no room in a usual window.
const LESS_OFTEN_NEEDED: [&str; 5] = ["address", "memory", "load_before", "program", "clock"];
/// Columns that say nothing where no machine has a card.
const OF_CARDS: [&str; 3] = ["cards", "driver", "settings"];

impl App {
    pub(crate) fn fleet(&mut self, change: Fleet) {
        match change {
            Fleet::Show(choice) => self.fleet.chosen = Some(choice),
            Fleet::Only(files) => {
                self.fleet.each_session &= files.is_some();
                self.fleet.only = files.map(|files| files.into_iter().collect());
            }
            Fleet::EachSession(is_on) => self.fleet.each_session = is_on,
        }
        self.compare_machines_if_wanted();
    }

    /// Machines are compared while their screen is shown.
    pub(crate) fn compare_machines_if_wanted(&mut self) {
        let wanted = self.fleet.wanted(&self.sessions);
        let found = self.fleet.result.as_ref().map(|found| &found.wanted);
        let is_new = found != Some(&wanted) && self.fleet.busy.as_ref() != Some(&wanted);
        if wanted.sessions.is_empty() {
            self.fleet.result = None;
        } else if is_new && self.shows(Screen::Fleet) {
            self.fleet.busy = Some(wanted.clone());
            self.jobs
                .spawn_then("machines", || compare(wanted), Self::machines_compared);
        } else if is_new {
            // What is old is not kept: it has all samples of sessions that may be closed.
            self.fleet.result = None;
        }
        self.fleet.redraw();
        self.fleet_tables();
    }

    fn fleet_tables(&mut self) {
        let shown = self.fleet.shown().map(tables::fleet::of_case);
        let effects = &self.fleet.drawn.effects;
        let effects = (!effects.is_empty())
            .then(|| tables::fleet_effects::of_all(effects).hiding(&["point"]));
        let found = self.fleet.result.as_ref();
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
                Some(table) => self.tables.put(id, table),
                None => self.tables.remove(id),
            }
        }
    }

    fn machines_compared(&mut self, found: FoundFleet) {
        if self.fleet.busy.as_ref() == Some(&found.wanted) {
            self.fleet.busy = None;
        }
        if self.fleet.wanted(&self.sessions) == found.wanted {
            self.fleet.result = Some(Arc::new(found));
        }
        self.compare_machines_if_wanted();
    }
}

fn compare(wanted: Wanted) -> FoundFleet {
    let named: Vec<Named<'_>> = wanted
        .sessions
        .iter()
        .map(|(_, name, session)| (name.as_str(), &**session))
        .collect();
    let names = if wanted.each_session {
        fleet::each_a_machine(&named)
    } else {
        fleet::machines_by_hardware(&named)
    };
    let sessions = named.iter().map(|(_, session)| *session);
    let named: Vec<(&str, &Session)> = names.iter().map(String::as_str).zip(sessions).collect();
    FoundFleet {
        fleet: fleet::compare_machines(&named),
        effects: fleet::effects(&named),
        machines: machine_lines::of_sessions(&named),
        wanted,
    }
}
