//! Sizes to type where a model leaves some open: examples that agree with each other.
//!
//! A decoder with a cache has dimensions that belong together, such as a mask as long as the cache and the
//! new tokens together. What is suggested is few options, from which all other sizes follow: as many tokens as the
//! network has positions for, else usual lengths and sizes of pictures, those first through which the shapes of most
//! values can be followed. `measure` runs the network once on them, in this order.

use std::collections::BTreeSet;

use super::batch_axis::{BatchAxes, name_of};
use super::dim_expression;
use super::infer;
use super::input_values::InputValues;
use super::known_sizes::{InputSizes, KnownSizes, STEP, is_length, is_past, is_total};
use super::pb::ModelProto;
use super::shape_error::{ShapeError, Shapes};
use super::{proto, shapes};
use powerband_core::domain::input_sizes::BATCH;
use powerband_core::domain::model::{Dim, Port};
use powerband_core::domain::point::Point;
use powerband_core::domain::tensor::TensorSpec;

/// The example for a length.
const LENGTH: usize = 128;
/// Lengths that are tried after it: of texts, then of sounds.
const LENGTHS: [usize; 8] = [512, 1024, 4096, 16_000, 256, 64, 32, STEP];
/// Positions that a network may have for it to be run with all of them.
const MOST_POSITIONS: usize = 1024;
/// Heights and widths of pictures: usual squares, then lines of text.
const PICTURES: [[usize; 2]; 16] = [
    [224, 224],
    [256, 256],
    [384, 384],
    [640, 640],
    [512, 512],
    [448, 448],
    [336, 336],
    [518, 518],
    [299, 299],
    [48, 320],
    [32, 320],
    [48, 192],
    [32, 128],
    [128, 128],
    [64, 64],
    [32, 32],
];
/// Pictures that follow each other in one input.
const FRAMES: usize = 16;
/// Candidates at most, where pictures and lengths are open.
const MOST_CANDIDATES: usize = 48;
/// Lengths that constants suggest, at most.
const MOST_OF_CONSTANTS: usize = 4;
/// Open sizes are the same at every point.
const ONE: Point = Point::of_batch(1);
/// So many inputs are named for one open dimension; the others are counted.
const MOST_NAMED: usize = 3;

/// Sizes for dimensions that a model leaves open.
#[derive(Clone, Copy)]
struct Choice {
    /// Of what is new: tokens, samples, steps.
    new: usize,
    /// Of what came before.
    past: usize,
    /// Whether something came before.
    has_past: bool,
    /// Height and width.
    picture: [usize; 2],
}

/// The error for inputs of which sizes are open.
pub(super) fn open_sizes(inputs: &[Port], axes: &BatchAxes, asked: &InputSizes) -> ShapeError {
    let choices = choices(inputs, axes, None, &[]);
    let first = choices.first();
    ShapeError::Open {
        open: open_dims(inputs, axes, asked),
        shapes: first.map_or_else(Shapes::new, |choice| closing(inputs, axes, asked, *choice)),
        trial: String::new(),
    }
}

/// Shapes that close what is open, the likeliest first; each has only what the others follow from.
pub fn examples(model: &ModelProto, inputs: &[Port], asked: &InputSizes) -> Vec<Shapes> {
    let Ok(axes) = BatchAxes::find(inputs, &asked.batch_axis) else {
        return Vec::new();
    };
    let network = Network {
        model,
        inputs,
        axes: &axes,
        asked,
        values: InputValues::find(model, inputs),
    };
    let positions = network.positions();
    let of_constants = lengths_of_constants(model);
    let mut candidates: Vec<(usize, Shapes)> = Vec::new();
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
struct Network<'a> {
    model: &'a ModelProto,
    inputs: &'a [Port],
    axes: &'a BatchAxes,
    asked: &'a InputSizes,
    values: InputValues<'a>,
}

impl Network<'_> {
    /// For how many tokens the network has tables: the most that it can be fed, with those before; nothing where it
    /// has none, or more than are worth running.
    fn positions(&self) -> Option<usize> {
        let has_past = has_past(self.inputs, self.axes);
        let fits = |tokens: usize| {
            let past = if has_past { tokens - STEP } else { tokens };
            let choice = Choice {
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
    fn specs(&self, added: &Shapes) -> Option<Vec<TensorSpec>> {
        let mut all = self.asked.clone();
        all.shapes.extend(added.clone());
        let batch = self.axes.fixed(self.inputs).unwrap_or(1);
        let specs = shapes::resolve(self.inputs, Point::of_batch(batch), &all).ok()?;
        self.values.fill(specs).ok()
    }

    /// How many values have a known shape then: fewer where sizes do not fit each other.
    fn followed(&self, added: &Shapes) -> usize {
        let specs = self.specs(added);
        specs.map_or(0, |specs| infer::infer(self.model, &specs).len())
    }
}

/// What to try for all open sizes, the likeliest first.
fn choices(
    inputs: &[Port],
    axes: &BatchAxes,
    positions: Option<usize>,
    of_constants: &[usize],
) -> Vec<Choice> {
    let most = positions.unwrap_or(LENGTH);
    // A step beside a cache, a prompt beside one, and everything alike.
    let has_past = has_past(inputs, axes);
    let lengths: Vec<(usize, usize)> = if has_past {
        let half = positions.map_or(LENGTH, |most| most / 2);
        vec![(STEP, most - STEP), (half, half), (STEP, most)]
    } else {
        let others = of_constants.iter().chain(&LENGTHS).copied();
        let fits = |length: &usize| positions.is_none_or(|most| *length < most);
        let usual = [most].into_iter().chain([LENGTH].into_iter().filter(fits));
        usual
            .chain(others.filter(fits))
            .map(|length| (length, length))
            .collect()
    };
    let has_pictures = inputs.iter().any(|port| {
        let open = |index: usize| matches!(port.dims[index], Dim::Named(_));
        (0..port.dims.len()).any(|index| side(port, index).is_some() && open(index))
    });
    let pictures = if has_pictures {
        &PICTURES[..]
    } else {
        &PICTURES[..1]
    };
    let all = lengths.iter().flat_map(|&(new, past)| {
        pictures.iter().map(move |&picture| Choice {
            new,
            past,
            has_past,
            picture,
        })
    });
    all.take(MOST_CANDIDATES).collect()
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

fn has_past(inputs: &[Port], axes: &BatchAxes) -> bool {
    open_names(inputs, axes).iter().any(|name| is_past(name))
}

/// Which side of a picture a dimension is: 0 for the height, 1 for the width.
fn side(port: &Port, index: usize) -> Option<usize> {
    let rank = port.dims.len();
    let is_counted = |name: &str| is_length(name) || is_past(name) || is_total(name);
    let mut names = port.dims.iter().filter_map(name_of);
    if rank < 4 || !port.element.is_float() || names.any(is_counted) {
        return None;
    }
    let has_channels = |at: usize| matches!(port.dims[at], Dim::Fixed(1 | 3 | 4));
    let first = if has_channels(rank - 1) && !has_channels(1) {
        rank - 3
    } else {
        rank - 2
    };
    index.checked_sub(first).filter(|side| *side < 2)
}

impl Choice {
    /// The size of an open dimension.
    fn size_of(&self, port: &Port, index: usize) -> usize {
        if let Some(side) = side(port, index) {
            return self.picture[side];
        }
        let name = name_of(&port.dims[index]).unwrap_or_default();
        if port.dims.len() > 4 && port.element.is_float() && !is_past(name) {
            return FRAMES;
        }
        self.by_name(name)
    }

    /// The size of a length, by its name. Without a cache all are alike.
    fn by_name(&self, name: &str) -> usize {
        match name {
            _ if is_past(name) => self.past,
            _ if is_total(name) && self.has_past => self.past + self.new,
            _ => self.new,
        }
    }
}

/// Shapes for as few inputs as it takes to close all of them.
fn closing(inputs: &[Port], axes: &BatchAxes, asked: &InputSizes, choice: Choice) -> Shapes {
    let mut added = Shapes::new();
    let mut all = asked.clone();
    for port in inputs {
        let known = KnownSizes::new(inputs, axes, ONE, &all);
        let is_closed = |index: usize| known.of_dim(port, index).is_some();
        // What follows from other dimensions is known once those are.
        let follows = |dim: &Dim| name_of(dim).is_some_and(dim_expression::is_expression);
        let waits = |(index, dim): (usize, &Dim)| is_closed(index) || follows(dim);
        if port.dims.iter().enumerate().all(waits) {
            continue;
        }
        let by_name = |name: &str| Some(choice.by_name(name));
        let size = |(index, dim): (usize, &Dim)| match dim {
            Dim::Fixed(size) => *size,
            Dim::Named(_) if axes.takes(&port.name, index) => BATCH,
            Dim::Named(name) => known.of_dim(port, index).unwrap_or_else(|| {
                let worked_out = dim_expression::is_expression(name);
                let worked_out = worked_out.then(|| dim_expression::evaluate(name, &by_name));
                worked_out
                    .flatten()
                    .unwrap_or_else(|| choice.size_of(port, index))
            }),
        };
        let dims: Vec<usize> = port.dims.iter().enumerate().map(size).collect();
        all.shapes.insert(port.name.clone(), dims.clone());
        added.insert(port.name.clone(), dims);
    }
    let known = KnownSizes::new(inputs, axes, ONE, &all);
    let is_open = |port: &&Port| (0..port.dims.len()).any(|i| known.of_dim(port, i).is_none());
    let left: Vec<&Port> = inputs.iter().filter(is_open).collect();
    for port in left {
        // An expression of a kind that cannot be read.
        let size = |(index, dim): (usize, &Dim)| match dim {
            Dim::Named(_) if axes.takes(&port.name, index) => BATCH,
            _ => known.of_dim(port, index).unwrap_or(LENGTH),
        };
        let dims = port.dims.iter().enumerate().map(size).collect();
        added.insert(port.name.clone(), dims);
    }
    added
}

/// Names of open dimensions beside the batch, with those that expressions are made of.
fn open_names<'a>(inputs: &'a [Port], axes: &BatchAxes) -> BTreeSet<&'a str> {
    let dims = inputs.iter().flat_map(|port| &port.dims);
    let names = dims.filter_map(name_of).flat_map(dim_expression::names);
    names.filter(|name| !axes.names().contains(*name)).collect()
}

/// Each open dimension with the inputs that have it: by its name, or by its place where it has none.
fn open_dims(inputs: &[Port], axes: &BatchAxes, asked: &InputSizes) -> Vec<String> {
    let known = KnownSizes::new(inputs, axes, ONE, asked);
    let mut named: Vec<(&str, Vec<&str>)> = Vec::new();
    let mut open = Vec::new();
    for port in inputs {
        for (index, dim) in port.dims.iter().enumerate() {
            if known.of_dim(port, index).is_some() {
                continue;
            }
            let Some(name) = name_of(dim) else {
                open.push(format!("dimension {} of {}", index + 1, port.name));
                continue;
            };
            match named.iter_mut().find(|(known, _)| *known == name) {
                Some((_, inputs)) if inputs.contains(&port.name.as_str()) => {}
                Some((_, inputs)) => inputs.push(&port.name),
                None => named.push((name, vec![&port.name])),
            }
        }
    }
    let by_name = named.iter().map(|(name, inputs)| {
        let shown = inputs.iter().take(MOST_NAMED).copied().collect::<Vec<_>>();
        match inputs.len().saturating_sub(MOST_NAMED) {
            0 => format!("{name} of {}", shown.join(", ")),
            more => format!("{name} of {} and {more} more inputs", shown.join(", ")),
        }
    });
    by_name.chain(open).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::infer::testing::{Graph, attr, port};
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
    fn with_inputs(inputs: &[(&str, DataType, &[&str])]) -> Graph {
        let mut graph = Graph::default();
        for (name, element, dims) in inputs {
            graph.graph.input.push(port(name, *element, dims));
        }
        graph
    }

    fn suggested(graph: &Graph) -> String {
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
