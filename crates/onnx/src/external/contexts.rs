//! Files that compiled nodes name: an execution provider reads its own form of a network from them.
//!
//! `mod.rs` checks where they are, as it does for weights.

use crate::pb::{GraphProto, ModelProto, NodeProto};

/// What providers call a node that they compiled before.
const OPERATOR: &str = "EPContext";
/// With 1, which is usual, the compiled form is in the model; with 0 it is in a file.
const EMBED: &str = "embed_mode";
/// The compiled form, or the file that has it.
const FORM: &str = "ep_cache_context";
/// The network that a compiled form without weights takes them from, as TensorRT's provider writes it.
const WEIGHTS: &str = "onnx_model_filename";

/// A file that a compiled node names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Context {
    /// The node's name.
    pub node: String,
    /// The file, as the model says.
    pub location: String,
}

/// Every file that a compiled node of the model names, also in branches, loops and functions.
pub(super) fn named_in(model: &ModelProto) -> Vec<Context> {
    let mut found = Vec::new();
    if let Some(graph) = &model.graph {
        of_graph(graph, &mut found);
    }
    for function in &model.functions {
        of_nodes(&function.node, &mut found);
    }
    found
}

fn of_graph(graph: &GraphProto, found: &mut Vec<Context>) {
    of_nodes(&graph.node, found);
}

fn of_nodes(nodes: &[NodeProto], found: &mut Vec<Context>) {
    for node in nodes {
        if node.op_type == OPERATOR {
            of_node(node, found);
        }
        let graphs = node.attribute.iter();
        for graph in graphs.flat_map(|attribute| attribute.g.iter().chain(&attribute.graphs)) {
            of_graph(graph, found);
        }
    }
}

fn of_node(node: &NodeProto, found: &mut Vec<Context>) {
    let attribute = |name: &str| node.attribute.iter().find(|one| one.name == name);
    let is_embedded = attribute(EMBED).is_none_or(|one| one.i != Some(0));
    let named = [(FORM, is_embedded), (WEIGHTS, false)];
    for (name, is_content) in named {
        let text = attribute(name).and_then(|one| one.s.as_deref());
        let text = text.map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        // A node that leaves its form to another one names no file.
        let text = text.filter(|text| !is_content && !text.is_empty());
        found.extend(text.map(|location| Context {
            node: node.name.clone(),
            location,
        }));
    }
}
