//! Small ONNX files made on the spot, good and bad ones.

use powerband_onnx::pb::{
    GraphProto, ModelProto, NodeProto, OperatorSetIdProto, TensorShapeProto, TypeProto,
    ValueInfoProto, tensor_shape_proto, type_proto,
};
use prost::Message as _;

/// A dimension: a size, or a name.
pub(crate) enum Dim {
    Size(i64),
    Name(&'static str),
}

/// ONNX's number for 32-bit floats.
pub(crate) const FLOAT: i32 = 1;
/// ONNX's number for 64-bit integers.
pub(crate) const INT64: i32 = 7;
/// ONNX's number for booleans.
pub(crate) const BOOL: i32 = 9;
/// ONNX's number for 16-bit floats.
pub(crate) const FLOAT16: i32 = 10;

/// A model of one node.
pub(crate) fn one_node(op: &str, inputs: &[(&str, i32, &[Dim])], output: (i32, &[Dim])) -> Vec<u8> {
    let node = NodeProto {
        op_type: op.to_owned(),
        name: "the-node".to_owned(),
        input: inputs
            .iter()
            .map(|(name, _, _)| (*name).to_owned())
            .collect(),
        output: vec!["y".to_owned()],
        ..NodeProto::default()
    };
    model(vec![node], inputs, output)
}

/// A model of some nodes, the last of which gives `y`.
pub(crate) fn model(
    nodes: Vec<NodeProto>,
    inputs: &[(&str, i32, &[Dim])],
    output: (i32, &[Dim]),
) -> Vec<u8> {
    let graph = GraphProto {
        name: "test".to_owned(),
        node: nodes,
        input: inputs
            .iter()
            .map(|(name, element, dims)| value(name, *element, dims))
            .collect(),
        output: vec![value("y", output.0, output.1)],
        ..GraphProto::default()
    };
    let opset = OperatorSetIdProto {
        domain: String::new(),
        version: 17,
    };
    let model = ModelProto {
        ir_version: 8,
        opset_import: vec![opset],
        graph: Some(graph),
        ..ModelProto::default()
    };
    model.encode_to_vec()
}

fn value(name: &str, element: i32, dims: &[Dim]) -> ValueInfoProto {
    let dims = dims
        .iter()
        .map(|dim| tensor_shape_proto::Dimension {
            value: Some(match dim {
                Dim::Size(size) => tensor_shape_proto::dimension::DimensionValue::DimValue(*size),
                Dim::Name(name) => {
                    tensor_shape_proto::dimension::DimensionValue::DimParam((*name).to_owned())
                }
            }),
            ..tensor_shape_proto::Dimension::default()
        })
        .collect();
    let tensor = type_proto::Tensor {
        elem_type: element,
        shape: Some(TensorShapeProto { dim: dims }),
    };
    let kind = TypeProto {
        value: Some(type_proto::TypeValue::TensorType(tensor)),
        ..TypeProto::default()
    };
    ValueInfoProto {
        name: name.to_owned(),
        r#type: Some(kind),
        ..ValueInfoProto::default()
    }
}

/// A network that every engine can read.
pub(crate) fn good_model() -> Vec<u8> {
    one_node(
        "Relu",
        &[("x", FLOAT, &[Dim::Name("N"), Dim::Size(8)])],
        (FLOAT, &[Dim::Name("N"), Dim::Size(8)]),
    )
}
