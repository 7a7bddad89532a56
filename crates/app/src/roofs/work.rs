//! Background work on roofs: reading what is kept, and measuring.

use crate::backend::{Backend, WantedRoofs};
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

/// All roofs, as they are kept from now on, and whether any was measured.
pub(crate) struct RoofsNow {
    pub all: Vec<Roofs>,
    pub is_new: bool,
}

/// Measures what is wanted; nothing where it was cancelled.
pub(crate) fn measure(
    place: &Installation,
    backend: &dyn Backend,
    wanted: &WantedRoofs,
    cancel: &CancelToken,
    outlet: &Outlet,
) -> Result<Option<RoofsNow>, String> {
    let mut is_new = false;
    let all = backend.measure_roofs(place, wanted, cancel, &mut |what, share| {
        is_new = true;
        outlet.send(move |app| {
            if let Some(measuring) = &mut app.settings.roofs.measuring {
                (measuring.what, measuring.share) = (what, share);
            }
        });
    })?;
    Ok(all.map(|all| RoofsNow { all, is_new }))
}
