//! What limits a case, as a JSON document.

use serde_json::{Value, json};

use crate::analysis::case_rows::CaseRow;
use crate::analysis::journey;
use crate::analysis::limits::Limits;
use crate::analysis::limits::curve::{CurveLimits, Part};
use crate::analysis::limits::finding::Finding;
use crate::analysis::limits::lines::{LineKind, LineUnit, RoofLine};
use crate::analysis::limits::node::NodeLimit;
use crate::analysis::limits::session_limits::SessionLimits;
use crate::analysis::limits::speed_of_light::{self, LightRow};
use crate::analysis::limits::wall::WallTime;
use powerband_core::domain::session::Session;

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

/// What limits the cases of a session: profiles by the model, setups by their curves, and the least that its network
/// can take here.
pub fn of_session(session: &Session, rows: &[CaseRow]) -> Value {
    let roofs = &session.roofs;
    let found = SessionLimits::new(session, rows, roofs);
    let journey = journey::compare_steps(session, rows, session.plan.first_point());
    let light = speed_of_light::rows_of(session, rows, &journey, roofs);
    json!({
        "profiles": found.profiles.iter().map(document).collect::<Vec<_>>(),
        "curves": found.curves.iter().map(|found| curve(session, found)).collect::<Vec<_>>(),
        "speed_of_light": speed_of_light(&light),
    })
}

fn curve(session: &Session, found: &CurveLimits) -> Value {
    let part = |part: Part| {
        let interval = part.ci95.map(|ci| [ci.low, ci.high]);
        json!({ "ns": part.ns, "ci95_ns": interval })
    };
    json!({
        "setup": session.setup_spec(found.setup),
        "fixed": part(found.fixed),
        "per_item": part(found.per_item),
        "weights_ns": found.weights_ns,
        "launch_ns": found.launch_ns,
        "arithmetic_ns": found.arithmetic_ns,
        "findings": found.findings.iter().map(finding).collect::<Vec<_>>(),
        "abstained": found.abstained,
    })
}

/// The least times of a network, an entry for each step.
pub fn speed_of_light(rows: &[LightRow]) -> Vec<Value> {
    let row = |row: &LightRow| {
        json!({
            "step": row.step.id(),
            "title": row.title,
            "case": row.case,
            "taken": row.is_taken,
            "measured_ns": row.measured_ns,
            "floor_ns": row.floor_ns,
            "share_of_floor": row.share_of_floor,
            "can_bring_ns": row.can_bring_ns,
            "within_noise": row.is_within_noise,
            "line": row.line,
            "formula": row.formula,
            "reason": row.reason,
        })
    };
    rows.iter().map(row).collect()
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
