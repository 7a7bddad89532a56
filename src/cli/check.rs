//! `powerband check`: whether the numbers of a session agree with each other.

use std::path::Path;
use std::process::ExitCode;

use serde_json::json;

use super::args::CheckArgs;
use super::{REGRESSION, output, status_of};
use powerband_core::domain::session::Session;
use powerband_findings::analysis::lint::{self, LintFinding};
use powerband_findings::export;
use powerband_store::session_file;

/// Checks every session and prints what was found.
pub(super) fn run(args: &CheckArgs) -> anyhow::Result<ExitCode> {
    let mut sessions: Vec<(&Path, Session)> = Vec::new();
    let mut trouble = None;
    for path in &args.sessions {
        match session_file::read(path) {
            Ok(opened) => sessions.push((path, opened.session)),
            // Later sessions are still checked.
            Err(error) => trouble = Some(status_of(&error.into())),
        }
    }
    if let Some(status) = trouble.filter(|_| sessions.is_empty()) {
        return Ok(status);
    }
    let found: Vec<(&Path, &Session, Vec<LintFinding>)> = sessions
        .iter()
        .map(|(path, session)| (*path, session, lint::lint_findings(session)))
        .collect();
    if args.json {
        let documents = found.iter().map(|(path, session, findings)| {
            let mut document = export::claims::checked(session, findings);
            document["file"] = json!(path.display().to_string());
            document
        });
        output::document(&json!({
            "sessions": documents.collect::<Vec<_>>(),
            "checks": lint::ALL,
        }))?;
    } else {
        let texts: Vec<String> = found
            .iter()
            .map(|(_, session, findings)| export::claims::text(session, findings))
            .collect();
        output::answer(&texts.join("\n"))?;
    }
    if let Some(status) = trouble {
        return Ok(status);
    }
    let is_clean = found.iter().all(|(_, _, findings)| findings.is_empty());
    Ok(if is_clean {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(REGRESSION)
    })
}
