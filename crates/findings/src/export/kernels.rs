//! Where the time of a profile went, as the JSON document that `kernels --json` prints.

use serde_json::{Value, json};

use super::{limits, with};
use crate::analysis::breakdown::{Breakdown, BreakdownRow, Busy, FilteredRows, UNKNOWN_OPERATOR};
use crate::analysis::kernel_comparison::{self as comparison, KernelComparison};
use crate::analysis::limits::Limits;
use powerband_core::domain::profile::Profile;

/// One profile, with what limits it.
pub fn document(
    profile: &Profile,
    found: &Breakdown,
    shown: &FilteredRows,
    limits: &Limits,
) -> Value {
    let rows = shown.rows.iter().filter_map(|place| found.rows.get(*place));
    json!({
        "profile": profile.name,
        "tool": profile.tool,
        "by": found.level.title(),
        "of": found.scope.title(),
        "runs": found.runs.map(|runs| runs.count),
        "summed_ns": found.summed_ns,
        "device_kind": found.device_kind,
        "busy_ns": found.busy.map(|busy| busy.busy_ns),
        "span_ns": found.busy.map(|busy| busy.span_ns),
        "idle_share": found.busy.and_then(Busy::idle_share),
        "gaps": found.gaps,
        "launches": found.launches,
        "job": super::profile::job(profile),
        "between_nodes_ns": found.between_nodes_ns,
        "host": found.host.iter().map(|(kind, ns)| json!({
            "kind": kind.title(),
            "total_ns": ns,
        })).collect::<Vec<_>>(),
        "rows": rows.map(|row| breakdown_row(found, row)).collect::<Vec<_>>(),
        "rows_left_out": shown.hidden,
        "counters": profile.counters,
        "memory": profile.memory,
        "notes": profile.notes,
        "limits": limits::document(limits),
    })
}

fn breakdown_row(found: &Breakdown, row: &BreakdownRow) -> Value {
    let mut document = with(
        row,
        json!({ "per_run_ns": found.per_run(row.total_ns as f64), "mean_ns": row.mean_ns() }),
    );
    if row.name == UNKNOWN_OPERATOR {
        document["short"] = json!(UNKNOWN_OPERATOR);
    }
    document
}

/// Two profiles, with the rows in these places.
pub fn comparison(found: &KernelComparison, rows: &[usize]) -> Value {
    let shown = rows.iter().filter_map(|place| found.rows.get(*place));
    json!({
        "per_run": found.is_per_run(),
        "before_ns": found.before_ns,
        "after_ns": found.after_ns,
        "difference_ns": found.difference_ns(),
        "rows": shown.map(|row| compared_row(found, row)).collect::<Vec<_>>(),
        "rows_left_out": found.rows.len() - rows.len(),
        "wall": found.wall,
        "went": found.removed,
        "appeared": found.added,
        "notes": found.notes,
    })
}

fn compared_row(found: &KernelComparison, row: &comparison::KernelDiffRow) -> Value {
    json!({
        "title": row.title,
        "category": row.category,
        "what": row.change(),
        "matched_by": row.matched.title(),
        "before_ns": row.before_ns(),
        "after_ns": row.after_ns(),
        "difference_ns": row.difference_ns(),
        "share_of_difference": found.contribution(row),
        "before": row.before,
        "after": row.after,
    })
}
