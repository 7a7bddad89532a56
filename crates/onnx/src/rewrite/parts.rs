//! What every rewrite does first, and the small pieces that all of them write.
//!
//! `prepare` brings a graph into the one form that the rewrites read: constants as initializers, read
//! directly, no initializer among the inputs, nothing that cannot be rewritten at all.

use std::collections::{BTreeMap, BTreeSet};

use crate::pb::attribute_proto::AttributeType;
use crate::pb::tensor_proto::DataType;
use crate::pb::{AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto};

use super::RewriteError;
use crate::external::is_external;
use crate::infer::{self, Shapes};
use crate::{inspect, proto};
use powerband_core::domain::model::Dim;
use powerband_core::domain::tensor::TensorSpec;

/// 32-bit floats, as a file writes the type.
pub(super) const FLOAT: i32 = DataType::Float as i32;

/// The version of the file format in which initializers need not be inputs as well.
const PLAIN_INITIALIZERS: i64 = 4;

/// Version of ONNX's own operators; 1 where the file does not say.
pub(super) fn opset(model: &ModelProto) -> i64 {
    model
        .opset_import
        .iter()
        .find(|set| is_own(&set.domain))
        .map_or(1, |set| set.version)
}

/// Whether a domain is ONNX's own.
pub(super) fn is_own(domain: &str) -> bool {
    matches!(domain, "" | "ai.onnx")
}

/// Whether a node is one of ONNX's own operators of that name.
pub(crate) fn is_op(node: &NodeProto, op_type: &str) -> bool {
    node.op_type == op_type && is_own(&node.domain)
}

/// Whether a node computes with integers that stand for floats.
pub(crate) fn is_quantised(node: &NodeProto) -> bool {
    let name = node.op_type.as_str();
    name.starts_with("QLinear")
        || matches!(
            name,
            "QuantizeLinear"
                | "DequantizeLinear"
                | "DynamicQuantizeLinear"
                | "ConvInteger"
                | "MatMulInteger"
                | "QGemm"
        )
}

/// Operator and name of a node, for messages.
pub(super) fn node_label(node: &NodeProto) -> String {
    let name = if node.name.is_empty() {
        node.output.first().map_or("", String::as_str)
    } else {
        &node.name
    };
    format!("{} {name:?}", node.op_type)
}

/// Brings a graph into the form that the rewrites read, or says why it cannot be rewritten.
pub(super) fn prepare(model: &mut ModelProto) -> Result<&mut GraphProto, RewriteError> {
    model.ir_version = model.ir_version.max(PLAIN_INITIALIZERS);
    let graph = model.graph.as_mut().ok_or(RewriteError::NoGraph)?;
    for node in &graph.node {
        let inner =
            |attribute: &AttributeProto| attribute.g.is_some() || !attribute.graphs.is_empty();
        if node.attribute.iter().any(inner) {
            return Err(RewriteError::Subgraph {
                node: node_label(node),
            });
        }
        if node.op_type.contains("Sequence") && node.op_type != "ReverseSequence"
            || node.op_type.starts_with("Optional")
        {
            return Err(RewriteError::Sequence {
                node: node_label(node),
            });
        }
    }
    if let Some(tensor) = graph.initializer.iter().find(|tensor| is_external(tensor)) {
        let tensor = tensor.name.clone();
        return Err(RewriteError::External { tensor });
    }
    hoist(graph);
    resolve(graph);
    let stored: BTreeSet<&str> = graph
        .initializer
        .iter()
        .map(|tensor| tensor.name.as_str())
        .collect();
    graph
        .input
        .retain(|value| !stored.contains(value.name.as_str()));
    Ok(graph)
}

/// Makes initializers of `Constant` nodes that hold floats, so that weights are in one place.
fn hoist(graph: &mut GraphProto) {
    let mut hoisted = Vec::new();
    graph.node.retain(|node| {
        let tensor = constant(node);
        let stays = tensor.is_none();
        hoisted.extend(tensor);
        stays
    });
    graph.initializer.extend(hoisted);
}

/// Lets nodes read a constant itself where they read it through `Identity`, so that weights are where the
/// rewrites look for them.
fn resolve(graph: &mut GraphProto) {
    let aliases = proto::aliases(graph).into_iter();
    let aliases: BTreeMap<String, String> = aliases
        .map(|(name, root)| (name.to_owned(), root.to_owned()))
        .collect();
    if aliases.is_empty() {
        return;
    }
    for name in graph.node.iter_mut().flat_map(|node| &mut node.input) {
        if let Some(root) = aliases.get(name) {
            name.clone_from(root);
        }
    }
    let outputs = outputs(graph);
    graph.node.retain(|node| {
        let output = node.output.first();
        output.is_none_or(|name| !aliases.contains_key(name) || outputs.contains(name))
    });
}

/// The float tensor that a `Constant` node holds, named after the node's output.
fn constant(node: &NodeProto) -> Option<TensorProto> {
    if !is_op(node, "Constant") {
        return None;
    }
    let name = node.output.first()?;
    if let Some(tensor) = proto::attribute(node, "value").and_then(|found| found.t.as_ref()) {
        let float = tensor.data_type == FLOAT && !is_external(tensor);
        return float.then(|| TensorProto {
            name: name.clone(),
            ..tensor.clone()
        });
    }
    if let Some(found) = proto::attribute(node, "value_float") {
        return Some(floats(name, &[], &[found.f()]));
    }
    let list = &proto::attribute(node, "value_floats")?.floats;
    Some(floats(name, &[list.len()], list))
}

/// All elements of a float tensor.
pub(super) fn values(tensor: &TensorProto) -> Result<Vec<f32>, RewriteError> {
    let values = if tensor.raw_data.is_empty() {
        tensor.float_data.clone()
    } else {
        let (words, _) = tensor.raw_data.as_chunks::<4>();
        words.iter().map(|&word| f32::from_le_bytes(word)).collect()
    };
    let promised = proto::dims(tensor).map(|dims| proto::elements(&dims));
    if promised != Some(values.len() as u64) || tensor.data_type != FLOAT {
        let tensor = tensor.name.clone();
        return Err(RewriteError::Damaged { tensor });
    }
    Ok(values)
}

/// A float tensor.
pub(super) fn floats(name: &str, dims: &[usize], values: &[f32]) -> TensorProto {
    let bytes = values.iter().flat_map(|value| value.to_le_bytes());
    raw(name, DataType::Float, dims, bytes.collect())
}

/// A tensor of those bytes.
pub(super) fn raw(name: &str, data_type: DataType, dims: &[usize], bytes: Vec<u8>) -> TensorProto {
    TensorProto {
        name: name.to_owned(),
        data_type: data_type as i32,
        dims: dims.iter().map(|&dim| dim as i64).collect(),
        raw_data: bytes,
        ..Default::default()
    }
}

/// A node with one output, named after it.
pub(super) fn node(
    op_type: &str,
    input: Vec<String>,
    output: &str,
    attribute: Vec<AttributeProto>,
) -> NodeProto {
    NodeProto {
        op_type: op_type.to_owned(),
        name: format!("{output}:{op_type}"),
        input,
        output: vec![output.to_owned()],
        attribute,
        ..Default::default()
    }
}

/// An integer attribute.
pub(super) fn int(name: &str, value: i64) -> AttributeProto {
    AttributeProto {
        name: name.to_owned(),
        r#type: AttributeType::Int as i32,
        i: Some(value),
        ..Default::default()
    }
}

/// Sets an attribute, in place of the one of that name.
pub(super) fn set(node: &mut NodeProto, attribute: AttributeProto) {
    node.attribute.retain(|known| known.name != attribute.name);
    node.attribute.push(attribute);
}

/// Shapes with a one for each open dimension of the inputs, of which the number of dimensions holds for every size.
pub(super) fn ranks(model: &ModelProto) -> Shapes {
    let ports = inspect::inputs(model).unwrap_or_default();
    let size = |dim: &Dim| match dim {
        Dim::Fixed(size) => *size,
        Dim::Named(_) => 1,
    };
    let specs: Vec<TensorSpec> = ports
        .into_iter()
        .map(|port| {
            let dims = port.dims.iter().map(size).collect();
            TensorSpec::new(port.name, port.element, dims)
        })
        .collect();
    infer::infer(model, &specs)
}

/// How often each value is read, being an output of the graph counted too.
pub(super) fn uses(graph: &GraphProto) -> BTreeMap<String, usize> {
    let mut uses = BTreeMap::new();
    let read = graph.node.iter().flat_map(|node| &node.input);
    for name in read.chain(graph.output.iter().map(|value| &value.name)) {
        *uses.entry(name.clone()).or_insert(0) += 1;
    }
    uses
}

/// The names of the graph's outputs.
pub(super) fn outputs(graph: &GraphProto) -> BTreeSet<String> {
    graph
        .output
        .iter()
        .map(|value| value.name.clone())
        .collect()
}

/// Drops stored tensors that no node reads, and what is said of values that are gone.
pub(crate) fn drop_unused(graph: &mut GraphProto) {
    let read = uses(graph);
    graph
        .initializer
        .retain(|tensor| read.contains_key(&tensor.name));
    let made: BTreeSet<&String> = graph.node.iter().flat_map(|node| &node.output).collect();
    graph.value_info.retain(|value| made.contains(&value.name));
}

/// Operators and nodes that the user wants left alone.
#[derive(Debug)]
pub(crate) struct LeaveOut<'a> {
    words: &'a [String],
}

impl<'a> LeaveOut<'a> {
    /// From operator types and node names.
    pub(super) fn new(words: &'a [String]) -> Self {
        Self { words }
    }

    /// Whether this node is one of them.
    pub(super) fn contains(&self, node: &NodeProto) -> bool {
        self.words
            .iter()
            .any(|word| *word == node.op_type || *word == node.name)
    }

    /// A sentence for each word that fits no node: it was mistyped, most likely.
    pub(crate) fn unmatched_words(&self, nodes: &[NodeProto]) -> Vec<String> {
        let fits = |word: &&String| {
            let fits = |node: &NodeProto| **word == node.op_type || **word == node.name;
            nodes.iter().any(fits)
        };
        self.words
            .iter()
            .filter(|word| !fits(word))
            .map(|word| format!("{word:?} is neither an operator nor a node of this network"))
            .collect()
    }
}

/// Names that are taken.
#[derive(Debug)]
pub(super) struct TakenNames(BTreeSet<String>);

impl TakenNames {
    /// All names of a graph.
    pub(super) fn new(graph: &GraphProto) -> Self {
        let nodes = graph
            .node
            .iter()
            .flat_map(|node| node.input.iter().chain(&node.output));
        let stored = graph.initializer.iter().map(|tensor| &tensor.name);
        let ports = graph.input.iter().chain(&graph.output);
        let ports = ports.map(|value| &value.name);
        Self(nodes.chain(stored).chain(ports).cloned().collect())
    }

    /// A name that is not taken yet.
    pub(super) fn fresh(&mut self, base: &str, suffix: &str) -> String {
        let mut name = format!("{base}/{suffix}");
        let mut count = 1;
        while self.0.contains(&name) {
            count += 1;
            name = format!("{base}/{suffix}{count}");
        }
        self.0.insert(name.clone());
        name
    }
}
