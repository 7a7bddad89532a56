//! `powerband jobs`: detached runs in jobs of Slurm, listed, collected and cancelled.

use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::bail;
use serde_json::{Value, json};

use super::args::{JobsArgs, JobsCommand};
use super::{Context, output};
use powerband_core::base::humanize;
use powerband_findings::export::json as documents;
use powerband_findings::report;
use powerband_runner::jobs::record::{self, JobRecord};
use powerband_runner::jobs::state::{self, PartState};
use powerband_runner::jobs::{collect, submit};
use powerband_worker::slurm::JobState;

/// How long the end of cancelled jobs is waited for, and how often Slurm is asked.
const END_LIMIT: Duration = Duration::from_secs(40);
const END_LOOK: Duration = Duration::from_millis(500);

/// Does what is asked.
pub(super) fn run(context: &Context, args: &JobsArgs) -> anyhow::Result<ExitCode> {
    match &args.command {
        None | Some(JobsCommand::List) => list(context, args.json),
        Some(JobsCommand::Collect { id }) => collect(context, id.as_deref(), args.json),
        Some(JobsCommand::Cancel { id }) => cancel(context, id, args.json),
    }
}

fn slurm() -> anyhow::Result<Vec<JobState>> {
    let jobs = state::ask_slurm();
    jobs.ok_or_else(|| anyhow::anyhow!(state::NO_ANSWER))
}

fn list(context: &Context, as_json: bool) -> anyhow::Result<ExitCode> {
    let records = record::all(&context.paths);
    let jobs = if records.is_empty() {
        Vec::new()
    } else {
        slurm()?
    };
    let states: Vec<Vec<PartState>> = records.iter().map(|one| state::parts(one, &jobs)).collect();
    if as_json {
        let rows = records
            .iter()
            .zip(&states)
            .map(|(record, states)| row(record, states));
        output::document(&json!({ "jobs": rows.collect::<Vec<_>>() }))?;
        return Ok(ExitCode::SUCCESS);
    }
    if records.is_empty() {
        output::answer(
            "No run is detached. powerband bench MODEL --setup ENGINE,where=slurm --detach begins one.",
        )?;
        return Ok(ExitCode::SUCCESS);
    }
    let rows: Vec<Vec<String>> = records
        .iter()
        .zip(&states)
        .map(|(record, states)| {
            let (done, all) = state::rounds(record, states);
            vec![
                record.jobs().join(", "),
                record.beginning.name.clone(),
                state::states_text(states),
                format!("{done} of {all}"),
                record.folder.display().to_string(),
            ]
        })
        .collect();
    output::answer(&humanize::table(
        &["ID", "Name", "State", "Rounds", "Folder"],
        &rows,
        5,
    ))?;
    Ok(ExitCode::SUCCESS)
}

fn row(record: &JobRecord, states: &[PartState]) -> Value {
    let (done, all) = state::rounds(record, states);
    let parts = record.parts.iter().zip(states).map(|(part, state)| {
        json!({
            "job": part.job,
            "task": part.task,
            "machine": part.machine,
            "state": state.word,
            "detail": state.detail,
            "rounds_done": state.rounds_done,
        })
    });
    json!({
        "id": record.id(),
        "jobs": record.jobs(),
        "name": record.beginning.name,
        "state": state::states_text(states),
        "rounds_done": done,
        "rounds": all,
        "folder": record.folder,
        "parts": parts.collect::<Vec<_>>(),
    })
}

/// The run that is meant, or every one whose jobs have ended.
fn collect(context: &Context, id: Option<&str>, as_json: bool) -> anyhow::Result<ExitCode> {
    let records = match id {
        Some(id) => vec![record::find(&context.paths, id).map_err(anyhow::Error::msg)?],
        None => record::all(&context.paths),
    };
    let jobs = if records.is_empty() {
        Vec::new()
    } else {
        slurm()?
    };
    let mut number = 0;
    for record in &records {
        let states = state::parts(record, &jobs);
        if id.is_none() && states.iter().any(|state| state.is_alive) {
            continue;
        }
        let collected = collect::collect(&context.paths, record, &states);
        let collected = collected.map_err(anyhow::Error::msg)?;
        if as_json {
            output::document(&documents::session(&collected.session))?;
        } else {
            output::sections(&report::session::sections(&collected.session, false))?;
        }
        if let Some(left) = &collected.left {
            output::note(left);
        }
        output::note(&format!("Saved to {}", collected.path.display()));
        number += 1;
    }
    if number == 0 {
        output::note("No detached run has ended.");
    }
    Ok(ExitCode::SUCCESS)
}

fn cancel(context: &Context, id: &str, as_json: bool) -> anyhow::Result<ExitCode> {
    let record = record::find(&context.paths, id).map_err(anyhow::Error::msg)?;
    if let Some(reason) = submit::cancel(&record) {
        bail!("{reason}");
    }
    if !is_over_soon(&record) {
        output::note(
            "Slurm is still ending the jobs; collect them when powerband jobs lists them as ended.",
        );
    }
    if as_json {
        output::document(&json!({ "cancelled": record.id() }))?;
    }
    output::note(&format!(
        "Cancelled; powerband jobs collect {} saves what was measured",
        record.id()
    ));
    Ok(ExitCode::SUCCESS)
}

/// Waits for the end of jobs that were cancelled: the worker in one gets a moment to write down what it has.
fn is_over_soon(record: &JobRecord) -> bool {
    let deadline = Instant::now() + END_LIMIT;
    loop {
        let jobs = state::ask_slurm();
        let states = jobs.map(|jobs| state::parts(record, &jobs));
        if states.is_some_and(|states| states.iter().all(|state| !state.is_alive)) {
            return true;
        }
        if Instant::now() > deadline {
            return false;
        }
        thread::sleep(END_LOOK);
    }
}
