//! What experiments say as the JSON document that `why --json` prints, and that goes into a session's.

use serde_json::{Value, json};

use super::{limits, with};
use crate::analysis::limits::Limits;
use crate::analysis::limits::experiments::{self, ExperimentAnswer, ExperimentRow};

/// The whole document.
pub fn document(answer: &ExperimentAnswer) -> Value {
    let conclusion = answer.conclusion.as_ref();
    let untried = answer
        .untried
        .iter()
        .map(|untried| json!({ "change": untried.change.id(), "reason": untried.reason }));
    json!({
        "setup": answer.label,
        "batch": answer.case.point.batch(),
        "point": answer.case.point,
        "median_ms": answer.median_ns.map(|ns| ns / 1e6),
        "conclusion": conclusion.ok().map(|found| with(found, json!({ "basis": "by experiment" }))),
        "abstained": conclusion.err(),
        "experiments": answer.rows.iter().map(row).collect::<Vec<_>>(),
        "untried": untried.collect::<Vec<_>>(),
    })
}

/// The same, with what the model says of the case where it was profiled.
pub fn with_model(answer: &ExperimentAnswer, model: Option<&Limits>) -> Value {
    let disagreement = model.and_then(|model| experiments::disagreement(&model.findings));
    let model = model.map(limits::document);
    let more = json!({ "model": model, "disagreement": disagreement });
    with(document(answer), more)
}

fn row(row: &ExperimentRow) -> Value {
    json!({
        "change": row.change.id(),
        "title": row.change.title(),
        "setup": row.setup_spec,
        "control": row.control_spec,
        "median_ms": row.median_ns.map(|ns| ns / 1e6),
        "control_median_ms": row.control_median_ns.map(|ns| ns / 1e6),
        "cost": row.cost_share(),
        "cost_ci95": row.cost_interval().map(|(low, high)| [low, high]),
        "rounds": row.cost.map(|ratio| ratio.rounds),
        "verdict": row.verdict.as_ref().map(|verdict| verdict.call.name()),
        "trouble": row.trouble,
    })
}
