//! Measures roofs on request, and takes in what was measured.

use super::commands::can_measure;
use super::{MeasuringRoofs, work};
use crate::App;
use crate::action::{self, Action};
use crate::notices::NoticeLevel;
use powerband_core::base::cancel::CancelToken;
use powerband_core::domain::roofs::Roofs;
use powerband_measure::roofs::measuring::RoofsError;

impl App {
    pub(crate) fn roofs(&mut self, action: action::Roofs) {
        match action {
            action::Roofs::Measure => self.measure_roofs(false),
            action::Roofs::Again => self.measure_roofs(true),
            action::Roofs::Stop => self.stop_roofs(),
        }
    }

    /// Ends the measuring of roofs, which a run would disturb and be disturbed by.
    pub(crate) fn stop_roofs(&self) {
        if let Some(measuring) = &self.settings.roofs.measuring {
            measuring.cancel.cancel();
        }
    }

    /// Reads what is kept.
    pub(crate) fn read_roofs(&self) {
        let place = self.shared.place.clone();
        let work = move || work::read(&place);
        self.shared
            .jobs
            .spawn_then("read-roofs", work, |app, (kept, stale)| {
                app.settings.roofs.kept = Some(kept);
                app.settings.roofs.stale = stale;
            });
    }

    fn measure_roofs(&mut self, again: bool) {
        if let Err(reason) = can_measure(self) {
            self.shared.notify(
                NoticeLevel::Info,
                format!("Roofs are not measured: {reason}"),
            );
            return;
        }
        let cancel = CancelToken::default();
        self.settings.roofs.measuring = Some(MeasuringRoofs {
            what: "Looking for engines".to_owned(),
            share: 0.0,
            cancel: cancel.clone(),
        });
        let place = self.shared.place.clone();
        let broken = |app: &mut Self, why| app.roofs_not_measured(Some(why));
        self.shared.jobs.spawn_or("roofs", broken, move |outlet| {
            let measured = work::measure(&place, again, &cancel, outlet);
            outlet.send(|app| match measured {
                Ok(roofs) => app.roofs_measured(roofs),
                Err(RoofsError::Cancelled) => app.roofs_not_measured(None),
                Err(error) => app.roofs_not_measured(Some(error.to_string())),
            });
        });
    }

    fn roofs_measured(&mut self, roofs: Vec<Roofs>) {
        self.settings.roofs.measuring = None;
        self.settings.roofs.kept = Some(roofs);
        self.settings.roofs.stale.clear();
        self.shared
            .notify(NoticeLevel::Done, "Roofs are measured and kept");
        // What was found without them is looked for again.
        self.profile.why.found.forget();
        self.find_limits_if_wanted();
    }

    /// Says why they were not measured; without a reason, the user stopped it.
    fn roofs_not_measured(&mut self, reason: Option<String>) {
        self.settings.roofs.measuring = None;
        match reason {
            Some(reason) => self.shared.notify_with_button(
                NoticeLevel::Trouble,
                format!("Roofs were not measured: {reason}"),
                "Try again",
                Action::Roofs(action::Roofs::Measure),
            ),
            None => self
                .shared
                .notify(NoticeLevel::Info, "Measuring roofs was stopped"),
        }
    }
}
