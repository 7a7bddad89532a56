//! What a file holds: values that were learned, and bytes of all constants; of inner graphs too.
//!
//! `inspect` asks for both.

use std::collections::{BTreeMap, BTreeSet};

use crate::pb::tensor_proto::DataType;
use crate::pb::{GraphProto, NodeProto, SparseTensorProto};
use crate::proto;

/// Bytes of all constants: initializers, sparse ones, and `Constant` nodes, those of inner graphs among them.
pub(crate) fn constant_bytes(graph: &GraphProto) -> u64 {
    let each = proto::all_graphs(graph).into_iter().map(own_constant_bytes);
    each.fold(0, u64::saturating_add)
}

fn own_constant_bytes(graph: &GraphProto) -> u64 {
    let dense = proto::constants(graph).map(|(_, tensor)| proto::tensor_bytes(tensor));
    let parts = |sparse: &SparseTensorProto| {
        let both = [sparse.values.as_ref(), sparse.indices.as_ref()];
        both.into_iter()
            .flatten()
            .map(proto::tensor_bytes)
            .fold(0, u64::saturating_add)
    };
    dense
        .chain(graph.sparse_initializer.iter().map(parts))
        .fold(0, u64::saturating_add)
}

/// How a node uses a constant.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Role {
    /// Not learned: running statistics, quantisation scales and zero points, limits, factors.
    Setting,
    /// Learned even as integers: the weights and biases of quantised layers.
    Weight,
}

/// Learned values, each tensor once. Floats of at least one dimension count unless a node uses them
/// as a setting, and integers count where a quantised operator uses them as weights. Tensors of
/// `Constant` nodes count where a convolution, a matrix product or a recurrent layer takes them. What the branches
/// of `If` and the bodies of `Loop` and `Scan` hold counts as well, of all branches.
pub(crate) fn parameters(graph: &GraphProto) -> u64 {
    let graphs = proto::all_graphs(graph).into_iter().enumerate();
    let each = graphs.map(|(place, graph)| own_parameters(graph, place > 0));
    each.fold(0, u64::saturating_add)
}

/// Those that the graph itself holds, wherever inside of it they are used. Exporters store what an inner graph
/// holds as `Constant` nodes, which count there as initializers do.
fn own_parameters(graph: &GraphProto, is_inner: bool) -> u64 {
    let aliases = proto::aliases(graph);
    let mut roles: BTreeMap<&str, Role> = BTreeMap::new();
    let graphs = proto::all_graphs(graph);
    for node in graphs.into_iter().flat_map(|graph| &graph.node) {
        for (index, name) in node.input.iter().enumerate() {
            if let Some(role) = role(node, index) {
                let name = name.as_str();
                let name = aliases.get(name).copied().unwrap_or(name);
                let known = roles.entry(name).or_insert(role);
                *known = role.max(*known);
            }
        }
    }
    let stored: BTreeSet<&str> = graph
        .initializer
        .iter()
        .map(|tensor| tensor.name.as_str())
        .collect();
    let learned = proto::constants(graph).filter(|(name, tensor)| match roles.get(name) {
        Some(Role::Setting) => false,
        Some(Role::Weight) => proto::is_float(tensor.data_type) || is_small_int(tensor.data_type),
        None => {
            (is_inner || stored.contains(name))
                && proto::is_float(tensor.data_type)
                && !tensor.dims.is_empty()
        }
    });
    learned
        .map(|(_, tensor)| proto::tensor_elements(tensor))
        .fold(0, u64::saturating_add)
}

/// Integers that quantised weights (4 and 8 bits) and biases (32 bits) are made of.
fn is_small_int(data_type: i32) -> bool {
    matches!(
        DataType::try_from(data_type),
        Ok(DataType::Int8 | DataType::Uint8 | DataType::Int4 | DataType::Uint4 | DataType::Int32)
    )
}

/// What an input is for, where that is not plain from its type.
fn role(node: &NodeProto, index: usize) -> Option<Role> {
    use Role::{Setting, Weight};
    match (node.op_type.as_str(), index) {
        ("BatchNormalization", 3 | 4)
        | ("QuantizeLinear" | "DequantizeLinear" | "Clip" | "Resize" | "Upsample" | "Pad", 1..)
        | ("QLinearConv" | "QLinearMatMul", 1 | 2 | 4..=7)
        | ("QGemm", 1 | 2 | 4 | 5 | 7 | 8)
        | ("ConvInteger" | "MatMulInteger", 2..) => Some(Setting),
        (name, _)
            if name.starts_with("QLinear") && !matches!(name, "QLinearConv" | "QLinearMatMul") =>
        {
            Some(Setting)
        }
        ("DequantizeLinear", 0)
        | ("Conv" | "ConvTranspose" | "Gemm" | "FusedConv" | "FusedGemm", 1 | 2)
        | ("MatMul", 0 | 1)
        | ("LSTM" | "GRU" | "RNN", 1..=3)
        | ("ConvInteger" | "MatMulInteger", 1)
        | ("QLinearConv", 3 | 8)
        | ("QLinearMatMul", 3)
        | ("QGemm", 3 | 6) => Some(Weight),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::infer::testing::{TestGraph, port as stated};
    use crate::inspect::summarize;
    use crate::pb::tensor_proto::DataType;
    use crate::pb::{AttributeProto, TensorProto};

    fn learned(graph: &TestGraph) -> u64 {
        summarize(&graph.model(), "x").parameters
    }

    #[test]
    fn parameters_are_what_was_learned() {
        let norm = TestGraph::new(&[("x", &[1, 4, 8, 8])])
            .weight("g", &[4])
            .weight("b", &[4])
            .weight("m", &[4])
            .weight("v", &[4])
            .node("BatchNormalization", "x g b m v", "y", &[]);
        assert_eq!(learned(&norm), 8);
        let settings = TestGraph::new(&[("x", &[1, 4])])
            .ints("axes", &[1, 2, 3])
            .weight("low", &[])
            .floats("factors", &[1.0, 2.0])
            .node("Clip", "x low", "a", &[])
            .node("Resize", "a _ factors", "y", &[]);
        assert_eq!(learned(&settings), 0);
        let quantised = TestGraph::new(&[("x", &[1, 4, 8, 8])])
            .weight("scale", &[6])
            .typed("zero", DataType::Int8, &[6])
            .typed("w", DataType::Int8, &[6, 4, 3, 3])
            .typed("bias", DataType::Int32, &[6])
            .node(
                "QLinearConv",
                "x scale zero w scale zero scale zero bias",
                "y",
                &[],
            );
        assert_eq!(learned(&quantised), 6 * 4 * 9 + 6);
        let dequantised = TestGraph::new(&[("x", &[1, 4])])
            .typed("w", DataType::Uint8, &[4, 5])
            .weight("scale", &[1])
            .node("DequantizeLinear", "w scale", "f", &[])
            .node("MatMul", "x f", "y", &[]);
        assert_eq!(learned(&dequantised), 20);
    }

    #[test]
    fn constant_nodes_count_where_they_are_weights() {
        let tensor = TensorProto {
            data_type: 1,
            dims: vec![4, 5],
            ..Default::default()
        };
        let value = AttributeProto {
            name: "value".to_owned(),
            t: Some(tensor),
            ..Default::default()
        };
        let mut graph = TestGraph::new(&[("x", &[1, 4])])
            .node("Constant", "_", "w", std::slice::from_ref(&value))
            .node("Constant", "_", "c", &[value])
            .node("MatMul", "x w", "y", &[])
            .node("Add", "y c", "z", &[]);
        graph.graph.input[0] = stated("x", DataType::Float, &["n", "4"]);
        let summary = summarize(&graph.model(), "x");
        assert_eq!(summary.parameters, 20);
        assert_eq!(summary.constant_bytes, 160);
        assert_eq!(summary.macs, Some(20));
    }

    #[test]
    fn what_inner_graphs_hold_counts() {
        let constant = |dims: &[i64]| AttributeProto {
            name: "value".to_owned(),
            t: Some(TensorProto {
                data_type: 1,
                dims: dims.to_vec(),
                ..Default::default()
            }),
            ..Default::default()
        };
        let body = |name: &str, inner: TestGraph| AttributeProto {
            name: name.to_owned(),
            g: Some(inner.graph),
            ..Default::default()
        };
        let innermost = TestGraph::new(&[]).weight("deep", &[7, 3]);
        let then = TestGraph::new(&[])
            .node("Constant", "_", "k", &[constant(&[4, 5])])
            .node("Constant", "_", "two", &[constant(&[])])
            .node("Slice", "k starts ends", "part", &[])
            .node("MatMul", "x part", "a", &[])
            .node("Pow", "a two", "y", &[])
            .node("Loop", "n _ y", "z", &[body("body", innermost)]);
        let other = TestGraph::new(&[])
            .weight("w", &[4, 6])
            .node("MatMul", "x w", "y", &[]);
        let graph = TestGraph::new(&[("x", &[1, 4])])
            .weight("outer", &[2])
            .node(
                "If",
                "c",
                "y",
                &[body("then_branch", then), body("else_branch", other)],
            );
        let summary = summarize(&graph.model(), "x");
        assert_eq!(summary.parameters, 2 + 20 + 21 + 24);
        assert_eq!(summary.constant_bytes, 4 * (2 + 20 + 1 + 21 + 24));
    }
}
