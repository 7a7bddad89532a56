//! A graph by the names of its values: who makes one, who takes it, and which are constants.
//!
//! Nodes of inner graphs, as `If` and `Loop` have them, stand among the others. `uses` and `limits` walk it.

use std::collections::BTreeMap;

use crate::pb::tensor_proto::DataType;
use crate::pb::{GraphProto, NodeProto, TensorProto};
use crate::proto;

/// No constant is renamed more often than this on its way to where it is used.
const MOST_STEPS: usize = 16;

/// The nodes of a graph and of all graphs inside of it.
#[derive(Default)]
pub(super) struct ValueGraph<'a> {
    /// In the order of the file.
    pub nodes: Vec<&'a NodeProto>,
    makers: BTreeMap<&'a str, &'a NodeProto>,
    users: BTreeMap<&'a str, Vec<(&'a NodeProto, usize)>>,
    constants: BTreeMap<&'a str, &'a TensorProto>,
}

/// A constant that is looked up by indices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LookupTable {
    /// The initializer that it comes from.
    pub name: String,
    /// Its dimensions as they are where it is used.
    pub dims: Vec<usize>,
}

impl<'a> ValueGraph<'a> {
    pub(super) fn new(graph: &'a GraphProto) -> Self {
        let mut all = Self::default();
        all.add(graph);
        all
    }

    fn add(&mut self, graph: &'a GraphProto) {
        self.constants.extend(proto::constants(graph));
        for node in &graph.node {
            self.nodes.push(node);
            for output in node.output.iter().filter(|name| !name.is_empty()) {
                self.makers.insert(output, node);
            }
            for (slot, input) in node.input.iter().enumerate() {
                if !input.is_empty() {
                    self.users.entry(input).or_default().push((node, slot));
                }
            }
            for attribute in &node.attribute {
                for inner in attribute.g.iter().chain(&attribute.graphs) {
                    self.add(inner);
                }
            }
        }
    }

    /// The nodes that take a value, and as which of their inputs.
    pub(super) fn users(&self, value: &str) -> &[(&'a NodeProto, usize)] {
        self.users.get(value).map_or(&[], Vec::as_slice)
    }

    /// The node that makes a value.
    pub(super) fn maker(&self, value: &str) -> Option<&'a NodeProto> {
        self.makers.get(value).copied()
    }

    /// The constant of this name.
    pub(super) fn constant(&self, value: &str) -> Option<&'a TensorProto> {
        self.constants.get(value).copied()
    }

    /// The constant that a value is, whatever it was called or converted to on the way.
    pub(super) fn table(&self, value: &str) -> Option<LookupTable> {
        let mut turns = Vec::new();
        let mut name = value;
        for _ in 0..MOST_STEPS {
            if let Some(tensor) = self.constant(name) {
                let mut dims = proto::dims(tensor)?;
                for node in turns.into_iter().rev() {
                    dims = transposed(&dims, node)?;
                }
                return Some(LookupTable {
                    name: name.to_owned(),
                    dims,
                });
            }
            let node = self.maker(name)?;
            match node.op_type.as_str() {
                "Identity" | "Cast" | "CastLike" | "DequantizeLinear" => {}
                "Transpose" => turns.push(node),
                _ => return None,
            }
            name = proto::input(node, 0)?;
        }
        None
    }

    /// The number that a value has everywhere, where it is a constant.
    pub(super) fn number(&self, value: &str) -> Option<f64> {
        let mut name = value;
        for _ in 0..MOST_STEPS {
            if let Some(tensor) = self.constant(name) {
                return number(tensor);
            }
            let node = self.maker(name)?;
            match node.op_type.as_str() {
                "Constant" => {
                    let float = proto::attribute(node, "value_float").and_then(|value| value.f);
                    let whole = proto::int(node, "value_int").map(|value| value as f64);
                    return float.map(f64::from).or(whole);
                }
                "ConstantOfShape" => {
                    let value = proto::attribute(node, "value");
                    return value.map_or(Some(0.0), |value| number(value.t.as_ref()?));
                }
                "Identity" | "Cast" | "CastLike" | "Expand" | "Unsqueeze" | "Squeeze"
                | "Reshape" => {}
                _ => return None,
            }
            name = proto::input(node, 0)?;
        }
        None
    }
}

fn transposed(dims: &[usize], node: &NodeProto) -> Option<Vec<usize>> {
    let Some(order) = proto::ints(node, "perm").filter(|order| !order.is_empty()) else {
        return Some(dims.iter().rev().copied().collect());
    };
    let axes = order.iter().map(|axis| usize::try_from(*axis).ok());
    axes.map(|axis| dims.get(axis?).copied()).collect()
}

/// The number that all elements of a short tensor are.
fn number(tensor: &TensorProto) -> Option<f64> {
    let values: Vec<f64> = if let Some(ints) = proto::int_values(tensor) {
        ints.into_iter().map(|value| value as f64).collect()
    } else if let Some(floats) = proto::float_values(tensor) {
        floats.into_iter().map(f64::from).collect()
    } else {
        wide_or_half(tensor)?
    };
    let first = *values.first()?;
    values.iter().all(|value| *value == first).then_some(first)
}

/// The elements of a short tensor of 64-bit or 16-bit floats, or of booleans.
fn wide_or_half(tensor: &TensorProto) -> Option<Vec<f64>> {
    if proto::tensor_elements(tensor) > proto::SHORT {
        return None;
    }
    let is_listed = tensor.raw_data.is_empty();
    let from_list = |read: fn(i32) -> f64| {
        let values = tensor.int32_data.iter().copied();
        values.map(read).collect()
    };
    Some(match DataType::try_from(tensor.data_type).ok()? {
        DataType::Double if is_listed => tensor.double_data.clone(),
        DataType::Double => {
            let (words, _) = tensor.raw_data.as_chunks::<8>();
            words.iter().map(|word| f64::from_le_bytes(*word)).collect()
        }
        DataType::Float16 if is_listed => {
            from_list(|bits| half::f16::from_bits(bits as u16).to_f64())
        }
        DataType::Float16 => {
            let (words, _) = tensor.raw_data.as_chunks::<2>();
            let halves = words.iter().map(|word| half::f16::from_le_bytes(*word));
            halves.map(half::f16::to_f64).collect()
        }
        DataType::Bool if is_listed => from_list(f64::from),
        DataType::Bool => tensor
            .raw_data
            .iter()
            .map(|byte| f64::from(*byte))
            .collect(),
        _ => return None,
    })
}
