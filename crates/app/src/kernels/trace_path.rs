//! Where the timeline of a profile lies.

use std::path::PathBuf;

use super::{ProfileRef, profile};
use crate::shared::Shared;

/// Where the timeline of a profile lies, or why there is none to be opened.
pub(crate) fn trace_path(shared: &Shared, pick: ProfileRef) -> Result<PathBuf, &'static str> {
    let trace = profile(&shared.sessions, pick).and_then(|profile| profile.trace_file.as_ref());
    let trace = trace.ok_or("the profile has sums only, no timeline")?;
    let session = shared.sessions.get(pick.session);
    let session = session.and_then(|open| open.path.as_deref());
    let found = shared.backend.timeline_path(session, trace);
    found.ok_or("the timeline's file beside the session is missing")
}
