//! What workers are fed at a point: shapes, and what each input is filled with.
//!
//! `prepare` asks for every case, `precision` and `shape_trial` for the runs that come before a measurement, so
//! that a network sees the same kind of values everywhere.

use std::collections::BTreeMap;

use crate::prepare_error::PrepareError;
use powerband_core::domain::fill::Fill;
use powerband_core::domain::input_sizes::InputSizes;
use powerband_core::domain::model::Port;
use powerband_core::domain::point::Point;
use powerband_core::domain::tensor::TensorSpec;
use powerband_onnx::input_values::InputValues;
use powerband_onnx::pb::ModelProto;
use powerband_onnx::shapes;

/// What is known of a network's inputs, with the user's choices.
pub(super) fn values<'a>(
    model: &'a ModelProto,
    ports: &[Port],
    sizes: &InputSizes,
) -> Result<InputValues<'a>, PrepareError> {
    let mut values = InputValues::find(model, ports);
    values.choose(&sizes.fills)?;
    Ok(values)
}

/// The inputs of a point. Sizes that nothing else gives are those of the files that inputs are filled from.
pub(super) fn resolve(
    values: &InputValues<'_>,
    ports: &[Port],
    point: Point,
    sizes: &InputSizes,
) -> Result<Vec<TensorSpec>, PrepareError> {
    let sizes = values.with_sizes_of_files(point, sizes);
    let specs = shapes::resolve(ports, point, &sizes)?;
    Ok(values.fill(specs)?)
}

/// The same for a network that is asked once, with the reason as text.
pub(super) fn of_model(
    model: &ModelProto,
    ports: &[Port],
    point: Point,
    sizes: &InputSizes,
) -> Result<Vec<TensorSpec>, String> {
    let specs =
        values(model, ports, sizes).and_then(|values| resolve(&values, ports, point, sizes));
    specs.map_err(|error| error.to_string())
}

/// The same choices with whole paths: workers run in another folder, and a plan is run again from anywhere.
pub(super) fn with_whole_paths(inputs: &BTreeMap<String, Fill>) -> BTreeMap<String, Fill> {
    let whole = |fill: &Fill| match fill {
        Fill::File(path) => {
            let whole = std::path::absolute(path);
            Fill::File(whole.map_or_else(|_| path.clone(), |whole| whole.display().to_string()))
        }
        other => other.clone(),
    };
    let inputs = inputs.iter();
    inputs
        .map(|(name, fill)| (name.clone(), whole(fill)))
        .collect()
}
