//! Background work on detached runs.

use super::DetachedRun;
use crate::action::{Action, Sessions};
use crate::jobs::Outlet;
use crate::notices::NoticeLevel;
use powerband_core::base::paths::Paths;
use powerband_core::domain::request::RunRequest;
use powerband_runner::jobs::collect as collecting;
use powerband_runner::jobs::record::{self, JobRecord};
use powerband_runner::jobs::state::{self, PartState};
use powerband_runner::jobs::submit::{self, DetachOptions};
use powerband_runner::prepare;
use powerband_store::installation::Installation;

/// How far they are, and why that is not known. Slurm is asked only where there are any.
pub(super) fn check_runs(paths: &Paths) -> (Vec<DetachedRun>, Option<String>) {
    let records = record::all(paths);
    let jobs = if records.is_empty() {
        Some(Vec::new())
    } else {
        state::ask_slurm()
    };
    let trouble = jobs.is_none().then(|| state::NO_ANSWER.to_owned());
    let jobs = jobs.unwrap_or_default();
    let runs = if trouble.is_some() {
        Vec::new()
    } else {
        records
            .iter()
            .map(|record| run(record, &state::parts(record, &jobs)))
            .collect()
    };
    (runs, trouble)
}

fn run(record: &JobRecord, states: &[PartState]) -> DetachedRun {
    DetachedRun {
        id: record.id().to_owned(),
        name: record.beginning.name.clone(),
        state: state::states_text(states),
        cases: state::cases(record, states),
        is_alive: states.iter().any(|state| state.is_alive),
    }
}

/// Saves what one measured, and has it opened.
pub(super) fn collect(paths: &Paths, id: &str, outlet: &Outlet) -> Result<(), String> {
    let record = record::find(paths, id)?;
    let jobs = state::ask_slurm().ok_or(state::NO_ANSWER)?;
    let collected = collecting::collect(paths, &record, &state::parts(&record, &jobs))?;
    outlet.send(|app| {
        if let Some(left) = collected.left {
            app.shared.notify(NoticeLevel::Info, left);
        }
        app.act(Action::Sessions(Sessions::Open(vec![collected.path])));
    });
    Ok(())
}

/// Submits a plan.
pub(super) fn submit(
    place: &Installation,
    request: &RunRequest,
    outlet: &Outlet,
) -> Result<(), String> {
    let prepared = prepare::prepare(place, request).map_err(|error| error.to_string())?;
    let detaching = DetachOptions {
        energy: request.energy,
        ..DetachOptions::default()
    };
    let record = submit::submit(&place.paths, &prepared, &detaching)?;
    let jobs = record.jobs().join(", ");
    let text = format!("Detached: {jobs} of Slurm. It goes on without this window.");
    outlet.send(|app| app.shared.notify(NoticeLevel::Done, text));
    Ok(())
}

/// Cancels one.
pub(super) fn cancel(paths: &Paths, id: &str) -> Result<(), String> {
    let record = record::find(paths, id)?;
    submit::cancel(&record).map_or(Ok(()), Err)
}
