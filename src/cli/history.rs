//! `powerband history`: the cases of a session over time, where their level changed, and which moved most.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::bail;
use serde_json::{Value, json};

use super::args::HistoryArgs;
use super::{Context, REGRESSION, TROUBLE, output};
use powerband_core::base::humanize;
use powerband_core::base::parallel::{all_threads, map_on_threads};
use powerband_core::domain::case::{Case, CaseKey};
use powerband_core::domain::session::Session;
use powerband_findings::analysis::case_rows::{self, CaseRow};
use powerband_findings::analysis::history::{AgainstEarlier, History};
use powerband_findings::analysis::history_levels::LevelChange;
use powerband_findings::analysis::movers::{self, Mover};
use powerband_findings::analysis::verdict::Call;
use powerband_findings::export::comparison::pair;
use powerband_findings::tables::{self, view::TableView};
use powerband_store::{library, session_file};

/// Looks through the sessions and prints.
pub(super) fn run(context: &Context, args: &HistoryArgs) -> anyhow::Result<ExitCode> {
    let given = super::measured(&args.session)?;
    let setup = match args.setup.as_deref() {
        None => None,
        Some(wanted) => match given.find_setup(wanted) {
            Some(setup) => Some(setup),
            None => bail!("{} has no setup \"{wanted}\"", given.name),
        },
    };
    let mut sessions = vec![given];
    sessions.extend(others(context, &args.session, &args.among)?);
    let rows: Vec<Vec<CaseRow>> = map_on_threads(&sessions, all_threads(), case_rows::case_rows);
    let pairs: Vec<(&Session, &[CaseRow])> = sessions
        .iter()
        .zip(rows.iter().map(Vec::as_slice))
        .collect();
    let Some((given, _)) = pairs.first() else {
        bail!("the session has no measured case to follow");
    };
    let cases = given.cases.iter().filter(|case| {
        setup.is_none_or(|setup| setup == case.setup) && args.point.takes(case.point)
    });
    let keys: Vec<CaseKey> = cases.map(Case::key).collect();
    let movers = movers::worst_first(given, keys.iter().copied(), &pairs);
    if movers.is_empty() {
        bail!(
            "{} has no such case that was measured",
            args.session.display()
        );
    }
    if args.json {
        let documents: Vec<Value> = movers.iter().map(document).collect();
        output::document(&json!({ "cases": documents }))?;
    } else {
        output::answer(&text(&movers))?;
    }
    if args.fail_if_slower {
        return Ok(status(given, &movers, keys.len()));
    }
    Ok(ExitCode::SUCCESS)
}

/// Fails where the session that was given, the first of all, is slower in a case, or has a case that was not measured.
fn status(given: &Session, movers: &[Mover], n_cases: usize) -> ExitCode {
    let calls = movers.iter().filter_map(|one| one.history.call_of(0));
    let calls: Vec<Option<Call>> = calls.collect();
    let slower = calls.iter().filter(|call| **call == Some(Call::Slower));
    let (slower, unmeasured) = (slower.count(), n_cases - calls.len());
    let cases = humanize::pluralised(n_cases as u64, "case");
    let cases = format!("{cases} of {}", given.name);
    if slower > 0 {
        output::note(&format!(
            "{slower} of {cases}: slower than the earlier sessions at its level, or than the level before for a level's first three"
        ));
        return ExitCode::from(REGRESSION);
    }
    let unsettled = calls
        .iter()
        .filter(|call| !matches!(call, Some(Call::Same | Call::Faster)));
    let unsettled = unsettled.count();
    if unsettled > 0 {
        output::note(&format!(
            "{unsettled} of {cases}: not settled, or without earlier sessions of the same setup on this machine; nothing is failed for that"
        ));
    }
    if unmeasured > 0 {
        output::note(&format!("{unmeasured} of {cases}: not measured"));
        return ExitCode::from(TROUBLE);
    }
    ExitCode::SUCCESS
}

/// Every session but `itself` that may have its cases: of the given files and folders, else of the library.
pub(super) fn others(
    context: &Context,
    itself: &Path,
    among: &[PathBuf],
) -> anyhow::Result<Vec<Session>> {
    let mut paths: Vec<PathBuf> = Vec::new();
    if among.is_empty() {
        paths = library::list(&context.paths);
    }
    for among in among {
        if among.is_dir() {
            paths.extend(library::scan(among, &Default::default()).into_keys());
        } else {
            paths.push(among.clone());
        }
    }
    let itself = std::fs::canonicalize(itself)?;
    paths.retain(|path| std::fs::canonicalize(path).ok().as_ref() != Some(&itself));
    let mut sessions = Vec::new();
    let read = map_on_threads(&paths, all_threads(), |path| session_file::read(path));
    for (path, read) in paths.iter().zip(read) {
        match read {
            Ok(opened) => sessions.push(opened.session),
            // One broken file must not hide the rest; one that was named is an error.
            Err(error) if among.contains(path) => return Err(error.into()),
            Err(error) => output::note(&format!("{} is skipped: {error}", shown(path))),
        }
    }
    Ok(sessions)
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

/// One case with its sessions; of several which moved most.
fn text(movers: &[Mover]) -> String {
    let [one] = movers else {
        let table = tables::movers::of_movers(Arc::new(movers.to_vec()));
        let table = TableView::new(table).to_text();
        return format!("{table}The sessions of one case: --setup and --batch.\n");
    };
    case_text(one)
}

fn case_text(Mover { case, history, .. }: &Mover) -> String {
    let table = TableView::new(tables::history::of_history(history)).to_text();
    let (setup, point) = (&case.setup, case.point);
    let mut text = format!("{setup} {point}\n{table}");
    if !history.changes.is_empty() {
        let changes = TableView::new(tables::history::of_changes(history)).to_text();
        text.push_str(&format!("\nChanges of the level\n{changes}"));
    }
    format!("{text}{}\n", history.trend)
}

fn document(Mover { case, history, .. }: &Mover) -> Value {
    let points = history.points.iter().map(|point| {
        json!({
            "session": point.name,
            "created": point.created,
            "median_ms": point.row.latency_ns.as_ref().map(|times| times.median / 1e6),
            "since_earlier": point.vs_earlier.as_ref().map(against_earlier),
            "since_last": point.vs_previous.as_ref().map(pair),
            "since_first": point.vs_first.as_ref().map(pair),
            "changed": point.changed.iter().map(|changed| changed.what).collect::<Vec<_>>(),
            "notes": point.notes,
        })
    });
    json!({
        "setup": case.setup,
        "batch": case.point.batch(),
        "point": case.point,
        "model_sha256": case.sha256,
        "points": points.collect::<Vec<_>>(),
        "changes": history.changes.iter().map(|one| change(history, one)).collect::<Vec<_>>(),
        "levels": history.levels.iter().map(|level| json!({
            "sessions": level.places.len(),
            "latency_ms": level.latency_ns / 1e6,
        })).collect::<Vec<_>>(),
        "trend": history.trend,
    })
}

fn change(history: &History, change: &LevelChange) -> Value {
    let first = &history.points[change.place];
    json!({
        "since": first.created,
        "session": first.name,
        "level": change.call.name(),
        "speed_up": change.ratio.speed_up,
        "interval": change.ratio.ci95,
        "sessions": [change.sessions.0, change.sessions.1],
        "differing": change.differing,
    })
}

fn against_earlier(found: &AgainstEarlier) -> Value {
    json!({
        "sessions": found.sessions,
        "speed_up": found.ratio.speed_up,
        "interval": found.ratio.ci95,
        "verdict": found.verdict.call.name(),
        "reason": found.verdict.reason,
    })
}
