//! A graph as matching reads it: which nodes make and read each tensor, and what kind each node is.

use std::collections::{HashMap, HashSet};

use crate::pb::{GraphProto, ModelProto, NodeProto};
use prost::Message as _;

use crate::proto;

/// Operators that let a value through as it is, when a network is run and not trained.
const NOTHING: [&str; 2] = ["Identity", "Dropout"];
/// Operators that give the same values another shape or order.
const VIEWS: [&str; 6] = [
    "Reshape",
    "Flatten",
    "Squeeze",
    "Unsqueeze",
    "Transpose",
    "Identity",
];
/// Operators that ONNX Runtime alone adds, to move values.
const MOVERS: [&str; 4] = [
    "ReorderInput",
    "ReorderOutput",
    "MemcpyToHost",
    "MemcpyFromHost",
];
/// Operators of the file that ONNX Runtime adds too, where a value is needed in another form.
const CONVERTERS: [&str; 3] = ["Cast", "QuantizeLinear", "DequantizeLinear"];
/// Operators that say something of a shape, which is often known before anything runs.
const SHAPES: [&str; 3] = ["Constant", "Shape", "Size"];

/// A graph with its indices. Subgraphs are part of the node that holds them.
pub(super) struct FusionGraph<'a> {
    /// The nodes, in the order of the file.
    pub nodes: &'a [NodeProto],
    makers: HashMap<&'a str, usize>,
    readers: HashMap<&'a str, Vec<usize>>,
    /// Tensors that the file holds.
    stored: HashSet<&'a str>,
    /// Nodes by name; nothing where several share it.
    named: HashMap<&'a str, Option<usize>>,
    /// What comes out of nodes that do nothing, and what went into the first of them.
    sources: HashMap<&'a str, &'a str>,
}

impl<'a> FusionGraph<'a> {
    /// Reads a model's outermost graph.
    pub(super) fn new(model: &'a ModelProto) -> Self {
        let mut graph = Self {
            nodes: proto::nodes(model),
            makers: HashMap::new(),
            readers: HashMap::new(),
            stored: model.graph.iter().flat_map(stored).collect(),
            named: HashMap::new(),
            sources: HashMap::new(),
        };
        for (index, node) in graph.nodes.iter().enumerate() {
            for output in node.output.iter().filter(|name| !name.is_empty()) {
                graph.makers.entry(output).or_insert(index);
            }
            for input in reads(node) {
                let readers = graph.readers.entry(input).or_default();
                // A node that reads a tensor twice is one reader.
                if readers.last() != Some(&index) {
                    readers.push(index);
                }
            }
            if does_nothing(&node.op_type)
                && let (Some(input), Some(output)) = (node.input.first(), node.output.first())
            {
                // A file has its nodes in order, so that the one before is known already.
                let source = graph.source(input);
                graph.sources.insert(output, source);
            }
            if !node.name.is_empty() {
                graph
                    .named
                    .entry(&node.name)
                    .and_modify(|known| *known = None)
                    .or_insert(Some(index));
            }
        }
        graph
    }

    /// The node that makes a tensor.
    pub(super) fn maker(&self, tensor: &str) -> Option<usize> {
        self.makers.get(tensor).copied()
    }

    /// The nodes that read a tensor.
    pub(crate) fn readers(&self, tensor: &str) -> &[usize] {
        self.readers.get(tensor).map_or(&[], Vec::as_slice)
    }

    /// The node of that name, where it is the only one.
    pub(super) fn named(&self, name: &str) -> Option<usize> {
        self.named.get(name).copied().flatten()
    }

    /// Whether the file holds this tensor.
    pub(crate) fn is_stored(&self, tensor: &str) -> bool {
        self.stored.contains(tensor)
    }

    /// Whether a node makes, reads or holds a tensor of this name.
    pub(super) fn has_tensor(&self, tensor: &str) -> bool {
        self.makers.contains_key(tensor)
            || self.readers.contains_key(tensor)
            || self.is_stored(tensor)
    }

    /// The tensor that this one is, before all nodes that do nothing.
    pub(super) fn source<'t>(&self, tensor: &'t str) -> &'t str
    where
        'a: 't,
    {
        self.sources.get(tensor).copied().unwrap_or(tensor)
    }

    /// For each node, whether it depends on no input of the graph, or only on the shapes of some.
    pub(super) fn constants(&self) -> Vec<bool> {
        let mut constant: Vec<bool> = Vec::with_capacity(self.nodes.len());
        for node in self.nodes {
            let known = |input: &&str| {
                self.is_stored(input)
                    || self
                        .maker(input)
                        .is_some_and(|maker| constant.get(maker) == Some(&true))
            };
            let inputs = reads(node);
            let all = !inputs.is_empty() && inputs.iter().all(known);
            let random = node.op_type.starts_with("Random") || node.op_type == "Multinomial";
            constant.push(SHAPES.contains(&node.op_type.as_str()) || (all && !random));
        }
        constant
    }

    /// For each node, an earlier one that computes the same from the same.
    pub(super) fn duplicate_nodes(&self) -> Vec<Option<usize>> {
        let mut first: HashMap<(&str, Vec<u8>, Vec<&str>), usize> = HashMap::new();
        // What a twin makes goes by the name of what the first makes.
        let mut same: HashMap<&str, &str> = HashMap::new();
        let mut twins = Vec::with_capacity(self.nodes.len());
        for (index, node) in self.nodes.iter().enumerate() {
            // Subgraphs and large constants are not worth comparing, and no two random values are equal.
            let plain = |attribute: &crate::pb::AttributeProto| {
                attribute.t.is_none() && attribute.g.is_none() && attribute.graphs.is_empty()
            };
            if !node.attribute.iter().all(plain)
                || node.input.is_empty()
                || node.op_type.starts_with("Random")
            {
                twins.push(None);
                continue;
            }
            let inputs = node.input.iter().map(String::as_str);
            let inputs = inputs.map(|input| same.get(input).copied().unwrap_or(input));
            let inputs = inputs.collect();
            let attributes = node.attribute.iter();
            let attributes = attributes.flat_map(|attribute| attribute.encode_to_vec());
            let key = (node.op_type.as_str(), attributes.collect(), inputs);
            let twin = first.get(&key).copied();
            if let Some(twin) = twin {
                for (ours, theirs) in node.output.iter().zip(&self.nodes[twin].output) {
                    same.insert(ours, theirs);
                }
            } else {
                first.insert(key, index);
            }
            twins.push(twin);
        }
        twins
    }
}

/// Names of the tensors that a graph holds.
fn stored(graph: &GraphProto) -> impl Iterator<Item = &str> {
    let sparse = graph.sparse_initializer.iter();
    let sparse = sparse.filter_map(|tensor| Some(tensor.values.as_ref()?.name.as_str()));
    let dense = graph.initializer.iter().map(|tensor| tensor.name.as_str());
    dense.chain(sparse)
}

/// What a node reads, and what the graphs inside it do.
fn reads(node: &NodeProto) -> Vec<&str> {
    let mut names = Vec::with_capacity(node.input.len());
    let mut waiting = vec![node];
    while let Some(node) = waiting.pop() {
        let inputs = node.input.iter().map(String::as_str);
        names.extend(inputs.filter(|name| !name.is_empty()));
        for attribute in &node.attribute {
            for inner in attribute.g.iter().chain(&attribute.graphs) {
                waiting.extend(&inner.node);
                names.extend(inner.output.iter().map(|value| value.name.as_str()));
            }
        }
    }
    names
}

/// Whether an operator only lets a value through.
pub(crate) fn does_nothing(op: &str) -> bool {
    NOTHING.contains(&op)
}

/// Whether an operator gives the same values another shape, order or type.
pub(super) fn is_view(op: &str) -> bool {
    VIEWS.contains(&op)
}

/// Whether an operator may have been added to bring a value into another form or place.
pub(crate) fn is_carrier(op: &str) -> bool {
    MOVERS.contains(&op) || CONVERTERS.contains(&op) || is_view(op)
}

/// Whether a node of the file can have stayed as one of the prepared graph, by their operators.
pub(crate) fn may_be_same_node(op: &str, original: &str) -> bool {
    op == original || (is_view(op) && is_view(original))
}

/// Whether an operator reads like a version of one of the file's: `QLinearConv` of `Conv`.
pub(super) fn is_version(op: &str, original: &str) -> bool {
    op.contains(original) || (op == "Gemm" && original == "MatMul")
}
