//! What rten prints of the nodes of a run: their names, their shapes and their times.

use std::time::Duration;

use crate::engines::node_events::TypedShape;

/// A node that ran, as rten reports it.
#[derive(Debug, Default, PartialEq)]
pub(super) struct NodeTime {
    pub operator: String,
    pub name: String,
    pub took: Duration,
    /// What went in, by place; nothing where an input was left out.
    pub inputs: Vec<Option<TypedShape>>,
    /// What came out.
    pub outputs: Vec<Option<TypedShape>>,
}

/// Reads what rten prints of each node: `#3 Conv (conv1)`, its inputs and outputs, `  time: 1.234ms`.
pub(super) fn node_times(report: &str) -> Vec<NodeTime> {
    let mut times = Vec::new();
    let mut node: Option<NodeTime> = None;
    for line in report.lines() {
        if let Some(heading) = line.strip_prefix('#') {
            node = heading_of(heading).map(|(operator, name)| NodeTime {
                operator,
                name,
                ..NodeTime::default()
            });
        } else if let Some(input) = line.strip_prefix("  input ") {
            if let (Some(node), Some((place, shape))) = (node.as_mut(), input_of(input))
                && place < MOST_INPUTS
            {
                node.inputs.resize(node.inputs.len().max(place + 1), None);
                node.inputs[place] = Some(shape);
            }
        } else if let Some(output) = line.strip_prefix("  output ") {
            if let (Some(node), Some((name, dims))) = (node.as_mut(), output_of(output)) {
                // A node without a name goes by its first output.
                if node.name.is_empty() && node.outputs.is_empty() {
                    name.clone_into(&mut node.name);
                }
                node.outputs.push(Some(output_shape(node, dims)));
            }
        } else if let Some(took) = line.strip_prefix("  time: ") {
            let took = took.strip_suffix("ms").and_then(milliseconds);
            // What a loop or a branch takes is what the nodes within it take, which come before it.
            let timed = node.take().zip(took);
            let timed = timed.filter(|(node, _)| node.operator != "If" && node.operator != "Loop");
            times.extend(timed.map(|(node, took)| NodeTime { took, ..node }));
        }
    }
    times
}

/// More inputs than any operator has, so that a damaged report costs no memory.
const MOST_INPUTS: usize = 4096;

/// Place, type and sizes in `0: x (tensor(f32) [1, 3])`; what is no tensor has none.
fn input_of(line: &str) -> Option<(usize, TypedShape)> {
    let (place, rest) = line.split_once(": ")?;
    let (_, shape) = rest.rsplit_once(" (")?;
    let (element, dims) = shape.strip_suffix(')')?.split_once(' ')?;
    let element = element.strip_prefix("tensor(")?.strip_suffix(')')?;
    let element = match element {
        "f32" => "float",
        "i32" => "int32",
        "i8" => "int8",
        "u8" => "uint8",
        _ => return None,
    };
    Some((place.parse().ok()?, (element, dims_of(dims)?)))
}

/// Name and sizes in `0: sum ([1, 8])`.
fn output_of(line: &str) -> Option<(&str, Vec<usize>)> {
    let (_, rest) = line.split_once(": ")?;
    let end = rest.rfind(" ([")?;
    let dims = rest.get(end + 2..)?.strip_suffix(')')?;
    Some((&rest[..end], dims_of(dims)?))
}

fn dims_of(text: &str) -> Option<Vec<usize>> {
    let inner = text.strip_prefix('[')?.strip_suffix(']')?;
    let sizes = inner.split(',').map(str::trim);
    let sizes = sizes.filter(|size| !size.is_empty());
    sizes.map(|size| size.parse().ok()).collect()
}

/// What a node makes. Its type is not printed: it is that of its first floats, or of its first input, but for
/// the operators that change it.
fn output_shape(node: &NodeTime, dims: Vec<usize>) -> TypedShape {
    let types = || node.inputs.iter().flatten().map(|(element, _)| *element);
    let element = match node.operator.as_str() {
        "QuantizeLinear" | "DynamicQuantizeLinear" => "uint8",
        "Shape" | "Size" | "ArgMax" | "ArgMin" | "NonZero" | "Equal" | "Greater" | "Less"
        | "And" | "ConvInteger" | "MatMulInteger" | "Not" | "Or" => "int32",
        // A table of numbers, picked from by places.
        "Gather" | "Cast" => types().next().unwrap_or("float"),
        _ => {
            let float = types().find(|element| *element == "float");
            float.or_else(|| types().next()).unwrap_or("float")
        }
    };
    (element, dims)
}

fn milliseconds(text: &str) -> Option<Duration> {
    let ms: f64 = text.parse().ok()?;
    Duration::try_from_secs_f64(ms / 1e3).ok()
}

/// Operator and name in `3 Conv (conv1)`.
fn heading_of(heading: &str) -> Option<(String, String)> {
    let (_, rest) = heading.split_once(' ')?;
    let (operator, name) = rest.split_once(" (")?;
    Some((operator.to_owned(), name.strip_suffix(')')?.to_owned()))
}
