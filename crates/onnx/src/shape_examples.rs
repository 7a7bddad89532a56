//! Sizes to type where a model leaves some open: examples that agree with each other.
//!
//! A decoder with a cache has dimensions that belong together, such as a mask as long as the cache and the
//! new tokens together. What is suggested is few options, from which all other sizes follow.

use std::collections::{BTreeMap, BTreeSet};

use super::batch_axis::{BatchAxes, name_of};
use super::dim_expression;
use super::known_sizes::{InputSizes, KnownSizes, STEP, is_past, is_total};
use super::shape_error::ShapeError;
use powerband_core::domain::input_sizes::{BATCH, shape_text};
use powerband_core::domain::model::{Dim, Port};
use powerband_core::domain::point::Point;

/// The example for a length.
const LENGTH: usize = 128;
/// Open sizes are the same at every point.
const ONE: Point = Point::of_batch(1);
/// So many inputs are named for one open dimension; the others are counted.
const MOST_NAMED: usize = 3;

/// Whole shapes for inputs, by their names.
pub type Shapes = BTreeMap<String, Vec<usize>>;

/// The error for inputs of which sizes are open.
pub(super) fn open_sizes(inputs: &[Port], axes: &BatchAxes, asked: &InputSizes) -> ShapeError {
    let added = candidates(inputs, axes, asked).into_iter().next();
    ShapeError::Open {
        open: open_dims(inputs, axes, asked),
        options: options(&added.unwrap_or_default()),
        trial: String::new(),
    }
}

/// What to type for these shapes.
pub fn options(shapes: &Shapes) -> Vec<String> {
    let option =
        |(input, dims): (&String, &Vec<usize>)| format!("--shape {}", shape_text(input, dims));
    shapes.iter().map(option).collect()
}

/// Shapes that close what is open, the likeliest first; each has only what the others follow from.
pub fn examples(inputs: &[Port], asked: &InputSizes) -> Vec<Shapes> {
    match BatchAxes::find(inputs, &asked.batch_axis) {
        Ok(axes) => candidates(inputs, &axes, asked),
        Err(_) => Vec::new(),
    }
}

fn candidates(inputs: &[Port], axes: &BatchAxes, asked: &InputSizes) -> Vec<Shapes> {
    let names = open_names(inputs, axes);
    let has_past = names.iter().any(|name| is_past(name));
    // A step beside a cache, a prompt beside one, and everything alike.
    let choices: &[(usize, usize)] = if has_past {
        &[(STEP, LENGTH - STEP), (LENGTH, LENGTH), (STEP, LENGTH)]
    } else {
        &[(LENGTH, LENGTH), (STEP, STEP)]
    };
    let mut candidates = Vec::new();
    for &(new, past) in choices {
        let size = |name: &str| match name {
            _ if is_past(name) => past,
            _ if is_total(name) && has_past => past + new,
            _ => new,
        };
        let shapes = closing(inputs, axes, asked, &size);
        if !candidates.contains(&shapes) {
            candidates.push(shapes);
        }
    }
    candidates
}

/// Shapes for as few inputs as it takes to close all of them.
fn closing(
    inputs: &[Port],
    axes: &BatchAxes,
    asked: &InputSizes,
    size_of: &dyn Fn(&str) -> usize,
) -> Shapes {
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
        let by_name = |name: &str| Some(size_of(name));
        let size = |(index, dim): (usize, &Dim)| match dim {
            Dim::Fixed(size) => *size,
            Dim::Named(_) if axes.takes(&port.name, index) => BATCH,
            Dim::Named(name) => known.of_dim(port, index).unwrap_or_else(|| {
                dim_expression::evaluate(name, &by_name).unwrap_or_else(|| size_of(name))
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
        for shapes in examples(&inputs, &InputSizes::default()) {
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
}
