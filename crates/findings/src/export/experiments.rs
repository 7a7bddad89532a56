//! What experiments say as the JSON document that `why --json` prints, and that goes into a session's.

use serde_json::{Value, json};

use super::{limits, with};
use crate::analysis::limits::answer::ExplainedCase;
use crate::analysis::limits::experiments::ExperimentRow;

/// The answer, and what was tried.
pub fn document(found: &ExplainedCase) -> Value {
    let answer = json!({ "answer": found.answer });
    let Some(tried) = &found.tried else {
        return answer;
    };
    let untried = tried
        .untried
        .iter()
        .map(|untried| json!({ "change": untried.change.id(), "reason": untried.reason }));
    let experiments = json!({
        "setup": tried.label,
        "batch": tried.case.point.batch(),
        "point": tried.case.point,
        "median_ms": tried.median_ns.map(|ns| ns / 1e6),
        "abstained": tried.trouble,
        "experiments": tried.rows.iter().map(row).collect::<Vec<_>>(),
        "untried": untried.collect::<Vec<_>>(),
    });
    with(experiments, answer)
}

/// The same, with what limits the nodes of the case where it was profiled.
pub fn with_nodes(found: &ExplainedCase) -> Value {
    let model = found.limits.as_ref().map(limits::document);
    with(document(found), json!({ "model": model }))
}

fn row(row: &ExperimentRow) -> Value {
    json!({
        "change": row.change.id(),
        "title": row.change.title(),
        "setup": row.setup_spec,
        "control": row.control_spec,
        "point": row.case.point,
        "median_ms": row.median_ns.map(|ns| ns / 1e6),
        "control_median_ms": row.control_median_ns.map(|ns| ns / 1e6),
        "cost": row.cost_share(),
        "cost_ci95": row.cost_interval().map(|(low, high)| [low, high]),
        "rounds": row.cost.map(|ratio| ratio.rounds),
        "verdict": row.verdict.as_ref().map(|verdict| verdict.call.name()),
        "trouble": row.trouble,
    })
}
