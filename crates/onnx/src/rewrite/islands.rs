//! Finds the parts of a network that stay in 32-bit floats: operators that have nothing else, and what 16-bit
//! floats do not hold.
//!
//! `fp16` keeps these in 32 bits. 16 bits count to 2,048 without gaps and end at 65,504. So positions and the
//! angles and logarithms that are computed of them stay as they are, and so do squares whose mean is taken, up to
//! the root and the division by it: the norms that are written as single operators.

use std::collections::{BTreeMap, BTreeSet};

use crate::pb::tensor_proto::DataType;
use crate::pb::{GraphProto, NodeProto};

use super::left::Reason;
use super::parts::{FLOAT, is_op, is_own};
use super::types::Types;
use crate::proto;

/// Operators that stay in 32-bit floats.
///
/// The standard allows them nothing else (`NonMaxSuppression`, `Upsample`'s scales), their type is an attribute (`RandomNormal`,
/// `HannWindow`), or few engines have them in 16 bits and little is won (`TopK`, `OneHot`). `Range`
/// and `CumSum` count, and 16 bits count to 2,048 only.
const STAY: &[&str] = &[
    "Bernoulli",
    "BlackmanWindow",
    "CumSum",
    "EyeLike",
    "HammingWindow",
    "HannWindow",
    "IsInf",
    "MelWeightMatrix",
    "Multinomial",
    "NonMaxSuppression",
    "OneHot",
    "RandomNormal",
    "RandomNormalLike",
    "RandomUniform",
    "RandomUniformLike",
    "Range",
    "RoiAlign",
    "STFT",
    "TfIdfVectorizer",
    "TopK",
    "Upsample",
];

/// Operators that hand exact numbers on, computed of numbers or moved.
const EXACT: &[&str] = &[
    "Add",
    "Cast",
    "Concat",
    "Div",
    "Einsum",
    "Expand",
    "Flatten",
    "Gather",
    "Identity",
    "MatMul",
    "Mul",
    "Neg",
    "Pow",
    "Reciprocal",
    "Reshape",
    "Slice",
    "Split",
    "Squeeze",
    "Sub",
    "Tile",
    "Transpose",
    "Unsqueeze",
];

/// Operators that depend on the last digits of what they take.
const KEEN: &[&str] = &["Ceil", "Cos", "Floor", "Log", "Mod", "Round", "Sin", "Tan"];

/// Why a node stays in 32-bit floats whatever the user says.
pub(super) fn must_stay(node: &NodeProto) -> Option<Reason> {
    if !is_own(&node.domain) {
        return Some(Reason::Foreign);
    }
    let stays = STAY.contains(&node.op_type.as_str())
        // The mean and the deviation that it can give are 32-bit floats always.
        || node.op_type == "LayerNormalization" && node.output.len() > 1
        // A constant that is no plain tensor.
        || node.op_type == "Constant";
    stays.then_some(Reason::Standard)
}

/// Whether an input is a 32-bit float although the node computes in 16 bits.
pub(super) fn is_float_slot(node: &NodeProto, index: usize) -> bool {
    // The region and the scales; sizes are integers.
    is_op(node, "Resize") && index > 0
}

/// The nodes that stay, by their places, and why.
pub(super) fn find(graph: &GraphProto, types: &Types) -> BTreeMap<usize, Reason> {
    let search = IslandSearch::new(graph, types);
    let mut found = search.counted();
    found.extend(search.squares());
    found
}

struct IslandSearch<'a> {
    graph: &'a GraphProto,
    types: &'a Types,
    stored: BTreeSet<&'a str>,
    /// The node that makes a value.
    makers: BTreeMap<&'a str, usize>,
    /// The nodes that read a value.
    readers: BTreeMap<&'a str, Vec<usize>>,
}

impl<'a> IslandSearch<'a> {
    fn new(graph: &'a GraphProto, types: &'a Types) -> Self {
        let mut makers = BTreeMap::new();
        let mut readers: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (index, node) in graph.node.iter().enumerate() {
            makers.extend(node.output.iter().map(|name| (name.as_str(), index)));
            for name in &node.input {
                readers.entry(name).or_default().push(index);
            }
        }
        let stored = graph.initializer.iter();
        Self {
            graph,
            types,
            stored: stored.map(|tensor| tensor.name.as_str()).collect(),
            makers,
            readers,
        }
    }

    fn is_float(&self, name: &str) -> bool {
        self.types.get(name) == Some(&FLOAT)
    }

    /// Numbers that count, where something is computed of them that depends on their last digits.
    fn counted(&self) -> BTreeMap<usize, Reason> {
        let mut counted: BTreeSet<&str> = BTreeSet::new();
        let mut keen = Vec::new();
        for (index, node) in self.graph.node.iter().enumerate() {
            if !is_own(&node.domain) {
                continue;
            }
            let mut inputs = node.input.iter().map(String::as_str);
            let reads_counted = node
                .input
                .iter()
                .any(|name| counted.contains(name.as_str()));
            let name = node.op_type.as_str();
            let whole = name == "Cast" && !node.output.iter().any(|name| self.is_float(name));
            if reads_counted && (KEEN.contains(&name) || whole) {
                keen.push(index);
            }
            let all = EXACT.contains(&name)
                && reads_counted
                && inputs.all(|name| {
                    !self.is_float(name) || counted.contains(name) || self.stored.contains(name)
                });
            if self.begins_to_count(node) || all {
                let made = node.output.iter().map(String::as_str);
                counted.extend(made.filter(|name| self.is_float(name)));
            }
        }
        // What goes before them stays as well, as far as it counts.
        let mut found = BTreeMap::new();
        while let Some(index) = keen.pop() {
            if found.insert(index, Reason::Counted).is_some() {
                continue;
            }
            let inputs = self.graph.node[index].input.iter().map(String::as_str);
            let before = inputs.filter(|name| counted.contains(name));
            keen.extend(before.filter_map(|name| self.makers.get(name).copied()));
        }
        found
    }

    /// Whether a node makes floats of whole numbers; truths are none.
    fn begins_to_count(&self, node: &NodeProto) -> bool {
        let Some(from) = proto::input(node, 0) else {
            return false;
        };
        let whole = [DataType::Int32, DataType::Int64].map(|element| element as i32);
        let of_whole = self
            .types
            .get(from)
            .is_some_and(|element| whole.contains(element));
        is_op(node, "Range") || (is_op(node, "Cast") && of_whole)
    }

    /// Squares whose mean or sum is taken, and what follows up to the division by the root.
    fn squares(&self) -> BTreeMap<usize, Reason> {
        let mut found = BTreeMap::new();
        for (index, node) in self.graph.node.iter().enumerate() {
            let output = node.output.first().map_or("", String::as_str);
            let reducers: &[usize] = if self.is_square(node) {
                self.readers.get(output).map_or(&[], Vec::as_slice)
            } else if is_op(node, "ReduceSumSquare") || is_op(node, "ReduceL2") {
                &[index]
            } else {
                continue;
            };
            let is_reducer = |&&place: &&usize| {
                let name = self.graph.node[place].op_type.as_str();
                matches!(
                    name,
                    "ReduceMean" | "ReduceSum" | "ReduceSumSquare" | "ReduceL2"
                )
            };
            if reducers.is_empty() || !reducers.iter().all(|place| is_reducer(&place)) {
                continue;
            }
            found.insert(index, Reason::Squares);
            for &reducer in reducers {
                found.insert(reducer, Reason::Squares);
                self.follow(reducer, &mut found);
            }
        }
        found
    }

    /// `x · x` or `x²`.
    fn is_square(&self, node: &NodeProto) -> bool {
        let (Some(a), Some(b)) = (proto::input(node, 0), proto::input(node, 1)) else {
            return false;
        };
        if !self.is_float(a) || self.stored.contains(a) {
            return false;
        }
        let is_two = || {
            let mut tensors = self.graph.initializer.iter();
            let tensor = tensors.find(|tensor| tensor.name == b);
            let values = tensor.and_then(|tensor| {
                proto::float_values(tensor).or_else(|| {
                    let whole = proto::int_values(tensor)?;
                    Some(whole.into_iter().map(|value| value as f32).collect())
                })
            });
            values.is_some_and(|values| values == [2.0])
        };
        is_op(node, "Mul") && a == b || is_op(node, "Pow") && is_two()
    }

    /// From the mean on: constants that are added, the root, and the division by it.
    fn follow(&self, from: usize, found: &mut BTreeMap<usize, Reason>) {
        let mut open = vec![from];
        while let Some(index) = open.pop() {
            let made = &self.graph.node[index].output;
            let readers = made
                .iter()
                .filter_map(|name| self.readers.get(name.as_str()));
            for &reader in readers.flatten() {
                let node = &self.graph.node[reader];
                let beside =
                    |name: &String| made.contains(name) || self.stored.contains(name.as_str());
                let alone = node.input.iter().all(beside);
                let goes_on = match node.op_type.as_str() {
                    "Sqrt" | "Reciprocal" => true,
                    "Add" | "Max" | "Clip" | "Div" | "Pow" | "Mul" => alone,
                    _ => false,
                };
                // The normalised value itself is small again, and the last that stays.
                let ends = matches!(node.op_type.as_str(), "Div" | "Mul") && !alone;
                if is_own(&node.domain) && (goes_on || ends) {
                    let is_new = found.insert(reader, Reason::Squares).is_none();
                    if goes_on && is_new {
                        open.push(reader);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::infer::testing::{TestGraph, attr, port};
    use crate::rewrite::types;

    /// The operators that stay, in the order of the graph.
    fn stay(graph: &TestGraph) -> Vec<(String, Reason)> {
        let graph = &graph.graph;
        let found = find(graph, &types::follow(graph));
        let name =
            |(&index, &reason): (&usize, &Reason)| (graph.node[index].op_type.clone(), reason);
        found.iter().map(name).collect()
    }

    fn with_positions(mut graph: TestGraph, name: &str) -> TestGraph {
        let positions = port(name, DataType::Int64, &["batch", "sequence"]);
        graph.graph.input.push(positions);
        graph
    }

    #[test]
    fn angles_of_positions_stay_and_other_casts_do_not() {
        let graph = with_positions(TestGraph::new(&[("x", &[2, 4])]), "ids")
            .floats("frequencies", &[1.0, 0.5])
            .node("Cast", "ids", "counted", &[attr("to", &[1])])
            .node("Mul", "counted frequencies", "angles", &[])
            .node("Concat", "angles angles", "twice", &[attr("axis", &[1])])
            .node("Cos", "twice", "cos", &[])
            .node("Mul", "x cos", "turned", &[])
            .node("Mul", "x counted", "weighted", &[])
            .node("Sin", "x", "wave", &[]);
        let angles =
            ["Cast", "Mul", "Concat", "Cos"].map(|name| (name.to_owned(), Reason::Counted));
        assert_eq!(stay(&graph), angles);
    }

    #[test]
    fn squares_stay_up_to_the_division_by_their_root() {
        let graph = TestGraph::new(&[("x", &[2, 4])])
            .floats("two", &[2.0])
            .floats("three", &[3.0])
            .floats("epsilon", &[1e-6])
            .floats("scale", &[1.0, 1.0, 1.0, 1.0])
            .node("Pow", "x two", "square", &[])
            .node("ReduceMean", "square", "mean", &[])
            .node("Add", "mean epsilon", "above", &[])
            .node("Sqrt", "above", "root", &[])
            .node("Reciprocal", "root", "factor", &[])
            .node("Mul", "x factor", "normed", &[])
            .node("Mul", "normed scale", "scaled", &[])
            .node("Pow", "x three", "cube", &[])
            .node("Mul", "x x", "alone", &[])
            .node("ReduceMean", "scaled", "y", &[]);
        let kept: Vec<String> = stay(&graph).into_iter().map(|(name, _)| name).collect();
        assert_eq!(
            kept,
            ["Pow", "ReduceMean", "Add", "Sqrt", "Reciprocal", "Mul"]
        );
        let product = TestGraph::new(&[("x", &[2, 4])])
            .node("Mul", "x x", "square", &[])
            .node("ReduceSum", "square", "y", &[]);
        let squares = ["Mul", "ReduceSum"].map(|name| (name.to_owned(), Reason::Squares));
        assert_eq!(stay(&product), squares);
    }
}
