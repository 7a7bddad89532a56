//! Background work on roofs: reading what is kept, and measuring.

use crate::inbox::{Message, RoofsMessage};
use crate::jobs::Outlet;
use powerband_core::base::cancel::CancelToken;
use powerband_measure::roofs::measuring::{self, RoofRequest, RoofsError};
use powerband_measure::roofs::{RoofProgress, devices, kept};
use powerband_measure::runner::installation::Installation;
use powerband_measure::telemetry::source::Places;

/// Reads what is kept of the devices that are here.
pub(crate) fn read(place: &Installation, outlet: &Outlet) {
    let places = place.watch.as_ref().map(|watch| watch.places.clone());
    let devices = devices::all(&places.unwrap_or_else(Places::of_user));
    let found = kept::read(&place.paths, &devices);
    // It reads files the first time, which is for this thread and not for the window's.
    measuring::estimate_s(0);
    let stale = found.stale.iter().map(|(roofs, reason)| {
        format!(
            "{}: the roofs no longer hold, because {reason}.",
            roofs.name
        )
    });
    let warnings = stale.chain(found.warnings).collect();
    outlet.send(Message::Roofs(RoofsMessage::Kept(found.fresh, warnings)));
}

/// Measures what is missing, or everything again.
pub(crate) fn measure(place: &Installation, again: bool, cancel: &CancelToken, outlet: &Outlet) {
    let request = RoofRequest {
        again,
        usual_engines: true,
        setups: Vec::new(),
    };
    let mut tell = |step: RoofProgress| {
        let share = step.done as f32 / step.of.max(1) as f32;
        outlet.send(Message::Roofs(RoofsMessage::Step(step.what, share)));
    };
    let message = match measuring::measure(place, &request, cancel, &mut tell) {
        Ok(measured) => RoofsMessage::Measured(measured.roofs),
        Err(RoofsError::Cancelled) => RoofsMessage::NotMeasured(None),
        Err(error) => RoofsMessage::NotMeasured(Some(error.to_string())),
    };
    outlet.send(Message::Roofs(message));
}
