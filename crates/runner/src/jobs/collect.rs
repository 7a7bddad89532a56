//! One session of what the jobs of a detached run measured, whether they finished or were cut short.

use std::fs;
use std::path::{Path, PathBuf};

use super::record::{JobPart, JobRecord};
use super::rounds_before::{RoundsBefore, save_apart};
use super::state::{self, PartState};
use powerband_core::base::paths::Paths;
use powerband_core::base::{clock, humanize};
use powerband_core::domain::case::{Case, CaseKey};
use powerband_core::domain::environment::Environment;
use powerband_core::domain::machine::RemoteMachine;
use powerband_core::domain::outcome::{Outcome, Phase};
use powerband_core::domain::session::{Completion, Session};
use powerband_core::domain::telemetry::{
    DeviceLoss, DeviceReading, DeviceTelemetry, Telemetry, TimeSpan, WatchedDevice,
};
use powerband_store::{journal, library, session_file, trace_file};
use powerband_worker::slurm::JobEnd;

/// A run that was collected.
#[derive(Debug)]
pub struct CollectedRun {
    /// The session.
    pub session: Session,
    /// Its file.
    pub path: PathBuf,
    /// Why the folder of the jobs stays, where it does.
    pub left: Option<String>,
}

/// Saves what was measured as one session, and removes the folder of the jobs. Refused while one of them lives.
pub fn collect(
    paths: &Paths,
    record: &JobRecord,
    states: &[PartState],
) -> Result<CollectedRun, String> {
    let alive = states.iter().filter(|state| state.is_alive).count();
    if alive > 0 {
        return Err(format!(
            "{alive} of {} jobs are queued or running; wait for them, or powerband jobs cancel {} first",
            states.len(),
            record.id()
        ));
    }
    let (mut session, base) = begun_session(record)?;
    session.completion = Completion::Complete;
    let mut traces = Vec::new();
    let mut places: Vec<PlaceAndTime> = Vec::new();
    for (number, state) in states.iter().enumerate() {
        places.extend(take_part(
            paths,
            &mut session,
            &base,
            record,
            number,
            state,
            &mut traces,
        )?);
    }
    if states.len() > 1 {
        session.warnings.push(format!(
            "Measured in {} jobs of Slurm: cases of one job took turns, cases of different jobs are not interleaved.",
            states.len()
        ));
    }
    for case in &mut session.cases {
        // Its earlier rounds stand where a job added none.
        if case.outcome == Outcome::Pending && !case.rounds.is_empty() {
            case.outcome = Outcome::Finished;
        }
    }
    session.warnings.extend(shared_node_text(&places));
    let unwritable =
        |error: &dyn std::fmt::Display| format!("the session cannot be saved: {error}");
    let path = match &record.more {
        Some(path) => path.clone(),
        None => library::new_path(paths, &session.name, &session.created)
            .map_err(|error| unwritable(&error))?,
    };
    for (place, from) in traces {
        let beside = trace_file::path(&path, place);
        if fs::copy(from, &beside).is_ok()
            && let (Some(profile), Some(name)) =
                (session.profiles.get_mut(place), beside.file_name())
        {
            profile.trace_file = Some(name.to_string_lossy().into_owned());
        }
    }
    session_file::write(&path, &session).map_err(|error| unwritable(&error))?;
    // Nothing of the jobs goes before what was made of them can be read.
    session_file::read(&path).map_err(|error| unwritable(&error))?;
    let left = record.remove(paths).err();
    let left = left.map(|error| format!("{} stays: {error}", record.folder.display()));
    Ok(CollectedRun {
        session,
        path,
        left,
    })
}

/// The session that the jobs add to: one of its own, or an earlier one whose cases are open again; and what it had.
fn begun_session(record: &JobRecord) -> Result<(Session, RoundsBefore), String> {
    let Some(path) = &record.more else {
        let session = Session::from_start(record.beginning.clone());
        let base = RoundsBefore::of_session(&session);
        return Ok((session, base));
    };
    let opened = session_file::read(path).map_err(|error| error.to_string())?;
    if let Some(version) = opened.newer {
        return Err(format!(
            "{} was written by a newer Powerband (session version {version}) and is not written to",
            path.display()
        ));
    }
    let mut session = opened.session;
    let mut base = RoundsBefore::of_session(&session);
    if record.retries {
        let retried = session.cases.iter();
        let retried = retried.filter(|case| case.outcome.may_be_retried());
        base.retried = retried.map(Case::key).collect();
        session.retry_failed();
    }
    Ok((session.reopened(&record.beginning.created), base))
}

/// Takes in what one job measured; where and when it did, where it measured anything.
fn take_part(
    paths: &Paths,
    session: &mut Session,
    base: &RoundsBefore,
    record: &JobRecord,
    number: usize,
    state: &PartState,
    traces: &mut Vec<(usize, PathBuf)>,
) -> Result<Option<PlaceAndTime>, String> {
    let Some(part) = record.parts.get(number) else {
        return Ok(None);
    };
    let saved = record.file_of(number, ".ron");
    let Some(measured) = measured_session(record, number, &saved)? else {
        let outcome = never_began(state, &fs::read_to_string(&part.log).unwrap_or_default());
        let cases = part.plan.cases().into_iter().map(|key| Case {
            outcome: outcome.clone(),
            ..Case::pending(key)
        });
        take_cases(session, base, cases.collect(), part, state, 0);
        return Ok(None);
    };
    let mut machine = machine_of_part(record, number, part, &measured.environment);
    machine.roofs.clone_from(&measured.roofs);
    let began_s = clock::unix_seconds(&measured.created).unwrap_or_default();
    let place = PlaceAndTime {
        job: part.label(),
        host: machine.host.clone(),
        from_s: began_s,
        to_s: began_s + (measured.elapsed_ns / 1_000_000_000) as i64,
    };
    // What was measured on one machine is on one clock: jobs that came to it one after the other follow each other.
    let later_ns = match known_machine(session, &machine) {
        Some(_) => session.elapsed_ns,
        None => base.elapsed_ns,
    };
    if base.is_other_machine(part, &machine.environment) {
        let warning = save_apart(paths, record, part, measured, machine)?;
        session.warnings.push(warning);
        return Ok(Some(place));
    }
    take_cases(session, base, measured.cases, part, state, later_ns);
    for (own, report) in measured.reports.into_iter().enumerate() {
        let slot = part
            .setups
            .get(own)
            .and_then(|&at| session.reports.get_mut(at));
        if let (Some(slot @ None), Some(report)) = (slot, report) {
            *slot = Some(report);
        }
    }
    let whole = |own: usize| part.setups.get(own).copied().unwrap_or(own);
    let examined = measured.examinations.into_iter();
    session
        .examinations
        .extend(examined.map(|(own, one)| (whole(own), one)));
    let judged = measured.accuracies.into_iter();
    session
        .accuracies
        .extend(judged.map(|(own, one)| (whole(own), one)));
    for mut profile in measured.profiles {
        profile.case = profile.case.map(|case| whole_key(case, &part.setups));
        let mut known = session.profiles.iter();
        if profile.case.is_some() && known.any(|known| known.case == profile.case) {
            continue;
        }
        profile.began_ns = profile.began_ns.map(|began_ns| began_ns + later_ns);
        let trace = profile.trace_file.take();
        let trace = trace.and_then(|name| trace_file::found(Some(&saved), &name));
        traces.extend(trace.map(|trace| (session.profiles.len(), trace)));
        session.profiles.push(profile);
    }
    for warning in measured.warnings {
        if !session.warnings.contains(&warning) {
            session.warnings.push(warning);
        }
    }
    session.elapsed_ns = session.elapsed_ns.max(later_ns + measured.elapsed_ns);
    if record.parts.iter().all(|other| other.setups == part.setups) {
        session.environment = session.environment.on_machine(&machine.environment);
    }
    let name = add_machine(session, machine, &part.job);
    take_readings(session, &measured.telemetry, &name, later_ns);
    Ok(Some(place))
}

/// What a job measured, as it saved it or as far as its journal has it.
fn measured_session(
    record: &JobRecord,
    number: usize,
    saved: &Path,
) -> Result<Option<Session>, String> {
    if saved.exists() {
        let opened = session_file::read(saved).map_err(|error| error.to_string())?;
        return Ok(Some(opened.session));
    }
    let journal = state::journal(record, number);
    Ok(journal.and_then(|path| journal::recover(&path).ok()))
}

/// Adds the rounds of a job's cases to those that are there. A case that was closed before stays as it is; one to which
/// the job added nothing keeps its rounds, and a warning says why.
fn take_cases(
    session: &mut Session,
    base: &RoundsBefore,
    measured: Vec<Case>,
    part: &JobPart,
    state: &PartState,
    later_ns: u64,
) {
    let mut nothing_added: Vec<Outcome> = Vec::new();
    for mut case in measured {
        let key = whole_key(case.key(), &part.setups);
        base.renumber(&mut case, key.setup, later_ns);
        let outcome = ended(case.outcome.clone(), state);
        let mut slots = session.cases.iter_mut();
        let slot = slots.find(|slot| slot.key() == key && slot.outcome == Outcome::Pending);
        let Some(slot) = slot else {
            continue;
        };
        if case.rounds.is_empty() && !slot.rounds.is_empty() && !base.retried.contains(&key) {
            nothing_added.push(outcome);
            continue;
        }
        let mut rounds = std::mem::take(&mut slot.rounds);
        rounds.append(&mut case.rounds);
        *slot = Case {
            setup: key.setup,
            outcome,
            rounds,
            opening: slot.opening.take().or(case.opening),
            warm_up: slot.warm_up.take().or(case.warm_up),
            ..case
        };
    }
    if let Some(outcome) = nothing_added.first() {
        session.warnings.push(format!(
            "Job {} added no rounds to {} ({}).",
            part.label(),
            humanize::pluralised(nothing_added.len() as u64, "case"),
            outcome.short_cause()
        ));
    }
}

/// Where and when a job measured.
struct PlaceAndTime {
    job: String,
    host: String,
    /// In seconds since 1970.
    from_s: i64,
    to_s: i64,
}

/// That jobs measured on one node at the same time.
fn shared_node_text(places: &[PlaceAndTime]) -> Option<String> {
    let pairs = places.iter().enumerate();
    let mut pairs =
        pairs.flat_map(|(at, one)| places[at + 1..].iter().map(move |other| (one, other)));
    let (one, other) = pairs.find(|(one, other)| {
        let is_same = one.host == other.host && !one.host.is_empty();
        is_same && one.from_s < other.to_s && other.from_s < one.to_s
    })?;
    Some(format!(
        "Jobs {} and {} measured on {} at the same time and took time from each other; slurm.exclusive=on gives each a node of its own.",
        one.job, other.job, one.host
    ))
}

/// A machine that is there already, by what it is called.
fn known_machine(session: &Session, machine: &RemoteMachine) -> Option<String> {
    let mut known = session.machines.iter();
    let known = known.find(|known| known.host == machine.host && known.setups == machine.setups)?;
    Some(known.name.clone())
}

/// Adds a machine that is not there yet, under a name of its own, which is returned.
fn add_machine(session: &mut Session, machine: RemoteMachine, job: &str) -> String {
    if let Some(name) = known_machine(session, &machine) {
        return name;
    }
    let is_taken = |known: &RemoteMachine| known.name == machine.name;
    let name = if session.machines.iter().any(is_taken) {
        format!("{}, job {}", machine.name, job)
    } else {
        machine.name.clone()
    };
    let added = name.clone();
    session.machines.push(RemoteMachine { name, ..machine });
    added
}

/// Adds what the devices of a job's machine said, so much later than that job has it.
fn take_readings(session: &mut Session, readings: &Telemetry, machine: &str, later_ns: u64) {
    if readings.rate_hz <= 0.0 {
        return;
    }
    let here = &mut session.telemetry;
    let named = |track: &DeviceTelemetry| WatchedDevice {
        machine: Some(machine.to_owned()),
        ..track.device.clone()
    };
    let is_later = here
        .asked
        .last()
        .is_none_or(|asked| asked.from_ns < later_ns);
    let devices = readings.tracks.iter().map(named);
    if is_later {
        let (devices, missing) = (devices.collect(), readings.missing.clone());
        here.watch(later_ns, readings.rate_hz, devices, missing);
        here.idle.extend(readings.idle.iter().map(|span| TimeSpan {
            from_ns: span.from_ns + later_ns,
            to_ns: span.to_ns + later_ns,
        }));
    } else {
        // Machines beside each other have the same clock here.
        here.tracks.extend(devices.map(DeviceTelemetry::new));
    }
    for track in &readings.tracks {
        let Some(device) = here.place(&named(track)) else {
            continue;
        };
        let moments = track.times_ns.iter().enumerate();
        let moments: Vec<DeviceReading> = moments
            .map(|(place, at_ns)| DeviceReading {
                device,
                at_ns: at_ns + later_ns,
                values: track
                    .channels
                    .iter()
                    .filter_map(|channel| Some((channel.quantity, (*channel.values.get(place)?)?)))
                    .collect(),
            })
            .collect();
        here.take(&moments);
        for lost in track.losses() {
            let at_ns = lost.at_ns + later_ns;
            here.lose(
                device,
                DeviceLoss {
                    at_ns,
                    ..lost.clone()
                },
            );
        }
    }
}

/// The node that a job ran on.
fn machine_of_part(
    record: &JobRecord,
    number: usize,
    part: &JobPart,
    environment: &Environment,
) -> RemoteMachine {
    let node = fs::read_to_string(record.file_of(number, ".node")).unwrap_or_default();
    let mut node = node.lines().map(ToOwned::to_owned);
    let host = node.next().unwrap_or_default();
    RemoteMachine {
        name: part.machine.clone(),
        user: node.next().unwrap_or_default(),
        setups: part.setups.clone(),
        environment: environment.clone(),
        host,
        ..RemoteMachine::default()
    }
}

fn whole_key(case: CaseKey, setups: &[usize]) -> CaseKey {
    CaseKey {
        setup: setups.get(case.setup).copied().unwrap_or(case.setup),
        ..case
    }
}

/// A case that the job left open ended as the job did.
fn ended(outcome: Outcome, state: &PartState) -> Outcome {
    // Slurm sends its signals to the workers of a job as well.
    let was_signalled = matches!(
        &outcome,
        Outcome::Crashed { how, .. } if how.starts_with("signal 15 ") || how.starts_with("signal 9 ")
    );
    let is_open = matches!(outcome, Outcome::Pending | Outcome::Cancelled);
    let ended_with_job = was_signalled && state.end.is_some();
    if !(is_open || ended_with_job) {
        return outcome;
    }
    match &state.end {
        None | Some((JobEnd::Cancelled, _)) => Outcome::Cancelled,
        Some((end, line)) => end.outcome(Phase::Measure, line),
    }
}

/// Cases of a job that measured nothing.
fn never_began(state: &PartState, log: &str) -> Outcome {
    match &state.end {
        Some((JobEnd::Cancelled, line)) => Outcome::Queued {
            reason: line.clone(),
        },
        Some((end, line)) => end.outcome(Phase::Start, line),
        None => {
            let last = log
                .lines()
                .rev()
                .map(str::trim)
                .find(|line| !line.is_empty());
            Outcome::Lost {
                phase: Phase::Start,
                reason: last
                    .unwrap_or("the job ended and left no message")
                    .to_owned(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::record::testing::part;
    use crate::testing::session;
    use powerband_core::domain::case::Round;
    use powerband_core::domain::point::Point;

    #[test]
    fn a_job_that_measured_nothing_takes_nothing_away() {
        let case = |setup, outcome, rounds| Case {
            outcome,
            rounds: vec![Round::default(); rounds],
            ..Case::pending(CaseKey {
                setup,
                point: Point::of_batch(1),
            })
        };
        let mut session = session("first", "net.onnx", &["fake", "fake", "fake"], &[1]);
        session.cases = vec![
            case(0, Outcome::Pending, 3),
            case(
                1,
                Outcome::OutOfMemory {
                    reason: String::new(),
                },
                0,
            ),
            case(2, Outcome::Pending, 3),
        ];
        let base = RoundsBefore::of_session(&session);
        let lost = Outcome::Lost {
            phase: Phase::Start,
            reason: "the node went away".to_owned(),
        };
        let measured = vec![
            case(0, lost.clone(), 0),
            case(1, Outcome::Finished, 2),
            case(2, Outcome::Finished, 2),
        ];
        let state = PartState {
            word: "finished",
            detail: String::new(),
            is_alive: false,
            end: None,
            rounds_done: 2,
        };
        take_cases(&mut session, &base, measured, &part(&[0, 1, 2]), &state, 0);
        let rounds: Vec<usize> = session.cases.iter().map(|case| case.rounds.len()).collect();
        assert_eq!(rounds, [3, 0, 5]);
        assert_eq!(
            session.cases[0].outcome,
            Outcome::Pending,
            "its rounds stand"
        );
        assert!(session.cases[1].outcome.is_trouble(), "it was closed");
        let [warning] = &session.warnings[..] else {
            panic!("{:?}", session.warnings);
        };
        assert!(
            warning.starts_with("Job 17 added no rounds to 1 case ("),
            "{warning}"
        );
    }

    #[test]
    fn jobs_that_share_a_node_at_the_same_time_are_named() {
        let place = |job: &str, host: &str, from_s, to_s| PlaceAndTime {
            job: job.to_owned(),
            host: host.to_owned(),
            from_s,
            to_s,
        };
        let apart = [
            place("17_0", "n1", 0, 10),
            place("17_1", "n1", 10, 20),
            place("17_2", "n2", 0, 20),
        ];
        assert_eq!(shared_node_text(&apart), None);
        let beside = [place("17_0", "n1", 0, 10), place("17_1", "n1", 5, 12)];
        let said = shared_node_text(&beside).unwrap();
        assert!(
            said.starts_with("Jobs 17_0 and 17_1 measured on n1"),
            "{said}"
        );
    }
}
