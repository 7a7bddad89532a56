//! Shapes of everything inside a graph, from the shapes of its inputs.
//!
//! Inputs come from `shapes::resolve`; the result goes to `cost`, which counts multiply-accumulates
//! with it. Operators that are not known here stop the propagation quietly, and `unfollowed` names
//! them. Where the file itself states a shape, that fills the gap.

mod layout;
mod slicing;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod values;
mod window;

use std::collections::BTreeMap;

use crate::pb::{ModelProto, NodeProto, TensorProto};

use super::proto;
use powerband_core::domain::model::Dim;
use powerband_core::domain::tensor::TensorSpec;

/// Shapes by the name of the value.
pub type Shapes = BTreeMap<String, Vec<usize>>;

/// No network has more dimensions; a file that was made to grow them without end stops here.
const MOST_DIMS: usize = 64;

/// Short integer values by the name of the value.
pub(crate) type Ints = BTreeMap<String, Vec<i64>>;

/// Works out the shape of every value that can be followed.
pub fn infer(model: &ModelProto, inputs: &[TensorSpec]) -> Shapes {
    walk(model, inputs).shapes
}

/// The same, and the integers that shapes are worked out with.
pub(crate) fn infer_with_ints(model: &ModelProto, inputs: &[TensorSpec]) -> (Shapes, Ints) {
    let known = walk(model, inputs);
    (known.shapes, known.ints)
}

fn walk<'a>(model: &'a ModelProto, inputs: &[TensorSpec]) -> KnownValues<'a> {
    let mut known = KnownValues::default();
    let Some(graph) = &model.graph else {
        return known;
    };
    for spec in inputs {
        known.set(&spec.name, spec.dims.clone());
    }
    for (name, tensor) in proto::constants(graph) {
        if let Some(dims) = proto::dims(tensor) {
            known.set(name, dims);
        }
        if let Some(values) = proto::int_values(tensor) {
            known.ints.insert(name.to_owned(), values);
        }
        known.tensors.insert(name, tensor);
    }
    for (name, root) in proto::aliases(graph) {
        if let Some(tensor) = known.tensors.get(root).copied() {
            known.tensors.insert(name, tensor);
        }
    }
    let stated = stated_shapes(model, inputs);
    for node in &graph.node {
        let op = NodeView {
            node,
            known: &known,
        };
        let dims = op.output_dims().unwrap_or_default();
        let ints = values::follow(&op);
        for (name, dims) in node.output.iter().zip(dims) {
            if let Some(dims) = dims {
                known.set(name, dims);
            }
        }
        for name in &node.output {
            if let Some(dims) = stated
                .get(name)
                .filter(|_| !known.shapes.contains_key(name))
            {
                known.set(name, dims.clone());
            }
        }
        if let (Some(name), Some(ints)) = (node.output.first(), ints) {
            known.ints.insert(name.clone(), ints);
        }
    }
    known
}

/// Operators whose inputs have shapes and whose outputs have none: where following the graph ended.
pub(crate) fn unfollowed(model: &ModelProto, shapes: &Shapes) -> BTreeMap<String, u64> {
    let mut ends = BTreeMap::new();
    for node in proto::nodes(model) {
        let reached = node
            .input
            .iter()
            .all(|name| name.is_empty() || shapes.contains_key(name));
        if reached
            && node
                .output
                .first()
                .is_some_and(|name| !shapes.contains_key(name))
        {
            *ends.entry(node.op_type.clone()).or_insert(0) += 1;
        }
    }
    ends
}

/// Shapes and values inferred so far.
#[derive(Default)]
struct KnownValues<'a> {
    shapes: Shapes,
    /// Short integer values: the operands of reshapes, slices and their like.
    ints: Ints,
    /// Tensors that the file holds.
    tensors: BTreeMap<&'a str, &'a TensorProto>,
}

impl KnownValues<'_> {
    fn set(&mut self, name: &str, dims: Vec<usize>) {
        if !name.is_empty() && dims.len() <= MOST_DIMS {
            self.shapes.insert(name.to_owned(), dims);
        }
    }
}

/// The shape of each output, in order; nothing for those that are not known.
type Outputs = Option<Vec<Option<Vec<usize>>>>;

/// A node and what is known when its turn comes.
struct NodeView<'a> {
    node: &'a NodeProto,
    known: &'a KnownValues<'a>,
}

impl<'a> NodeView<'a> {
    /// The shape of an input.
    fn shape(&self, index: usize) -> Option<&'a [usize]> {
        self.known
            .shapes
            .get(proto::input(self.node, index)?)
            .map(Vec::as_slice)
    }

    /// The values of an integer input.
    fn int_input(&self, index: usize) -> Option<&'a [i64]> {
        self.known
            .ints
            .get(proto::input(self.node, index)?)
            .map(Vec::as_slice)
    }

    /// The values of a constant float input.
    fn float_input(&self, index: usize) -> Option<Vec<f32>> {
        proto::float_values(self.known.tensors.get(proto::input(self.node, index)?)?)
    }

    /// Integers that older operator sets state as an attribute and newer ones as an input.
    fn ints(&self, name: &str, index: usize) -> Option<&'a [i64]> {
        proto::ints(self.node, name).or_else(|| self.int_input(index))
    }

    /// The same where the node may leave them out: what they mean, or else `absent`. Nothing where
    /// they are there but not known.
    fn optional<T>(
        &self,
        name: &str,
        index: usize,
        absent: impl FnOnce() -> T,
        given: impl FnOnce(&'a [i64]) -> Option<T>,
    ) -> Option<T> {
        match self.ints(name, index) {
            Some(ints) => given(ints),
            None => proto::input(self.node, index).is_none().then(absent),
        }
    }

    fn int(&self, name: &str, default: i64) -> i64 {
        proto::int(self.node, name).unwrap_or(default)
    }

    /// An axis attribute as an index into `rank` dimensions.
    fn axis(&self, default: i64, rank: usize) -> Option<usize> {
        axis(self.int("axis", default), rank)
    }

    /// The shapes of the outputs, by operator.
    fn output_dims(&self) -> Outputs {
        let one = match self.node.op_type.as_str() {
            "Split" => return layout::split(self),
            "MaxPool" | "AveragePool" | "LpPool" | "QLinearAveragePool" => {
                let dims = window::pool(self);
                return Some(vec![dims.clone(), dims]);
            }
            "LSTM" | "GRU" | "RNN" => return recurrent(self),
            "Dropout" => return Some(vec![self.same(0), self.same(0)]),
            "DynamicQuantizeLinear" => {
                return Some(vec![self.same(0), Some(vec![]), Some(vec![])]);
            }
            "Conv" | "FusedConv" | "ConvInteger" => window::conv(self, 1),
            "QLinearConv" => window::conv(self, 3),
            "ConvTranspose" => window::conv_transpose(self),
            "Gemm" | "FusedGemm" => gemm(self, 1),
            "QGemm" => gemm(self, 3),
            "MatMul" | "MatMulInteger" => matmul(self.shape(0)?, self.shape(1)?),
            "MatMulNBits" => {
                let mut dims = self.same(0)?;
                *dims.last_mut()? = usize::try_from(self.int("N", -1)).ok()?;
                Some(dims)
            }
            "QLinearMatMul" => matmul(self.shape(0)?, self.shape(3)?),
            "FusedMatMul" => fused_matmul(self),
            "QLinearAdd" | "QLinearMul" => broadcast(self.shape(0)?, self.shape(3)?),
            name if is_elementwise(name) => self.broadcast_all(),
            name if keeps_shape(name) => self.same(0),
            _ => layout::follow(self),
        };
        Some(vec![one])
    }

    fn same(&self, index: usize) -> Option<Vec<usize>> {
        self.shape(index).map(<[usize]>::to_vec)
    }

    fn broadcast_all(&self) -> Option<Vec<usize>> {
        let mut all = self.same(0)?;
        for index in 1..self.node.input.len() {
            all = broadcast(&all, self.shape(index)?)?;
        }
        Some(all)
    }
}

/// Operators of several inputs that stretch to a common shape.
fn is_elementwise(name: &str) -> bool {
    matches!(
        name,
        "Add"
            | "Sub"
            | "Mul"
            | "Div"
            | "Pow"
            | "Mod"
            | "Max"
            | "Min"
            | "Sum"
            | "Mean"
            | "And"
            | "Or"
            | "Xor"
            | "Equal"
            | "Greater"
            | "GreaterOrEqual"
            | "Less"
            | "LessOrEqual"
            | "Where"
            | "PRelu"
            | "BitShift"
            | "BitwiseAnd"
            | "BitwiseOr"
            | "BitwiseXor"
    )
}

/// Operators whose first output looks like their first input.
pub(crate) fn keeps_shape(name: &str) -> bool {
    matches!(
        name,
        "Abs"
            | "Acos"
            | "Acosh"
            | "Asin"
            | "Asinh"
            | "Atan"
            | "Atanh"
            | "BatchNormalization"
            | "BiasGelu"
            | "BitwiseNot"
            | "Cast"
            | "CastLike"
            | "Ceil"
            | "Celu"
            | "Clip"
            | "Cos"
            | "Cosh"
            | "CumSum"
            | "DequantizeLinear"
            | "Elu"
            | "Erf"
            | "Exp"
            | "FastGelu"
            | "Floor"
            | "Gelu"
            | "GroupNormalization"
            | "HardSigmoid"
            | "HardSwish"
            | "Hardmax"
            | "Identity"
            | "InstanceNormalization"
            | "IsInf"
            | "IsNaN"
            | "LRN"
            | "LayerNormalization"
            | "LeakyRelu"
            | "Log"
            | "LogSoftmax"
            | "LpNormalization"
            | "MeanVarianceNormalization"
            | "Mish"
            | "Neg"
            | "Not"
            | "QLinearLeakyRelu"
            | "QLinearSigmoid"
            | "QLinearSoftmax"
            | "QuantizeLinear"
            | "QuickGelu"
            | "RMSNormalization"
            | "Reciprocal"
            | "Relu"
            | "Round"
            | "ScatterElements"
            | "ScatterND"
            | "Selu"
            | "Shrink"
            | "Sigmoid"
            | "Sign"
            | "SimplifiedLayerNormalization"
            | "Sin"
            | "Sinh"
            | "SkipLayerNormalization"
            | "Softmax"
            | "Softplus"
            | "Softsign"
            | "Sqrt"
            | "Swish"
            | "Tan"
            | "Tanh"
            | "ThresholdedRelu"
            | "Trilu"
    )
}

/// A possibly negative axis as an index into `rank` dimensions.
pub(crate) fn axis(axis: i64, rank: usize) -> Option<usize> {
    let rank = i64::try_from(rank).ok()?;
    let from_start = if axis < 0 {
        axis.checked_add(rank)?
    } else {
        axis
    };
    (0..rank)
        .contains(&from_start)
        .then_some(from_start as usize)
}

/// The common shape of two, by the rules of `NumPy`.
fn broadcast(a: &[usize], b: &[usize]) -> Option<Vec<usize>> {
    let rank = a.len().max(b.len());
    let at = |dims: &[usize], index: usize| {
        (index + dims.len())
            .checked_sub(rank)
            .map_or(1, |index| dims[index])
    };
    let joined = (0..rank).map(|index| match (at(a, index), at(b, index)) {
        (1, size) | (size, 1) => Some(size),
        (left, right) => (left == right).then_some(left),
    });
    joined.collect()
}

/// Matrix product by the rules of `NumPy`: the last two dimensions multiply, the others broadcast.
fn matmul(a: &[usize], b: &[usize]) -> Option<Vec<usize>> {
    let (rows, inner, a_batch) = match a {
        [] => return None,
        [inner] => (None, *inner, &a[..0]),
        [batch @ .., rows, inner] => (Some(*rows), *inner, batch),
    };
    let (columns, b_inner, b_batch) = match b {
        [] => return None,
        [inner] => (None, *inner, &b[..0]),
        [batch @ .., inner, columns] => (Some(*columns), *inner, batch),
    };
    if inner != b_inner {
        return None;
    }
    let mut dims = broadcast(a_batch, b_batch)?;
    dims.extend(rows);
    dims.extend(columns);
    Some(dims)
}

/// A recurrent layer: all its states, and the last one; an LSTM has a second last one.
fn recurrent(op: &NodeView<'_>) -> Outputs {
    let (&[first, second, _], &[ways, _, hidden]) = (op.shape(0)?, op.shape(2)?) else {
        return None;
    };
    let (all, last) = if op.int("layout", 0) == 0 {
        (
            vec![first, ways, second, hidden],
            vec![ways, second, hidden],
        )
    } else {
        (vec![first, second, ways, hidden], vec![first, ways, hidden])
    };
    Some(vec![Some(all), Some(last.clone()), Some(last)])
}

/// A matrix product whose factors may be transposed by flags.
fn fused_matmul(op: &NodeView<'_>) -> Option<Vec<usize>> {
    let factor = |index, flag| {
        let mut dims = op.same(index)?;
        let rank = dims.len();
        if op.int(flag, 0) != 0 && rank >= 2 {
            dims.swap(rank - 2, rank - 1);
        }
        Some(dims)
    };
    matmul(&factor(0, "transA")?, &factor(1, "transB")?)
}

/// A product of two matrices, with the second factor at the given input.
fn gemm(op: &NodeView<'_>, second: usize) -> Option<Vec<usize>> {
    let (&[a0, a1], &[b0, b1]) = (op.shape(0)?, op.shape(second)?) else {
        return None;
    };
    let (rows, a_inner) = if op.int("transA", 0) == 0 {
        (a0, a1)
    } else {
        (a1, a0)
    };
    let (b_inner, columns) = if op.int("transB", 0) == 0 {
        (b0, b1)
    } else {
        (b1, b0)
    };
    (a_inner == b_inner).then(|| vec![rows, columns])
}

/// Shapes that the file states for its inner values and outputs, with names replaced by the sizes
/// that the inputs give them.
fn stated_shapes(model: &ModelProto, inputs: &[TensorSpec]) -> Shapes {
    let Some(graph) = &model.graph else {
        return Shapes::new();
    };
    let mut sizes = BTreeMap::new();
    for value in &graph.input {
        let spec = inputs.iter().find(|spec| spec.name == value.name);
        let (Some(spec), Some(dims)) = (spec, proto::stated_dims(value)) else {
            continue;
        };
        for (dim, &size) in dims.into_iter().zip(&spec.dims) {
            if let Dim::Named(name) = dim {
                sizes.insert(name, size);
            }
        }
    }
    // An empty name says nothing: two open dimensions without names need not be equal.
    sizes.remove("");
    let mut shapes = Shapes::new();
    for value in graph.value_info.iter().chain(&graph.output) {
        let Some(dims) = proto::stated_dims(value) else {
            continue;
        };
        let dims = dims.into_iter().map(|dim| match dim {
            Dim::Fixed(size) => Some(size),
            Dim::Named(name) => sizes.get(&name).copied(),
        });
        if let Some(dims) = dims.collect() {
            shapes.insert(value.name.clone(), dims);
        }
    }
    shapes
}

#[cfg(test)]
mod tests {
    use super::testing::{TestGraph, attr};
    use super::*;

    #[track_caller]
    fn check(graph: &TestGraph, expect: &[usize]) {
        assert_eq!(graph.shapes().get("y").map(Vec::as_slice), Some(expect));
    }

    #[test]
    fn shapes_broadcast_like_numpy() {
        for (a, b, expect) in [
            (&[2, 3][..], &[3][..], Some(vec![2, 3])),
            (&[2, 1, 4], &[5, 1], Some(vec![2, 5, 4])),
            (&[], &[7], Some(vec![7])),
            (&[2], &[3], None),
        ] {
            assert_eq!(broadcast(a, b), expect);
            assert_eq!(broadcast(b, a), expect);
        }
    }

    #[test]
    fn matrix_products() {
        assert_eq!(matmul(&[2, 3], &[3, 4]), Some(vec![2, 4]));
        assert_eq!(matmul(&[8, 1, 2, 3], &[5, 3, 4]), Some(vec![8, 5, 2, 4]));
        assert_eq!(matmul(&[3], &[3, 4]), Some(vec![4]));
        assert_eq!(matmul(&[2, 3], &[3]), Some(vec![2]));
        assert_eq!(matmul(&[3], &[3]), Some(vec![]));
        assert_eq!(matmul(&[2, 3], &[4, 2]), None);
        assert_eq!(matmul(&[], &[4]), None);
        let graph = TestGraph::new(&[("x", &[16, 2])]).weight("w", &[10, 16]);
        check(
            &graph.node(
                "Gemm",
                "x w",
                "y",
                &[attr("transA", &[1]), attr("transB", &[1])],
            ),
            &[2, 10],
        );
    }

    #[test]
    fn operators_that_are_not_known_stop_quietly() {
        let graph = TestGraph::new(&[("x", &[2, 3])])
            .node("Relu", "x", "a", &[])
            .node("Mystery", "a", "b", &[])
            .node("Relu", "b", "y", &[]);
        let shapes = graph.shapes();
        assert_eq!(shapes.get("a"), Some(&vec![2, 3]));
        assert_eq!(shapes.get("y"), None);
        let ends = unfollowed(&graph.model(), &shapes);
        assert_eq!(
            ends.into_iter().collect::<Vec<_>>(),
            [("Mystery".to_owned(), 1)]
        );
    }

    #[test]
    fn stated_shapes_fill_gaps() {
        let graph = TestGraph::new(&[("x", &[2, 3])])
            .node("Mystery", "x", "a", &[])
            .stated("a", &["5", "7"])
            .node("Relu", "a", "y", &[]);
        check(&graph, &[5, 7]);
        let unnamed = TestGraph::new(&[("x", &[2, 3])])
            .node("Mystery", "x", "y", &[])
            .stated("y", &["", "7"]);
        assert_eq!(unnamed.shapes().get("y"), None);
        let named = TestGraph::new(&[("x", &[2, 3])])
            .node("Mystery", "x", "y", &[])
            .stated("y", &["x0", "7"]);
        check(&named, &[2, 7]);
    }

    #[test]
    fn hostile_graphs_end() {
        let mut graph = TestGraph::new(&[("x0", &[2, 2])]).ints("v0", &[1; 64]);
        for index in 0..60 {
            let (x, v, next) = (
                format!("x{index} x{index}"),
                format!("v{index} v{index}"),
                index + 1,
            );
            graph = graph.node("Gather", &x, &format!("x{next}"), &[]);
            graph = graph.node("Concat", &v, &format!("v{next}"), &[attr("axis", &[0])]);
        }
        let shapes = graph.shapes();
        assert!(shapes.values().all(|dims| dims.len() <= MOST_DIMS));
        assert_eq!(shapes.get("v57"), Some(&vec![64 << 57]));
        let huge =
            TestGraph::new(&[("x", &[usize::MAX, usize::MAX])]).node("Concat", "x x", "y", &[]);
        assert_eq!(huge.shapes().get("y"), None);
    }

    #[test]
    fn axes_count_from_either_end() {
        assert_eq!(axis(-1, 4), Some(3));
        assert_eq!(axis(3, 4), Some(3));
        assert_eq!(axis(4, 4), None);
        assert_eq!(axis(i64::MIN, 4), None);
    }
}
