//! What setups bring on two machines, as `fleet --json` and `compare --json` print it.

use serde_json::{Value, json};

use crate::analysis::case_pair::Ratio;
use crate::analysis::fleet::Effects;

/// The parts of one difference.
pub fn effects(effects: &Effects) -> Value {
    let ratio = |ratio: Ratio| {
        json!({
            "speed_up": ratio.speed_up,
            "ci95": ratio.ci95.map(|ci95| [ci95.low, ci95.high]),
            "rounds": ratio.rounds,
        })
    };
    json!({
        "setups": effects.setups,
        "machines": effects.machines,
        "batch": effects.point.batch(),
        "point": effects.point,
        "of_setup": effects.of_setup.map(ratio),
        "of_machine": effects.of_machine.map(ratio),
        "together": ratio(effects.together),
        "finding": effects.sentence(),
    })
}
