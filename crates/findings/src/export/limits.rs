//! What limits a case, as a JSON document.

use serde_json::{Value, json};

use super::with;
use crate::analysis::case_rows::CaseRow;
use crate::analysis::journey;
use crate::analysis::limits::Limits;
use crate::analysis::limits::node::NodeLimit;
use crate::analysis::limits::session_limits::SessionLimits;
use crate::analysis::limits::speed_of_light;
use powerband_core::domain::session::Session;

/// The limits of a profiled case.
pub fn document(limits: &Limits) -> Value {
    let (floors_ns, judged_ns) = limits.floors_ns();
    let computed = json!({
        "classified_share": limits.classified_share(),
        "floors_ns": floors_ns,
        "judged_ns": judged_ns,
        "nodes": limits.nodes.iter().map(node).collect::<Vec<_>>(),
        "wall": limits.wall.as_ref().ok(),
        "wall_unknown": limits.wall.as_ref().err(),
    });
    with(limits, computed)
}

/// What limits the cases of a session: profiles by the model, setups by their curves, and the least that its network
/// can take here.
pub fn of_session(session: &Session, rows: &[CaseRow]) -> Value {
    let roofs = &session.roofs;
    let found = SessionLimits::new(session, rows, roofs);
    let journey = journey::compare_steps(session, rows, session.plan.first_point());
    let curves = found
        .curves
        .iter()
        .map(|curve| with(curve, json!({ "setup": session.setup_spec(curve.setup) })));
    json!({
        "profiles": found.profiles.iter().map(document).collect::<Vec<_>>(),
        "curves": curves.collect::<Vec<_>>(),
        "speed_of_light": speed_of_light::light_rows_of_cases(session, rows, &journey, roofs),
    })
}

fn node(node: &NodeLimit) -> Value {
    let computed = json!({
        "operations": node.work.map(|work| work.operations),
        "numbers": node.work.map(|work| work.numbers.name()),
        "low_bytes": node.work.map(|work| work.low_bytes),
        "high_bytes": node.work.map(|work| work.high_bytes),
        "floor_ns": node.floor.map(|floor| floor.ns()),
        "compute_ns": node.floor.map(|floor| floor.compute_ns),
        "memory_ns": node.floor.map(|floor| floor.memory_ns),
        "launch_ns": node.floor.map(|floor| floor.launch_ns),
    });
    with(node, computed)
}
