//! Files of other tools made into a session: profiles of where the time went, cases of what was measured.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::benchmarks::timings;
use crate::benchmarks::timings::Columns;
use crate::job;
use crate::job::files;
use crate::reading::read_progress::ReadProgress;
use crate::reading::source::{ImportSource, Limits};
use crate::reading::standard_input;
use crate::records::{graph_launches, reported_stats, summary};
use crate::{ImportError, Imported};
use powerband_core::base::{clock, humanize};
use powerband_core::domain::case::{Case, CaseKey, Round};
use powerband_core::domain::environment::Environment;
use powerband_core::domain::event::RunStart;
use powerband_core::domain::file_set::{FileSet, ProcessFiles};
use powerband_core::domain::model::ModelRef;
use powerband_core::domain::outcome::Outcome;
use powerband_core::domain::plan::{MeasureRule, Plan, PresetName, SetupStyle};
use powerband_core::domain::point::Point;
use powerband_core::domain::ranks::JobRank;
use powerband_core::domain::reported::{Reported, Stated};
use powerband_core::domain::session::{Completion, Session};
use powerband_core::domain::session_name;
use powerband_core::domain::setup::Setup;
use powerband_core::domain::trace::Trace;

/// So many names are written out in a remark.
const MOST_NAMES: usize = 6;

/// An imported session with the timelines of its profiles.
#[derive(Debug)]
pub struct ImportedSession {
    /// The session.
    pub session: Session,
    /// Timelines, by the place of their profile in the session.
    pub traces: Vec<Arc<Trace>>,
    /// The identifier of the first file's format.
    pub format: String,
    /// Files that lie beside those that were read, and belong to the same run.
    pub companions: Vec<PathBuf>,
}

/// The files, those of one process and those of one job together.
pub fn file_sets(files: &[PathBuf]) -> Vec<FileSet> {
    let mut processes: Vec<ProcessFiles> = Vec::new();
    for file in files {
        let beside = crate::companions(file);
        let is_of = |set: &&mut ProcessFiles| set.named.iter().any(|other| beside.contains(other));
        match processes.iter_mut().find(is_of) {
            Some(process) => process.named.push(file.clone()),
            None => processes.push(ProcessFiles {
                rank: None,
                named: vec![file.clone()],
                companions: beside,
            }),
        }
    }
    for process in &mut processes {
        process.companions.retain(|file| !files.contains(file));
    }
    files::join_ranks(processes)
}

/// Reads the first file of a set, and all others as far as they can be read: a note says which are left out.
/// `turn` is called before each of these.
pub fn read_leniently(
    set: &FileSet,
    limits: Limits,
    watch: &ReadProgress<'_>,
    turn: impl Fn(),
) -> Result<Imported, ImportError> {
    let mut parts: Vec<(JobRank, Imported)> = Vec::new();
    let mut left_out: Vec<String> = Vec::new();
    for process in &set.processes {
        let mut imported = Imported::default();
        let mut was_read = false;
        for file in process.named.iter().chain(&process.companions) {
            let is_first = parts.is_empty() && !was_read && left_out.is_empty();
            if !is_first {
                turn();
            }
            match crate::add(file, limits, watch, &mut imported) {
                Ok(()) => was_read = true,
                Err(error) if is_first || matches!(error, ImportError::Cancelled) => {
                    return Err(error);
                }
                Err(error) => left_out.push(format!("left out: {}", error.in_window())),
            }
        }
        if was_read {
            graph_launches::name_ops(&mut imported);
            parts.push((process.rank.unwrap_or_default(), imported));
        }
    }
    let mut imported = job::merge(parts);
    for note in left_out {
        imported.note(note);
    }
    Ok(imported)
}

/// What a set of files is called in a session.
pub fn set_title(set: &FileSet) -> Option<String> {
    let first = set.named().next()?;
    let title = title(first);
    if set.processes.len() == 1 {
        return Some(title);
    }
    let job = files::job_title(first, &title);
    let n_ranks = humanize::pluralised(set.processes.len() as u64, "rank");
    Some(format!("{job}, {n_ranks}"))
}

/// Reads files. Those of one process become one profile; where columns are named, each file is a table of
/// timings.
pub fn import_files(
    files: &[PathBuf],
    columns: Option<&Columns>,
    limits: Limits,
    watch: &ReadProgress<'_>,
    program: &str,
) -> Result<ImportedSession, ImportError> {
    let mut parts: Vec<(String, Imported)> = Vec::new();
    let mut companions: Vec<PathBuf> = Vec::new();
    for set in file_sets(files) {
        let mut ranks: Vec<(JobRank, Imported)> = Vec::new();
        for process in &set.processes {
            let mut imported = Imported::default();
            for file in &process.named {
                match columns {
                    Some(columns) => {
                        let source = ImportSource::open_named(file, limits, watch)?;
                        timings::read(&source, columns, watch, &mut imported)?;
                        crate::records::clamp_implausible::clamp(&mut imported);
                    }
                    None => crate::add(file, limits, watch, &mut imported)?,
                }
            }
            graph_launches::name_ops(&mut imported);
            ranks.push((process.rank.unwrap_or_default(), imported));
        }
        parts.extend(set_title(&set).map(|title| (title, job::merge(ranks))));
        companions.extend(set.companions().map(Path::to_path_buf));
    }
    companions.sort();
    companions.dedup();
    Ok(ImportedSession {
        companions,
        ..session(parts, program)
    })
}

/// What a file is called in a session: its name without the endings of formats.
pub fn title(file: &Path) -> String {
    if standard_input::is_standard_input(file) {
        return standard_input::NAME.to_owned();
    }
    let name = file
        .file_name()
        .unwrap_or(file.as_os_str())
        .to_string_lossy();
    let ends = [
        ".gz", ".pickle", ".pkl", ".json", ".jsonl", ".trace", ".pt", ".csv", ".txt", ".log",
        ".md", ".sql",
    ];
    let mut name = name.as_ref();
    for end in ends {
        name = name.strip_suffix(end).unwrap_or(name);
    }
    name.to_owned()
}

/// Makes a session of what was read by this version of the program.
pub fn session(parts: Vec<(String, Imported)>, program: &str) -> ImportedSession {
    let name = parts.first().map_or("import", |(name, _)| name).to_owned();
    let tool = parts.first().map(|(_, imported)| imported.tool.clone());
    let format = parts
        .first()
        .map_or("", |(_, imported)| imported.format)
        .to_owned();
    let reported: Vec<Reported> = parts
        .iter()
        .flat_map(|(_, imported)| imported.reported.iter().cloned())
        .collect();
    let tool_name = tool.as_ref().map_or("", |tool| tool.name.as_str());
    let mut session = Session::from_start(RunStart {
        name: session_name::of_import(&name, parts.len().saturating_sub(1), tool_name),
        created: clock::now_utc(),
        plan: plan(
            &name,
            &tool_word(tool.as_ref().map_or("", |tool| &tool.name)),
            &reported,
        ),
        model: ModelRef {
            name,
            ..ModelRef::default()
        },
        environment: Environment {
            program: program.to_owned(),
            ..Environment::default()
        },
        ..RunStart::default()
    });
    session.completion = Completion::Complete;
    session.imported = tool;
    fill(&mut session, &reported);
    let mut traces = Vec::new();
    for (name, mut imported) in parts {
        let mut profile = summary::profile(&imported, &name);
        session.warnings.extend(profile.notes.iter().cloned());
        if !imported.telemetry.tracks.is_empty() {
            if session.telemetry.tracks.is_empty() {
                // The timeline of readings begins with the first one.
                profile.began_ns = Some(0);
                session.elapsed_ns = profile.span_ns.unwrap_or_default();
                session.telemetry = std::mem::take(&mut imported.telemetry);
            } else {
                let warning =
                    format!("the readings of {name} are left out: a session has those of one file");
                session.warnings.push(warning);
            }
        }
        let has_something = !profile.totals.is_empty()
            || !profile.counters.is_empty()
            || !profile.memory.is_empty()
            || !imported.layers.is_empty();
        if has_something {
            session.profiles.push(profile);
            traces.push(Arc::new(std::mem::take(&mut imported.trace)));
        }
    }
    session.reported = reported;
    ImportedSession {
        session,
        traces,
        format,
        companions: Vec::new(),
    }
}

/// A tool's name as an engine's: `ONNX Runtime profiler` is `onnx-runtime-profiler`.
fn tool_word(name: &str) -> String {
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() {
            c.to_ascii_lowercase()
        } else {
            '-'
        }
    };
    let word: String = name.chars().map(plain).collect();
    let word = word.trim_matches('-');
    if word.is_empty() {
        "imported".to_owned()
    } else {
        word.to_owned()
    }
}

/// What was measured, each name a setup.
fn plan(model: &str, tool: &str, reported: &[Reported]) -> Plan {
    let named = names(reported);
    let mut points: Vec<Point> = with_results(reported).map(point).collect();
    points.sort_unstable();
    points.dedup();
    Plan {
        model: model.to_owned(),
        setups: named
            .iter()
            .map(|_| Setup {
                engine: tool.to_owned(),
                device: Plan::ELSEWHERE.to_owned(),
                options: BTreeMap::new(),
            })
            .collect(),
        looks: named
            .iter()
            .map(|name| SetupStyle {
                label: Some((*name).to_owned()),
                colour: None,
            })
            .collect(),
        points,
        measure: MeasureRule {
            rounds: 1,
            spacing: None,
            ..MeasureRule::from_preset(PresetName::Quick)
        },
        ..Plan::from_preset(PresetName::Quick)
    }
}

/// What became a case: times of runs or requests, or a rate alone, as of an offline scenario.
fn with_results(reported: &[Reported]) -> impl Iterator<Item = &Reported> {
    let has_results = |one: &&Reported| {
        !one.samples_ns.is_empty()
            || one.typical_ns.is_some()
            || one.generation.is_some()
            || reported_stats::stated(one).throughput_per_s.is_some()
    };
    reported
        .iter()
        .filter(has_results)
        .filter(|one| !one.is_preparation)
}

/// What is measured, each name once.
fn names(reported: &[Reported]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for one in with_results(reported) {
        if !names.contains(&one.name.as_str()) {
            names.push(&one.name);
        }
    }
    names
}

fn point(one: &Reported) -> Point {
    let point = one.point.unwrap_or_else(|| Point::of_batch(1));
    point.with_batch(point.batch().max(1))
}

/// Fills the session's cases with the imported times and stated statistics.
fn fill(session: &mut Session, reported: &[Reported]) {
    let names = names(reported);
    session.cases.clear();
    for one in with_results(reported) {
        let Some(setup) = names.iter().position(|name| *name == one.name) else {
            continue;
        };
        let key = CaseKey {
            setup,
            point: point(one),
        };
        let stated = reported_stats::stated(one);
        if let Some(case) = session.cases.iter_mut().find(|case| case.key() == key) {
            add(case, one, stated);
        } else {
            let mut case = Case::pending(key);
            case.outcome = Outcome::Finished;
            add(&mut case, one, stated);
            session.cases.push(case);
        }
    }
    session.cases.sort_by_key(Case::key);
    session.warnings.extend(remarks(reported));
}

/// Single runs are a round of samples; figures alone are no samples.
fn add(case: &mut Case, one: &Reported, stated: Stated) {
    if !one.samples_ns.is_empty() {
        case.rounds.push(Round {
            round: case.rounds.len() as u32,
            spent_ns: one.samples_ns.iter().sum(),
            samples_ns: one.samples_ns.clone(),
            generation: one.tokens.clone(),
            ..Round::default()
        });
    }
    // Two files of one run have the same time.
    let is_same =
        |known: &&mut Stated| known.typical_ns.is_some() && known.typical_ns == stated.typical_ns;
    match case.stated.iter_mut().find(is_same) {
        Some(known) => known.fill(stated),
        None if stated != Stated::default() => case.stated.push(stated),
        None => {}
    }
}

/// Remarks on the results: what their program does not accept, then what is unknown.
fn remarks(reported: &[Reported]) -> Vec<String> {
    let objections = with_results(reported).flat_map(|one| {
        let name = &one.name;
        one.objections.iter().map(move |objection| {
            format!("{name} is not accepted by the program that measured it: {objection}")
        })
    });
    let mut remarks: Vec<String> = Vec::new();
    for objection in objections {
        if !remarks.contains(&objection) {
            remarks.push(objection);
        }
    }
    let tells_spread = |one: &Reported| reported_stats::stated(one).states_spread();
    let has_one = |one: &Reported| one.samples_ns.is_empty() && one.typical_ns.is_some();
    let doubts = [
        (
            "Reported as one number, so nothing is known of how it varies",
            listed(reported, |one| has_one(one) && !tells_spread(one)),
        ),
        (
            "Reported in statistics without single runs, so there is no interval",
            listed(reported, |one| has_one(one) && tells_spread(one)),
        ),
        (
            "Reported without the time of a run or request, so there is no latency",
            listed(reported, |one| {
                one.samples_ns.is_empty() && one.typical_ns.is_none()
            }),
        ),
        (
            "The file does not tell the batch size, so it is shown as 1",
            listed(reported, |one| one.point.is_none()),
        ),
    ];
    let doubts = doubts
        .into_iter()
        .filter_map(|(words, names)| Some(format!("{words}: {}.", names?)));
    remarks.extend(doubts);
    remarks
}

/// The names of those that are meant, each once, and how many there are beyond the first few; nothing where
/// none is.
fn listed(reported: &[Reported], is_meant: impl Fn(&Reported) -> bool) -> Option<String> {
    let mut names: Vec<&str> = Vec::new();
    for one in with_results(reported).filter(|one| is_meant(one)) {
        if !names.contains(&one.name.as_str()) {
            names.push(&one.name);
        }
    }
    let more = names.len().saturating_sub(MOST_NAMES);
    names.truncate(MOST_NAMES);
    let listed = names.join(", ");
    match (names.is_empty(), more) {
        (true, _) => None,
        (false, 0) => Some(listed),
        (false, more) => Some(format!("{listed} and {more} more")),
    }
}
