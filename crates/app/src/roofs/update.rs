//! Measures roofs on request, and takes in what was measured.

use super::commands::can_measure;
use super::{MeasuringRoofs, work};
use crate::App;
use crate::action::{Action, Roofs};
use crate::inbox::{Message, RoofsMessage};
use crate::notices::Weight;
use powerband_core::base::cancel::CancelToken;

impl App {
    pub(crate) fn roofs(&mut self, action: Roofs) {
        match action {
            Roofs::Measure => self.measure_roofs(false),
            Roofs::Again => self.measure_roofs(true),
            Roofs::Stop => self.stop_roofs(),
        }
    }

    /// Ends the measuring of roofs, which a run would disturb and be disturbed by.
    pub(crate) fn stop_roofs(&self) {
        if let Some(measuring) = &self.roofs.measuring {
            measuring.cancel.cancel();
        }
    }

    /// Reads what is kept.
    pub(crate) fn read_roofs(&self) {
        let place = self.place.clone();
        self.jobs
            .spawn("read-roofs", move |outlet| work::read(&place, outlet));
    }

    fn measure_roofs(&mut self, again: bool) {
        if let Err(reason) = can_measure(self) {
            self.say(Weight::Info, format!("Roofs are not measured: {reason}"));
            return;
        }
        let cancel = CancelToken::default();
        self.roofs.measuring = Some(MeasuringRoofs {
            what: "Looking for engines".to_owned(),
            share: 0.0,
            cancel: cancel.clone(),
        });
        let place = self.place.clone();
        let broken = |why| Message::Roofs(RoofsMessage::NotMeasured(Some(why)));
        self.jobs.spawn_or("roofs", broken, move |outlet| {
            work::measure(&place, again, &cancel, outlet);
        });
    }

    pub(crate) fn roofs_message(&mut self, message: RoofsMessage) {
        match message {
            RoofsMessage::Kept(kept, stale) => {
                self.roofs.kept = Some(kept);
                self.roofs.stale = stale;
            }
            RoofsMessage::Step(what, share) => {
                if let Some(measuring) = &mut self.roofs.measuring {
                    (measuring.what, measuring.share) = (what, share);
                }
            }
            RoofsMessage::Measured(roofs) => {
                self.roofs.measuring = None;
                self.roofs.kept = Some(roofs);
                self.roofs.stale.clear();
                self.say(Weight::Done, "Roofs are measured and kept");
                // What was found without them is looked for again.
                self.why.result = None;
                self.find_limits_if_wanted();
            }
            RoofsMessage::NotMeasured(reason) => {
                self.roofs.measuring = None;
                match reason {
                    Some(reason) => self.offer(
                        Weight::Trouble,
                        format!("Roofs were not measured: {reason}"),
                        "Try again",
                        Action::Roofs(Roofs::Measure),
                    ),
                    None => self.say(Weight::Info, "Measuring roofs was stopped"),
                }
            }
        }
    }
}
