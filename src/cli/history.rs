//! `powerband history`: the cases of a session over time.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::bail;
use serde_json::{Value, json};

use super::args::HistoryArgs;
use super::{Context, output};
use powerband_core::domain::session::Session;
use powerband_findings::analysis::case_rows::{self, CaseRow};
use powerband_findings::analysis::history::{self, AgainstEarlier, FollowedCase, History};
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
    let rows: Vec<Vec<CaseRow>> = sessions.iter().map(case_rows::case_rows).collect();
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
    let histories: Vec<(FollowedCase, History)> = cases
        .map(|case| FollowedCase::new(given, case.setup, case.point))
        .map(|followed| (followed.clone(), history::case_history(&followed, &pairs)))
        .filter(|(_, history)| !history.points.is_empty())
        .collect();
    if histories.is_empty() {
        bail!(
            "{} has no such case that was measured",
            args.session.display()
        );
    }
    if args.json {
        let documents: Vec<Value> = histories.iter().map(document).collect();
        output::document(&json!({ "cases": documents }))?;
    } else {
        let texts: Vec<String> = histories.iter().map(text).collect();
        output::answer(&texts.join("\n"))?;
    }
    Ok(ExitCode::SUCCESS)
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
    for path in paths {
        match session_file::read(&path) {
            Ok(opened) => sessions.push(opened.session),
            // One broken file must not hide the rest; one that was named is an error.
            Err(error) if among.contains(&path) => return Err(error.into()),
            Err(error) => output::note(&format!("{} is skipped: {error}", shown(&path))),
        }
    }
    Ok(sessions)
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

fn text((followed, history): &(FollowedCase, History)) -> String {
    let table = TableView::new(tables::history::of_history(history)).to_text();
    let (setup, point) = (&followed.setup, followed.point);
    format!("{setup} {point}\n{table}{}\n", history.trend)
}

fn document((followed, history): &(FollowedCase, History)) -> Value {
    let points = history.points.iter().map(|point| {
        json!({
            "session": point.name,
            "created": point.created,
            "median_ms": point.row.latency_ns.as_ref().map(|times| times.median / 1e6),
            "since_earlier": point.vs_earlier.as_ref().map(against_earlier),
            "since_last": point.vs_previous.as_ref().map(pair),
            "since_first": point.vs_first.as_ref().map(pair),
            "changed": point.changed.iter().map(|changed| changed.what).collect::<Vec<_>>(),
        })
    });
    json!({
        "setup": followed.setup,
        "batch": followed.point.batch(),
        "point": followed.point,
        "model_sha256": followed.sha256,
        "points": points.collect::<Vec<_>>(),
        "trend": history.trend,
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
