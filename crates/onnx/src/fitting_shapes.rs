//! Which example shapes fit a network: the likeliest first.
//!
//! As many tokens as the network has positions for, else usual lengths and sizes of pictures, those first through which
//! the shapes of most values can be followed. `measure` runs the network once on them, in this order.

use std::collections::BTreeSet;

use super::batch_axis::BatchAxes;
use super::infer;
use super::input_values::InputValues;
use super::known_sizes::STEP;
use super::pb::ModelProto;
use super::shape_error::InputShapes;
use super::shape_examples::{PICTURES, SizeChoice, choices, closing, has_past};
use super::{proto, shapes};
use powerband_core::domain::input_sizes::InputSizes;
use powerband_core::domain::model::Port;
use powerband_core::domain::point::Point;
use powerband_core::domain::tensor::TensorSpec;

/// Positions that a network may have for it to be run with all of them.
const MOST_POSITIONS: usize = 1024;
/// Lengths that constants suggest, at most.
const MOST_OF_CONSTANTS: usize = 4;

/// Shapes that close what is open, the likeliest first; each has only what the others follow from.
pub fn examples(model: &ModelProto, inputs: &[Port], asked: &InputSizes) -> Vec<InputShapes> {
    let Ok(axes) = BatchAxes::find(inputs, &asked.batch_axis) else {
        return Vec::new();
    };
    let network = OpenNetwork {
        model,
        inputs,
        axes: &axes,
        asked,
        values: InputValues::find(model, inputs),
    };
    let positions = network.positions();
    let of_constants = lengths_of_constants(model);
    let mut candidates: Vec<(usize, InputShapes)> = Vec::new();
    for choice in choices(inputs, &axes, positions, &of_constants) {
        let shapes = closing(inputs, &axes, asked, choice);
        if candidates.iter().all(|(_, known)| *known != shapes) {
            candidates.push((network.followed(&shapes), shapes));
        }
    }
    candidates.sort_by_key(|(followed, _)| std::cmp::Reverse(*followed));
    candidates.into_iter().map(|(_, shapes)| shapes).collect()
}

/// A network whose inputs have open sizes.
struct OpenNetwork<'a> {
    model: &'a ModelProto,
    inputs: &'a [Port],
    axes: &'a BatchAxes,
    asked: &'a InputSizes,
    values: InputValues<'a>,
}

impl OpenNetwork<'_> {
    /// For how many tokens the network has tables: the most that it can be fed, with those before; nothing where it
    /// has none, or more than are worth running.
    fn positions(&self) -> Option<usize> {
        let has_past = has_past(self.inputs, self.axes);
        let fits = |tokens: usize| {
            let past = if has_past { tokens - STEP } else { tokens };
            let choice = SizeChoice {
                new: tokens - if has_past { past } else { 0 },
                past,
                has_past,
                picture: PICTURES[0],
            };
            self.specs(&closing(self.inputs, self.axes, self.asked, choice))
                .is_some()
        };
        if fits(MOST_POSITIONS + 1) || !fits(2) {
            return None;
        }
        let (mut most, mut too_many) = (2, MOST_POSITIONS + 1);
        while too_many - most > 1 {
            let middle = most.midpoint(too_many);
            if fits(middle) {
                most = middle;
            } else {
                too_many = middle;
            }
        }
        Some(most)
    }

    /// The inputs with these shapes, where nothing in the network says that they are too large.
    fn specs(&self, added: &InputShapes) -> Option<Vec<TensorSpec>> {
        let mut all = self.asked.clone();
        all.shapes.extend(added.clone());
        let batch = self.axes.fixed(self.inputs).unwrap_or(1);
        let specs = shapes::resolve(self.inputs, Point::of_batch(batch), &all).ok()?;
        self.values.fill(specs).ok()
    }

    /// How many values have a known shape then: fewer where sizes do not fit each other.
    fn followed(&self, added: &InputShapes) -> usize {
        let specs = self.specs(added);
        specs.map_or(0, |specs| infer::infer(self.model, &specs).len())
    }
}

/// Lengths that constants are made for, as learned positions of shape 1 × 77 × 512 are; the largest first.
fn lengths_of_constants(model: &ModelProto) -> Vec<usize> {
    let stored = model.graph.iter().flat_map(proto::constants);
    let lengths = stored.filter_map(|(_, tensor)| match *proto::dims(tensor)? {
        [1, length, features] if features > 1 => Some(length),
        _ => None,
    });
    let lengths: BTreeSet<usize> = lengths
        .filter(|at| (2..=MOST_POSITIONS).contains(at))
        .collect();
    lengths.into_iter().rev().take(MOST_OF_CONSTANTS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::infer::testing::{TestGraph, attr, port};
    use crate::pb::tensor_proto::DataType;
    use crate::shape_error::options;
    use crate::shapes::resolve;
    use crate::shapes::testing::ports;

    #[test]
    fn suggestions_for_a_decoder_agree_with_each_other() {
        let inputs = ports(&[
            "input_ids:batch_size,sequence_length",
            "attention_mask:batch_size,total_sequence_length",
            "position_ids:batch_size,sequence_length",
            "past.0.key:batch_size,12,past_sequence_length,64",
            "past.0.value:batch_size,12,past_sequence_length,64",
        ]);
        let message = resolve(&inputs, Point::of_batch(1), &InputSizes::default())
            .unwrap_err()
            .to_string();
        assert_eq!(
            message,
            "the model leaves 3 sizes open: sequence_length of input_ids, position_ids; \
             total_sequence_length of attention_mask; past_sequence_length of past.0.key, past.0.value. \
             Choose with --shape attention_mask=Nx128 --shape input_ids=Nx1 --shape past.0.key=Nx12x127x64"
        );
        let any = ModelProto::default();
        for shapes in examples(&any, &inputs, &InputSizes::default()) {
            let asked = InputSizes {
                shapes,
                ..InputSizes::default()
            };
            let specs = resolve(&inputs, Point::of_batch(2), &asked).unwrap();
            let dims: Vec<&[usize]> = specs.iter().map(|spec| spec.dims.as_slice()).collect();
            assert_eq!(dims[1][1], dims[0][1] + dims[3][2], "{dims:?}");
            assert_eq!((dims[0][0], dims[0]), (2, dims[2]));
        }
    }

    #[test]
    fn what_follows_from_another_size_is_not_asked_for() {
        let inputs = ports(&[
            "mask:batch,past_len + 1",
            "past:batch,past_len,64",
            "odd:batch,floor(past_len)",
        ]);
        let message = resolve(&inputs, Point::of_batch(1), &InputSizes::default())
            .unwrap_err()
            .to_string();
        assert!(
            message.ends_with("Choose with --shape odd=Nx128 --shape past=Nx127x64"),
            "{message}"
        );
    }

    /// A graph whose inputs have these names and dimensions.
    fn with_inputs(inputs: &[(&str, DataType, &[&str])]) -> TestGraph {
        let mut graph = TestGraph::default();
        for (name, element, dims) in inputs {
            graph.graph.input.push(port(name, *element, dims));
        }
        graph
    }

    fn suggested(graph: &TestGraph) -> String {
        let model = graph.model();
        let inputs = crate::inspect::inputs(&model).unwrap();
        let all = examples(&model, &inputs, &InputSizes::default());
        options(all.first().unwrap()).join(" ")
    }

    #[test]
    fn pictures_get_sizes_of_pictures() {
        let open = &["batch", "3", "", ""];
        let any = with_inputs(&[("x", DataType::Float, open)]).weight("w", &[8, 3, 3, 3]);
        let any = any.node("Conv", "x w", "y", &[]);
        assert_eq!(suggested(&any), "--shape x=Nx3x224x224");
        let last = with_inputs(&[("x", DataType::Float, &["batch", "h", "w", "3"])]);
        assert_eq!(suggested(&last), "--shape x=Nx224x224x3");
        // 256 positions of patches of 14 × 14, which learned positions are added to.
        let patches = with_inputs(&[("x", DataType::Float, open)])
            .weight("k", &[8, 3, 14, 14])
            .weight("positions", &[1, 8, 24, 24])
            .node("Conv", "x k", "cut", &[attr("strides", &[14, 14])])
            .node("Add", "cut positions", "y", &[]);
        assert_eq!(suggested(&patches), "--shape x=Nx3x336x336");
        // A reader of lines: what is left of their height is squeezed away.
        let lines = with_inputs(&[("x", DataType::Float, open)])
            .ints("two", &[2])
            .node(
                "MaxPool",
                "x",
                "flat",
                &[attr("kernel_shape", &[48, 4]), attr("strides", &[48, 4])],
            )
            .node("Squeeze", "flat two", "y", &[]);
        assert_eq!(suggested(&lines), "--shape x=Nx3x48x320");
    }

    #[test]
    fn texts_get_as_many_tokens_as_there_are_positions_for() {
        let text = |positions: usize| {
            with_inputs(&[("input_ids", DataType::Int64, &["batch", "seq"])])
                .weight("words", &[1000, 8])
                .weight("position_embeddings", &[positions, 8])
                .ints("zero", &[0])
                .ints("one", &[1])
                .ints("two", &[2])
                .node("Gather", "words input_ids", "rows", &[])
                .node("Shape", "input_ids", "shape", &[])
                .node("Gather", "shape one", "length", &[])
                .node("Range", "zero length one", "places", &[])
                .node("Gather", "position_embeddings places", "where", &[])
                .node("Add", "rows where", "y", &[])
        };
        assert_eq!(suggested(&text(77)), "--shape input_ids=Nx77");
        assert_eq!(suggested(&text(512)), "--shape input_ids=Nx512");
        assert_eq!(suggested(&text(131_072)), "--shape input_ids=Nx128");
        let learned = with_inputs(&[("ids", DataType::Int64, &["batch", "seq"])])
            .weight("words", &[1000, 8])
            .weight("positions", &[1, 50, 8])
            .node("Gather", "words ids", "rows", &[])
            .node("Add", "rows positions", "y", &[]);
        assert_eq!(suggested(&learned), "--shape ids=Nx50");
    }
}
