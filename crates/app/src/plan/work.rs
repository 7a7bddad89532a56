//! Background work for the plan: reading models, plans of sessions, and durations of sessions.

use std::path::Path;

use super::{Draft, Sources};
use crate::inbox::{Message, PlanMessage};
use crate::jobs::Outlet;
use powerband_core::base::paths::Paths;
use powerband_core::domain::device::Cpu;
use powerband_core::domain::session::Session;
use powerband_findings::analysis::past_durations::PastDurations;
use powerband_onnx::facts;
use powerband_store::session_file;

/// Reads the facts of a model.
pub(crate) fn inspect_model(name: String, paths: &Paths, outlet: &Outlet) {
    let summary = facts::model_summary(&name, &paths.cache)
        .map(Box::new)
        .map_err(|error| error.to_string());
    outlet.send(Message::Plan(PlanMessage::Model(name, summary)));
}

/// Reads the plan of a session, to be run again.
pub(crate) fn plan_of(path: &Path, outlet: &Outlet) {
    let draft = session_file::read(path)
        .map_err(|error| error.to_string())
        .and_then(|read| Draft::again(&read.session));
    outlet.send(Message::Plan(PlanMessage::Found(draft.map(Box::new))));
}

/// Durations of sessions measured on this processor, in order of preference.
pub(crate) fn experience(from: &Sources, cpu: &Cpu) -> PastDurations {
    let read = from
        .iter()
        .filter_map(|(path, _)| session_file::read(path).ok());
    let sessions: Vec<Session> = read.map(|read| read.session).collect();
    PastDurations::on(cpu, &sessions)
}
