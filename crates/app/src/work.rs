//! What background threads do: open, save, measure, fetch. Each function blocks, and reports at its end.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::duration_sources::Sources;
use super::history::{Followed, Following};
use super::inbox::{
    FindingMessage, MachineMessage, Message, Opened, PlanMessage, RunMessage, RunOver,
    SessionMessage,
};
use super::jobs::Outlet;
use super::journey::{ComparedSteps, Looking};
use super::kernels::{Found, Wanted};
use super::machine::{self, EVERYWHERE, Pointed};
use super::plan::Draft;
use super::sessions::{Findings, SessionId};
use powerband_core::base::cancel::CancelToken;
use powerband_core::base::humanize;
use powerband_core::base::paths::Paths;
use powerband_core::domain::device::Cpu;
use powerband_core::domain::event::{RunEvent, Stamped};
use powerband_core::domain::session::Session;
use powerband_core::domain::trace::Trace;
use powerband_findings::analysis::breakdown::{self, Level};
use powerband_findings::analysis::case_rows::{self, CaseRow};
use powerband_findings::analysis::category::{Category, Rules};
use powerband_findings::analysis::past_durations::PastDurations;
use powerband_findings::analysis::{history, journey, kernel_comparison};
use powerband_findings::chart;
use powerband_measure::engines::install::InstallRequest;
use powerband_measure::runner::control::Control;
use powerband_measure::runner::importing;
use powerband_measure::runner::installation::Installation;
use powerband_measure::runner::prepare;
use powerband_measure::runner::record::{self, Target};
use powerband_measure::runner::request::RunRequest;
use powerband_measure::runner::run::PreparedRun;
use powerband_measure::telemetry::{machine as telemetry_machine, survey};
use powerband_measure::worker::fetch::{self, FetchStep};
use powerband_measure::worker::{probe, profilers};
use powerband_onnx::facts;
use powerband_store::library::{self, Scanned, Stamp};
use powerband_store::trash::{Discarded, discard as move_to_trash, restore as bring_back};
use powerband_store::{examples, journal, session_file, settings};

/// Looks up what this machine has.
pub(crate) fn survey(place: &Installation, outlet: &Outlet) {
    outlet.send(Message::Machine(MachineMessage::Environment(Box::new(
        telemetry_machine::environment(),
    ))));
    if let Some(watch) = &place.watch {
        let found = survey::survey(&watch.places);
        outlet.send(Message::Machine(MachineMessage::Devices(
            found.devices,
            found.missing,
        )));
    }
    let found = probe::survey(
        &place.paths,
        place.onnxruntime.clone(),
        place.python.as_deref(),
        &place.program,
        &place.environment_roots,
    );
    outlet.send(Message::Machine(MachineMessage::MissingProfilers(
        profilers::missing_profilers(),
    )));
    outlet.send(Message::Machine(MachineMessage::Engines(
        machine::describe(&found),
    )));
}

/// Fetches the ONNX Runtime that suits this machine's card, or else the one that runs everywhere.
pub(crate) fn install(place: &Installation, flavor: &str, cancel: &CancelToken, outlet: &Outlet) {
    let fetch = |flavor: &str| {
        let request = InstallRequest {
            flavor: flavor.to_owned(),
            version: None,
        };
        let mut tell = |step: FetchStep| {
            let (words, share) = step_words(&step);
            outlet.send(Message::Machine(MachineMessage::InstallStep(words, share)));
        };
        let python = place.python.clone();
        fetch::install(
            &place.paths,
            &place.program,
            python,
            &request,
            cancel,
            &mut tell,
        )
    };
    let mut installed = fetch(flavor);
    if let (Err(reason), true) = (&installed, flavor != EVERYWHERE && !cancel.is_cancelled()) {
        outlet.send(Message::Failed(format!(
            "The ONNX Runtime for this card was not fetched: {reason}. The one for processors is fetched in its place."
        )));
        installed = fetch(EVERYWHERE);
    }
    outlet.send(Message::Machine(MachineMessage::Installed(
        installed.map(|installed| installed.version),
    )));
}

fn step_words(step: &FetchStep) -> (String, Option<f32>) {
    match step {
        FetchStep::Downloading { .. } => ("Fetching with pip…".to_owned(), None),
        FetchStep::Downloaded { bytes, total } => {
            let of = total
                .map(|total| format!(" of {}", humanize::bytes(total)))
                .unwrap_or_default();
            let share = total.map(|total| *bytes as f32 / total.max(1) as f32);
            (format!("Fetching, {}{of}", humanize::bytes(*bytes)), share)
        }
        FetchStep::Unpacking => ("Unpacking…".to_owned(), Some(1.0)),
        FetchStep::Checking => ("Loading it once…".to_owned(), Some(1.0)),
    }
}

/// Reads what is to be known of a model.
pub(crate) fn inspect_model(name: String, paths: &Paths, outlet: &Outlet) {
    let summary = facts::model_summary(&name, &paths.cache)
        .map(Box::new)
        .map_err(|error| error.to_string());
    outlet.send(Message::Plan(PlanMessage::Model(name, summary)));
}

/// Reads a session and finds what is in it.
pub(crate) fn open(id: SessionId, path: PathBuf, outlet: &Outlet) {
    let stamp = Stamp::of(&path).ok();
    match session_file::read(&path) {
        Ok(read) => outlet.send(Message::Session(SessionMessage::Opened(Box::new(Opened {
            id,
            findings: Findings::of(&read.session),
            session: Arc::new(read.session),
            path: Some(path),
            stamp,
            newer: read.newer,
        })))),
        Err(error) => outlet.send(Message::Session(SessionMessage::NotOpened(
            path,
            error.to_string(),
        ))),
    }
}

/// Reads the plan of a session, to be run again.
pub(crate) fn plan_of(path: &Path, outlet: &Outlet) {
    let draft = session_file::read(path)
        .map_err(|error| error.to_string())
        .and_then(|read| Draft::again(&read.session));
    outlet.send(Message::Plan(PlanMessage::Found(draft.map(Box::new))));
}

/// Opens one of the built-in examples.
pub(crate) fn open_example(id: SessionId, place: usize, outlet: &Outlet) {
    let Some(example) = examples::ALL.get(place) else {
        return;
    };
    match example.open() {
        Ok(read) => outlet.send(Message::Session(SessionMessage::Opened(Box::new(Opened {
            id,
            findings: Findings::of(&read.session),
            session: Arc::new(read.session),
            path: None,
            stamp: None,
            newer: read.newer,
        })))),
        Err(error) => outlet.send(Message::Session(SessionMessage::NotOpened(
            example.file.into(),
            error.to_string(),
        ))),
    }
}

/// Writes a session to a file of the user's choice, with its timelines: those that are open, and those
/// that lie beside its file.
pub(crate) fn save_as(
    id: SessionId,
    session: &Session,
    (open, from): (&[(usize, Arc<Trace>)], Option<&Path>),
    path: PathBuf,
    outlet: &Outlet,
) {
    let saved = session_file::check_target(&path, true)
        .map_err(|error| error.to_string())
        .and_then(|()| {
            importing::keep_copy(session, open, from, &path).map_err(|error| error.to_string())
        })
        .and_then(|session| {
            let stamp = Stamp::of(&path).map_err(|error| error.to_string())?;
            Ok((stamp, Arc::new(session)))
        });
    outlet.send(match saved {
        Ok((stamp, session)) => Message::Session(SessionMessage::SavedAs(id, path, stamp, session)),
        Err(error) => Message::Failed(format!("The session was not saved: {error}")),
    });
}

/// Changes a session's file.
pub(crate) fn edit(
    path: PathBuf,
    expected: Option<Stamp>,
    change: impl FnOnce(&mut Session),
    outlet: &Outlet,
) {
    let edited = library::edit(&path, expected, change).map_err(|error| error.to_string());
    outlet.send(Message::Session(SessionMessage::Edited(path, edited)));
}

/// Makes a copy of a session beside it.
pub(crate) fn duplicate(path: &Path, outlet: &Outlet) {
    outlet.send(match library::duplicate(path) {
        Ok(copy) => Message::Done(format!("Copied to {}", copy.display())),
        Err(error) => Message::Failed(format!("{} was not copied: {error}", path.display())),
    });
}

/// To the trash.
pub(crate) fn discard(paths: &Paths, path: PathBuf, name: String, outlet: &Outlet) {
    let discarded = move_to_trash(paths, &path);
    outlet.send(Message::Session(SessionMessage::Discarded(
        path, name, discarded,
    )));
}

/// Back from the trash.
pub(crate) fn restore(discarded: Discarded, name: String, outlet: &Outlet) {
    let restored = bring_back(&discarded).map_err(|error| (discarded, error));
    outlet.send(Message::Session(SessionMessage::Restored(name, restored)));
}

/// Journals that nobody holds any more, and what each of them is.
pub(crate) fn look_for_journals(paths: &Paths, outlet: &Outlet) {
    let abandoned = journal::abandoned(&library::journals(paths));
    if !abandoned.is_empty() {
        let words = abandoned.iter().map(|path| interrupted_words(path));
        outlet.send(Message::Session(SessionMessage::Abandoned(words.collect())));
    }
}

/// Which run was cut off, and how much of it there is.
fn interrupted_words(path: &Path) -> String {
    let Ok(session) = journal::recover(path) else {
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
    for path in journal::abandoned(&library::journals(paths)) {
        let saved = journal::recover(&path)
            .map_err(|error| error.to_string())
            .and_then(|session| {
                let target = library::new_path(paths, &session.name, &session.created)
                    .map_err(|e| e.to_string())?;
                session_file::write(&target, &session).map_err(|e| e.to_string())?;
                std::fs::remove_file(&path).map_err(|e| e.to_string())?;
                Ok((session.name, target))
            });
        outlet.send(match saved {
            Ok((name, target)) => Message::Session(SessionMessage::Recovered(name, target)),
            Err(error) => Message::Failed(format!(
                "{} could not be recovered: {error}",
                path.display()
            )),
        });
    }
}

/// Prepares, measures and saves.
pub(crate) fn run(place: &Installation, request: &RunRequest, control: &Control, outlet: &Outlet) {
    match prepare::prepare(place, request) {
        Ok(request) => carry_out(place, request, &Target::Library, control, outlet),
        Err(error) => outlet.send(Message::Run(RunMessage::Refused(error.to_string()))),
    }
}

/// Reads a session, measures more rounds of it, and saves it in the same file.
pub(crate) fn add_rounds(
    place: &Installation,
    (path, stamp): (PathBuf, Stamp),
    rounds: u32,
    control: &Control,
    outlet: &Outlet,
) {
    let read = session_file::read(&path).map_err(|error| error.to_string());
    let request = read.and_then(|opened| {
        prepare::prepare_more(place, opened.session, rounds).map_err(|error| error.to_string())
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
    outlet.send(match &request.earlier {
        None => Message::Run(RunMessage::Began(Box::new(request.beginning.clone()))),
        Some(earlier) => {
            let session = earlier.session.clone().reopened(&earlier.created);
            Message::Run(RunMessage::WentOn(Box::new(session), earlier.rounds))
        }
    });
    let mut rows = Vec::new();
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
        notes: recorded.notes,
    }))));
}

/// Where a case is looked for.
pub(crate) struct Search {
    /// The case, of an open session.
    pub following: Following,
    /// The library.
    pub folder: PathBuf,
    /// What is known of the library's sessions.
    pub known: BTreeMap<PathBuf, Scanned>,
    /// The colour of its setup.
    pub colour: usize,
    /// The open sessions and their files, first the one that has it.
    pub open: Vec<(Arc<Session>, Option<PathBuf>)>,
}

/// Follows a case through what is open and through the sessions of the library. Only files whose head says
/// that they may have it are read.
pub(crate) fn follow(search: &Search, outlet: &Outlet) {
    let Some((session, _)) = search.open.first() else {
        return;
    };
    let Following { setup, batch, .. } = search.following;
    let case = history::Followed::of(session, setup, batch);
    let name = &session.model.name;
    let (mut sessions, mut files): (Vec<Session>, Vec<Option<PathBuf>>) = search
        .open
        .iter()
        .map(|(open, file)| (case.narrowed(open), file.clone()))
        .unzip();
    let mut troubles = Vec::new();
    for (path, scanned) in library::scan(&search.folder, &search.known) {
        let may_have = scanned
            .entry
            .is_ok_and(|entry| entry.model == *name && entry.batches.contains(&batch));
        if !may_have || files.iter().flatten().any(|file| *file == path) {
            continue;
        }
        match session_file::read(&path) {
            Ok(opened) => {
                sessions.push(case.narrowed(&opened.session));
                files.push(Some(path));
            }
            Err(error) => troubles.push(error.to_string()),
        }
    }
    let rows: Vec<Vec<CaseRow>> = sessions.iter().map(case_rows::case_rows).collect();
    let pairs: Vec<(&Session, &[CaseRow])> = sessions
        .iter()
        .zip(rows.iter().map(Vec::as_slice))
        .collect();
    let history = history::case_history(&case, &pairs);
    outlet.send(Message::Finding(FindingMessage::Followed(Box::new(
        Followed {
            following: search.following,
            chart: chart::history::medians(&history, search.colour),
            history,
            files,
            troubles,
        },
    ))));
}

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

/// What sessions took that were measured on this processor, the first ones before the others.
pub(crate) fn experience(from: &Sources, cpu: &Cpu) -> PastDurations {
    let read = from
        .iter()
        .filter_map(|(path, _)| session_file::read(path).ok());
    let sessions: Vec<Session> = read.map(|read| read.session).collect();
    PastDurations::on(cpu, &sessions)
}

/// Adds a profile up, and compares it with another one where that is wanted.
pub(crate) fn add_up(
    wanted: Wanted,
    session: Arc<Session>,
    before: Option<Arc<Session>>,
    paths: &Paths,
    outlet: &Outlet,
) {
    let own = settings::read(&paths.settings);
    let own = own.map(|settings| settings.categories).unwrap_or_default();
    let rules = Rules::with(&own);
    let Some(profile) = session.profiles.get(wanted.after.profile) else {
        return;
    };
    let breakdowns = Level::ALL.map(|level| breakdown::add_up(profile, &rules, level));
    let other = wanted.before.zip(before.as_ref());
    let other = other.and_then(|(pick, session)| session.profiles.get(pick.profile));
    let comparison = other.map(|other| kernel_comparison::compare_profiles(other, profile, &rules));
    outlet.send(Message::Finding(FindingMessage::AddedUp(Box::new(Found {
        wanted,
        breakdowns,
        comparison,
        own,
        objections: rules.objections,
        session,
        before,
    }))));
}

/// A change of the user's rules for categories.
pub(crate) enum RuleChange {
    /// One more, before the others.
    Add(Category, String),
    /// Without the one at a place.
    Forget(usize),
}

/// Changes the user's rules in the settings.
pub(crate) fn change_rules(paths: &Paths, change: RuleChange, outlet: &Outlet) {
    let changed = settings::read(&paths.settings).and_then(|mut settings| {
        match change {
            RuleChange::Add(category, pattern) => {
                let rule = (category.id().to_owned(), pattern);
                settings.categories.insert(0, rule);
            }
            RuleChange::Forget(place) if place < settings.categories.len() => {
                settings.categories.remove(place);
            }
            RuleChange::Forget(_) => {}
        }
        settings::write(&paths.settings, &settings)
    });
    outlet.send(Message::Finding(FindingMessage::RulesChanged(changed)));
}

/// Keeps in the settings where something is that engines need.
pub(crate) fn keep_pointed(file: &Path, pointed: Pointed, path: Option<PathBuf>, outlet: &Outlet) {
    let kept = settings::read(file).and_then(|mut settings| {
        *pointed.of_settings(&mut settings) = path;
        settings::write(file, &settings)
    });
    if let Err(reason) = kept {
        outlet.send(Message::Failed(format!(
            "{} is used until Powerband is closed: {reason}",
            pointed.title()
        )));
    }
}

/// Findings are made here, between two visits, so that making them takes nothing from what is measured.
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
    let batch = session.plan.batches.first().copied().unwrap_or(1);
    let journey = journey::compare_steps(session, rows, batch);
    Some(Findings {
        journey: Some(Arc::new(journey)),
        ..Findings::of_rows(rows.clone())
    })
}
