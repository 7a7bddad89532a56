//! Actions on the steps of a session, and their results.

use std::sync::Arc;

use super::ComparedSteps;
use crate::App;
use crate::action::Journey;
use crate::screen::Screen;
use crate::sessions::LIVE;
use powerband_findings::analysis::journey;
use powerband_findings::tables::steps::of_journey;

impl App {
    pub(crate) fn journey(&mut self, change: &Journey) {
        match change {
            Journey::Look(looking) => {
                self.journey.looking = Some(*looking);
                self.journey.is_chosen = true;
                self.compare_steps_if_wanted();
            }
        }
    }

    /// Steps are compared while their screen is shown. Those of a run in progress are found on its own
    /// thread, because only that has the samples.
    pub(crate) fn compare_steps_if_wanted(&mut self) {
        self.journey.settle(&self.sessions);
        let wanted = self.journey.wanted(&self.sessions);
        let wanted = wanted.filter(|_| self.shows(Screen::Journey));
        if let Some((looking, open)) = wanted.and_then(|l| Some((l, self.sessions.get(l.session)?)))
        {
            let (session, rows) = (Arc::clone(&open.session), Arc::clone(&open.findings.rows));
            if open.id == LIVE {
                self.journey.result = open.findings.journey.clone().map(|journey| ComparedSteps {
                    looking,
                    session,
                    journey,
                });
            } else {
                self.journey.busy = Some(looking);
                let work = move || ComparedSteps {
                    looking,
                    journey: Arc::new(journey::compare_steps(&session, &rows, looking.point)),
                    session,
                };
                self.jobs.spawn_then("journey", work, Self::compared_steps);
            }
        }
        self.journey.redraw(&self.sessions);
        match &self.journey.result {
            Some(found) => self.tables.put("steps", of_journey(&found.journey)),
            None => self.tables.remove("steps"),
        }
    }

    /// The steps of a session were found.
    fn compared_steps(&mut self, found: ComparedSteps) {
        if self.journey.busy == Some(found.looking) {
            self.journey.busy = None;
        }
        if self.journey.looking == Some(found.looking) {
            self.journey.result = Some(found);
        }
        self.compare_steps_if_wanted();
    }
}
