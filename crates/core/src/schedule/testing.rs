//! Plans and sessions in a few lines, for the unit tests of this folder. Compiled for tests only.

use crate::domain::event::RunStart;
use crate::domain::model::ModelRef;
use crate::domain::plan::{Plan, PresetName};
use crate::domain::point::Point;
use crate::domain::session::Session;

/// A plan with a preset.
pub(super) fn plan(preset: PresetName, setups: &[&str], batches: &[usize]) -> Plan {
    let setups = setups.iter().map(|spec| spec.parse().expect("a setup"));
    Plan {
        model: "tiny".to_owned(),
        setups: setups.collect(),
        points: batches.iter().copied().map(Point::of_batch).collect(),
        seed: 1,
        ..Plan::from_preset(preset)
    }
}

/// A session of which nothing was measured yet.
pub(super) fn session(plan: Plan) -> Session {
    Session::from_start(RunStart {
        name: "test".to_owned(),
        created: "2030-01-02T03:04:05Z".to_owned(),
        plan,
        model: ModelRef {
            name: "tiny".to_owned(),
            file: "tiny.onnx".to_owned(),
            sha256: "0123456789abcdef".to_owned(),
            parameters: 1,
            ..ModelRef::default()
        },
        ..RunStart::default()
    })
}
