//! Background work on detached runs.

use crate::action::{Action, Sessions};
use crate::backend::Backend;
use crate::jobs::Outlet;
use crate::notices::NoticeLevel;
use powerband_core::base::paths::Paths;
use powerband_core::domain::request::RunRequest;
use powerband_store::installation::Installation;

/// Saves what one measured, and has it opened.
pub(super) fn collect(
    paths: &Paths,
    backend: &dyn Backend,
    id: &str,
    outlet: &Outlet,
) -> Result<(), String> {
    let (path, left) = backend.collect(paths, id)?;
    outlet.send(|app| {
        if let Some(left) = left {
            app.shared.notify(NoticeLevel::Info, left);
        }
        app.act(Action::Sessions(Sessions::Open(vec![path])));
    });
    Ok(())
}

/// Submits a plan.
pub(super) fn submit(
    place: &Installation,
    backend: &dyn Backend,
    request: &RunRequest,
    outlet: &Outlet,
) -> Result<(), String> {
    let jobs = backend.submit(place, request)?.join(", ");
    let text = format!("Detached: {jobs} of Slurm. It goes on without this window.");
    outlet.send(|app| app.shared.notify(NoticeLevel::Done, text));
    Ok(())
}
