//! Element types of everything inside a graph.
//!
//! The rewrites ask which values are 32-bit floats. What the file states is believed; where it
//! states nothing, each operator's rule is followed, and an operator that is not known here is
//! taken to give what its first input holds.

use std::collections::BTreeMap;

use crate::pb::tensor_proto::DataType;
use crate::pb::{GraphProto, NodeProto};

use super::parts::{FLOAT, is_own};
use crate::proto;

/// Element types by the name of the value.
pub(crate) type Types = BTreeMap<String, i32>;

const INT64: i32 = DataType::Int64 as i32;
const BOOL: i32 = DataType::Bool as i32;

/// Works out the element type of every value that can be followed.
pub(super) fn follow(graph: &GraphProto) -> Types {
    let stated = graph
        .input
        .iter()
        .chain(&graph.output)
        .chain(&graph.value_info)
        .filter_map(|value| Some((value.name.clone(), proto::tensor_type(value)?.elem_type)))
        .filter(|(_, element)| *element != 0);
    let mut types: Types = stated.collect();
    for tensor in &graph.initializer {
        types.insert(tensor.name.clone(), tensor.data_type);
    }
    for sparse in &graph.sparse_initializer {
        if let Some(values) = &sparse.values {
            types.insert(values.name.clone(), values.data_type);
        }
    }
    for node in &graph.node {
        for (index, name) in node.output.iter().enumerate() {
            if name.is_empty() || types.contains_key(name) {
                continue;
            }
            if let Some(element) = output(node, index, &types) {
                types.insert(name.clone(), element);
            }
        }
    }
    types
}

/// The type of one output.
fn output(node: &NodeProto, index: usize, types: &Types) -> Option<i32> {
    let input = |index| types.get(proto::input(node, index)?).copied();
    let named = |attribute| proto::int(node, attribute).map(|element| element as i32);
    if !is_own(&node.domain) {
        return input(0);
    }
    match (node.op_type.as_str(), index) {
        ("Shape" | "Size" | "NonZero" | "ArgMax" | "ArgMin" | "NonMaxSuppression", _)
        | ("TopK" | "MaxPool" | "Unique", 1..) => Some(INT64),
        (
            "Equal" | "Greater" | "GreaterOrEqual" | "Less" | "LessOrEqual" | "And" | "Or" | "Xor"
            | "Not" | "IsNaN" | "IsInf",
            _,
        )
        | ("Dropout", 1) => Some(BOOL),
        ("Cast", _) => named("to"),
        ("CastLike" | "Where" | "DequantizeLinear", _) => input(1),
        ("OneHot", _) => input(2),
        ("Constant" | "ConstantOfShape", _) => {
            let tensor = proto::attribute(node, "value").and_then(|found| found.t.as_ref());
            match tensor {
                Some(tensor) => Some(tensor.data_type),
                None if proto::attribute(node, "value_int").is_some()
                    || proto::attribute(node, "value_ints").is_some() =>
                {
                    Some(INT64)
                }
                None if proto::attribute(node, "value_string").is_some()
                    || proto::attribute(node, "value_strings").is_some() =>
                {
                    Some(DataType::String as i32)
                }
                None => Some(FLOAT),
            }
        }
        ("RandomNormal" | "RandomUniform", _) => named("dtype").or(Some(FLOAT)),
        ("RandomNormalLike" | "RandomUniformLike" | "EyeLike" | "Bernoulli", _) => {
            named("dtype").or_else(|| input(0))
        }
        ("Multinomial", _) => named("dtype").or(Some(DataType::Int32 as i32)),
        ("HannWindow" | "HammingWindow" | "BlackmanWindow" | "MelWeightMatrix", _) => {
            named("output_datatype").or(Some(FLOAT))
        }
        ("TfIdfVectorizer", _) | ("DynamicQuantizeLinear", 1) => Some(FLOAT),
        ("QuantizeLinear", _) => input(2).or(Some(DataType::Uint8 as i32)),
        ("DynamicQuantizeLinear", _) => Some(DataType::Uint8 as i32),
        ("ConvInteger" | "MatMulInteger", _) => Some(DataType::Int32 as i32),
        _ => input(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::infer::testing::{TestGraph, attr};

    #[test]
    fn types_follow_the_operators() {
        let graph = TestGraph::new(&[("x", &[2, 3])])
            .node("Shape", "x", "dims", &[])
            .node("Add", "dims dims", "more", &[])
            .node("Cast", "more", "floats", &[attr("to", &[1])])
            .node("Greater", "x floats", "mask", &[])
            .node("Where", "mask x floats", "y", &[])
            .node("ConstantOfShape", "dims", "zeros", &[])
            .node("TopK", "x dims", "best places", &[]);
        let types = follow(&graph.graph);
        let of = |name: &str| types.get(name).copied();
        assert_eq!([of("dims"), of("more")], [Some(INT64); 2]);
        assert_eq!(of("mask"), Some(BOOL));
        assert_eq!(
            [of("floats"), of("y"), of("zeros"), of("best")],
            [Some(FLOAT); 4]
        );
        assert_eq!(of("places"), Some(INT64));
    }
}
