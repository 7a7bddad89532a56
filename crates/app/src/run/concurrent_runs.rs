//! Runs of other programs with this library, which disturb each other's measurements, and interrupted runs, whose
//! measurements can be recovered.

use std::path::PathBuf;

use super::work;
use crate::action::{Action, RunAction, Sessions};
use crate::doors::BenchDoor;
use crate::notices::NoticeLevel;
use crate::shared::Shared;
use powerband_core::base::clock;
use powerband_store::journal::{JournalledRun, in_words};

impl BenchDoor {
    /// Runs of other programs as text; `None` where there are none.
    pub fn elsewhere_words(&self) -> Option<String> {
        in_words(&self.elsewhere)
    }

    /// Updates the list of other runs in progress.
    pub(crate) fn update_other_runs(&mut self, living: Vec<JournalledRun>, shared: &mut Shared) {
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
            shared.notify(NoticeLevel::Trouble, text);
        }
        if self.elsewhere.is_empty() {
            shared
                .notices
                .withdraw_offers(|action| matches!(action, Action::Run(RunAction::Anyway(_))));
        }
        if is_over {
            shared.jobs.rescan_library();
            // It may have been cut off.
            Self::look_for_journals(shared);
        }
    }

    /// Looks for journals of interrupted runs.
    pub(crate) fn look_for_journals(shared: &Shared) {
        let paths = shared.place.paths.clone();
        let work = move || work::interrupted_runs(&paths);
        shared
            .jobs
            .spawn_for("journals", work, |_: &mut Self, runs, shared| {
                Self::offer_recovery(&runs, shared);
            });
    }

    /// Asks before a run starts beside another program's; returns whether it asked.
    pub(crate) fn asks_first(&self, request: &RunAction, shared: &mut Shared) -> bool {
        let Some(words) = self.elsewhere_words().filter(|_| !self.is_running()) else {
            return false;
        };
        let anyway = Action::Run(RunAction::Anyway(Box::new(request.clone())));
        let offer = Some(("Measure anyway".to_owned(), anyway));
        let text = format!(
            "{words}. A second run would disturb both measurements, so it was not started."
        );
        shared
            .notices
            .add(NoticeLevel::Question, text, offer, clock::monotonic_ns());
        true
    }

    /// Offers to recover what interrupted runs measured, until that is done or dismissed.
    fn offer_recovery(runs: &[String], shared: &mut Shared) {
        let text = match runs {
            [] => return,
            [one] => format!(
                "A run was interrupted before it was saved: {one}. Its measurements can be recovered."
            ),
            several => format!(
                "{} runs were interrupted before they were saved: {}. Their measurements can be recovered.",
                several.len(),
                several.join("; ")
            ),
        };
        let recover = Action::Run(RunAction::Recover);
        shared.notices.withdraw_offers(|action| *action == recover);
        shared.notify_with_button(NoticeLevel::Question, text, "Recover", recover);
    }

    /// What an interrupted run had measured was saved.
    pub(super) fn recovered(name: &str, path: PathBuf, shared: &mut Shared) {
        let open = Action::Sessions(Sessions::Open(vec![path]));
        shared.notify_with_button(NoticeLevel::Done, format!("Recovered {name}"), "Open", open);
        shared.jobs.rescan_library();
    }
}
