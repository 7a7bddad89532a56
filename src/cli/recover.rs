//! `powerband recover`: makes a session of the journal of an interrupted run.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, bail};

use super::args::RecoverArgs;
use super::{Context, output};
use powerband_findings::report;
use powerband_store::{journal, library, recoverable, session_file};

/// Recovers, lists or discards.
pub(super) fn run(context: &Context, args: &RecoverArgs) -> anyhow::Result<ExitCode> {
    let abandoned = recoverable::all(&context.paths);
    if args.list {
        let lines: Vec<String> = abandoned
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        output::answer(&if lines.is_empty() {
            "No run was interrupted.".to_owned()
        } else {
            lines.join("\n")
        })?;
        return Ok(ExitCode::SUCCESS);
    }
    let path = chosen(args, &abandoned)?;
    if args.discard {
        if !recoverable::is_aside(&path) {
            journal::check_discardable(&path)?;
        }
        recoverable::remove(&path).with_context(|| format!("cannot remove {}", path.display()))?;
        output::note(&format!("Discarded {}", path.display()));
        return Ok(ExitCode::SUCCESS);
    }
    if !recoverable::is_aside(&path) && session_file::read(&path).is_ok() {
        bail!(
            "{path} is a session already, with nothing to recover; powerband show {path} shows it",
            path = path.display()
        );
    }
    let session = recoverable::session(&path)?;
    let target = match &args.out {
        Some(out) => {
            session_file::check_target(out, false)?;
            out.clone()
        }
        None => library::new_path(&context.paths, &session.name, &session.created)?,
    };
    session_file::write(&target, &session)?;
    recoverable::remove(&path)
        .with_context(|| format!("the session is saved, but {} stays", path.display()))?;
    output::sections(&report::session::sections(&session, false))?;
    output::note(&format!("Saved to {}", target.display()));
    Ok(ExitCode::SUCCESS)
}

fn chosen(args: &RecoverArgs, abandoned: &[PathBuf]) -> anyhow::Result<PathBuf> {
    match (&args.journal, abandoned) {
        (Some(path), _) => Ok(path.clone()),
        (None, [only]) => Ok(only.clone()),
        (None, []) => bail!("no run was interrupted, so there is nothing to recover"),
        (None, several) => {
            let list: Vec<String> = several
                .iter()
                .map(|path| format!("  {}", path.display()))
                .collect();
            bail!(
                "{} runs were interrupted; name the one to recover:\n{}",
                several.len(),
                list.join("\n")
            )
        }
    }
}
