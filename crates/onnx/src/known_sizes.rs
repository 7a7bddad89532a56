//! What is known of the sizes of inputs: what the user says of them, and what follows from that.

use std::collections::BTreeMap;

use super::batch_axis::{BatchAxes, name_of};
use super::dim_expression;
use powerband_core::domain::input_sizes::{BATCH, BatchAxis};
use powerband_core::domain::model::{Dim, Port};

/// What the user says of the inputs' sizes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InputSizes {
    /// Whole shapes of inputs that the model leaves open.
    pub shapes: BTreeMap<String, Vec<usize>>,
    /// Which dimensions are the batch; empty for those that are called so, or the first.
    pub batch_axis: Vec<BatchAxis>,
}

/// The sizes that are known of the inputs' dimensions.
pub(super) struct KnownSizes<'a> {
    axes: &'a BatchAxes,
    batch: usize,
    shapes: &'a BTreeMap<String, Vec<usize>>,
    /// Sizes of dimensions by their names.
    by_name: BTreeMap<&'a str, usize>,
}

impl<'a> KnownSizes<'a> {
    pub(super) fn new(
        inputs: &'a [Port],
        axes: &'a BatchAxes,
        batch: usize,
        shapes: &'a BTreeMap<String, Vec<usize>>,
    ) -> Self {
        let mut by_name = BTreeMap::new();
        for port in inputs {
            let given = shapes.get(&port.name).into_iter().flatten();
            for (dim, &size) in port.dims.iter().zip(given) {
                if let Some(name) = name_of(dim).filter(|_| size != BATCH) {
                    by_name.entry(name).or_insert(size);
                }
            }
        }
        by_name.extend(axes.names().iter().map(|name| (name.as_str(), batch)));
        Self {
            axes,
            batch,
            shapes,
            by_name,
        }
    }

    /// One dimension's size, where it is known.
    pub(super) fn of_dim(&self, port: &Port, index: usize) -> Option<usize> {
        let name = match port.dims.get(index)? {
            Dim::Fixed(size) => return Some(*size),
            Dim::Named(name) => name,
        };
        if self.axes.takes(&port.name, index) {
            return Some(self.batch);
        }
        let given = self.shapes.get(&port.name).and_then(|dims| dims.get(index));
        given.copied().or_else(|| {
            let by_name = |name: &str| self.by_name.get(name).copied();
            by_name(name).or_else(|| dim_expression::evaluate(name, &by_name))
        })
    }
}
