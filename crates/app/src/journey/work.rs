//! Compares the steps of a session, on a background thread.

use std::sync::Arc;

use super::{ComparedSteps, Looking};
use crate::inbox::{FindingMessage, Message};
use crate::jobs::Outlet;
use powerband_core::domain::session::Session;
use powerband_findings::analysis::case_rows::CaseRow;
use powerband_findings::analysis::journey;

/// Compares the steps of a session.
pub(crate) fn compare_steps(
    looking: Looking,
    session: Arc<Session>,
    rows: &[CaseRow],
    outlet: &Outlet,
) {
    let journey = Arc::new(journey::compare_steps(&session, rows, looking.batch));
    outlet.send(Message::Finding(FindingMessage::ComparedSteps(Box::new(
        ComparedSteps {
            looking,
            session,
            journey,
        },
    ))));
}
