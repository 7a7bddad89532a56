//! Sizes to type where a model leaves some open: examples that agree with each other.
//!
//! A decoder with a cache has dimensions that belong together, such as a mask as long as the cache and the
//! new tokens together. What is suggested is few options, from which all other sizes follow. `fitting_shapes` says which
//! of them fit a network.

use std::collections::BTreeSet;

use super::batch_axis::{BatchAxes, name_of};
use super::dim_expression;
use super::known_sizes::{KnownSizes, STEP, is_length, is_past, is_total};
use super::shape_error::{InputShapes, ShapeError};
use powerband_core::domain::input_sizes::BATCH;
use powerband_core::domain::input_sizes::InputSizes;
use powerband_core::domain::model::{Dim, Port};
use powerband_core::domain::point::Point;

/// The example for a length.
const LENGTH: usize = 128;
/// Lengths that are tried after it: of texts, then of sounds.
const LENGTHS: [usize; 8] = [512, 1024, 4096, 16_000, 256, 64, 32, STEP];
/// Heights and widths of pictures: usual squares, then lines of text.
pub(super) const PICTURES: [[usize; 2]; 16] = [
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
/// Open sizes are the same at every point.
const ONE: Point = Point::of_batch(1);
/// So many inputs are named for one open dimension; the others are counted.
const MOST_NAMED: usize = 3;

/// Sizes for dimensions that a model leaves open.
#[derive(Clone, Copy)]
pub(super) struct SizeChoice {
    /// Of what is new: tokens, samples, steps.
    pub(super) new: usize,
    /// Of what came before.
    pub(super) past: usize,
    /// Whether something came before.
    pub(super) has_past: bool,
    /// Height and width.
    pub(super) picture: [usize; 2],
}

/// The error for inputs of which sizes are open.
pub(super) fn open_sizes(inputs: &[Port], axes: &BatchAxes, asked: &InputSizes) -> ShapeError {
    let choices = choices(inputs, axes, None, &[]);
    let first = choices.first();
    ShapeError::Open {
        open: open_dims(inputs, axes, asked),
        shapes: first.map_or_else(InputShapes::new, |choice| {
            closing(inputs, axes, asked, *choice)
        }),
        trial: String::new(),
    }
}

/// What to try for all open sizes, the likeliest first.
pub(super) fn choices(
    inputs: &[Port],
    axes: &BatchAxes,
    positions: Option<usize>,
    of_constants: &[usize],
) -> Vec<SizeChoice> {
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
        pictures.iter().map(move |&picture| SizeChoice {
            new,
            past,
            has_past,
            picture,
        })
    });
    all.take(MOST_CANDIDATES).collect()
}

pub(super) fn has_past(inputs: &[Port], axes: &BatchAxes) -> bool {
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

impl SizeChoice {
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
pub(super) fn closing(
    inputs: &[Port],
    axes: &BatchAxes,
    asked: &InputSizes,
    choice: SizeChoice,
) -> InputShapes {
    let mut added = InputShapes::new();
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
