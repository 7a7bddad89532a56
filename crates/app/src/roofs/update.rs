//! Measures roofs on request, and takes in what was measured.

use std::sync::Arc;

use super::commands::can_measure;
use super::{MeasuringRoofs, work};
use crate::action::{self, Action};
use crate::doors::SettingsDoor;
use crate::notices::NoticeLevel;
use crate::shared::{FollowUp, Shared};
use powerband_core::base::cancel::CancelToken;
use powerband_core::domain::roofs::Roofs;

impl SettingsDoor {
    pub(crate) fn roofs(&mut self, action: action::Roofs, shared: &mut Shared) {
        match action {
            action::Roofs::Measure => self.measure_roofs(false, shared),
            action::Roofs::Again => self.measure_roofs(true, shared),
            action::Roofs::Stop => self.stop_roofs(),
        }
    }

    /// Ends the measuring of roofs, which a run would disturb and be disturbed by.
    pub(crate) fn stop_roofs(&self) {
        if let Some(measuring) = &self.roofs.measuring {
            measuring.cancel.cancel();
        }
    }

    /// Reads what is kept.
    pub(crate) fn read_roofs(shared: &Shared) {
        let (place, backend) = (shared.place.clone(), Arc::clone(&shared.backend));
        let work = move || work::read(&place, &*backend);
        shared
            .jobs
            .spawn_then("read-roofs", work, |app, (kept, stale)| {
                app.settings.roofs.kept = Some(kept);
                app.settings.roofs.stale = stale;
            });
    }

    fn measure_roofs(&mut self, again: bool, shared: &mut Shared) {
        if let Err(reason) = can_measure(self, shared) {
            shared.notify(
                NoticeLevel::Info,
                format!("Roofs are not measured: {reason}"),
            );
            return;
        }
        let cancel = CancelToken::default();
        self.roofs.measuring = Some(MeasuringRoofs {
            what: "Looking for engines".to_owned(),
            share: 0.0,
            cancel: cancel.clone(),
        });
        let (place, backend) = (shared.place.clone(), Arc::clone(&shared.backend));
        let broken =
            |door: &mut Self, why, shared: &mut Shared| door.roofs_not_measured(Some(why), shared);
        shared.jobs.spawn_or_for("roofs", broken, move |outlet| {
            let measured = work::measure(&place, &*backend, again, &cancel, outlet);
            outlet.send_to(|door: &mut Self, shared| match measured {
                Ok(Some(roofs)) => door.roofs_measured(roofs, shared),
                Ok(None) => door.roofs_not_measured(None, shared),
                Err(reason) => door.roofs_not_measured(Some(reason), shared),
            });
        });
    }

    fn roofs_measured(&mut self, roofs: Vec<Roofs>, shared: &mut Shared) {
        self.roofs.measuring = None;
        self.roofs.kept = Some(roofs);
        self.roofs.stale.clear();
        shared.notify(NoticeLevel::Done, "Roofs are measured and kept");
        shared.follow_ups.push_back(FollowUp::RoofsChanged);
    }

    /// Says why they were not measured; without a reason, the user stopped it.
    fn roofs_not_measured(&mut self, reason: Option<String>, shared: &mut Shared) {
        self.roofs.measuring = None;
        match reason {
            Some(reason) => shared.notify_with_button(
                NoticeLevel::Trouble,
                format!("Roofs were not measured: {reason}"),
                "Try again",
                Action::Roofs(action::Roofs::Measure),
            ),
            None => shared.notify(NoticeLevel::Info, "Measuring roofs was stopped"),
        }
    }
}
