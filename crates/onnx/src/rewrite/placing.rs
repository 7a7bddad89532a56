//! Decides which nodes of a network compute in 8 bits, and which values need a range for that.
//!
//! Both `int8`, which writes the result down, and `observe`, which asks for the ranges, start here,
//! so that they speak of the same values.

use std::collections::{BTreeMap, BTreeSet};

use crate::pb::{GraphProto, ModelProto, NodeProto, TensorProto};

use super::left::{NodesKept, Reason};
use super::parts::{self, FLOAT, LeaveOut, is_op, is_own};
use super::types::{self, Types};
use super::{RewriteError, fold, raise};
use crate::proto;

/// Operators that engines have in 8 bits, and that are worth it after another such node.
const FOLLOW: &[&str] = &[
    "Add",
    "AveragePool",
    "Concat",
    "GlobalAveragePool",
    "LeakyRelu",
    "Mul",
    "Sigmoid",
];

/// Operators that give what they take, so that the steps stay the same.
const PASS: &[&str] = &[
    "Flatten",
    "MaxPool",
    "Reshape",
    "Squeeze",
    "Transpose",
    "Unsqueeze",
];

/// Operators that move values and compute nothing.
const MOVE: &[&str] = &[
    "Cast", "Expand", "Gather", "Identity", "Pad", "Slice", "Split", "Tile", "Where",
];

/// How a node computes in 8 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Int8Job {
    /// Input 0 with stored weights, whose channels lie along an axis, and perhaps a stored bias.
    Layer {
        /// The axis of the output channels.
        axis: usize,
    },
    /// All float inputs alike: computed ones, and stored ones beside them.
    Plain,
    /// Input 0 as it is.
    Pass,
}

/// A network that is ready for 8 bits.
#[derive(Debug)]
pub(super) struct Int8Placement {
    /// Folded, and without the rectifiers that rounding does by itself.
    pub model: ModelProto,
    /// What each node of it is rewritten to; nothing for nodes that stay in floats.
    pub jobs: Vec<Option<Int8Job>>,
    /// The values that go through 8 bits.
    pub values: BTreeSet<String>,
    /// Values that take the steps of another.
    pub like: BTreeMap<String, String>,
    /// Values that were cut to a range by an operator that is gone.
    pub bounds: BTreeMap<String, (f32, f32)>,
    /// Element types.
    pub types: Types,
    /// The nodes that stay in floats, and why.
    pub left: NodesKept,
    /// How many normalisations were folded.
    pub folded: u64,
}

impl Int8Placement {
    /// The value whose scale this one shares.
    pub(super) fn range_source<'a>(&'a self, name: &'a str) -> &'a str {
        let mut root = name;
        while let Some(next) = self.like.get(root) {
            root = next;
        }
        root
    }

    /// The values whose range must be known.
    pub(super) fn range_sources(&self) -> BTreeSet<&str> {
        self.values
            .iter()
            .map(|name| self.range_source(name))
            .collect()
    }
}

/// Works out the places.
pub(super) fn place(
    model: &ModelProto,
    leave_out: &LeaveOut<'_>,
) -> Result<Int8Placement, RewriteError> {
    let mut model = model.clone();
    parts::prepare(&mut model)?;
    raise::raise(&mut model)?;
    let graph = model.graph.as_mut().ok_or(RewriteError::NoGraph)?;
    if let Some(node) = graph.node.iter().find(|node| parts::is_quantised(node)) {
        let operator = node.op_type.clone();
        return Err(RewriteError::Quantised { operator });
    }
    let folded = fold::norms(graph, leave_out)?;
    let types = types::follow(graph);
    let mut search = PlacingSearch::new(graph, &types);
    for (index, node) in graph.node.iter().enumerate() {
        if is_own(&node.domain) && !leave_out.contains(node) {
            search.visit(index, node);
        }
    }
    let PlacingSearch {
        mut jobs,
        bounds,
        gone,
        ..
    } = search;
    if jobs.iter().all(Option::is_none) {
        return Err(RewriteError::Nothing);
    }
    for (&index, &producer) in &gone {
        let output = graph.node[index].output.clone();
        graph.node[producer].output = output;
    }
    let mut index = 0;
    graph.node.retain(|_| {
        index += 1;
        !gone.contains_key(&(index - 1))
    });
    index = 0;
    jobs.retain(|_| {
        index += 1;
        !gone.contains_key(&(index - 1))
    });
    let (values, like) = values(graph, &jobs, &bounds, &types);
    let left = left(graph, &jobs, &types, leave_out);
    Ok(Int8Placement {
        model,
        jobs,
        values,
        like,
        bounds,
        types,
        left,
        folded,
    })
}

/// A matrix product gives floats as easily as 8 bits, so its result keeps its digits wherever it is not cut to
/// a range.
pub(super) fn is_product(node: &NodeProto) -> bool {
    is_op(node, "Gemm") || is_op(node, "MatMul")
}

/// The nodes that take floats, give floats and have no job.
fn left(
    graph: &GraphProto,
    jobs: &[Option<Int8Job>],
    types: &Types,
    leave_out: &LeaveOut<'_>,
) -> NodesKept {
    let stored: BTreeSet<&str> = graph
        .initializer
        .iter()
        .map(|tensor| tensor.name.as_str())
        .collect();
    let float = |name: &String| types.get(name) == Some(&FLOAT);
    let computed = |name: &&String| float(name) && !stored.contains(name.as_str());
    let mut left = NodesKept::default();
    for (node, job) in graph.node.iter().zip(jobs) {
        if job.is_some() || !node.input.iter().any(float) || !node.output.iter().any(float) {
            continue;
        }
        let reason = match node.op_type.as_str() {
            _ if leave_out.contains(node) => Reason::Asked,
            _ if !is_own(&node.domain) => Reason::Foreign,
            "MatMul" | "Gemm" | "Einsum" if node.input.iter().filter(computed).count() > 1 => {
                Reason::Activations
            }
            "Conv" | "MatMul" | "Gemm" | "Einsum" => Reason::Weights,
            "Gather"
                if node
                    .input
                    .first()
                    .is_some_and(|name| stored.contains(name.as_str())) =>
            {
                Reason::Table
            }
            "Relu" | "Clip" => Reason::Surrounded,
            name if MOVE.contains(&name) => Reason::Surrounded,
            name if FOLLOW.contains(&name) || PASS.contains(&name) => Reason::Surrounded,
            _ => Reason::Coarse,
        };
        left.add(node, reason);
    }
    left
}

/// The search for nodes, from the inputs to the outputs.
struct PlacingSearch<'a> {
    stored: BTreeMap<&'a str, &'a TensorProto>,
    types: &'a Types,
    uses: BTreeMap<String, usize>,
    jobs: Vec<Option<Int8Job>>,
    /// The node that computes a value in 8 bits.
    made: BTreeMap<&'a str, usize>,
    /// The matrix product that gives a value, which is in floats where nothing wants it otherwise.
    products: BTreeMap<&'a str, usize>,
    /// Cut values in floats that stand for others in 8 bits.
    near: BTreeSet<&'a str>,
    /// The nodes that read a value.
    readers: BTreeMap<&'a str, Vec<&'a NodeProto>>,
    bounds: BTreeMap<String, (f32, f32)>,
    /// Nodes that disappear, with the node that does their work.
    gone: BTreeMap<usize, usize>,
}

impl<'a> PlacingSearch<'a> {
    fn new(graph: &'a GraphProto, types: &'a Types) -> Self {
        Self {
            stored: graph
                .initializer
                .iter()
                .map(|tensor| (tensor.name.as_str(), tensor))
                .collect(),
            types,
            uses: parts::uses(graph),
            jobs: vec![None; graph.node.len()],
            made: BTreeMap::new(),
            products: BTreeMap::new(),
            near: BTreeSet::new(),
            readers: readers(graph),
            bounds: BTreeMap::new(),
            gone: BTreeMap::new(),
        }
    }

    fn visit(&mut self, index: usize, node: &'a NodeProto) {
        let Some(output) = node.output.first() else {
            return;
        };
        if let Some(bounds) = self.bound(node) {
            self.cut(index, node, bounds);
            return;
        }
        let several = node.output.iter().skip(1).any(|name| !name.is_empty());
        let float = self.is_float(node.input.first()) && self.is_float(Some(output));
        if several || !float {
            return;
        }
        if let Some(job) = self.job(node) {
            self.jobs[index] = Some(job);
            let results = if is_product(node) {
                &mut self.products
            } else {
                &mut self.made
            };
            results.insert(output, index);
        }
    }

    fn job(&self, node: &NodeProto) -> Option<Int8Job> {
        let made = |name: &String| self.made.contains_key(name.as_str());
        match node.op_type.as_str() {
            "Conv" | "Gemm" | "MatMul" => self.layer(node),
            name if FOLLOW.contains(&name) => {
                let floats = node.input.iter().all(|name| self.is_float(Some(name)));
                let joins = matches!(name, "Add" | "Concat");
                let enough = !joins || node.input.iter().all(|name| self.is_ready(name));
                (floats && enough && node.input.iter().any(made)).then_some(Int8Job::Plain)
            }
            name if PASS.contains(&name) => node
                .input
                .first()
                .is_some_and(made)
                .then_some(Int8Job::Pass),
            _ => None,
        }
    }

    /// Whether a value can be put together with one in 8 bits: it is in 8 bits anyway, or it is a bias. The sums
    /// that run through a transformer, tables of positions and single tokens lose more by the common steps than
    /// is won.
    fn is_ready(&self, name: &str) -> bool {
        let stored = self.stored.get(name);
        let is_bias = stored.is_some_and(|tensor| {
            let wide = tensor.dims.iter().filter(|dim| **dim > 1);
            wide.count() <= 1
        });
        self.made.contains_key(name) || self.near.contains(name) || is_bias
    }

    /// A layer whose weights and bias are stored in a form that we know.
    fn layer(&self, node: &NodeProto) -> Option<Int8Job> {
        if self.stored.contains_key(proto::input(node, 0)?) {
            return None;
        }
        let stored = |index| self.stored.get(proto::input(node, index)?).copied();
        let weight = stored(1).filter(|tensor| tensor.data_type == FLOAT)?;
        let rank = weight.dims.len();
        let axis = match node.op_type.as_str() {
            "Conv" if rank >= 3 => 0,
            "Gemm" if rank == 2 && proto::int(node, "transA").unwrap_or(0) == 0 => {
                usize::from(proto::int(node, "transB").unwrap_or(0) == 0)
            }
            "MatMul" if rank == 2 => 1,
            _ => return None,
        };
        if proto::input(node, 2).is_some() {
            let bias = stored(2).filter(|tensor| tensor.data_type == FLOAT)?;
            let long = bias.dims.last() == Some(&weight.dims[axis]);
            // One value per channel, and the same for every row.
            let flat = bias.dims.iter().rev().skip(1).all(|&dim| dim == 1);
            if !long || !flat {
                return None;
            }
        }
        let filled = weight.dims.iter().all(|&dim| dim > 0);
        filled.then_some(Int8Job::Layer { axis })
    }

    /// The range that a node cuts its input to, where it does nothing else.
    fn bound(&self, node: &NodeProto) -> Option<(f32, f32)> {
        if is_op(node, "Relu") {
            return Some((0.0, f32::INFINITY));
        }
        if !is_op(node, "Clip") {
            return None;
        }
        let end = |index, open: f32| match proto::input(node, index) {
            None => Some(open),
            Some(name) => {
                let values = proto::float_values(self.stored.get(name)?)?;
                values.first().copied()
            }
        };
        let (low, high) = (end(1, f32::NEG_INFINITY)?, end(2, f32::INFINITY)?);
        // Zero is in every range that we store, so that others cannot be cut by storing.
        (low <= 0.0 && high >= 0.0).then_some((low, high))
    }

    /// Lets the node before do the cutting, by the range that its result is stored in.
    fn cut(&mut self, index: usize, node: &'a NodeProto, bounds: (f32, f32)) {
        let name = node.input[0].as_str();
        let product = self.products.get(name).copied();
        let Some(producer) = self.made.get(name).copied().or(product) else {
            return;
        };
        self.near.insert(&node.output[0]);
        let alone = self.uses.get(&node.input[0]) == Some(&1);
        if !alone || self.jobs[producer] == Some(Int8Job::Pass) {
            return;
        }
        // A product is stored in 8 bits where layers alone read it.
        if product.is_some() && !self.is_for_layers(&node.output[0]) {
            return;
        }
        let before = self.bounds.remove(&node.input[0]);
        let (low, high) = before.unwrap_or((f32::NEG_INFINITY, f32::INFINITY));
        self.bounds.insert(
            node.output[0].clone(),
            (low.max(bounds.0), high.min(bounds.1)),
        );
        self.gone.insert(index, producer);
        let results = if product.is_some() {
            &mut self.products
        } else {
            &mut self.made
        };
        results.insert(&node.output[0], producer);
    }

    /// Whether all that read a value are layers that take it as their activation.
    fn is_for_layers(&self, name: &str) -> bool {
        let readers = self.readers.get(name).map_or(&[][..], Vec::as_slice);
        let is_layer = |node: &&NodeProto| {
            let kind = matches!(node.op_type.as_str(), "Conv" | "Gemm" | "MatMul");
            kind && proto::input(node, 0) == Some(name) && self.layer(node).is_some()
        };
        !readers.is_empty()
            && readers.iter().all(is_layer)
            && self.uses.get(name) == Some(&readers.len())
    }

    fn is_float(&self, name: Option<&String>) -> bool {
        name.is_some_and(|name| self.types.get(name) == Some(&FLOAT))
    }
}

/// The nodes that read each value.
fn readers(graph: &GraphProto) -> BTreeMap<&str, Vec<&NodeProto>> {
    let mut readers: BTreeMap<&str, Vec<&NodeProto>> = BTreeMap::new();
    for node in &graph.node {
        for name in &node.input {
            readers.entry(name).or_default().push(node);
        }
    }
    readers
}

/// The values that go through 8 bits, and those of them that take another's steps.
fn values(
    graph: &GraphProto,
    jobs: &[Option<Int8Job>],
    bounds: &BTreeMap<String, (f32, f32)>,
    types: &Types,
) -> (BTreeSet<String>, BTreeMap<String, String>) {
    let stored: BTreeSet<&str> = graph
        .initializer
        .iter()
        .map(|tensor| tensor.name.as_str())
        .collect();
    let mut values = BTreeSet::new();
    let mut like = BTreeMap::new();
    for (node, job) in graph.node.iter().zip(jobs) {
        let Some(job) = job else { continue };
        let inputs = match job {
            Int8Job::Plain => node.input.len(),
            Int8Job::Layer { .. } | Int8Job::Pass => 1,
        };
        let read = node
            .input
            .iter()
            .take(inputs)
            .filter(|name| !stored.contains(name.as_str()) && types.get(*name) == Some(&FLOAT));
        values.extend(read.cloned());
        let output = &node.output[0];
        if !is_product(node) || bounds.contains_key(output) {
            values.insert(output.clone());
        }
        if *job == Int8Job::Pass {
            like.insert(output.clone(), node.input[0].clone());
        }
    }
    (values, like)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::infer::testing::{TestGraph, port};
    use crate::pb::OperatorSetIdProto;
    use crate::pb::tensor_proto::DataType;

    /// A convolution of two channels with weights, and whatever comes after.
    fn placed(graph: TestGraph, output: &str) -> Int8Placement {
        placed_with(graph, Vec::new(), output)
    }

    /// The same with more stored tensors; those of four values are squares.
    fn placed_with(graph: TestGraph, stored: Vec<TensorProto>, output: &str) -> Int8Placement {
        let conv = TestGraph::new(&[("x", &[1, 2, 4, 4])])
            .floats("w", &[1.0; 4])
            .floats("low", &[0.0])
            .floats("six", &[6.0])
            .node("Conv", "x w", "c", &[]);
        let mut model = conv.model();
        let all = model.graph.as_mut().unwrap();
        all.initializer[0].dims = vec![2, 2, 1, 1];
        all.initializer[1].dims = vec![];
        all.initializer.extend(stored);
        for square in all.initializer.iter_mut().skip(3) {
            if square.dims == [4] {
                square.dims = vec![2, 2];
            }
        }
        all.node.extend(graph.graph.node);
        all.output.push(port(output, DataType::Float, &["n"]));
        model.opset_import.push(OperatorSetIdProto {
            version: 13,
            ..Default::default()
        });
        place(&model, &LeaveOut::new(&[])).unwrap()
    }

    fn names(placing: &Int8Placement) -> Vec<&str> {
        placing.values.iter().map(String::as_str).collect()
    }

    #[test]
    fn rectifiers_go_where_no_other_node_reads() {
        let clip = placed(
            TestGraph::default().node("Clip", "c low six", "y", &[]),
            "y",
        );
        assert_eq!(clip.bounds["y"], (0.0, 6.0));
        assert_eq!((clip.jobs.len(), names(&clip)), (1, vec!["x", "y"]));
        let open = placed(TestGraph::default().node("Clip", "c six", "y", &[]), "y");
        assert!(open.bounds.is_empty() && open.jobs.len() == 2);
        let both = TestGraph::default().node("Relu", "c", "r", &[]);
        let both = placed(both.node("Add", "c r", "y", &[]), "y");
        assert!(both.bounds.is_empty());
        assert_eq!(names(&both), ["c", "r", "x", "y"]);
        assert_eq!(both.jobs[1..], [None, Some(Int8Job::Plain)]);
    }

    #[test]
    fn what_passes_keeps_its_steps() {
        let graph = TestGraph::default()
            .node("MaxPool", "c", "p", &[])
            .node("Flatten", "p", "f", &[])
            .node("Erf", "f", "e", &[])
            .node("Flatten", "e", "y", &[]);
        let placing = placed(graph, "y");
        assert_eq!(names(&placing), ["c", "f", "p", "x"]);
        assert_eq!(placing.range_source("f"), "c");
        assert_eq!(
            placing.range_sources().into_iter().collect::<Vec<_>>(),
            ["c", "x"]
        );
    }

    #[test]
    fn products_keep_their_digits_and_activations_floats() {
        let graph = TestGraph::default()
            .node("Reshape", "c", "p", &[])
            .node("MatMul", "p v", "q", &[])
            .node("Add", "q b", "s", &[])
            .node("MatMul", "s q", "t", &[])
            .node("Add", "p t", "y", &[]);
        let stored = TestGraph::default()
            .floats("v", &[1.0; 4])
            .floats("b", &[1.0; 2]);
        let placing = placed_with(graph, stored.graph.initializer, "y");
        // The bias, the product of two activations and the sum of both are in floats.
        let layer = Some(Int8Job::Layer { axis: 1 });
        assert_eq!(
            placing.jobs[1..],
            [Some(Int8Job::Pass), layer, None, None, None]
        );
        assert_eq!(names(&placing), ["c", "p", "x"]);
        let notes = placing.left.notes();
        assert!(notes[0].contains("activations: MatMul (1: t)"), "{notes:?}");
        assert!(notes[1].contains("Add (2: s, y)"), "{notes:?}");
    }

    #[test]
    fn a_rectified_product_is_stored_for_layers_alone() {
        let chain = |last: &str, inputs: &str| {
            let graph = TestGraph::default()
                .node("Gemm", "c v", "q", &[])
                .node("Relu", "q", "r", &[])
                .node(last, inputs, "y", &[]);
            let stored = TestGraph::default()
                .floats("v", &[1.0; 4])
                .graph
                .initializer;
            placed_with(graph, stored, "y")
        };
        let layers = chain("Gemm", "r v");
        assert_eq!(layers.bounds["r"].0, 0.0);
        assert_eq!(names(&layers), ["c", "r", "x"]);
        let others = chain("Softmax", "r");
        assert!(others.bounds.is_empty());
        assert_eq!(names(&others), ["c", "x"]);
    }

    #[test]
    fn a_token_beside_patches_keeps_its_digits() {
        let graph = TestGraph::default()
            .node("Reshape", "c", "p", &[])
            .node("Expand", "token", "t", &[])
            .node("Concat", "t p", "a", &[])
            .node("Concat", "p p", "b", &[])
            .node("Add", "p bias", "d", &[])
            .node("Add", "p places", "y", &[]);
        let stored = TestGraph::default()
            .floats("token", &[1.0; 2])
            .floats("bias", &[1.0; 2])
            .floats("places", &[1.0; 4]);
        let placing = placed_with(graph, stored.graph.initializer, "y");
        let plain = Some(Int8Job::Plain);
        assert_eq!(placing.jobs[2..], [None, None, plain, plain, None]);
    }
}
