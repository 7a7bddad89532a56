//! What each node of a network costs: multiply-accumulates, and bytes that go in and out.
//!
//! Shapes come from `infer`; totals go to `inspect`, and the list per node to the analysis of
//! where time goes. Convolutions and matrix products are counted, the rest is zero: this is how
//! the literature counts, and it is where nearly all arithmetic is. `work` counts every node.

pub mod work;

use std::collections::BTreeMap;

use crate::infer::Shapes;
use crate::pb::{ModelProto, NodeProto};
use crate::proto::{self, elements};

/// What one node costs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeCost {
    /// The node's name, or its first output's where it has none.
    pub name: String,
    pub op_type: String,
    /// Multiply-accumulates; zero where the operator is not one of those counted.
    pub macs: u64,
    /// Bytes of all its inputs and outputs, weights included: what moves if nothing stays in a cache.
    pub bytes: u64,
}

/// Where a counted operator keeps its two factors.
enum FactorLayout {
    /// Output places times weights per place: the index of the weights.
    Conv(usize),
    /// Input places times weights per place.
    Transposed,
    /// Matrix product: the index of the first factor, and whether its rows and columns are swapped.
    Matrix(usize, bool),
}

/// Multiply-accumulates of the whole graph, and the cost of each node whose shapes are known.
pub fn macs(model: &ModelProto, shapes: &Shapes) -> (u64, Vec<NodeCost>) {
    let types = work::elements(model);
    let mut total: u64 = 0;
    let mut costs = Vec::new();
    for node in proto::nodes(model) {
        let known = node.output.iter().find_map(|output| shapes.get(output));
        if known.is_none() || node.op_type == "Constant" {
            continue;
        }
        let macs = node_macs(node, shapes).unwrap_or(0);
        total = total.saturating_add(macs);
        let moved = node.input.iter().chain(&node.output).filter_map(|name| {
            let bits = types.get(name.as_str()).map_or(32, |element| element.bits);
            let bytes = bits.div_ceil(8);
            Some(elements(shapes.get(name)?).saturating_mul(bytes))
        });
        costs.push(NodeCost {
            name: label(node),
            op_type: node.op_type.clone(),
            macs,
            bytes: moved.fold(0, u64::saturating_add),
        });
    }
    (total, costs)
}

/// Operators that do much arithmetic but could not be counted: their shapes are not known, or
/// there is no rule for them. Where this is not empty, the total is too low.
pub(crate) fn uncounted(model: &ModelProto, shapes: &Shapes) -> BTreeMap<String, u64> {
    const HEAVY: [&str; 13] = [
        "Attention",
        "DeformConv",
        "Einsum",
        "GRU",
        "GroupQueryAttention",
        "If",
        "LSTM",
        "Loop",
        "MatMulNBits",
        "MultiHeadAttention",
        "QAttention",
        "RNN",
        "Scan",
    ];
    let mut missed = BTreeMap::new();
    for node in proto::nodes(model) {
        let op = node.op_type.as_str();
        let known = product(node).is_some() && node_macs(node, shapes).is_some();
        let cheap = product(node).is_none() && !HEAVY.contains(&op) && !is_local(model, node);
        if !known && !cheap {
            *missed.entry(op.to_owned()).or_insert(0) += 1;
        }
    }
    missed
}

/// Whether the operator is a function that the file itself defines.
fn is_local(model: &ModelProto, node: &NodeProto) -> bool {
    model.functions.iter().any(|function| {
        function.name.as_deref() == Some(&node.op_type)
            && function.domain.as_deref().unwrap_or_default() == node.domain
    })
}

/// What a node is called in lists.
fn label(node: &NodeProto) -> String {
    if node.name.is_empty() {
        node.output.first().cloned().unwrap_or_default()
    } else {
        node.name.clone()
    }
}

/// Which kind of product an operator is.
fn product(node: &NodeProto) -> Option<FactorLayout> {
    let swapped = |name| proto::int(node, name).is_some_and(|flag| flag != 0);
    Some(match node.op_type.as_str() {
        "Conv" | "ConvInteger" | "FusedConv" | "NhwcFusedConv" => FactorLayout::Conv(1),
        "QLinearConv" => FactorLayout::Conv(3),
        "ConvTranspose" => FactorLayout::Transposed,
        "Gemm" | "QGemm" | "FusedGemm" | "FusedMatMul" => {
            FactorLayout::Matrix(0, swapped("transA"))
        }
        "MatMul" | "MatMulInteger" | "QLinearMatMul" => FactorLayout::Matrix(0, false),
        _ => return None,
    })
}

/// Multiply-accumulates of one node, where its shapes are known.
fn node_macs(node: &NodeProto, shapes: &Shapes) -> Option<u64> {
    let shape = |index| shapes.get(proto::input(node, index)?).map(Vec::as_slice);
    let output = shapes.get(node.output.first()?)?;
    Some(match product(node)? {
        // Weights are outputs × inputs per group × window, so that all but the first are per output.
        FactorLayout::Conv(weights) => {
            elements(output).saturating_mul(elements(shape(weights)?.get(1..)?))
        }
        // Weights are inputs × outputs per group × window, so that all but the first are per input.
        FactorLayout::Transposed => {
            elements(shape(0)?).saturating_mul(elements(shape(1)?.get(1..)?))
        }
        FactorLayout::Matrix(first, swapped) => {
            let dims = shape(first)?;
            let inner = if swapped {
                dims.len().checked_sub(2)?
            } else {
                dims.len().checked_sub(1)?
            };
            elements(output).saturating_mul(*dims.get(inner)? as u64)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::infer::testing::{TestGraph, attr};

    #[track_caller]
    fn check(graph: &TestGraph, expect: u64) {
        let (total, costs) = macs(&graph.model(), &graph.shapes());
        assert_eq!(total, expect);
        assert_eq!(costs.iter().map(|cost| cost.macs).sum::<u64>(), expect);
    }

    #[test]
    fn products_are_counted() {
        let conv = TestGraph::new(&[("x", &[1, 4, 8, 8])]).weight("w", &[6, 4, 3, 3]);
        check(
            &conv.node("Conv", "x w", "y", &[attr("pads", &[1, 1, 1, 1])]),
            6 * 64 * 4 * 9,
        );
        let grouped = TestGraph::new(&[("x", &[1, 4, 8, 8])]).weight("w", &[4, 1, 3, 3]);
        check(
            &grouped.node("Conv", "x w", "y", &[attr("pads", &[1, 1, 1, 1])]),
            4 * 64 * 9,
        );
        let transposed = TestGraph::new(&[("x", &[1, 4, 8, 8])]).weight("w", &[4, 6, 2, 2]);
        check(
            &transposed.node("ConvTranspose", "x w", "y", &[attr("strides", &[2, 2])]),
            4 * 64 * 6 * 4,
        );
        let gemm = TestGraph::new(&[("x", &[2, 16])]).weight("w", &[10, 16]);
        check(
            &gemm.node("Gemm", "x w", "y", &[attr("transB", &[1])]),
            2 * 16 * 10,
        );
        let matmul = TestGraph::new(&[("a", &[3, 2, 4]), ("b", &[3, 4, 5])]);
        check(&matmul.node("MatMul", "a b", "y", &[]), 3 * 2 * 4 * 5);
        let quantised = TestGraph::new(&[("x", &[1, 4, 8, 8])]).weight("w", &[6, 4, 1, 1]);
        check(
            &quantised.node("QLinearConv", "x s z w s z s z", "y", &[]),
            6 * 64 * 4,
        );
    }

    #[test]
    fn bytes_are_what_goes_in_and_out() {
        let graph = TestGraph::new(&[("x", &[2, 16])]).node("Relu", "x", "y", &[]);
        let (_, costs) = macs(&graph.model(), &graph.shapes());
        assert_eq!(costs.len(), 1);
        assert_eq!(
            (costs[0].name.as_str(), costs[0].op_type.as_str()),
            ("y", "Relu")
        );
        assert_eq!(costs[0].bytes, 2 * 32 * 4);
    }

    #[test]
    fn what_is_missing_is_named() {
        let graph = TestGraph::new(&[("x", &[2, 16])])
            .weight("w", &[16, 16])
            .node("Mystery", "x", "y", &[])
            .node("MatMul", "y w", "z", &[])
            .node("LSTM", "x w w", "l", &[])
            .node("Relu", "z", "out", &[]);
        let missed = uncounted(&graph.model(), &graph.shapes());
        assert_eq!(
            missed.into_iter().collect::<Vec<_>>(),
            [("LSTM".to_owned(), 1), ("MatMul".to_owned(), 1)]
        );
    }
}
