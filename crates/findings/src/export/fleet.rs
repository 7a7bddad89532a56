//! What setups bring on two machines, as `fleet --json` and `compare --json` print it.

use serde_json::{Value, json};

use super::with;
use crate::analysis::fleet::Effects;

/// The parts of one difference.
pub fn effects(effects: &Effects) -> Value {
    let computed = json!({ "batch": effects.point.batch(), "finding": effects.sentence() });
    with(effects, computed)
}
