//! What a model file says about itself: inputs, outputs, size, operators, and cost.
//!
//! The protobuf comes from `source`; the summary goes to `powerband model` and into sessions. A
//! summary never fails: what cannot be worked out becomes a note in it.

use std::collections::{BTreeMap, BTreeSet};

use crate::pb::{ModelProto, NodeProto, TensorProto, ValueInfoProto};
use thiserror::Error;

use super::batch_axis::BatchAxes;
use super::input_values::{self, InputValues};
use super::rewrite::left::kept_notes;
use super::shapes::{self, ShapeError};
use super::{cost, fitting_shapes, infer, parameters, proto, shape_error};
use powerband_core::base::humanize;
use powerband_core::domain::input_sizes::InputSizes;
use powerband_core::domain::model::{ModelSummary, Port};
use powerband_core::domain::point::Point;
use powerband_core::domain::tensor::TensorSpec;

/// Why an input cannot be fed.
#[derive(Debug, PartialEq, Eq, Error)]
pub enum InspectError {
    /// A sequence, a map, or a value without a type.
    #[error(
        "input {name:?} is not a tensor, and only tensors can be fed. Export the model with tensor inputs"
    )]
    NotATensor { name: String },
    /// Elements that we have no values for.
    #[error(
        "input {name:?} holds {element} elements, which cannot be fed. Float, integer (8, 16, 32, 64 bit) \
         and bool inputs can: export the model with one of these"
    )]
    Element { name: String, element: String },
    /// Not even the number of dimensions.
    #[error(
        "input {name:?} states no shape. Export the model with input shapes, or run ONNX shape inference on it"
    )]
    NoShape { name: String },
}

/// The inputs that the caller must give: those of the graph that the file does not fill itself.
pub fn inputs(model: &ModelProto) -> Result<Vec<Port>, InspectError> {
    let ports: Result<Vec<Port>, InspectError> = required(model).into_iter().map(port).collect();
    let mut ports = ports?;
    input_values::state_axes(model, &mut ports);
    Ok(ports)
}

/// The outputs whose type and shape are stated.
pub fn output_ports(model: &ModelProto) -> Vec<Port> {
    let outputs = model.graph.iter().flat_map(|graph| &graph.output);
    outputs.filter_map(|value| port(value).ok()).collect()
}

/// Everything that can be said about a model without running it; `name` is what to call it.
pub fn summarize(model: &ModelProto, name: &str) -> ModelSummary {
    let untried = |error| match error {
        ShapeError::Open {
            open,
            shapes,
            trial,
        } => {
            let ports = inputs(model).unwrap_or_default();
            let likeliest = fitting_shapes::examples(model, &ports, &InputSizes::default());
            ShapeError::Open {
                open,
                shapes: likeliest.into_iter().next().unwrap_or(shapes),
                trial,
            }
        }
        other => other,
    };
    summarize_at(model, name, &InputSizes::default(), &untried)
}

/// The same with its cost at sizes that the user gives. Where some are open beyond them, `with_examples` puts better
/// examples in place of those of the error.
pub fn summarize_at(
    model: &ModelProto,
    name: &str,
    asked: &InputSizes,
    with_examples: &dyn Fn(ShapeError) -> ShapeError,
) -> ModelSummary {
    let mut notes = kept_notes(model);
    let ports = inputs(model);
    let outputs = model
        .graph
        .iter()
        .flat_map(|graph| &graph.output)
        .filter_map(|value| {
            port(value)
                .map_err(|error| notes.push(error.to_string().replacen("input", "output", 1)))
                .ok()
        });
    let outputs = outputs.collect();
    let unfed: Vec<String> = required(model)
        .into_iter()
        .filter_map(|value| port(value).err())
        .map(|error| error.to_string())
        .collect();
    let (macs, cost_at) = if let Ok(ports) = &ports {
        let asked = &sizes_with_files(model, ports, asked);
        costs(model, ports, asked, with_examples, &mut notes)
    } else {
        notes.extend(unfed.iter().cloned());
        (None, Vec::new())
    };
    let external = |tensor: &&TensorProto| tensor.data_location == Some(1);
    let graphs = model.graph.iter().flat_map(proto::all_graphs);
    let elsewhere = graphs
        .flat_map(|graph| &graph.initializer)
        .filter(external)
        .count();
    if elsewhere > 0 {
        notes.push(format!(
            "{elsewhere} tensors are stored in files next to the model"
        ));
    }
    let fed = ports.as_deref().unwrap_or_default();
    let mut fills = InputValues::find(model, fed).descriptions();
    let chosen = asked.fills.iter();
    fills.extend(chosen.map(|(name, fill)| (name.clone(), format!("{fill}: as chosen"))));
    ModelSummary {
        fills,
        name: name.to_owned(),
        opset: opset(model),
        inputs: ports.unwrap_or_else(|_| feedable(model)),
        unfed,
        outputs,
        parameters: model.graph.as_ref().map_or(0, parameters::parameters),
        constant_bytes: model.graph.as_ref().map_or(0, parameters::constant_bytes),
        macs,
        cost_at,
        operators: operators(model),
        notes,
    }
}

/// What the user says, with the sizes of the files that inputs are filled from.
fn sizes_with_files(model: &ModelProto, ports: &[Port], asked: &InputSizes) -> InputSizes {
    let mut values = InputValues::find(model, ports);
    match values.choose(&asked.fills) {
        Ok(()) if !asked.fills.is_empty() => values.with_sizes_of_files(Point::of_batch(1), asked),
        _ => asked.clone(),
    }
}

/// The graph's inputs that are not initializers as well, as old files have them.
fn required(model: &ModelProto) -> Vec<&ValueInfoProto> {
    let Some(graph) = &model.graph else {
        return Vec::new();
    };
    let filled: BTreeSet<&str> = graph
        .initializer
        .iter()
        .map(|tensor| tensor.name.as_str())
        .chain(
            graph
                .sparse_initializer
                .iter()
                .filter_map(|sparse| Some(sparse.values.as_ref()?.name.as_str())),
        )
        .collect();
    graph
        .input
        .iter()
        .filter(|value| !filled.contains(value.name.as_str()))
        .collect()
}

/// Those inputs that can be described, for the summary of a model that cannot be run.
fn feedable(model: &ModelProto) -> Vec<Port> {
    required(model)
        .into_iter()
        .filter_map(|value| port(value).ok())
        .collect()
}

/// One input or output in our terms.
fn port(value: &ValueInfoProto) -> Result<Port, InspectError> {
    let name = value.name.clone();
    let Some(tensor) = proto::tensor_type(value) else {
        return Err(InspectError::NotATensor { name });
    };
    let Some(element) = proto::element_type(tensor.elem_type) else {
        return Err(InspectError::Element {
            name,
            element: proto::type_name(tensor.elem_type),
        });
    };
    match proto::stated_dims(value) {
        Some(dims) => Ok(Port {
            name,
            element,
            dims,
            recurrent: None,
        }),
        None => Err(InspectError::NoShape { name }),
    }
}

/// Multiply-accumulates of one run with the smallest batch that the model takes, and at which
/// shapes. An incomplete count is no count: it would make the model look cheaper than it is.
fn costs(
    model: &ModelProto,
    ports: &[Port],
    asked: &InputSizes,
    with_examples: &dyn Fn(ShapeError) -> ShapeError,
    notes: &mut Vec<String>,
) -> (Option<u64>, Vec<TensorSpec>) {
    let specs = BatchAxes::find(ports, &asked.batch_axis).and_then(|axes| {
        notes.extend(axes.note(ports));
        let batch = axes.fixed(ports);
        let batch = batch.or_else(|| shapes::given_batch(ports, asked));
        shapes::resolve(ports, Point::of_batch(batch.unwrap_or(1)), asked)
    });
    let specs = match specs {
        Ok(specs) => specs,
        Err(error) => {
            let error = match error {
                ShapeError::Open { .. } => with_examples(error),
                other => other,
            };
            notes.push(format!("Multiply-accumulates are not counted: {error}"));
            if let ShapeError::Open { shapes, .. } = error {
                notes.extend(cost_at_examples(model, ports, asked, shapes));
            }
            return (None, Vec::new());
        }
    };
    let shapes = infer::infer(model, &specs);
    let ends = infer::unfollowed(model, &shapes);
    if !ends.is_empty() {
        notes.push(format!(
            "Shapes could not be followed through {}",
            listed(&ends)
        ));
    }
    let missed = cost::uncounted(model, &shapes);
    if !missed.is_empty() {
        notes.push(format!(
            "Multiply-accumulates are not counted: no cost is known for {}",
            listed(&missed)
        ));
        return (None, specs);
    }
    (Some(cost::macs(model, &shapes).0), specs)
}

/// What a run costs at the sizes that are suggested for the dimensions that the model leaves open.
fn cost_at_examples(
    model: &ModelProto,
    ports: &[Port],
    asked: &InputSizes,
    examples: shape_error::InputShapes,
) -> Option<String> {
    let mut asked = asked.clone();
    asked.shapes.extend(examples);
    let specs = shapes::resolve(ports, Point::of_batch(1), &asked).ok()?;
    let known = infer::infer(model, &specs);
    if !cost::uncounted(model, &known).is_empty() {
        return None;
    }
    let macs = cost::macs(model, &known).0;
    let options = shape_error::options(&asked.shapes).join(" ");
    Some(format!(
        "{} ({}) at batch 1 with {options}",
        humanize::macs(macs),
        humanize::count(macs)
    ))
}

/// `Loop (2), Mystery (1)`.
fn listed(counts: &BTreeMap<String, u64>) -> String {
    let each: Vec<String> = counts
        .iter()
        .map(|(name, count)| format!("{name} ({count})"))
        .collect();
    each.join(", ")
}

/// The operator's name, with its domain where that is not ONNX's own.
/// The names of the outputs, in order.
pub fn outputs(model: &ModelProto) -> Vec<String> {
    let outputs = model.graph.iter().flat_map(|graph| &graph.output);
    outputs.map(|output| output.name.clone()).collect()
}

pub fn operators(model: &ModelProto) -> BTreeMap<String, u64> {
    let mut operators = BTreeMap::new();
    for node in proto::nodes(model) {
        *operators.entry(operator(node)).or_insert(0) += 1;
    }
    operators
}

fn operator(node: &NodeProto) -> String {
    match node.domain.as_str() {
        "" | "ai.onnx" => node.op_type.clone(),
        domain => format!("{domain}.{}", node.op_type),
    }
}

/// Version of ONNX's own operators; 1 where the file does not say, as the oldest files do not.
fn opset(model: &ModelProto) -> i64 {
    let own = model
        .opset_import
        .iter()
        .find(|set| matches!(set.domain.as_str(), "" | "ai.onnx"));
    own.map_or(1, |set| set.version)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::infer::testing::{TestGraph, port as stated};
    use crate::pb::TypeProto;
    use crate::pb::tensor_proto::DataType;

    #[test]
    fn inputs_that_cannot_be_fed_are_named() {
        let with = |value: ValueInfoProto| {
            let mut graph = TestGraph::new(&[("x", &[1])]).node("Relu", "x", "y", &[]);
            graph.graph.input.push(value);
            let model = graph.model();
            let summary = summarize(&model, "m");
            assert_eq!(summary.inputs.len(), 1);
            let message = inputs(&model).unwrap_err().to_string();
            assert!(summary.notes.contains(&message), "{:?}", summary.notes);
            message
        };
        let text = with(stated("words", DataType::String, &["n"]));
        assert!(text.contains("\"words\" holds string elements"), "{text}");
        let sequence = ValueInfoProto {
            name: "list".to_owned(),
            r#type: Some(TypeProto::default()),
            ..Default::default()
        };
        assert!(with(sequence).contains("\"list\" is not a tensor"));
        let mut shapeless = stated("free", DataType::Float, &[]);
        if let Some(TypeProto {
            value: Some(crate::pb::type_proto::TypeValue::TensorType(tensor)),
            ..
        }) = &mut shapeless.r#type
        {
            tensor.shape = None;
        }
        assert!(with(shapeless).contains("\"free\" states no shape"));
    }

    #[test]
    fn initializers_are_not_inputs() {
        let mut graph =
            TestGraph::new(&[("x", &[1, 4])])
                .weight("w", &[4, 5])
                .node("MatMul", "x w", "y", &[]);
        graph
            .graph
            .input
            .push(stated("w", DataType::Float, &["4", "5"]));
        let names: Vec<_> = inputs(&graph.model())
            .unwrap()
            .into_iter()
            .map(|port| port.name)
            .collect();
        assert_eq!(names, ["x"]);
    }

    #[test]
    fn what_could_not_be_counted_is_said() {
        let unknown =
            TestGraph::new(&[("x", &[1])])
                .weight("w", &[4, 5])
                .node("Mystery", "x", "a", &[]);
        let mut unknown = unknown.node("MatMul", "a w", "y", &[]);
        let open = stated("x", DataType::Float, &["n", "seq"]);
        unknown.graph.input[0] = stated("x", DataType::Float, &["n"]);
        let summary = summarize(&unknown.model(), "m");
        assert_eq!(summary.macs, None);
        assert_eq!(
            summary.notes,
            [
                "Shapes could not be followed through Mystery (1)",
                "Multiply-accumulates are not counted: no cost is known for MatMul (1)"
            ]
        );
        unknown.graph.input[0] = open;
        let summary = summarize(&unknown.model(), "m");
        assert!(summary.notes[0].contains("seq of x"), "{:?}", summary.notes);
    }

    #[test]
    fn an_empty_model_has_an_empty_summary() {
        let summary = summarize(&ModelProto::default(), "none");
        assert_eq!(
            (summary.parameters, summary.opset, summary.macs),
            (0, 1, Some(0))
        );
    }
}
