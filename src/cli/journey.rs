//! `powerband journey`, also `powerband steps`: the optimisation steps of a session with gains and costs.

use std::process::ExitCode;

use anyhow::{anyhow, bail};
use serde_json::{Value, json};

use super::args::JourneyArgs;
use super::output;
use powerband_core::stats::joint::Statement;
use powerband_findings::analysis::case_rows;
use powerband_findings::analysis::journey::{self, Journey, StepResult};
use powerband_findings::analysis::limits::speed_of_light::{self, LightRow};
use powerband_findings::export::comparison::pair;
use powerband_findings::report::in_short;

/// Prints the steps of a session.
pub(super) fn run(args: &JourneyArgs) -> anyhow::Result<ExitCode> {
    let session = super::measured(&args.session)?;
    if args.point.is_given() && !session.plan.ladder.is_empty() {
        bail!(
            "{} has a ladder, whose steps have points of their own; leave --batch and --at out",
            args.session.display()
        );
    }
    let points = &session.plan.points;
    let named = args.point.one_of(points.iter().copied());
    let named = named.map_err(|reason| anyhow!("{}: {reason}", args.session.display()))?;
    let point = named.unwrap_or_else(|| session.plan.first_point());
    let rows = case_rows::case_rows(&session);
    let journey = journey::compare_steps(&session, &rows, point);
    // The least that the network can take here for each step, and for steps that were not taken.
    let light = speed_of_light::light_rows_of_cases(&session, &rows, &journey, &session.roofs);
    if args.json {
        output::document(&document(&journey, &light))?;
    } else {
        output::sections(&in_short::journey(&journey, &light))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn document(journey: &Journey, light: &[LightRow]) -> Value {
    let steps: Vec<Value> = journey.steps.iter().map(step).collect();
    json!({
        "is_ladder": journey.is_ladder,
        "steps": steps,
        "remarks": journey.remarks,
        "speed_of_light": light,
    })
}

fn step(step: &StepResult) -> Value {
    let row = step.row.as_ref();
    json!({
        "title": step.title,
        "setup": row.map(|row| row.setup_spec.clone()),
        "batch": step.case.point.batch(),
        "point": step.case.point,
        "median_ms": row.and_then(|row| Some(row.latency_ns.as_ref()?.median / 1e6)),
        "throughput_per_s": row.and_then(|row| row.throughput_per_s),
        "trouble": step.why_not_measured,
        "rank": step.rank.as_ref().map(Statement::candidates),
        "over_before": step.vs_previous.as_ref().map(pair),
        "over_start": step.vs_baseline.as_ref().map(pair),
        "preparation_ms": step.cost.preparation_ns.map(|ns| ns / 1e6),
        "pays_after_runs": step.cost.break_even_runs,
        "memory_bytes": step.cost.memory.map(|need| need.bytes),
        "accuracy": step.accuracy,
    })
}
