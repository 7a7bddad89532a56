//! Background work for a run: preparing, measuring, saving, and recovering interrupted runs.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::backend::ReadyRun;
use crate::doors::BenchDoor;
use crate::jobs::{Outlet, Urgency};
use crate::sessions::Findings;
use powerband_core::base::humanize;
use powerband_core::base::paths::Paths;
use powerband_core::control::Control;
use powerband_core::domain::event::{RunEvent, TimedEvent};
use powerband_core::domain::session::Session;
use powerband_findings::analysis::case_rows::{self, CaseRow};
use powerband_findings::analysis::{fleet, journey};
use powerband_store::installation::Installation;
use powerband_store::library::{self, Stamp};
use powerband_store::{recoverable, session_file};

/// The end of a run.
#[derive(Debug)]
pub(super) struct RunOver {
    /// The whole session.
    pub session: Arc<Session>,
    /// What was found in it.
    pub findings: Findings,
    /// Its file, or why it was not saved.
    pub saved: Result<(PathBuf, Option<Stamp>), String>,
    pub notes: Vec<String>,
}

/// Measures and saves; or says why not, before anything is measured.
pub(super) fn carry_out(
    place: &Installation,
    ready: Box<dyn ReadyRun>,
    control: &Control,
    outlet: &Outlet,
) -> Result<(), String> {
    if control.is_cancelled() {
        return Err("stopped before anything was measured".to_owned());
    }
    let mut rows = Vec::new();
    match ready.earlier() {
        None => {
            let beginning = ready.beginning().clone();
            outlet.send_to(|door: &mut BenchDoor, shared| door.run_began(beginning, shared));
        }
        Some((session, rounds)) => {
            rows = case_rows::case_rows(&session);
            let findings = Findings::of_rows(rows.clone());
            outlet.send_to(move |door: &mut BenchDoor, shared| {
                door.run_went_on(session, rounds, findings, shared);
            });
        }
    }
    let recorded = ready.record(&place.paths, control, &mut |stamped, session| {
        let findings = findings_after(stamped, session, &mut rows);
        // Device readings come twice a second, and each frame disturbs the measurement.
        let urgency = match stamped.event {
            RunEvent::Read { .. } => Urgency::Whenever,
            _ => Urgency::Soon,
        };
        let stamped = stamped.clone();
        outlet.send_with(urgency, |app| {
            app.bench.run_event(stamped, findings, &mut app.shared);
        });
    });
    let findings = Findings::from_session(&recorded.session);
    let over = RunOver {
        session: Arc::new(recorded.session),
        findings,
        saved: recorded.saved.map(|path| {
            let stamp = Stamp::read(&path).ok();
            (path, stamp)
        }),
        notes: recorded
            .diverted
            .into_iter()
            .chain(recorded.notes)
            .collect(),
    };
    outlet.send_to(|door: &mut BenchDoor, shared| door.run_over(over, shared));
    Ok(())
}

/// Findings are computed here, between two rounds, so that they do not disturb the measurement.
fn findings_after(
    stamped: &TimedEvent,
    session: &Session,
    rows: &mut Vec<CaseRow>,
) -> Option<Findings> {
    let (RunEvent::RoundFinished { case, .. } | RunEvent::CaseEnded { case, .. }) = &stamped.event
    else {
        return None;
    };
    case_rows::update_row(session, rows, *case);
    let point = session.plan.first_point();
    let journey = journey::compare_steps(session, rows, point);
    let fleet = has_several_machines(session)
        .then(|| Arc::new(fleet::compare_machines_of_run(session, rows)));
    Some(Findings {
        journey: Some(Arc::new(journey)),
        fleet,
        ..Findings::of_rows(rows.clone())
    })
}

/// Whether its setups run on different machines.
fn has_several_machines(session: &Session) -> bool {
    let name = |setup| session.machine_of(setup).map(|machine| &machine.name);
    (1..session.plan.setups.len()).any(|setup| name(setup) != name(0))
}

/// A description of each run that was interrupted, by its journal.
pub(super) fn interrupted_runs(paths: &Paths) -> Vec<String> {
    let journals = recoverable::all(paths);
    let texts = journals.iter().map(|path| interrupted_words(path));
    texts.collect()
}

/// Which run was cut off, and how much of it there is.
fn interrupted_words(path: &Path) -> String {
    let Ok(session) = recoverable::session(path) else {
        let name = path.file_name().unwrap_or(path.as_os_str());
        return format!("{}, which cannot be read", name.display());
    };
    let sitting = session.sittings.last();
    let began = sitting.map_or(&session.created, |sitting| &sitting.created);
    let first = sitting.map_or(0, |sitting| sitting.first_round);
    let rounds = session.cases.iter().flat_map(|case| &case.rounds);
    let rounds = rounds.filter(|round| round.round >= first).count();
    format!(
        "{} of {} with {}",
        session.name,
        humanize::short_moment(began),
        humanize::pluralised(rounds as u64, "measured round")
    )
}

/// Saves what is in those journals and removes them.
pub(super) fn recover(paths: &Paths, outlet: &Outlet) {
    for path in recoverable::all(paths) {
        let saved = recoverable::session(&path)
            .map_err(|error| error.to_string())
            .and_then(|session| {
                let target = library::new_path(paths, &session.name, &session.created)
                    .map_err(|e| e.to_string())?;
                session_file::write(&target, &session).map_err(|e| e.to_string())?;
                Ok((session.name, target))
            });
        match saved {
            Ok((name, target)) => {
                outlet.send(move |app| BenchDoor::recovered(&name, target, &mut app.shared));
                if let Err(error) = recoverable::remove(&path) {
                    let path = path.display();
                    outlet.failed(format!(
                        "The run is saved, and its journal {path} could not be removed: {error}"
                    ));
                }
            }
            Err(error) => outlet.failed(format!(
                "{} could not be recovered: {error}",
                path.display()
            )),
        }
    }
}
