//! Hands each event of a run to its session, its journal and its observer.

use super::ActiveRun;
use powerband_core::base::clock;
use powerband_core::domain::event::{RunEvent, TimedEvent};
use powerband_store::journal::AppendOutcome;

/// How the warning about a journal begins.
const JOURNAL_FAILS: &str = "The journal could not be written";

impl ActiveRun<'_, '_> {
    /// One event to the session, the journal and the observer, in this order of safety.
    pub(super) fn tell(&mut self, event: RunEvent) {
        let stamped = TimedEvent {
            at_ns: clock::monotonic_ns().saturating_sub(self.began_ns),
            event,
        };
        self.take_in(&stamped);
    }

    /// The same with an event that happened at its own time.
    pub(super) fn take_in(&mut self, stamped: &TimedEvent) {
        self.write_down(stamped);
        if !matches!(stamped.event, RunEvent::Began(_) | RunEvent::WentOn { .. }) {
            self.session.apply(stamped.clone());
        }
        (self.observer)(stamped, &self.session);
    }

    /// Writes an event to the journal; the session says so for as long as that fails.
    fn write_down(&mut self, stamped: &TimedEvent) {
        let Some(journal) = &mut self.journal else {
            return;
        };
        let warning = match journal.append(stamped) {
            AppendOutcome::Written | AppendOutcome::Kept(None) | AppendOutcome::Unsynced(None) => {
                return;
            }
            AppendOutcome::CaughtUp => None,
            AppendOutcome::Kept(Some(error)) => Some(format!(
                "{JOURNAL_FAILS} ({error}); a crash would now lose what is measured from here on."
            )),
            AppendOutcome::Unsynced(Some(error)) => Some(format!(
                "{JOURNAL_FAILS} to the disk itself ({error}); a power cut would now lose this run."
            )),
        };
        let warnings = &mut self.session.warnings;
        warnings.retain(|warning| !warning.starts_with(JOURNAL_FAILS));
        warnings.extend(warning);
    }
}
