//! Builds an ONNX graph node by node.
//!
//! `resnet` and `densenet` call it layer by layer; out comes a whole model with its weights. Each
//! layer's node, output and tensors are named after the layer, the way torchvision names them, so
//! that tools show familiar names and seeds stay put.

use crate::pb::tensor_proto::DataType;
use crate::pb::{AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto};

use super::draft::{Draft, float, integer, integers, port};
use super::weights::{Fill, TensorPlan};

/// What flows along an edge of the graph: batch × channels × height × width.
#[derive(Clone, Debug)]
pub struct FeatureMap {
    name: String,
    /// How many channels it has.
    pub channels: usize,
}

impl FeatureMap {
    pub(super) fn name(&self) -> &str {
        &self.name
    }
}

/// A square convolution without a bias, padded so that stride 1 keeps the size.
#[derive(Clone, Copy, Debug)]
pub struct Conv {
    /// Channels that come out.
    pub channels: usize,
    /// Height and width of the kernel.
    pub kernel: usize,
    /// Step between two places.
    pub stride: usize,
}

/// A graph under construction.
#[derive(Debug, Default)]
pub struct GraphBuilder {
    nodes: Vec<NodeProto>,
    tensors: Vec<TensorPlan>,
    /// Numbers that are no weights.
    pub(super) constants: Vec<TensorProto>,
}

impl GraphBuilder {
    /// The image that the network looks at.
    pub fn image() -> FeatureMap {
        FeatureMap {
            name: "input".to_owned(),
            channels: 3,
        }
    }

    /// Convolution with normal weights after He et al., "Delving Deep into Rectifiers" (2015), with
    /// the standard deviation by fan-in, √(2 ÷ inputs per output), which keeps the size of the
    /// values the same from layer to layer on the way forward.
    pub fn conv(&mut self, name: &str, x: &FeatureMap, conv: Conv) -> FeatureMap {
        self.convolve(name, x, conv, 1, false)
    }

    /// The same in groups of channels that do not see each other, and with a bias or without.
    pub(super) fn convolve(
        &mut self,
        name: &str,
        x: &FeatureMap,
        conv: Conv,
        groups: usize,
        has_bias: bool,
    ) -> FeatureMap {
        let Conv {
            channels,
            kernel,
            stride,
        } = conv;
        let seen = x.channels / groups;
        let std = (2.0 / (seen * kernel * kernel) as f32).sqrt();
        let dims = vec![channels, seen, kernel, kernel];
        let weight = self.tensor(name, "weight", dims, Fill::Normal { std });
        let mut inputs = vec![x.name.clone(), weight];
        if has_bias {
            inputs.push(self.tensor(name, "bias", vec![channels], Fill::Normal { std: 0.01 }));
        }
        let mut attributes = window(kernel, stride, kernel / 2);
        if groups > 1 {
            attributes.push(integer("group", groups as i64));
        }
        self.node("Conv", name, inputs, attributes, channels)
    }

    /// Batch normalisation with running statistics as a trained network might have them.
    pub fn batch_norm(&mut self, name: &str, x: &FeatureMap, gamma: f32) -> FeatureMap {
        let dims = || vec![x.channels];
        let inputs = vec![
            x.name.clone(),
            self.tensor(name, "weight", dims(), Fill::Constant(gamma)),
            self.tensor(name, "bias", dims(), Fill::Normal { std: 0.1 }),
            self.tensor(name, "running_mean", dims(), Fill::Normal { std: 0.1 }),
            self.tensor(
                name,
                "running_var",
                dims(),
                Fill::Uniform {
                    low: 0.5,
                    high: 1.5,
                },
            ),
        ];
        self.node(
            "BatchNormalization",
            name,
            inputs,
            vec![float("epsilon", 1e-5)],
            x.channels,
        )
    }

    /// Rectifier.
    pub fn relu(&mut self, name: &str, x: &FeatureMap) -> FeatureMap {
        self.node("Relu", name, vec![x.name.clone()], vec![], x.channels)
    }

    /// Maximum over 3 × 3 at every second place.
    pub(crate) fn max_pool(&mut self, name: &str, x: &FeatureMap) -> FeatureMap {
        self.node(
            "MaxPool",
            name,
            vec![x.name.clone()],
            window(3, 2, 1),
            x.channels,
        )
    }

    /// Mean over 2 × 2, which halves the size.
    pub fn average_pool(&mut self, name: &str, x: &FeatureMap) -> FeatureMap {
        self.node(
            "AveragePool",
            name,
            vec![x.name.clone()],
            window(2, 2, 0),
            x.channels,
        )
    }

    /// Sum of two equals.
    pub fn add(&mut self, name: &str, a: &FeatureMap, b: &FeatureMap) -> FeatureMap {
        self.node(
            "Add",
            name,
            vec![a.name.clone(), b.name.clone()],
            vec![],
            a.channels,
        )
    }

    /// Channels of both, one after the other.
    pub fn concat(&mut self, name: &str, a: &FeatureMap, b: &FeatureMap) -> FeatureMap {
        let inputs = vec![a.name.clone(), b.name.clone()];
        self.node(
            "Concat",
            name,
            inputs,
            vec![integer("axis", 1)],
            a.channels + b.channels,
        )
    }

    /// Mean over the picture, then one score per class. With weights of 1 ÷ √inputs, the scores
    /// are about as large as the features.
    pub fn classify(&mut self, name: &str, x: &FeatureMap, classes: usize) -> FeatureMap {
        let pooled = self.node(
            "GlobalAveragePool",
            "avgpool",
            vec![x.name.clone()],
            vec![],
            x.channels,
        );
        let flat = self.node(
            "Flatten",
            "flatten",
            vec![pooled.name],
            vec![integer("axis", 1)],
            x.channels,
        );
        let std = (x.channels as f32).sqrt().recip();
        let inputs = vec![
            flat.name,
            self.tensor(
                name,
                "weight",
                vec![classes, x.channels],
                Fill::Normal { std },
            ),
            self.tensor(name, "bias", vec![classes], Fill::Normal { std: 0.01 }),
        ];
        self.node("Gemm", name, inputs, vec![integer("transB", 1)], classes)
    }

    /// The finished model for square images of `side` pixels; `logits` becomes its output.
    pub fn finish(self, name: &str, side: usize, logits: &FeatureMap) -> ModelProto {
        self.draft(name, side, logits).fill()
    }

    /// The same without its weights.
    pub(super) fn draft(self, name: &str, side: usize, logits: &FeatureMap) -> Draft {
        self.draft_with(name, side, logits, &[])
    }

    /// The same with an output that has further dimensions.
    pub(super) fn draft_with(
        mut self,
        name: &str,
        side: usize,
        logits: &FeatureMap,
        further: &[&str],
    ) -> Draft {
        // The last node writes the output under its public name, without a copy in between.
        for node in &mut self.nodes {
            for output in node
                .output
                .iter_mut()
                .filter(|output| **output == logits.name)
            {
                "logits".clone_into(output);
            }
        }
        let (side, scores) = (side.to_string(), logits.channels.to_string());
        let dims = [&["batch", scores.as_str()], further].concat();
        let graph = GraphProto {
            node: self.nodes,
            name: name.to_owned(),
            input: vec![port(
                "input",
                DataType::Float,
                &["batch", "3", &side, &side],
            )],
            output: vec![port("logits", DataType::Float, &dims)],
            initializer: self.constants,
            ..Default::default()
        };
        Draft::new(graph, self.tensors)
    }

    /// Plans a tensor of a layer and returns its name.
    pub(super) fn tensor(
        &mut self,
        layer: &str,
        role: &str,
        dims: Vec<usize>,
        fill: Fill,
    ) -> String {
        let name = format!("{layer}.{role}");
        self.tensors.push(TensorPlan {
            name: name.clone(),
            dims,
            fill,
        });
        name
    }

    /// Adds a node with one output.
    pub(super) fn node(
        &mut self,
        op_type: &str,
        name: &str,
        input: Vec<String>,
        attribute: Vec<AttributeProto>,
        channels: usize,
    ) -> FeatureMap {
        let output = format!("{name}.out");
        self.nodes.push(NodeProto {
            input,
            output: vec![output.clone()],
            name: name.to_owned(),
            op_type: op_type.to_owned(),
            attribute,
            ..Default::default()
        });
        FeatureMap {
            name: output,
            channels,
        }
    }
}

/// The attributes of a square window.
fn window(kernel: usize, stride: usize, pad: usize) -> Vec<AttributeProto> {
    vec![
        integers("kernel_shape", &[kernel; 2]),
        integers("strides", &[stride; 2]),
        integers("pads", &[pad; 4]),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_are_chained_by_name() {
        let mut graph = GraphBuilder::default();
        let x = graph.conv(
            "stem",
            &GraphBuilder::image(),
            Conv {
                channels: 4,
                kernel: 3,
                stride: 1,
            },
        );
        let y = graph.concat("cat", &x, &x);
        assert_eq!(y.channels, 8);
        let logits = graph.classify("fc", &y, 10);
        let model = graph.finish("small", 32, &logits);
        let graph = model.graph.unwrap();
        assert_eq!(graph.node[0].input, ["input", "stem.weight"]);
        assert_eq!(graph.node[1].input, ["stem.out", "stem.out"]);
        assert_eq!(graph.node[4].output, ["logits"]);
        let names: Vec<_> = graph
            .initializer
            .iter()
            .map(|tensor| tensor.name.as_str())
            .collect();
        assert_eq!(names, ["stem.weight", "fc.weight", "fc.bias"]);
        assert_eq!(graph.initializer[0].dims, [4, 3, 3, 3]);
    }
}
