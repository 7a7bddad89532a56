//! A decoder of two small layers for tests: token and position tables, causal attention with past key/values.

use crate::pb::attribute_proto::AttributeType;
use crate::pb::tensor_proto::DataType;
use crate::pb::{
    AttributeProto, GraphProto, ModelProto, NodeProto, OperatorSetIdProto, TensorProto,
};
use crate::zoo::draft::port;
use powerband_core::domain::tensor::{ElementType, Tensor, TensorData, TensorSpec};

/// Its tokens.
pub const VOCABULARY: usize = 97;
/// Its positions.
pub const POSITIONS: usize = 64;
const LAYERS: usize = 2;
const HEADS: usize = 2;
const HEAD: usize = 4;
const WIDTH: usize = HEADS * HEAD;

/// The decoder, with seeded weights.
pub fn tiny() -> ModelProto {
    let mut graph = DecoderGraph::default();
    graph.weight("tokens", &[VOCABULARY, WIDTH]);
    graph.weight("positions", &[POSITIONS, WIDTH]);
    graph.integers("split", &[0, 0, HEADS as i64, HEAD as i64]);
    graph.integers("join", &[0, 0, WIDTH as i64]);
    graph.integers("axes_mask", &[1, 2]);
    graph.integers("axes_rows", &[1, 3]);
    graph.scalars();
    graph.node("Gather", &["tokens", "input_ids"], "embedded", &[]);
    graph.node("Gather", &["positions", "position_ids"], "placed", &[]);
    graph.node("Add", &["embedded", "placed"], "x0", &[]);
    // A token sees itself and those before it, as far as the mask lets it.
    graph.node("Shape", &["attention_mask"], "mask_shape", &[]);
    graph.node("Gather", &["mask_shape", "one"], "total", &[]);
    graph.node("Range", &["zero", "total", "one"], "columns", &[]);
    graph.node("Unsqueeze", &["position_ids", "axes_rows"], "rows", &[]);
    graph.node("GreaterOrEqual", &["rows", "columns"], "causal", &[]);
    graph.node(
        "Unsqueeze",
        &["attention_mask", "axes_mask"],
        "wide_mask",
        &[],
    );
    graph.node("Greater", &["wide_mask", "zero"], "counts", &[]);
    graph.node("And", &["causal", "counts"], "seen", &[]);
    for layer in 0..LAYERS {
        graph.attention(layer);
    }
    graph.node("Transpose", &["tokens"], "turned", &[("perm", &[1, 0])]);
    graph.node("MatMul", &[&format!("x{LAYERS}"), "turned"], "logits", &[]);
    graph.finish()
}

#[derive(Default)]
struct DecoderGraph {
    nodes: Vec<NodeProto>,
    weights: Vec<TensorProto>,
}

impl DecoderGraph {
    fn attention(&mut self, layer: usize) {
        let own = |name: &str| format!("{name}{layer}");
        let x = own("x");
        for part in ["q", "k", "v"] {
            let weight = format!("{part}_weight{layer}");
            self.weight(&weight, &[WIDTH, WIDTH]);
            self.node(
                "MatMul",
                &[&x, &weight],
                &format!("{part}_flat{layer}"),
                &[],
            );
            let (flat, split) = (
                format!("{part}_flat{layer}"),
                format!("{part}_split{layer}"),
            );
            self.node("Reshape", &[&flat, "split"], &split, &[]);
            self.node(
                "Transpose",
                &[&split],
                &own(part),
                &[("perm", &[0, 2, 1, 3])],
            );
        }
        let (key, value) = (
            format!("present.{layer}.key"),
            format!("present.{layer}.value"),
        );
        for (part, present) in [("k", &key), ("v", &value)] {
            let past = present.replacen("present", "past_key_values", 1);
            self.node("Concat", &[&past, &own(part)], present, &[("axis", &[2])]);
        }
        self.node("Transpose", &[&key], &own("kt"), &[("perm", &[0, 1, 3, 2])]);
        self.node("MatMul", &[&own("q"), &own("kt")], &own("raw"), &[]);
        self.node(
            "Where",
            &["seen", &own("raw"), "lowest"],
            &own("scores"),
            &[],
        );
        self.node(
            "Softmax",
            &[&own("scores")],
            &own("shares"),
            &[("axis", &[-1])],
        );
        self.node("MatMul", &[&own("shares"), &value], &own("mixed"), &[]);
        self.node(
            "Transpose",
            &[&own("mixed")],
            &own("back"),
            &[("perm", &[0, 2, 1, 3])],
        );
        self.node("Reshape", &[&own("back"), "join"], &own("joined"), &[]);
        self.weight(&own("out_weight"), &[WIDTH, WIDTH]);
        self.node(
            "MatMul",
            &[&own("joined"), &own("out_weight")],
            &own("out"),
            &[],
        );
        self.node("Add", &[&x, &own("out")], &format!("x{}", layer + 1), &[]);
    }

    fn node(
        &mut self,
        op_type: &str,
        inputs: &[&str],
        output: &str,
        attributes: &[(&str, &[i64])],
    ) {
        let attribute = attributes.iter().map(|(name, values)| {
            let is_list = *name == "perm";
            let kind = if is_list {
                AttributeType::Ints
            } else {
                AttributeType::Int
            };
            AttributeProto {
                name: (*name).to_owned(),
                r#type: kind as i32,
                i: values.first().copied().filter(|_| !is_list),
                ints: if is_list { values.to_vec() } else { Vec::new() },
                ..Default::default()
            }
        });
        self.nodes.push(NodeProto {
            name: format!("make_{output}"),
            op_type: op_type.to_owned(),
            input: inputs.iter().map(|&input| input.to_owned()).collect(),
            output: vec![output.to_owned()],
            attribute: attribute.collect(),
            ..Default::default()
        });
    }

    fn weight(&mut self, name: &str, dims: &[usize]) {
        let spec = TensorSpec::new(name, ElementType::F32, dims.to_vec());
        let seeded = Tensor::seeded(&spec, self.weights.len() as u64);
        let TensorData::F32(values) = seeded.data else {
            return;
        };
        self.weights.push(TensorProto {
            name: name.to_owned(),
            dims: dims.iter().map(|&dim| dim as i64).collect(),
            data_type: DataType::Float as i32,
            float_data: values.into_iter().map(|value| value * 0.5).collect(),
            ..Default::default()
        });
    }

    fn integers(&mut self, name: &str, values: &[i64]) {
        self.weights.push(TensorProto {
            name: name.to_owned(),
            dims: vec![values.len() as i64],
            data_type: DataType::Int64 as i32,
            int64_data: values.to_vec(),
            ..Default::default()
        });
    }

    fn scalars(&mut self) {
        for (name, value) in [("zero", 0), ("one", 1)] {
            self.integers(name, &[value]);
            if let Some(scalar) = self.weights.last_mut() {
                scalar.dims.clear();
            }
        }
        self.weights.push(TensorProto {
            name: "lowest".to_owned(),
            data_type: DataType::Float as i32,
            float_data: vec![-1e9],
            ..Default::default()
        });
    }

    fn finish(self) -> ModelProto {
        let integers = DataType::Int64;
        let mut input = vec![
            port("input_ids", integers, &["batch", "sequence"]),
            port("attention_mask", integers, &["batch", "total"]),
            port("position_ids", integers, &["batch", "sequence"]),
        ];
        let vocabulary = VOCABULARY.to_string();
        let mut output = vec![port(
            "logits",
            DataType::Float,
            &["batch", "sequence", &vocabulary],
        )];
        let (heads, head) = (HEADS.to_string(), HEAD.to_string());
        for layer in 0..LAYERS {
            for part in ["key", "value"] {
                let cache = |name: &str, length: &str| {
                    let dims = ["batch", &heads, length, &head];
                    port(&format!("{name}.{layer}.{part}"), DataType::Float, &dims)
                };
                input.push(cache("past_key_values", "past"));
                output.push(cache("present", "total"));
            }
        }
        let graph = GraphProto {
            name: "tiny decoder".to_owned(),
            node: self.nodes,
            initializer: self.weights,
            input,
            output,
            ..Default::default()
        };
        ModelProto {
            ir_version: 8,
            opset_import: vec![OperatorSetIdProto {
                domain: String::new(),
                version: 17,
            }],
            graph: Some(graph),
            ..Default::default()
        }
    }
}
