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
        in_words(&self.bench.elsewhere)
    }

    /// Updates the list of other runs in progress.
    pub(crate) fn update_other_runs(&mut self, living: Vec<JournalledRun>) {
        let own = self.bench.run.as_ref().and_then(|run| run.session.as_ref());
        let is_other = |run: &JournalledRun| own.is_none_or(|session| !run.is_of(session));
        let now: Vec<JournalledRun> = living.into_iter().filter(is_other).collect();
        let is_over = self.bench.elsewhere.iter().any(|run| !now.contains(run));
        let begun: Vec<JournalledRun> = now
            .iter()
            .filter(|run| !self.bench.elsewhere.contains(run))
            .cloned()
            .collect();
        self.bench.elsewhere = now;
        if let Some(words) = in_words(&begun).filter(|_| self.is_running()) {
            let text = format!("{words}. Each run disturbs the measurements of both.");
            self.shared.notify(NoticeLevel::Trouble, text);
        }
        if self.bench.elsewhere.is_empty() {
            self.shared
                .notices
                .withdraw_offers(|action| matches!(action, Action::Run(RunAction::Anyway(_))));
        }
        if is_over {
            self.shared.jobs.rescan_library();
            // It may have been cut off.
            self.look_for_journals();
        }
    }

    /// Looks for journals of interrupted runs.
    pub(crate) fn look_for_journals(&self) {
        let paths = self.shared.place.paths.clone();
        let work = move || work::interrupted_runs(&paths);
        self.shared.jobs.spawn_then("journals", work, |app, runs| {
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
        self.shared
            .notices
            .add(NoticeLevel::Question, text, offer, clock::monotonic_ns());
        true
    }
}
