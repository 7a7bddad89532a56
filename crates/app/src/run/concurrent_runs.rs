//! Runs of other programs with this library: concurrent runs disturb each other's measurements.

use super::work;
use crate::App;
use crate::action::{Action, RunAction};
use crate::notices::NoticeLevel;
use powerband_core::base::clock;
use powerband_store::journal::{JournalledRun, in_words};

impl App {
    /// Runs of other programs as text; `None` where there are none.
    pub fn elsewhere_words(&self) -> Option<String> {
        in_words(&self.elsewhere)
    }

    /// Updates the list of other runs in progress.
    pub(crate) fn update_other_runs(&mut self, living: Vec<JournalledRun>) {
        let own = self.run.as_ref().and_then(|run| run.session.as_ref());
        let is_other = |run: &JournalledRun| own.is_none_or(|session| !run.is_of(session));
        let now: Vec<JournalledRun> = living.into_iter().filter(is_other).collect();
        let is_over = self.elsewhere.iter().any(|run| !now.contains(run));
        let begun: Vec<JournalledRun> = now
            .iter()
            .filter(|run| !self.elsewhere.contains(run))
            .cloned()
            .collect();
        self.elsewhere = now;
        if let Some(words) = in_words(&begun).filter(|_| self.is_running()) {
            let text = format!("{words}. Each run disturbs the measurements of both.");
            self.notify(NoticeLevel::Trouble, text);
        }
        if self.elsewhere.is_empty() {
            self.notices
                .withdraw_offers(|action| matches!(action, Action::Run(RunAction::Anyway(_))));
        }
        if is_over {
            self.jobs.rescan_library();
            // It may have been cut off.
            self.look_for_journals();
        }
    }

    /// Looks for journals of interrupted runs.
    pub(crate) fn look_for_journals(&self) {
        let paths = self.place.paths.clone();
        let work = move || work::interrupted_runs(&paths);
        self.jobs.spawn_then("journals", work, |app, runs| {
            if !runs.is_empty() {
                app.offer_recovery(&runs);
            }
        });
    }

    /// Asks before a run starts beside another program's; returns whether it asked.
    pub(crate) fn asks_first(&mut self, request: &RunAction) -> bool {
        let Some(words) = self.elsewhere_words().filter(|_| !self.is_running()) else {
            return false;
        };
        let anyway = Action::Run(RunAction::Anyway(Box::new(request.clone())));
        let offer = Some(("Measure anyway".to_owned(), anyway));
        let text = format!(
            "{words}. A second run would disturb both measurements, so it was not started."
        );
        self.notices
            .add(NoticeLevel::Question, text, offer, clock::monotonic_ns());
        true
    }
}
