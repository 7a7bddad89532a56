//! Where the time of a profile went, as the JSON document that `kernels --json` prints.

use serde_json::{Value, json};

use super::limits;
use crate::analysis::breakdown::{Breakdown, Busy, NOT_TOLD, Row, RowLimit, Shown};
use crate::analysis::kernel_comparison::{self as comparison, Comparison, Member};
use crate::analysis::limits::Limits;
use powerband_core::domain::profile::Profile;

/// One profile, with what limits it.
pub fn document(profile: &Profile, found: &Breakdown, shown: &Shown, limits: &Limits) -> Value {
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
        "gaps": found.gaps.iter().map(|gap| json!({
            "device": gap.device,
            "start_ns": gap.start_ns,
            "length_ns": gap.length_ns,
        })).collect::<Vec<_>>(),
        "launches": found.launches,
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

fn breakdown_row(found: &Breakdown, row: &Row) -> Value {
    json!({
        "name": row.name,
        "short": if row.name == NOT_TOLD { NOT_TOLD } else { &row.short },
        "category": row.category.id(),
        "operators": row.ops,
        "places": row.places,
        "names": row.names,
        "calls": row.calls,
        "share": row.share,
        "total_ns": row.total_ns,
        "per_run_ns": found.per_run(row.total_ns as f64),
        "mean_ns": row.mean_ns(),
        "min_ns": row.min_ns,
        "max_ns": row.max_ns,
        "limit": row.limit.as_ref().map(row_limit),
    })
}

fn row_limit(limit: &RowLimit) -> Value {
    json!({
        "bound": limit.bound.as_ref().ok().map(|bound| bound.id()),
        "why_not": limit.bound.as_ref().err(),
        "at_most_here": limit.left,
        "formula": limit.formula,
    })
}

/// Two profiles, with the rows in these places.
pub fn comparison(found: &Comparison, rows: &[usize]) -> Value {
    let shown = rows.iter().filter_map(|place| found.rows.get(*place));
    json!({
        "per_run": found.is_per_run(),
        "before_ns": found.before_ns,
        "after_ns": found.after_ns,
        "difference_ns": found.difference_ns(),
        "rows": shown.map(|row| compared_row(found, row)).collect::<Vec<_>>(),
        "rows_left_out": found.rows.len() - rows.len(),
        "went": found.went.iter().map(member).collect::<Vec<_>>(),
        "appeared": found.appeared.iter().map(member).collect::<Vec<_>>(),
        "notes": found.notes,
    })
}

fn compared_row(found: &Comparison, row: &comparison::Row) -> Value {
    json!({
        "title": row.title,
        "category": row.category.id(),
        "what": row.change().id(),
        "matched_by": row.matched.title(),
        "before_ns": row.before_ns(),
        "after_ns": row.after_ns(),
        "difference_ns": row.difference_ns(),
        "share_of_difference": found.contribution(row),
        "before": row.before.iter().map(member).collect::<Vec<_>>(),
        "after": row.after.iter().map(member).collect::<Vec<_>>(),
    })
}

fn member(member: &Member) -> Value {
    json!({ "name": member.name, "calls": member.calls, "total_ns": member.ns })
}
