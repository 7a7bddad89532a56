//! What setups bring on two machines, as `fleet --json` and `compare --json` print it.

use serde_json::{Value, json};

use crate::analysis::fleet::Effects;

/// The parts of one difference.
pub fn effects(effects: &Effects) -> Value {
    json!({
        "setups": effects.setups,
        "machines": effects.machines,
        "batch": effects.point.batch(),
        "point": effects.point,
        "of_setup": effects.of_setup,
        "of_machine": effects.of_machine,
        "together": effects.together,
        "finding": effects.sentence(),
    })
}
