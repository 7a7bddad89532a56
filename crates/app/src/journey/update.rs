//! Actions on the steps of a session, and their results.

use std::sync::Arc;

use super::{ComparedSteps, StepsSubject};
use crate::App;
use crate::action::Journey;
use crate::screen::Screen;
use crate::sessions::{LIVE, Snapshot};
use powerband_findings::analysis::journey;
use powerband_findings::tables::steps::of_journey;

impl App {
    pub(crate) fn journey(&mut self, change: &Journey) {
        match change {
            Journey::Look(looking) => {
                self.compare.journey.looking = Some(*looking);
                self.compare.journey.is_chosen = true;
                self.compare_steps_if_wanted();
            }
        }
    }

    /// Steps are compared while their screen is shown. Those of a run in progress are found on its own
    /// thread, because only that has the samples.
    pub(crate) fn compare_steps_if_wanted(&mut self) {
        self.compare
            .journey
            .drop_missing_session(&self.shared.sessions);
        let wanted = self.compare.journey.wanted(&self.shared.sessions);
        let wanted = wanted.filter(|_| self.shows(Screen::Journey));
        if let Some((open, key)) =
            wanted.and_then(|key| Some((self.shared.sessions.get(key.0.session)?, key)))
        {
            let looking = key.0;
            let (findings, rows) = (&open.findings, Arc::clone(&open.findings.rows));
            if open.id == LIVE {
                if let Some(journey) = findings.journey.clone() {
                    let steps = ComparedSteps { looking, journey };
                    self.compare.journey.found.put(key, steps);
                }
            } else {
                let work = move |(looking, session): &(StepsSubject, Snapshot)| {
                    let journey = journey::compare_steps(&session.0, &rows, looking.point);
                    Some(ComparedSteps {
                        looking: *looking,
                        journey: Arc::new(journey),
                    })
                };
                self.derive(
                    "journey",
                    |app| &mut app.compare.journey.found,
                    key,
                    work,
                    Self::compare_steps_if_wanted,
                );
            }
        }
        self.compare.journey.redraw(&self.shared.sessions);
        match &self.compare.journey.found.result {
            Some(found) => self
                .shared
                .tables
                .set_table("steps", of_journey(&found.journey)),
            None => self.shared.tables.remove("steps"),
        }
    }
}
