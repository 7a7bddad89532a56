//! Small readers over the ONNX protobuf types: attributes, constant tensors, dimensions.
//!
//! The protobuf comes from `file`; `inspect`, `infer` and `cost` read it through here, so that the
//! several ways in which a file may store the same thing are dealt with once. Nothing here trusts
//! a number in the file.

use std::collections::{BTreeMap, BTreeSet};

use crate::pb::tensor_proto::DataType;
use crate::pb::tensor_shape_proto::dimension;
use crate::pb::{
    AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto, ValueInfoProto, type_proto,
};

use powerband_core::domain::model::Dim;
use powerband_core::domain::tensor::ElementType;

/// The attribute of that name.
pub fn attribute<'a>(node: &'a NodeProto, name: &str) -> Option<&'a AttributeProto> {
    node.attribute
        .iter()
        .find(|attribute| attribute.name == name)
}

/// An integer attribute.
pub fn int(node: &NodeProto, name: &str) -> Option<i64> {
    attribute(node, name).map(AttributeProto::i)
}

/// A list of integers.
pub fn ints<'a>(node: &'a NodeProto, name: &str) -> Option<&'a [i64]> {
    attribute(node, name).map(|attribute| attribute.ints.as_slice())
}

/// A text attribute; nothing where it is not UTF-8.
pub fn text<'a>(node: &'a NodeProto, name: &str) -> Option<&'a str> {
    attribute(node, name).and_then(|attribute| std::str::from_utf8(attribute.s()).ok())
}

/// The name of an input, where the node has one at that place: an empty name means "left out".
pub fn input(node: &NodeProto, index: usize) -> Option<&str> {
    node.input
        .get(index)
        .map(String::as_str)
        .filter(|name| !name.is_empty())
}

/// The graph's nodes; none where the file has no graph.
pub fn nodes(model: &ModelProto) -> &[NodeProto] {
    model.graph.as_ref().map_or(&[], |graph| &graph.node)
}

/// A graph and all graphs inside of it: the branches of `If`, the bodies of `Loop` and `Scan`.
pub(crate) fn all_graphs(graph: &GraphProto) -> Vec<&GraphProto> {
    let mut all = vec![graph];
    let mut next = 0;
    while let Some(graph) = all.get(next).copied() {
        let attributes = graph.node.iter().flat_map(|node| &node.attribute);
        all.extend(attributes.flat_map(|attribute| attribute.g.iter().chain(&attribute.graphs)));
        next += 1;
    }
    all
}

/// Every tensor that the file itself holds with the name it goes by: initializers, and the outputs
/// of `Constant` nodes.
pub fn constants(graph: &GraphProto) -> impl Iterator<Item = (&str, &TensorProto)> {
    let stored = graph
        .initializer
        .iter()
        .map(|tensor| (tensor.name.as_str(), tensor));
    stored.chain(constant_nodes(&graph.node))
}

/// The tensors that `Constant` nodes hold, by the names of their outputs.
pub(crate) fn constant_nodes(nodes: &[NodeProto]) -> impl Iterator<Item = (&str, &TensorProto)> {
    let constants = nodes.iter().filter(|node| node.op_type == "Constant");
    constants.filter_map(|node| {
        let tensor = attribute(node, "value")?.t.as_ref()?;
        Some((node.output.first()?.as_str(), tensor))
    })
}

/// The constants that `Identity` nodes hand on, by the name that they go by behind it. Exporters store equal
/// constants once and let such nodes give them their other names.
pub(crate) fn aliases(graph: &GraphProto) -> BTreeMap<&str, &str> {
    let stored: BTreeSet<&str> = constants(graph).map(|(name, _)| name).collect();
    let mut aliases = BTreeMap::new();
    for node in &graph.node {
        let own = matches!(node.domain.as_str(), "" | "ai.onnx");
        let (true, Some(from), [to]) = (
            own && node.op_type == "Identity",
            input(node, 0),
            node.output.as_slice(),
        ) else {
            continue;
        };
        let root = aliases.get(from).copied().unwrap_or(from);
        if stored.contains(root) {
            aliases.insert(to.as_str(), root);
        }
    }
    aliases
}

/// A tensor's dimensions; nothing where one is negative.
pub fn dims(tensor: &TensorProto) -> Option<Vec<usize>> {
    tensor
        .dims
        .iter()
        .map(|&dim| usize::try_from(dim).ok())
        .collect()
}

/// How many elements a shape has, without overflowing.
pub fn elements(dims: &[usize]) -> u64 {
    dims.iter()
        .fold(1, |product: u64, &dim| product.saturating_mul(dim as u64))
}

/// How many elements a tensor has.
pub(crate) fn tensor_elements(tensor: &TensorProto) -> u64 {
    dims(tensor).map_or(0, |dims| elements(&dims))
}

/// Bits that one element takes; nothing for text and unknown types.
pub(crate) fn element_bits(data_type: i32) -> Option<u64> {
    Some(match DataType::try_from(data_type).ok()? {
        DataType::Undefined | DataType::String => return None,
        DataType::Uint2 | DataType::Int2 => 2,
        DataType::Uint4 | DataType::Int4 | DataType::Float4e2m1 => 4,
        DataType::Float6e2m3 | DataType::Float6e3m2 => 6,
        DataType::Uint8
        | DataType::Int8
        | DataType::Bool
        | DataType::Float8e4m3fn
        | DataType::Float8e4m3fnuz
        | DataType::Float8e5m2
        | DataType::Float8e5m2fnuz
        | DataType::Float8e8m0 => 8,
        DataType::Uint16 | DataType::Int16 | DataType::Float16 | DataType::Bfloat16 => 16,
        DataType::Float | DataType::Int32 | DataType::Uint32 => 32,
        DataType::Double | DataType::Int64 | DataType::Uint64 | DataType::Complex64 => 64,
        DataType::Complex128 => 128,
    })
}

/// Bytes of a tensor's elements, wherever the file keeps them; text counts as stored.
pub(crate) fn tensor_bytes(tensor: &TensorProto) -> u64 {
    match element_bits(tensor.data_type) {
        Some(bits) => tensor_elements(tensor).saturating_mul(bits).div_ceil(8),
        None => tensor
            .string_data
            .iter()
            .map(|text| text.len() as u64)
            .sum(),
    }
}

/// Whether the elements are floats of any width.
pub(crate) fn is_float(data_type: i32) -> bool {
    matches!(
        DataType::try_from(data_type),
        Ok(DataType::Float | DataType::Double | DataType::Float16 | DataType::Bfloat16)
    )
}

/// The element type that we can feed; nothing for the others.
pub fn element_type(data_type: i32) -> Option<ElementType> {
    Some(match DataType::try_from(data_type).ok()? {
        DataType::Float => ElementType::F32,
        DataType::Double => ElementType::F64,
        DataType::Float16 => ElementType::F16,
        DataType::Int8 => ElementType::I8,
        DataType::Int16 => ElementType::I16,
        DataType::Int32 => ElementType::I32,
        DataType::Int64 => ElementType::I64,
        DataType::Uint8 => ElementType::U8,
        DataType::Bool => ElementType::Bool,
        _ => return None,
    })
}

/// What a tensor's element type is called, as people write it: `string`, `bfloat16`.
pub fn type_name(data_type: i32) -> String {
    DataType::try_from(data_type).map_or_else(
        |_| format!("type {data_type}"),
        |known| format!("{known:?}").to_lowercase(),
    )
}

/// The tensor type of a value; nothing for sequences, maps and values without a type.
pub fn tensor_type(value: &ValueInfoProto) -> Option<&type_proto::Tensor> {
    match value.r#type.as_ref()?.value.as_ref()? {
        type_proto::TypeValue::TensorType(tensor) => Some(tensor),
        _ => None,
    }
}

/// Whether a text in place of a size is a name: `?` and `-1` are none.
fn is_name(text: &str) -> bool {
    text.chars().any(char::is_alphanumeric) && text.parse::<i64>().is_err()
}

/// The dimensions a value states. Zero and below count as open, because exporters write 0 or -1
/// for "unknown".
pub(crate) fn stated_dims(value: &ValueInfoProto) -> Option<Vec<Dim>> {
    let shape = tensor_type(value)?.shape.as_ref()?;
    let dims = shape.dim.iter().map(|dim| match &dim.value {
        Some(dimension::DimensionValue::DimValue(size)) => match usize::try_from(*size) {
            Ok(size) if size > 0 => Dim::Fixed(size),
            _ => Dim::Named(String::new()),
        },
        // A mark in place of a name names nothing.
        Some(dimension::DimensionValue::DimParam(name)) if !is_name(name) => {
            Dim::Named(String::new())
        }
        Some(dimension::DimensionValue::DimParam(name)) => Dim::Named(name.clone()),
        None => Dim::Named(String::new()),
    });
    Some(dims.collect())
}

/// Elements of the longest tensor that is read as a list: shapes and axes are short, and anything longer is data.
pub(crate) const SHORT: u64 = 4096;

/// The elements of a 32- or 64-bit integer tensor, whichever field holds them.
pub(crate) fn int_values(tensor: &TensorProto) -> Option<Vec<i64>> {
    if tensor_elements(tensor) > SHORT {
        return None;
    }
    match DataType::try_from(tensor.data_type).ok()? {
        DataType::Int64 if tensor.raw_data.is_empty() => Some(tensor.int64_data.clone()),
        DataType::Int64 => {
            let (words, _) = tensor.raw_data.as_chunks::<8>();
            Some(words.iter().map(|&word| i64::from_le_bytes(word)).collect())
        }
        DataType::Int32 if tensor.raw_data.is_empty() => Some(
            tensor
                .int32_data
                .iter()
                .map(|&value| i64::from(value))
                .collect(),
        ),
        DataType::Int32 => {
            let (words, _) = tensor.raw_data.as_chunks::<4>();
            Some(
                words
                    .iter()
                    .map(|&word| i64::from(i32::from_le_bytes(word)))
                    .collect(),
            )
        }
        _ => None,
    }
}

/// The elements of a short 32-bit float tensor.
pub(crate) fn float_values(tensor: &TensorProto) -> Option<Vec<f32>> {
    if tensor_elements(tensor) > SHORT || tensor.data_type != DataType::Float as i32 {
        return None;
    }
    if tensor.raw_data.is_empty() {
        return Some(tensor.float_data.clone());
    }
    let (words, _) = tensor.raw_data.as_chunks::<4>();
    Some(words.iter().map(|&word| f32::from_le_bytes(word)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_come_from_either_field() {
        let listed = TensorProto {
            dims: vec![2],
            data_type: DataType::Int64 as i32,
            int64_data: vec![1, -1],
            ..Default::default()
        };
        assert_eq!(int_values(&listed), Some(vec![1, -1]));
        let raw = TensorProto {
            dims: vec![2],
            data_type: DataType::Int32 as i32,
            raw_data: vec![7, 0, 0, 0, 255, 255, 255, 255],
            ..Default::default()
        };
        assert_eq!(int_values(&raw), Some(vec![7, -1]));
    }

    #[test]
    fn bytes_come_from_the_shape_and_never_overflow() {
        let mut tensor = TensorProto {
            dims: vec![3, 3],
            data_type: DataType::Int4 as i32,
            ..Default::default()
        };
        assert_eq!(tensor_bytes(&tensor), 5);
        tensor.dims = vec![i64::MAX, i64::MAX];
        assert_eq!(tensor_elements(&tensor), u64::MAX);
        tensor.dims = vec![-3];
        assert_eq!(tensor_elements(&tensor), 0);
    }

    #[test]
    fn a_mark_is_no_name() {
        let value = crate::infer::testing::port("x", DataType::Float, &["?", "n", "3", ""]);
        let dims = stated_dims(&value).unwrap();
        let texts: Vec<String> = dims.iter().map(ToString::to_string).collect();
        assert_eq!(texts, ["?", "n", "3", "?"]);
        assert_eq!(dims[0], dims[3]);
        assert!(!is_name("-1") && is_name("p2o.DynamicDimension.0"));
    }

    #[test]
    fn unknown_types_still_have_a_name() {
        assert_eq!(type_name(DataType::String as i32), "string");
        assert_eq!(type_name(99), "type 99");
    }
}
