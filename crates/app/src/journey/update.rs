//! Actions on the steps of a session, and their results.

use std::sync::Arc;

use super::{ComparedSteps, StepsSubject};
use crate::action::Journey;
use crate::doors::CompareDoor;
use crate::screen::Screen;
use crate::sessions::{LIVE, Snapshot};
use crate::shared::Shared;
use powerband_findings::analysis::journey;
use powerband_findings::tables::steps::of_journey;

impl CompareDoor {
    pub(crate) fn journey(&mut self, change: &Journey, shared: &mut Shared) {
        match change {
            Journey::Look(looking) => {
                self.journey.looking = Some(*looking);
                self.journey.is_chosen = true;
                self.compare_steps_if_wanted(shared);
            }
        }
    }

    /// Steps are compared while their screen is shown. Those of a run in progress are found on its own
    /// thread, because only that has the samples.
    pub(crate) fn compare_steps_if_wanted(&mut self, shared: &mut Shared) {
        self.journey.drop_missing_session(&shared.sessions);
        let wanted = self.journey.wanted(&shared.sessions);
        let wanted = wanted.filter(|_| shared.shows(Screen::Journey));
        if let Some((open, key)) =
            wanted.and_then(|key| Some((shared.sessions.get(key.0.session)?, key)))
        {
            let looking = key.0;
            let (findings, rows) = (&open.findings, Arc::clone(open.comparable_rows()));
            if open.id == LIVE {
                if let Some(journey) = findings.journey.clone() {
                    let steps = ComparedSteps { looking, journey };
                    self.journey.found.put(key, steps);
                }
            } else {
                let work = move |(looking, session): &(StepsSubject, Snapshot)| {
                    let journey = journey::compare_steps(&session.0, &rows, looking.point);
                    Some(ComparedSteps {
                        looking: *looking,
                        journey: Arc::new(journey),
                    })
                };
                shared.derive(
                    self,
                    "journey",
                    |door| &mut door.journey.found,
                    key,
                    work,
                    Self::compare_steps_if_wanted,
                );
            }
        }
        self.journey.redraw(&shared.sessions);
        match &self.journey.found.result {
            Some(found) => shared.tables.set_table("steps", of_journey(&found.journey)),
            None => shared.tables.remove("steps"),
        }
    }
}
