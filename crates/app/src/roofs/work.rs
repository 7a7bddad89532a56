//! Background work on roofs: reading what is kept, and measuring.

use crate::jobs::Outlet;
use powerband_core::base::cancel::CancelToken;
use powerband_core::domain::roofs::Roofs;
use powerband_core::domain::telemetry_paths::TelemetryPaths;
use powerband_runner::roofs::measuring::{self, RoofRequest, RoofsError};
use powerband_runner::roofs::{RoofProgress, devices, kept};
use powerband_store::installation::Installation;

/// Reads what is kept of the devices that are here and holds, and says why the rest does not.
pub(crate) fn read(place: &Installation) -> (Vec<Roofs>, Vec<String>) {
    let places = place.watch.as_ref().map(|watch| watch.places.clone());
    let devices = devices::all(&places.unwrap_or_else(TelemetryPaths::of_user));
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
    (found.fresh, warnings)
}

/// Measures what is missing, or everything again; returns all roofs, as they are kept from now on.
pub(crate) fn measure(
    place: &Installation,
    again: bool,
    cancel: &CancelToken,
    outlet: &Outlet,
) -> Result<Vec<Roofs>, RoofsError> {
    let request = RoofRequest {
        again,
        usual_engines: true,
        setups: Vec::new(),
    };
    let mut tell = |step: RoofProgress| {
        let share = step.done as f32 / step.of.max(1) as f32;
        outlet.send(move |app| {
            if let Some(measuring) = &mut app.settings.roofs.measuring {
                (measuring.what, measuring.share) = (step.what, share);
            }
        });
    };
    let measured = measuring::measure(place, &request, cancel, &mut tell)?;
    Ok(measured.roofs)
}
