//! `powerband fleet`: one setup on several machines.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::{Value, json};

use super::args::FleetArgs;
use super::output;
use powerband_core::domain::session::Session;
use powerband_findings::analysis::fleet::{self, Effects, Fleet, FleetCase, FleetMachine};
use powerband_findings::export;
use powerband_findings::report::in_short;

/// Reads the sessions and prints a table for each case.
pub(super) fn run(args: &FleetArgs) -> anyhow::Result<ExitCode> {
    let mut sessions: Vec<(String, Session)> = Vec::new();
    for path in &args.sessions {
        sessions.push((name_of(path, &args.sessions), super::measured(path)?));
    }
    let named: Vec<fleet::NamedSession<'_>> = sessions
        .iter()
        .map(|(name, session)| (name.as_str(), session))
        .collect();
    let fleet = fleet::compare_machines(&named);
    let effects = fleet::effects(&named);
    if args.json {
        output::document(&document(&fleet, &effects))?;
    } else {
        output::sections(&in_short::machines_compared(&fleet, &effects))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// A session's file name without its ending, or its path where another has that name.
fn name_of(path: &Path, all: &[PathBuf]) -> String {
    let stem = path.file_stem();
    let is_alone = all.iter().filter(|other| other.file_stem() == stem).count() == 1;
    match stem {
        Some(stem) if is_alone => stem.to_string_lossy().into_owned(),
        _ => path.display().to_string(),
    }
}

fn document(fleet: &Fleet, effects: &[Effects]) -> Value {
    let cases: Vec<Value> = fleet.cases.iter().map(case_document).collect();
    let effects: Vec<Value> = effects.iter().map(export::fleet::effects).collect();
    json!({ "cases": cases, "effects": effects, "remarks": fleet.remarks })
}

fn case_document(case: &FleetCase) -> Value {
    let machines: Vec<Value> = case.machines.iter().map(machine_document).collect();
    json!({
        "setup": case.setup,
        "batch": case.point.batch(),
        "point": case.point,
        "median_ms": case.median_ns.map(|ns| ns / 1e6),
        "machines": machines,
        "finding": case.sentence,
    })
}

fn machine_document(machine: &FleetMachine) -> Value {
    let row = &machine.row;
    json!({
        "machine": machine.name,
        "setup": row.setup_spec,
        "median_ms": row.latency_ns.as_ref().map(|times| times.median / 1e6),
        "ci95_ms": row.ci95_ns.map(|ci95| [ci95.low / 1e6, ci95.high / 1e6]),
        "rounds": row.rounds,
        "ratio": machine.ratio,
        "is_odd_one_out": machine.is_odd,
        "differs": machine.differs,
        "trouble": row.outcome.sentence(),
    })
}
