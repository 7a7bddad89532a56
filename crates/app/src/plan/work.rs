//! Background work for the plan: reading models, plans of sessions, and durations of sessions.

use std::path::Path;

use super::{Draft, Sources};
use powerband_core::base::paths::Paths;
use powerband_core::domain::device::Cpu;
use powerband_core::domain::model::ModelSummary;
use powerband_core::domain::session::Session;
use powerband_findings::analysis::past_durations::PastDurations;
use powerband_onnx::facts;
use powerband_store::session_file;

/// Reads the facts of a model.
pub(crate) fn inspect_model(name: &str, paths: &Paths) -> Result<Box<ModelSummary>, String> {
    facts::model_summary(name, &paths.cache)
        .map(Box::new)
        .map_err(|error| error.in_window())
}

/// Reads the plan of a session, to be run again.
pub(crate) fn plan_of(path: &Path) -> Result<Draft, String> {
    session_file::read(path)
        .map_err(|error| error.to_string())
        .and_then(|read| Draft::from_session(&read.session))
}

/// Durations of sessions measured on this processor, in order of preference.
pub(crate) fn experience(from: &Sources, cpu: &Cpu) -> PastDurations {
    let read = from
        .iter()
        .filter_map(|(path, _)| session_file::read(path).ok());
    let sessions: Vec<Session> = read.map(|read| read.session).collect();
    PastDurations::on_processor(cpu, &sessions)
}
