//! Background work for a run: preparing, measuring, saving, and recovering interrupted runs.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::inbox::{Message, RunMessage, RunOver, SessionMessage};
use crate::jobs::Outlet;
use crate::sessions::Findings;
use powerband_core::base::humanize;
use powerband_core::base::paths::Paths;
use powerband_core::domain::case::CaseKey;
use powerband_core::domain::event::{RunEvent, Stamped};
use powerband_core::domain::session::Session;
use powerband_findings::analysis::case_rows::{self, CaseRow};
use powerband_findings::analysis::journey;
use powerband_measure::runner::again::{self, SessionPart};
use powerband_measure::runner::control::Control;
use powerband_measure::runner::experiments::{self, Here};
use powerband_measure::runner::installation::Installation;
use powerband_measure::runner::prepare;
use powerband_measure::runner::programs::Origin;
use powerband_measure::runner::record::{self, Target};
use powerband_measure::runner::request::RunRequest;
use powerband_measure::runner::run::PreparedRun;
use powerband_store::library::{self, Stamp};
use powerband_store::{recoverable, session_file};

/// Prepares, measures and saves.
pub(crate) fn run(place: &Installation, request: &RunRequest, control: &Control, outlet: &Outlet) {
    match prepare::prepare(place, request) {
        Ok(request) => carry_out(place, request, &Target::Library, control, outlet),
        Err(error) => outlet.send(Message::Run(RunMessage::Refused(error.to_string()))),
    }
}

/// Measures experiments on a case of a session.
pub(crate) fn ask_why(
    place: &Installation,
    session: &Session,
    (case, programs): (CaseKey, Origin),
    control: &Control,
    outlet: &Outlet,
) {
    let prepared = experiments::request_for(session, case, &Here::now()).and_then(|request| {
        let request = RunRequest {
            programs,
            ..request
        };
        let prepared = prepare::prepare(place, &request).map_err(|error| error.to_string())?;
        experiments::check_same(session, &prepared).map_err(|error| error.to_string())?;
        Ok(prepared)
    });
    match prepared {
        Ok(request) => carry_out(place, request, &Target::Library, control, outlet),
        Err(reason) => outlet.send(Message::Run(RunMessage::Refused(reason))),
    }
}

/// Measures two sessions again, in turns.
pub(crate) fn measure_again(
    place: &Installation,
    [before, after]: [SessionPart<'_>; 2],
    programs: Origin,
    control: &Control,
    outlet: &Outlet,
) {
    let prepared = again::request_for(before, after).and_then(|request| {
        let request = RunRequest {
            programs,
            ..request
        };
        again::prepare_again(place, &request, before, after)
    });
    match prepared {
        Ok(request) => carry_out(place, request, &Target::Library, control, outlet),
        Err(error) => outlet.send(Message::Run(RunMessage::Refused(error.to_string()))),
    }
}

/// Reads a session, measures more rounds of it, and saves it in the same file.
pub(crate) fn add_rounds(
    place: &Installation,
    (path, stamp): (PathBuf, Stamp),
    (rounds, programs): (u32, Origin),
    control: &Control,
    outlet: &Outlet,
) {
    let read = session_file::read(&path).map_err(|error| error.to_string());
    let request = read.and_then(|opened| {
        prepare::prepare_more(place, opened.session, rounds, programs)
            .map_err(|error| error.to_string())
    });
    match request {
        Ok(request) => {
            let target = Target::Again { path, stamp };
            carry_out(place, request, &target, control, outlet);
        }
        Err(reason) => outlet.send(Message::Run(RunMessage::Refused(reason))),
    }
}

fn carry_out(
    place: &Installation,
    request: PreparedRun,
    target: &Target,
    control: &Control,
    outlet: &Outlet,
) {
    if control.is_cancelled() {
        return outlet.send(Message::Run(RunMessage::Refused(
            "stopped before anything was measured".to_owned(),
        )));
    }
    let mut rows = Vec::new();
    outlet.send(Message::Run(match &request.earlier {
        None => RunMessage::Began(Box::new(request.beginning.clone())),
        Some(earlier) => {
            let session = earlier.session.clone().reopened(&earlier.created);
            rows = case_rows::case_rows(&session);
            let findings = Findings::of_rows(rows.clone());
            RunMessage::WentOn(Box::new(session), earlier.rounds, findings)
        }
    }));
    let recorded = record::record(
        request,
        &place.paths,
        target,
        control,
        &mut |stamped, session| {
            outlet.send(Message::Run(RunMessage::Event(Box::new((
                stamped.clone(),
                findings_after(stamped, session, &mut rows),
            )))));
        },
    );
    let findings = Findings::of(&recorded.session);
    outlet.send(Message::Run(RunMessage::Over(Box::new(RunOver {
        session: Arc::new(recorded.session),
        findings,
        saved: recorded.saved.map(|path| {
            let stamp = Stamp::of(&path).ok();
            (path, stamp)
        }),
        notes: recorded
            .diverted
            .into_iter()
            .chain(recorded.notes)
            .collect(),
    }))));
}

/// Findings are computed here, between two rounds, so that they do not disturb the measurement.
fn findings_after(
    stamped: &Stamped,
    session: &Session,
    rows: &mut Vec<CaseRow>,
) -> Option<Findings> {
    let (RunEvent::RoundFinished { case, .. } | RunEvent::CaseEnded { case, .. }) = &stamped.event
    else {
        return None;
    };
    case_rows::renew(session, rows, *case);
    let point = session.plan.first_point();
    let journey = journey::compare_steps(session, rows, point);
    Some(Findings {
        journey: Some(Arc::new(journey)),
        ..Findings::of_rows(rows.clone())
    })
}

/// Journals of interrupted runs, and a description of each.
pub(crate) fn look_for_journals(paths: &Paths, outlet: &Outlet) {
    let abandoned = recoverable::all(paths);
    if !abandoned.is_empty() {
        let words = abandoned.iter().map(|path| interrupted_words(path));
        outlet.send(Message::Session(SessionMessage::Abandoned(words.collect())));
    }
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
        humanize::of_many(rounds as u64, "measured round")
    )
}

/// Saves what is in those journals and removes them.
pub(crate) fn recover(paths: &Paths, outlet: &Outlet) {
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
                outlet.send(Message::Session(SessionMessage::Recovered(name, target)));
                if let Err(error) = recoverable::remove(&path) {
                    let path = path.display();
                    outlet.send(Message::Failed(format!(
                        "The run is saved, and its journal {path} could not be removed: {error}"
                    )));
                }
            }
            Err(error) => outlet.send(Message::Failed(format!(
                "{} could not be recovered: {error}",
                path.display()
            ))),
        }
    }
}
