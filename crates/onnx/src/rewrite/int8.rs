//! Turns the layers of a network into 8-bit integers.
//!
//! `placing` says which nodes and values, `quantity` does the arithmetic, and here the network is
//! written down: floats as before on paper, with `QuantizeLinear` and `DequantizeLinear` between
//! them, which is the form that engines take and turn into integer kernels. Weights have a scale
//! per output channel and no offset, activations a scale and a zero point per tensor, biases 32
//! bits in steps of the products they are added to. A rectifier after a layer is gone: storing in a
//! range that begins at zero does the same.

use std::collections::{BTreeMap, BTreeSet};

use crate::pb::tensor_proto::DataType;
use crate::pb::{ModelProto, NodeProto, TensorProto};

use super::parts::{self, FLOAT, LeaveOut, TakenNames};
use super::placing::{self, Int8Job, Int8Placement};
use super::quantity::{self, Affine, Channels};
use super::{Counts, RewriteError, Rewritten};
use crate::proto;

pub use super::ranges::{Method, Ranges};

/// What the caller may choose.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Int8Options {
    /// Operator types and node names that stay in floats.
    pub leave_out: Vec<String>,
    /// Weights of 7 bits. x86 processors without VNNI add products up in 16 bits, which overflow
    /// with weights of 8.
    pub reduce_range: bool,
}

/// Rewrites a network to 8-bit integers. The ranges are those of the values that `observe` names.
pub fn rewrite(
    model: &ModelProto,
    ranges: &BTreeMap<String, (f32, f32)>,
    options: &Int8Options,
) -> Result<Rewritten, RewriteError> {
    let leave_out = LeaveOut::new(&options.leave_out);
    let mut notes = leave_out.unmatched_words(proto::nodes(model));
    let placing = placing::place(model, &leave_out)?;
    let affine = steps(&placing, ranges)?;
    let graph = placing.model.graph.as_ref().ok_or(RewriteError::NoGraph)?;
    let mut writer = Writer {
        reduced: options.reduce_range,
        stored: graph
            .initializer
            .iter()
            .map(|tensor| (tensor.name.as_str(), tensor))
            .collect(),
        outputs: parts::outputs(graph),
        names: TakenNames::new(graph),
        affine,
        parameters: BTreeMap::new(),
        read_as: BTreeMap::new(),
        everywhere: BTreeSet::new(),
        nodes: Vec::new(),
        tensors: Vec::new(),
        counts: Counts {
            folded: placing.folded,
            ..Default::default()
        },
        placing: &placing,
    };
    for value in &graph.input {
        writer.quantise_value(&value.name, &value.name, false);
    }
    let float = |name: &String| placing.types.get(name) == Some(&FLOAT);
    for (node, &job) in graph.node.iter().zip(&placing.jobs) {
        writer.node(node, job)?;
        let is_left =
            job.is_none() && node.input.iter().any(float) && node.output.iter().any(float);
        writer.counts.left += u64::from(is_left);
    }
    let Writer {
        nodes,
        tensors,
        counts,
        ..
    } = writer;
    notes.extend(placing.left.notes());
    let mut model = placing.model.clone();
    if let Some(graph) = &mut model.graph {
        graph.node = nodes;
        graph.initializer.extend(tensors);
        parts::drop_unused(graph);
    }
    Ok(Rewritten {
        model,
        notes,
        counts,
    })
}

/// The steps in which each value is stored, by the value that they were measured on.
fn steps(
    placing: &Int8Placement,
    ranges: &BTreeMap<String, (f32, f32)>,
) -> Result<BTreeMap<String, Affine>, RewriteError> {
    let roots = placing.range_sources();
    let mut missing = roots.iter().filter(|name| !ranges.contains_key(**name));
    if let Some(first) = missing.next() {
        return Err(RewriteError::NoRange {
            tensor: (*first).to_owned(),
            missing: missing.count() + 1,
        });
    }
    let mut steps = BTreeMap::new();
    for name in roots {
        let (low, high) = ranges[name];
        if !(low <= high && low.is_finite() && high.is_finite()) {
            let tensor = name.to_owned();
            return Err(RewriteError::BadRange { tensor, low, high });
        }
        // What an operator that is gone cut to, the stored range must cut to as well.
        let cut = placing.bounds.get(name);
        let (least, most) = cut.copied().unwrap_or((f32::NEG_INFINITY, f32::INFINITY));
        let affine = Affine::of_range(low.max(least), high.min(most));
        steps.insert(name.to_owned(), affine);
    }
    Ok(steps)
}

/// The new graph as far as it is written.
struct Writer<'a> {
    placing: &'a Int8Placement,
    reduced: bool,
    stored: BTreeMap<&'a str, &'a TensorProto>,
    outputs: BTreeSet<String>,
    names: TakenNames,
    affine: BTreeMap<String, Affine>,
    /// The names of scale and zero point, by the value that they were measured on.
    parameters: BTreeMap<String, [String; 2]>,
    /// What nodes in 8 bits read in place of a value.
    read_as: BTreeMap<String, String>,
    /// Values that nodes in floats read in that form as well.
    everywhere: BTreeSet<String>,
    nodes: Vec<NodeProto>,
    tensors: Vec<TensorProto>,
    counts: Counts,
}

impl Writer<'_> {
    /// Writes a node with what it reads, and what is stored of its result.
    fn node(&mut self, node: &NodeProto, job: Option<Int8Job>) -> Result<(), RewriteError> {
        let mut node = node.clone();
        match job {
            Some(Int8Job::Layer { axis }) => self.layer(&mut node, axis)?,
            Some(Int8Job::Plain) => self.constants(&node)?,
            Some(Int8Job::Pass) | None => {}
        }
        self.counts.rewritten += u64::from(job.is_some());
        for name in &mut node.input {
            if let Some(read) = self.read_as.get(name)
                && (job.is_some() || self.everywhere.contains(name))
            {
                name.clone_from(read);
            }
        }
        let product = placing::is_product(&node);
        let mut written = Vec::new();
        for name in &mut node.output {
            let value = name.clone();
            // What a product gives is floats for all but layers, unless storing has to cut it to a range.
            let everywhere = job.is_some() && (!product || self.placing.bounds.contains_key(name));
            // The outside knows an output by its name, which the stored form must have then.
            let end = everywhere && self.placing.values.contains(name);
            if end && self.outputs.contains(name) {
                *name = self.names.fresh(name, "float");
            }
            written.push((value, name.clone(), everywhere));
        }
        self.nodes.push(node);
        for (value, name, everywhere) in written {
            self.quantise_value(&value, &name, everywhere);
        }
        Ok(())
    }

    /// Stores a value and takes it back, where it goes through 8 bits. What a node in 8 bits made
    /// is read in this form by all nodes, so that the engine can leave the float form out.
    fn quantise_value(&mut self, value: &str, written: &str, everywhere: bool) {
        if !self.placing.values.contains(value) {
            return;
        }
        let root = self.placing.range_source(value).to_owned();
        let Some(&affine) = self.affine.get(&root) else {
            return;
        };
        let [scale, zero] = if let Some(known) = self.parameters.get(&root) {
            known.clone()
        } else {
            let new = self.affine_tensors(&root, affine);
            self.parameters.insert(root, new.clone());
            new
        };
        let read = if value == written {
            self.names.fresh(value, "dequantized")
        } else {
            value.to_owned()
        };
        let kept = self.names.fresh(value, "uint8");
        let input = vec![written.to_owned(), scale.clone(), zero.clone()];
        self.add(parts::node("QuantizeLinear", input, &kept, vec![]));
        let input = vec![kept, scale, zero];
        self.add(parts::node("DequantizeLinear", input, &read, vec![]));
        self.read_as.insert(value.to_owned(), read);
        if everywhere {
            self.everywhere.insert(value.to_owned());
        }
    }

    /// Writes a scale and a zero point down.
    fn affine_tensors(&mut self, name: &str, affine: Affine) -> [String; 2] {
        let scale = self.names.fresh(name, "scale");
        let zero = self.names.fresh(name, "zero");
        self.tensors.extend([
            parts::floats(&scale, &[], &[affine.scale]),
            parts::raw(&zero, DataType::Uint8, &[], vec![affine.zero]),
        ]);
        [scale, zero]
    }

    fn add(&mut self, node: NodeProto) {
        self.nodes.push(node);
        self.counts.added += 1;
    }

    /// Stores the weights and the bias of a layer, and makes it read them.
    fn layer(&mut self, node: &mut NodeProto, axis: usize) -> Result<(), RewriteError> {
        let tensor = |index: usize| {
            let name = proto::input(node, index)?;
            self.stored.get(name).copied()
        };
        let damaged = || RewriteError::Damaged {
            tensor: node.input[1].clone(),
        };
        let weight = tensor(1).ok_or_else(damaged)?;
        let dims = proto::dims(weight).ok_or_else(damaged)?;
        let channels = Channels::along(&dims, axis).ok_or_else(damaged)?;
        let factor = |name| proto::attribute(node, name).map_or(1.0, |found| found.f());
        let scaled = |tensor, factor: f32| {
            let values = parts::values(tensor)?;
            Ok(values.into_iter().map(|value| value * factor).collect())
        };
        let values: Vec<f32> = scaled(weight, factor("alpha"))?;
        let bias = tensor(2)
            .map(|tensor| scaled(tensor, factor("beta")))
            .transpose()?
            .filter(|bias: &Vec<f32>| bias.len() == channels.count());
        let input = self.affine.get(self.placing.range_source(&node.input[0]));
        let step = input.map_or(1.0, |affine| affine.scale);
        let in_steps: Option<Vec<f32>> = bias
            .as_ref()
            .map(|bias| bias.iter().map(|value| value / step).collect());
        let weights = quantity::weights(&values, channels, self.reduced, in_steps.as_deref());
        // Their work is done by the stored values now.
        node.attribute
            .retain(|known| !matches!(known.name.as_str(), "alpha" | "beta"));
        let base = node.input[1].clone();
        let bytes = weights.stored.iter().map(|&value| value as u8).collect();
        let stored = Stored {
            tensor: parts::raw("", DataType::Int8, &dims, bytes),
            scales: &weights.scales,
            axis,
        };
        node.input[1] = self.dequantize(&base, &stored);
        if let Some(bias) = bias {
            let base = node.input[2].clone();
            let scales: Vec<f32> = weights.scales.iter().map(|scale| scale * step).collect();
            let words = quantity::bias(&bias, &scales);
            let bytes = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            let stored = Stored {
                tensor: parts::raw("", DataType::Int32, &[words.len()], bytes),
                scales: &scales,
                axis: 0,
            };
            node.input[2] = self.dequantize(&base, &stored);
        }
        Ok(())
    }

    /// Writes a stored tensor with its scales down, and the node that makes floats of it.
    fn dequantize(&mut self, base: &str, stored: &Stored<'_>) -> String {
        let [name, scale, zero, read] =
            ["stored", "scale", "zero", "dequantized"].map(|suffix| self.names.fresh(base, suffix));
        let count = stored.scales.len();
        let whole = stored.tensor.data_type == DataType::Int32 as i32;
        let (element, bytes) = if whole {
            (DataType::Int32, 4)
        } else {
            (DataType::Int8, 1)
        };
        self.tensors.extend([
            TensorProto {
                name: name.clone(),
                ..stored.tensor.clone()
            },
            parts::floats(&scale, &[count], stored.scales),
            parts::raw(&zero, element, &[count], vec![0; count * bytes]),
        ]);
        self.counts.tensors += 1;
        let axis = parts::int("axis", stored.axis as i64);
        let input = vec![name, scale, zero];
        self.add(parts::node("DequantizeLinear", input, &read, vec![axis]));
        read
    }

    /// Stores the constants that a node takes beside activations, as if they were some.
    fn constants(&mut self, node: &NodeProto) -> Result<(), RewriteError> {
        for name in &node.input {
            let Some(tensor) = self.stored.get(name.as_str()).copied() else {
                continue;
            };
            if self.read_as.contains_key(name) {
                continue;
            }
            let values = parts::values(tensor)?;
            let affine = Affine::of_values(&values);
            let bytes = values.iter().map(|&value| affine.store(value)).collect();
            let dims = proto::dims(tensor).unwrap_or_default();
            let kept = self.names.fresh(name, "uint8");
            let read = self.names.fresh(name, "dequantized");
            let [scale, zero] = self.affine_tensors(name, affine);
            self.tensors
                .push(parts::raw(&kept, DataType::Uint8, &dims, bytes));
            self.counts.tensors += 1;
            let input = vec![kept, scale, zero];
            self.add(parts::node("DequantizeLinear", input, &read, vec![]));
            self.read_as.insert(name.clone(), read);
        }
        Ok(())
    }
}

/// Whole numbers with a scale per channel.
struct Stored<'a> {
    tensor: TensorProto,
    scales: &'a [f32],
    axis: usize,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::infer::testing::{TestGraph, attr, attr_text, port};
    use crate::pb::OperatorSetIdProto;
    use crate::rewrite::observe;

    fn model(graph: &TestGraph, version: i64) -> ModelProto {
        let mut model = graph.model();
        model.opset_import.push(OperatorSetIdProto {
            domain: String::new(),
            version,
        });
        let graph = model.graph.as_mut().unwrap();
        let last = graph.node.last().unwrap().output[0].clone();
        graph.output.push(port(&last, DataType::Float, &["n"]));
        model
    }

    /// Two channels in, two out, one pixel.
    fn conv() -> TestGraph {
        let mut graph = TestGraph::new(&[("x", &[1, 2, 1, 1])])
            .floats("w", &[1.0, -2.0, 0.5, 0.25])
            .floats("b", &[1.0, -1.0])
            .node("Conv", "x w b", "c", &[]);
        graph.graph.initializer[0].dims = vec![2, 2, 1, 1];
        graph
    }

    fn ranges(of: &[(&str, f32, f32)]) -> BTreeMap<String, (f32, f32)> {
        of.iter()
            .map(|&(name, low, high)| (name.to_owned(), (low, high)))
            .collect()
    }

    fn lines(model: &ModelProto) -> Vec<String> {
        let line = |node: &NodeProto| {
            let first = node.input.first().map_or("", String::as_str);
            format!("{} {first} > {}", node.op_type, node.output.join(" "))
        };
        proto::nodes(model).iter().map(line).collect()
    }

    fn tensor<'a>(model: &'a ModelProto, name: &str) -> &'a TensorProto {
        let all = &model.graph.as_ref().unwrap().initializer;
        all.iter().find(|tensor| tensor.name == name).unwrap()
    }

    #[test]
    fn a_layer_and_its_rectifier_become_one() {
        let graph = conv()
            .node("Relu", "c", "r", &[])
            .node("Flatten", "r", "y", &[]);
        let model = model(&graph, 13);
        let options = Int8Options::default();
        let names = observe::names(&model, &options).unwrap();
        assert_eq!(names.into_iter().collect::<Vec<_>>(), ["r", "x"]);
        let known = ranges(&[("x", -1.0, 1.0), ("r", -0.2, 5.1)]);
        let done = rewrite(&model, &known, &options).unwrap();
        assert_eq!(
            lines(&done.model),
            [
                "QuantizeLinear x > x/uint8",
                "DequantizeLinear x/uint8 > x/dequantized",
                "DequantizeLinear w/stored > w/dequantized",
                "DequantizeLinear b/stored > b/dequantized",
                "Conv x/dequantized > r",
                "QuantizeLinear r > r/uint8",
                "DequantizeLinear r/uint8 > r/dequantized",
                "Flatten r/dequantized > y/float",
                "QuantizeLinear y/float > y/uint8",
                "DequantizeLinear y/uint8 > y",
            ]
        );
        let new = &done.model;
        let scales = parts::values(tensor(new, "w/scale")).unwrap();
        assert_eq!(scales, [2.0 / 127.0, 0.5 / 127.0]);
        assert_eq!(tensor(new, "w/stored").raw_data, [64, 129, 127, 64]);
        assert_eq!(tensor(new, "r/zero").raw_data, [0]);
        let x = parts::values(tensor(new, "x/scale")).unwrap()[0];
        let step = parts::values(tensor(new, "b/scale")).unwrap();
        assert_eq!(step, [x * scales[0], x * scales[1]]);
        let (words, _) = tensor(new, "b/stored").raw_data.as_chunks::<4>();
        let bias = words.iter().zip(&step);
        let bias: Vec<f32> = bias
            .map(|(&word, step)| i32::from_le_bytes(word) as f32 * step)
            .collect();
        assert!(
            (bias[0] - 1.0).abs() < 1e-3 && (bias[1] + 1.0).abs() < 1e-3,
            "{bias:?}"
        );
        assert_eq!((done.counts.rewritten, done.counts.tensors), (2, 2));
    }

    #[test]
    fn answers_and_left_out_nodes_keep_floats() {
        let graph = conv()
            .floats("v", &[1.0; 6])
            .node("Sub", "c c", "s", &[])
            .node("Flatten", "s", "f", &[])
            .node("Gemm", "f v", "y", &[attr("transB", &[1])]);
        let mut model = model(&graph, 12);
        model.graph.as_mut().unwrap().initializer[2].dims = vec![3, 2];
        let options = Int8Options {
            leave_out: vec!["Conv".to_owned()],
            ..Default::default()
        };
        let done = rewrite(&model, &ranges(&[("f", 0.0, 1.0)]), &options).unwrap();
        assert_eq!(
            lines(&done.model)[2..],
            [
                "Flatten s > f",
                "QuantizeLinear f > f/uint8",
                "DequantizeLinear f/uint8 > f/dequantized",
                "DequantizeLinear v/stored > v/dequantized",
                "Gemm f/dequantized > y"
            ]
        );
        assert_eq!(tensor(&done.model, "v/scale").dims, [3]);
        assert_eq!(parts::opset(&done.model), 13);
        let note = "In 32-bit floats because keep_float names them: Conv (1: c)";
        assert_eq!(done.notes[0], note);
        assert!(done.notes[1].contains("Sub (1: s)"), "{:?}", done.notes);
    }

    #[test]
    fn refusals_have_reasons() {
        let relu = TestGraph::new(&[("x", &[1])]).node("Relu", "x", "y", &[]);
        let says = |graph: &TestGraph, version, known: &[(&str, f32, f32)]| {
            let result = rewrite(&model(graph, version), &ranges(known), &Default::default());
            result.unwrap_err().to_string()
        };
        assert!(says(&relu, 13, &[]).contains("no layer"));
        assert!(says(&conv(), 9, &[]).contains("operator set 9"));
        let mode = attr_text("coordinate_transformation_mode", "tf_half_pixel_for_nn");
        let resize = conv().node("Resize", "c r s", "y", &[mode]);
        assert!(says(&resize, 12, &[]).contains("Resize has another form"));
        assert!(says(&conv(), 13, &[]).contains("2 tensors, the first of them \"c\""));
        let bad = [("x", f32::NAN, 1.0), ("c", 0.0, 1.0)];
        assert!(says(&conv(), 13, &bad).contains("which is none"));
        let twice = conv().node("QuantizeLinear", "c s", "y", &[]);
        assert!(says(&twice, 13, &[]).contains("quantised already"));
    }
}
