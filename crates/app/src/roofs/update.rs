//! Measures roofs on request, and takes in what was measured.

use std::sync::Arc;

use super::commands::can_measure;
use super::work::RoofsNow;
use super::{MeasuringRoofs, work};
use crate::action::{self, Action};
use crate::backend::WantedRoofs;
use crate::doors::SettingsDoor;
use crate::notices::NoticeLevel;
use crate::shared::{FollowUp, Shared};
use powerband_core::base::cancel::CancelToken;
use powerband_core::domain::setup::Setup;

impl SettingsDoor {
    pub(crate) fn roofs(&mut self, action: action::Roofs, shared: &mut Shared) {
        match action {
            action::Roofs::Measure => self.measure_roofs(WantedRoofs::Missing, shared),
            action::Roofs::Again => self.measure_roofs(WantedRoofs::Again, shared),
            action::Roofs::Stop => {
                self.roofs.is_declined = true;
                self.stop_roofs();
            }
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

    /// After experiments on a case, measures what that needs, and then what other cases will need; not where the user
    /// ended that before.
    pub(crate) fn measure_roofs_for(&mut self, setup: Setup, shared: &Shared) {
        if !self.roofs.is_declined && self.roofs.measuring.is_none() {
            self.begin_roofs(WantedRoofs::Of(setup), shared);
        }
    }

    fn measure_roofs(&mut self, wanted: WantedRoofs, shared: &mut Shared) {
        if let Err(reason) = can_measure(self, shared) {
            shared.notify(
                NoticeLevel::Info,
                format!("Roofs are not measured: {reason}"),
            );
            return;
        }
        self.roofs.is_declined = false;
        self.begin_roofs(wanted, shared);
    }

    fn begin_roofs(&mut self, wanted: WantedRoofs, shared: &Shared) {
        let cancel = CancelToken::default();
        self.roofs.measuring = Some(MeasuringRoofs {
            what: "Looking for engines".to_owned(),
            share: 0.0,
            cancel: cancel.clone(),
        });
        let (place, backend) = (shared.place.clone(), Arc::clone(&shared.backend));
        let stopped = cancel.clone();
        let broken =
            |door: &mut Self, why, shared: &mut Shared| door.roofs_not_measured(Some(why), shared);
        shared.jobs.spawn_or_for("roofs", broken, move |outlet| {
            let measured = work::measure(&place, &*backend, &wanted, &cancel, outlet);
            outlet.send_to(move |door: &mut Self, shared| match measured {
                Ok(Some(roofs)) => {
                    let is_of_case = matches!(wanted, WantedRoofs::Of(_));
                    let goes_on = is_of_case && !stopped.is_cancelled();
                    door.roofs_measured(roofs, goes_on, shared);
                }
                Ok(None) => door.roofs_not_measured(None, shared),
                Err(reason) => door.roofs_not_measured(Some(reason), shared),
            });
        });
    }

    /// Keeps what was measured; goes on with what other cases need, where that is wanted and nothing runs beside it.
    fn roofs_measured(&mut self, now: RoofsNow, goes_on: bool, shared: &mut Shared) {
        self.roofs.measuring = None;
        self.roofs.kept = Some(now.all);
        if now.is_new {
            shared.follow_ups.push_back(FollowUp::RoofsChanged);
        }
        if goes_on && !shared.is_running {
            return self.begin_roofs(WantedRoofs::Missing, shared);
        }
        self.roofs.stale.clear();
        if now.is_new {
            shared.notify(NoticeLevel::Done, "Roofs are measured and kept");
        }
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
