//! Builds an ONNX graph of any operators, value by value: what transformers need beyond the layers of
//! `builder`.
//!
//! A value is its name. Nodes are named after the module that they belong to, as `transformers` and
//! `torchvision` name them, so that profiles show familiar names; weights have the names of those libraries,
//! so that PyTorch can take them over. Constants are kept once, by what they hold.

use crate::pb::tensor_proto::DataType;
use crate::pb::{AttributeProto, GraphProto, NodeProto, TensorProto, ValueInfoProto};

use super::draft::{Draft, float, integer, integers, port, tensor};
use super::weights::{Fill, TensorPlan};

/// Standard deviation of weights, as GPT-2 and BERT begin with.
pub(super) const STD: f32 = 0.02;

/// A graph under construction.
#[derive(Debug, Default)]
pub(super) struct Operators {
    nodes: Vec<NodeProto>,
    weights: Vec<TensorPlan>,
    constants: Vec<TensorProto>,
    inputs: Vec<ValueInfoProto>,
    outputs: Vec<ValueInfoProto>,
}

impl Operators {
    /// An input of the network; a dimension is a number or a name.
    pub(super) fn input(&mut self, name: &str, element: DataType, dims: &[&str]) -> String {
        self.inputs.push(port(name, element, dims));
        name.to_owned()
    }

    /// Makes a float value an output of the network, under its public name.
    pub(super) fn output(&mut self, value: &str, name: &str, dims: &[&str]) {
        // The value itself takes the new name, so that no node has to copy it.
        for node in &mut self.nodes {
            for known in node.input.iter_mut().chain(&mut node.output) {
                if known == value {
                    name.clone_into(known);
                }
            }
        }
        self.outputs.push(port(name, DataType::Float, dims));
    }

    /// A tensor that a trained network would have learned.
    pub(super) fn weight(&mut self, name: &str, dims: &[usize], fill: Fill) -> String {
        self.weights.push(TensorPlan {
            name: name.to_owned(),
            dims: dims.to_vec(),
            fill,
        });
        name.to_owned()
    }

    /// A list of integers.
    pub(super) fn ints(&mut self, values: &[i64]) -> String {
        let texts: Vec<String> = values.iter().map(ToString::to_string).collect();
        let bytes = values.iter().flat_map(|value| value.to_le_bytes());
        self.constant(
            format!("ints.{}", texts.join(".")),
            DataType::Int64,
            &[values.len()],
            bytes.collect(),
        )
    }

    /// One integer, without a dimension.
    pub(super) fn int(&mut self, value: i64) -> String {
        let bytes = value.to_le_bytes().to_vec();
        self.constant(format!("int.{value}"), DataType::Int64, &[], bytes)
    }

    /// One float, without a dimension.
    pub(super) fn float(&mut self, value: f32) -> String {
        let bytes = value.to_le_bytes().to_vec();
        self.constant(format!("float.{value}"), DataType::Float, &[], bytes)
    }

    /// Floats that are worked out and not learned. A node has them, so that they do not count as weights.
    pub(super) fn settings(&mut self, name: &str, values: &[f32]) -> String {
        let value = TensorProto {
            dims: vec![values.len() as i64],
            data_type: DataType::Float as i32,
            raw_data: values
                .iter()
                .flat_map(|value| value.to_le_bytes())
                .collect(),
            ..Default::default()
        };
        self.op_with("Constant", name, &[], vec![tensor("value", value)])
    }

    fn constant(
        &mut self,
        name: String,
        element: DataType,
        dims: &[usize],
        raw_data: Vec<u8>,
    ) -> String {
        if self.constants.iter().all(|known| known.name != name) {
            self.constants.push(TensorProto {
                name: name.clone(),
                dims: dims.iter().map(|&dim| dim as i64).collect(),
                data_type: element as i32,
                raw_data,
                ..Default::default()
            });
        }
        name
    }

    /// A node with one output.
    pub(super) fn op(&mut self, op_type: &str, name: &str, inputs: &[&str]) -> String {
        self.op_with(op_type, name, inputs, vec![])
    }

    /// A node with one output and with attributes.
    pub(super) fn op_with(
        &mut self,
        op_type: &str,
        name: &str,
        inputs: &[&str],
        attribute: Vec<AttributeProto>,
    ) -> String {
        let output = format!("{name}.out");
        self.node(op_type, name, inputs, vec![output.clone()], attribute);
        output
    }

    fn node(
        &mut self,
        op_type: &str,
        name: &str,
        inputs: &[&str],
        output: Vec<String>,
        attribute: Vec<AttributeProto>,
    ) {
        self.nodes.push(NodeProto {
            input: inputs.iter().map(|&input| input.to_owned()).collect(),
            output,
            name: name.to_owned(),
            op_type: op_type.to_owned(),
            attribute,
            ..Default::default()
        });
    }

    /// Equal parts along an axis.
    pub(super) fn split<const PARTS: usize>(
        &mut self,
        name: &str,
        x: &str,
        axis: i64,
        size: usize,
    ) -> [String; PARTS] {
        let sizes = self.ints(&[size as i64; PARTS]);
        let outputs = std::array::from_fn(|part| format!("{name}.out{part}"));
        let attributes = vec![integer("axis", axis)];
        self.node("Split", name, &[x, &sizes], outputs.to_vec(), attributes);
        outputs
    }

    /// Another shape: 0 keeps a dimension, -1 takes what is left.
    pub(super) fn reshape(&mut self, name: &str, x: &str, shape: &[i64]) -> String {
        let shape = self.ints(shape);
        self.op("Reshape", name, &[x, &shape])
    }

    /// Another order of dimensions.
    pub(super) fn transpose(&mut self, name: &str, x: &str, order: &[usize]) -> String {
        self.op_with("Transpose", name, &[x], vec![integers("perm", order)])
    }

    /// New dimensions of size 1.
    pub(super) fn unsqueeze(&mut self, name: &str, x: &str, axes: &[i64]) -> String {
        let axes = self.ints(axes);
        self.op("Unsqueeze", name, &[x, &axes])
    }

    /// One after the other along an axis.
    pub(super) fn concat(&mut self, name: &str, parts: &[&str], axis: i64) -> String {
        self.op_with("Concat", name, parts, vec![integer("axis", axis)])
    }

    /// Another element type.
    pub(super) fn cast(&mut self, name: &str, x: &str, element: DataType) -> String {
        let to = integer("to", i64::from(element as i32));
        self.op_with("Cast", name, &[x], vec![to])
    }

    /// The size of one dimension, as an integer without a dimension.
    pub(super) fn size(&mut self, name: &str, x: &str, axis: i64) -> String {
        let shape = self.op("Shape", &format!("{name}.shape"), &[x]);
        let axis = self.int(axis);
        self.op("Gather", name, &[&shape, &axis])
    }

    /// Rows of a table of weights: rows × width.
    pub(super) fn embedding(
        &mut self,
        name: &str,
        indices: &str,
        (rows, width): (usize, usize),
    ) -> String {
        let table = self.weight(
            &format!("{name}.weight"),
            &[rows, width],
            Fill::Normal { std: STD },
        );
        self.op("Gather", name, &[&table, indices])
    }

    /// A matrix product without a bias. PyTorch's layers keep the matrix the other way round, which the
    /// `.T` at the end of its name says.
    pub(super) fn matmul(
        &mut self,
        name: &str,
        x: &str,
        (inputs, outputs): (usize, usize),
        std: f32,
    ) -> String {
        let weight = self.weight(
            &format!("{name}.weight.T"),
            &[inputs, outputs],
            Fill::Normal { std },
        );
        self.op("MatMul", name, &[x, &weight])
    }

    /// A matrix product and a bias.
    pub(super) fn linear(
        &mut self,
        name: &str,
        x: &str,
        sizes: (usize, usize),
        std: f32,
    ) -> String {
        let product = self.matmul(name, x, sizes, std);
        self.bias(name, &product, sizes.1)
    }

    /// A bias of a layer.
    pub(super) fn bias(&mut self, name: &str, x: &str, width: usize) -> String {
        let bias = self.weight(&format!("{name}.bias"), &[width], Fill::Normal { std: STD });
        self.op("Add", &format!("{name}.add"), &[&bias, x])
    }

    /// A scale near 1, as norms have it.
    pub(super) fn scale(&mut self, name: &str, width: usize) -> String {
        let fill = Fill::Uniform {
            low: 0.9,
            high: 1.1,
        };
        self.weight(&format!("{name}.weight"), &[width], fill)
    }

    /// Layer normalisation over the last dimension.
    pub(super) fn layer_norm(&mut self, name: &str, x: &str, width: usize, epsilon: f32) -> String {
        let scale = self.scale(name, width);
        let bias = self.weight(&format!("{name}.bias"), &[width], Fill::Normal { std: STD });
        let attributes = vec![integer("axis", -1), float("epsilon", epsilon)];
        self.op_with("LayerNormalization", name, &[x, &scale, &bias], attributes)
    }

    /// The finished network.
    pub(super) fn finish(self, name: &str) -> Draft {
        let graph = GraphProto {
            node: self.nodes,
            name: name.to_owned(),
            initializer: self.constants,
            input: self.inputs,
            output: self.outputs,
            ..Default::default()
        };
        Draft::new(graph, self.weights)
    }
}
