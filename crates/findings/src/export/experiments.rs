//! What experiments say as the JSON document that `why --json` prints, and that goes into a session's.

use serde_json::{Value, json};

use super::{limits, with};
use crate::analysis::limits::answer::AskedCase;
use crate::analysis::limits::experiments::ExperimentRow;

/// The answer, and what was tried.
pub fn document(asked: &AskedCase) -> Value {
    let tried = &asked.tried;
    let untried = tried
        .untried
        .iter()
        .map(|untried| json!({ "change": untried.change.id(), "reason": untried.reason }));
    json!({
        "setup": tried.label,
        "batch": tried.case.point.batch(),
        "point": tried.case.point,
        "median_ms": tried.median_ns.map(|ns| ns / 1e6),
        "answer": asked.answer,
        "abstained": tried.trouble,
        "experiments": tried.rows.iter().map(row).collect::<Vec<_>>(),
        "untried": untried.collect::<Vec<_>>(),
    })
}

/// The same, with what limits the nodes of the case where it was profiled.
pub fn with_nodes(asked: &AskedCase) -> Value {
    let model = asked.limits.as_ref().map(limits::document);
    with(document(asked), json!({ "model": model }))
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
