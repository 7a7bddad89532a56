//! A network whose weights are planned and not yet made, and the protobuf parts that it is built of.
//!
//! `builder` and `operators` make drafts; `zoo` fills them with weights. Without weights a draft is a few
//! kilobytes, which is enough for shapes, costs and counts.

use crate::pb::attribute_proto::AttributeType;
use crate::pb::tensor_proto::DataType;
use crate::pb::tensor_shape_proto::{Dimension, dimension};
use crate::pb::{
    AttributeProto, GraphProto, ModelProto, OperatorSetIdProto, TensorProto, TensorShapeProto,
    TypeProto, ValueInfoProto, type_proto,
};

use super::weights::{self, TensorPlan};

/// The operator set that the networks use: old enough for every engine, new enough for all we need.
const OPSET: i64 = 17;

/// The file format version that goes with it.
const IR_VERSION: i64 = 8;

/// A network without its weights.
#[derive(Clone, Debug)]
pub struct Draft {
    graph: GraphProto,
    weights: Vec<TensorPlan>,
}

impl Draft {
    /// A graph, and the weights that go before the constants it already has.
    pub(super) fn new(graph: GraphProto, weights: Vec<TensorPlan>) -> Self {
        Self { graph, weights }
    }

    /// The whole model: always the same bytes.
    pub fn fill(self) -> ModelProto {
        let weights = weights::generate(&self.weights);
        model(self.graph, weights)
    }

    /// The model with the names, types and shapes of its weights and none of their values.
    pub fn outline(self) -> ModelProto {
        let weights = self.weights.iter().map(weights::outline).collect();
        model(self.graph, weights)
    }
}

fn model(mut graph: GraphProto, mut weights: Vec<TensorProto>) -> ModelProto {
    weights.append(&mut graph.initializer);
    graph.initializer = weights;
    ModelProto {
        ir_version: IR_VERSION,
        opset_import: vec![OperatorSetIdProto {
            domain: String::new(),
            version: OPSET,
        }],
        producer_name: "powerband".to_owned(),
        graph: Some(graph),
        ..Default::default()
    }
}

pub(super) fn integer(name: &str, value: i64) -> AttributeProto {
    AttributeProto {
        name: name.to_owned(),
        r#type: AttributeType::Int as i32,
        i: Some(value),
        ..Default::default()
    }
}

pub(super) fn integers(name: &str, values: &[usize]) -> AttributeProto {
    let values: Vec<i64> = values.iter().map(|&value| value as i64).collect();
    signed(name, &values)
}

pub(super) fn signed(name: &str, values: &[i64]) -> AttributeProto {
    AttributeProto {
        name: name.to_owned(),
        r#type: AttributeType::Ints as i32,
        ints: values.to_vec(),
        ..Default::default()
    }
}

pub(super) fn float(name: &str, value: f32) -> AttributeProto {
    AttributeProto {
        name: name.to_owned(),
        r#type: AttributeType::Float as i32,
        f: Some(value),
        ..Default::default()
    }
}

pub(super) fn tensor(name: &str, value: TensorProto) -> AttributeProto {
    AttributeProto {
        name: name.to_owned(),
        r#type: AttributeType::Tensor as i32,
        t: Some(value),
        ..Default::default()
    }
}

/// An input or output; each dimension is a number, or the name or expression that it goes by.
pub(crate) fn port(name: &str, element: DataType, dims: &[&str]) -> ValueInfoProto {
    let dim = dims.iter().map(|dim| {
        let value = match dim.parse() {
            Ok(size) => dimension::DimensionValue::DimValue(size),
            Err(_) => dimension::DimensionValue::DimParam((*dim).to_owned()),
        };
        Dimension {
            value: Some(value),
            ..Default::default()
        }
    });
    let tensor = type_proto::Tensor {
        elem_type: element as i32,
        shape: Some(TensorShapeProto { dim: dim.collect() }),
    };
    ValueInfoProto {
        name: name.to_owned(),
        r#type: Some(TypeProto {
            value: Some(type_proto::TypeValue::TensorType(tensor)),
            ..Default::default()
        }),
        ..Default::default()
    }
}
