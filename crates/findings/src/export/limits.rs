//! What limits a case, as a JSON document.

use serde_json::{Value, json};

use crate::analysis::limits::Limits;
use crate::analysis::limits::finding::Finding;
use crate::analysis::limits::lines::{LineKind, LineUnit, RoofLine};
use crate::analysis::limits::node::NodeLimit;
use crate::analysis::limits::wall::WallTime;

/// The limits of a profiled case.
pub fn document(limits: &Limits) -> Value {
    let (floors_ns, judged_ns) = limits.floors_ns();
    json!({
        "case": limits.case,
        "profile": limits.title,
        "classified_share": limits.classified_share(),
        "floors_ns": floors_ns,
        "judged_ns": judged_ns,
        "lines": limits.lines.iter().map(line).collect::<Vec<_>>(),
        "nodes": limits.nodes.iter().map(node).collect::<Vec<_>>(),
        "wall": limits.wall.as_ref().ok().map(wall),
        "wall_unknown": limits.wall.as_ref().err(),
        "findings": limits.findings.iter().map(finding).collect::<Vec<_>>(),
        "abstained": limits.abstained,
    })
}

/// A finding.
pub fn finding(finding: &Finding) -> Value {
    json!({
        "sentence": finding.sentence,
        "basis": finding.basis.id(),
        "bound": finding.bound.map(|bound| bound.id()),
        "at_most_here": finding.at_most_here,
        "at_most_overall": finding.at_most_overall,
        "line": finding.line,
        "formula": finding.formula,
        "nodes": finding.nodes,
    })
}

fn line(line: &RoofLine) -> Value {
    json!({
        "kind": match line.kind {
            LineKind::Published => "published",
            LineKind::Measured => "measured",
            LineKind::Engine => "engine",
        },
        "unit": match line.unit {
            LineUnit::OperationsPerS => "operations/s",
            LineUnit::BytesPerS => "bytes/s",
        },
        "title": line.title,
        "per_s": line.per_s,
        "spread": line.spread,
        "numbers": line.numbers.map(|numbers| numbers.name()),
    })
}

fn node(node: &NodeLimit) -> Value {
    json!({
        "name": node.name,
        "operator": node.op,
        "place": node.place,
        "calls": node.calls,
        "time_ns": node.time_ns,
        "share": node.share,
        "operations": node.work.map(|work| work.operations),
        "numbers": node.work.map(|work| work.numbers.name()),
        "low_bytes": node.work.map(|work| work.low_bytes),
        "high_bytes": node.work.map(|work| work.high_bytes),
        "floor_ns": node.floor.map(|floor| floor.ns()),
        "compute_ns": node.floor.map(|floor| floor.compute_ns),
        "memory_ns": node.floor.map(|floor| floor.memory_ns),
        "launch_ns": node.floor.map(|floor| floor.launch_ns),
        "bound": node.bound.as_ref().ok().map(|bound| bound.id()),
        "why_not": node.bound.as_ref().err(),
        "share_of_floor": node.share_of_floor,
        "at_most_here": node.at_most_here,
        "at_most_overall": node.at_most_overall,
        "line": node.line,
        "formula": node.formula,
    })
}

fn wall(wall: &WallTime) -> Value {
    json!({
        "wall_ns": wall.wall_ns,
        "parts": wall.parts.iter().map(|part| json!({
            "kind": part.kind.id(),
            "ns": part.ns,
            "share": part.share,
        })).collect::<Vec<_>>(),
    })
}
