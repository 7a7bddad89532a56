//! What an engine saw of its own runs, in the events of ONNX Runtime's profile, which importers know.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use super::EngineError;

/// What stands behind the name of a node whose run was timed.
pub(super) const KERNEL_TIME: &str = "_kernel_time";

/// A node that ran.
pub(super) fn node(engine: &str, name: &str, operator: &str) -> Value {
    json!({
        "cat": "Node",
        "name": format!("{name}{KERNEL_TIME}"),
        "args": {"op_name": operator, "provider": engine},
    })
}

/// An element type, as ONNX Runtime calls it, and sizes.
pub(super) type TypedShape = (&'static str, Vec<usize>);

/// A node with what went into it and came out of it; nothing stands for what was left out.
pub(super) fn with_shapes(
    mut event: Value,
    inputs: &[Option<TypedShape>],
    outputs: &[Option<TypedShape>],
) -> Value {
    let list = |shapes: &[Option<TypedShape>]| {
        let shape = |shape: &Option<TypedShape>| match shape {
            Some((element, dims)) => json!({ *element: dims }),
            None => json!({}),
        };
        Value::Array(shapes.iter().map(shape).collect())
    };
    event["args"]["input_type_shape"] = list(inputs);
    event["args"]["output_type_shape"] = list(outputs);
    event
}

/// A whole run, behind its nodes.
pub(super) fn run() -> Value {
    json!({"cat": "Session", "name": "model_run", "args": {}})
}

/// When an event began, from the first one on, and how long it took.
pub(super) fn timed_event(mut event: Value, began: Duration, took: Duration) -> Value {
    event["ph"] = json!("X");
    event["pid"] = json!(1);
    event["tid"] = json!(1);
    event["ts"] = json!(us(began));
    event["dur"] = json!(us(took));
    event
}

/// Leaves the events in a folder.
pub(super) fn write(folder: &Path, events: Vec<Value>) -> Result<PathBuf, EngineError> {
    let file = folder.join("nodes.json");
    fs::write(&file, Value::Array(events).to_string()).map_err(|error| {
        EngineError::Failed(format!("{} cannot be written: {error}", file.display()))
    })?;
    Ok(file)
}

/// Microseconds with the nanoseconds behind the point.
fn us(time: Duration) -> f64 {
    time.as_nanos() as f64 / 1e3
}
