//! Asking why by experiment: a run that changes one thing about a case at a time.

use crate::App;
use crate::sessions::{LIVE, OpenSession, Pin};
use powerband_core::domain::case::CaseKey;

/// The case that is shown, or why there is none to be asked about.
pub fn case_to_ask(app: &App) -> Result<Pin, &'static str> {
    let looking = app
        .profile
        .why
        .looking
        .ok_or("no session with cases is open")?;
    let case = app.profile.why.case(&app.shared.sessions);
    let case = case.ok_or("the profile is of no case that was measured here")?;
    let open = app.shared.sessions.get(looking.session);
    let open = open.ok_or("the session is not open")?;
    can_be_asked(open, case)?;
    Ok(Pin {
        session: looking.session,
        case,
    })
}

/// Whether experiments on a case can be measured.
pub(crate) fn can_be_asked(open: &OpenSession, case: CaseKey) -> Result<(), &'static str> {
    if open.id == LIVE {
        return Err("the run is in progress");
    }
    if !open.session.plan.can_run() {
        return Err("the session was not measured here");
    }
    let is_there = open.session.cases.iter().any(|one| one.key() == case);
    is_there.then_some(()).ok_or("the session has no such case")
}
