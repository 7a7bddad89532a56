//! A few lines make a graph: for the unit tests of this folder and of `cost` and `inspect`.
//!
//! Names are split at spaces, so that a test reads like the node it describes. Compiled for tests
//! only.

use crate::pb::attribute_proto::AttributeType;
use crate::pb::tensor_proto::DataType;
use crate::pb::tensor_shape_proto::{Dimension, dimension};
use crate::pb::{
    AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto, TensorShapeProto, TypeProto,
    ValueInfoProto, type_proto,
};

use super::Shapes;
use powerband_core::domain::tensor::{ElementType, TensorSpec};

/// A graph under construction.
#[derive(Clone, Debug, Default)]
pub struct TestGraph {
    /// The protobuf so far.
    pub graph: GraphProto,
    specs: Vec<TensorSpec>,
}

impl TestGraph {
    /// A graph with float inputs; the file names dimension 0 of `x` as `x0`, and so on.
    pub fn new(inputs: &[(&str, &[usize])]) -> Self {
        let mut new = Self::default();
        for (name, dims) in inputs {
            let names: Vec<String> = (0..dims.len())
                .map(|index| format!("{name}{index}"))
                .collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            new.graph.input.push(port(name, DataType::Float, &names));
            new.specs
                .push(TensorSpec::new(*name, ElementType::F32, dims.to_vec()));
        }
        new
    }

    /// Adds a float initializer without values.
    pub fn weight(self, name: &str, dims: &[usize]) -> Self {
        self.typed(name, DataType::Float, dims)
    }

    /// Adds an initializer without values.
    pub fn typed(mut self, name: &str, data_type: DataType, dims: &[usize]) -> Self {
        self.graph.initializer.push(TensorProto {
            name: name.to_owned(),
            data_type: data_type as i32,
            dims: dims.iter().map(|&dim| dim as i64).collect(),
            ..Default::default()
        });
        self
    }

    /// Adds a list of 64-bit integers.
    pub fn ints(mut self, name: &str, values: &[i64]) -> Self {
        self.graph.initializer.push(TensorProto {
            name: name.to_owned(),
            data_type: DataType::Int64 as i32,
            dims: vec![values.len() as i64],
            int64_data: values.to_vec(),
            ..Default::default()
        });
        self
    }

    /// Adds a list of floats.
    pub fn floats(mut self, name: &str, values: &[f32]) -> Self {
        self.graph.initializer.push(TensorProto {
            name: name.to_owned(),
            data_type: DataType::Float as i32,
            dims: vec![values.len() as i64],
            float_data: values.to_vec(),
            ..Default::default()
        });
        self
    }

    /// Adds a node; `_` stands for an input that is left out.
    pub fn node(
        mut self,
        op_type: &str,
        inputs: &str,
        outputs: &str,
        attributes: &[AttributeProto],
    ) -> Self {
        let name = |name: &str| if name == "_" { "" } else { name }.to_owned();
        let names = |text: &str| text.split(' ').map(name).collect();
        self.graph.node.push(NodeProto {
            op_type: op_type.to_owned(),
            input: names(inputs),
            output: names(outputs),
            attribute: attributes.to_vec(),
            ..Default::default()
        });
        self
    }

    /// States the shape of an inner value.
    pub fn stated(mut self, name: &str, dims: &[&str]) -> Self {
        self.graph
            .value_info
            .push(port(name, DataType::Float, dims));
        self
    }

    /// The finished model.
    pub fn model(&self) -> ModelProto {
        ModelProto {
            graph: Some(self.graph.clone()),
            ..Default::default()
        }
    }

    /// The inputs that it was made with.
    pub fn specs(&self) -> Vec<TensorSpec> {
        self.specs.clone()
    }

    /// What inference makes of it.
    pub fn shapes(&self) -> Shapes {
        super::infer(&self.model(), &self.specs)
    }
}

/// A value with a tensor type; dimensions are numbers, names, or empty for "unknown".
pub fn port(name: &str, data_type: DataType, dims: &[&str]) -> ValueInfoProto {
    let dim = dims.iter().map(|dim| {
        let value = match dim.parse() {
            Ok(size) => Some(dimension::DimensionValue::DimValue(size)),
            Err(_) if dim.is_empty() => None,
            Err(_) => Some(dimension::DimensionValue::DimParam((*dim).to_owned())),
        };
        Dimension {
            value,
            ..Default::default()
        }
    });
    let shape = Some(TensorShapeProto { dim: dim.collect() });
    let tensor = type_proto::Tensor {
        elem_type: data_type as i32,
        shape,
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

/// An attribute of one or several integers.
pub fn attr(name: &str, values: &[i64]) -> AttributeProto {
    AttributeProto {
        name: name.to_owned(),
        r#type: AttributeType::Ints as i32,
        i: values.first().copied(),
        ints: values.to_vec(),
        ..Default::default()
    }
}

/// An attribute of text.
pub fn attr_text(name: &str, value: &str) -> AttributeProto {
    AttributeProto {
        name: name.to_owned(),
        r#type: AttributeType::String as i32,
        s: Some(value.as_bytes().to_vec()),
        ..Default::default()
    }
}
