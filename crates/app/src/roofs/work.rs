//! Background work on roofs: reading what is kept, and measuring.

use crate::backend::Backend;
use crate::jobs::Outlet;
use powerband_core::base::cancel::CancelToken;
use powerband_core::domain::roofs::Roofs;
use powerband_store::installation::Installation;

/// Reads what is kept of the devices that are here and holds, and says why the rest does not.
pub(crate) fn read(place: &Installation, backend: &dyn Backend) -> (Vec<Roofs>, Vec<String>) {
    let found = backend.kept_roofs(place);
    // It reads files the first time, which is for this thread and not for the window's.
    backend.roof_seconds(0);
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
    backend: &dyn Backend,
    again: bool,
    cancel: &CancelToken,
    outlet: &Outlet,
) -> Result<Option<Vec<Roofs>>, String> {
    backend.measure_roofs(place, again, cancel, &mut |what, share| {
        outlet.send(move |app| {
            if let Some(measuring) = &mut app.settings.roofs.measuring {
                (measuring.what, measuring.share) = (what, share);
            }
        });
    })
}
