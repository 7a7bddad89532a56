//! What is known of the sizes of inputs: what the user says of them, and what follows from that.

use std::collections::{BTreeMap, BTreeSet};

use super::batch_axis::{BatchAxes, name_of};
use super::dim_expression;
use powerband_core::domain::input_sizes::{BATCH, InputAxis, InputSizes, NamedDim};
use powerband_core::domain::model::{Dim, Port};
use powerband_core::domain::point::{self, Point};

/// What is new beside a cache: one step.
pub(super) const STEP: usize = 1;

/// The sizes that are known of the inputs' dimensions.
pub(super) struct KnownSizes<'a> {
    axes: &'a BatchAxes,
    point: Point,
    asked: &'a InputSizes,
    /// Sizes of dimensions by their names.
    by_name: BTreeMap<&'a str, usize>,
}

impl<'a> KnownSizes<'a> {
    pub(super) fn new(
        inputs: &'a [Port],
        axes: &'a BatchAxes,
        point: Point,
        asked: &'a InputSizes,
    ) -> Self {
        let mut by_name: BTreeMap<&'a str, usize> = BTreeMap::new();
        for port in inputs {
            let given = asked.shapes.get(&port.name).into_iter().flatten();
            for (dim, &size) in port.dims.iter().zip(given) {
                if let Some(name) = name_of(dim).filter(|_| size != BATCH) {
                    by_name.entry(name).or_insert(size);
                }
            }
        }
        for (name, size) in point.others() {
            by_name.insert(name, size);
        }
        for dim in &asked.dims {
            if let (InputAxis::Named(name), Some(size)) = (&dim.axis, point.get(&dim.name)) {
                by_name.insert(name, size);
            }
        }
        by_name.extend(
            axes.names()
                .iter()
                .map(|name| (name.as_str(), point.batch())),
        );
        let mut sizes = Self {
            axes,
            point,
            asked,
            by_name,
        };
        sizes.add_related(inputs);
        sizes
    }

    /// One dimension's size, where it is known.
    pub(super) fn of_dim(&self, port: &Port, index: usize) -> Option<usize> {
        let name = match port.dims.get(index)? {
            Dim::Fixed(size) => return Some(*size),
            Dim::Named(name) => name,
        };
        if self.axes.takes(&port.name, index) {
            return Some(self.point.batch());
        }
        if let Some(size) = self.at_place(port, index) {
            return Some(size);
        }
        if let Some(size) = self.swept(name) {
            return Some(size);
        }
        let given = self
            .asked
            .shapes
            .get(&port.name)
            .and_then(|dims| dims.get(index));
        given.copied().or_else(|| {
            let by_name = |name: &str| self.by_name.get(name).copied();
            by_name(name).or_else(|| dim_expression::evaluate(name, &by_name))
        })
    }

    /// The size that the sweep has for a dimension that the user names by its place.
    fn at_place(&self, port: &Port, index: usize) -> Option<usize> {
        let is_here = |dim: &&NamedDim| matches!(&dim.axis, InputAxis::At { input, index: at } if *input == port.name && *at == index);
        let dim = self.asked.dims.iter().find(is_here)?;
        self.point.get(&dim.name)
    }

    /// The size that the sweep has for a dimension of this name.
    fn swept(&self, name: &str) -> Option<usize> {
        let is_it = |dim: &&NamedDim| matches!(&dim.axis, InputAxis::Named(own) if own == name);
        let called = self.asked.dims.iter().find(is_it);
        let called = called.map_or(name, |dim| dim.name.as_str());
        if called == point::BATCH {
            return None;
        }
        self.point.get(called)
    }

    /// Sizes that follow by what decoders call them, where no expression says so: beside a cache of a known length
    /// one step is run, and a total is the cache and the step together.
    fn add_related(&mut self, inputs: &'a [Port]) {
        let dims = inputs.iter().flat_map(|port| &port.dims);
        let names: BTreeSet<&str> = dims
            .filter_map(name_of)
            .flat_map(dim_expression::names)
            .collect();
        let open = |sizes: &Self, name: &str| !sizes.by_name.contains_key(name);
        let past = names.iter().filter(|name| is_past(name));
        let Some(past) = past
            .filter_map(|name| self.by_name.get(name))
            .max()
            .copied()
        else {
            return;
        };
        let is_new = |name: &&&str| is_length(name) && !is_past(name) && !is_total(name);
        for &name in names.iter().filter(is_new) {
            if open(self, name) {
                self.by_name.insert(name, STEP);
            }
        }
        let new = names
            .iter()
            .filter(is_new)
            .find_map(|name| self.by_name.get(name))
            .copied();
        for &name in names.iter().filter(|name| is_total(name) && !is_past(name)) {
            if open(self, name) {
                self.by_name.insert(name, past + new.unwrap_or(STEP));
            }
        }
    }
}

/// Whether a dimension is the length of a cache, by its name.
pub(super) fn is_past(name: &str) -> bool {
    has_word(name, &["past", "cache", "kv"])
}

/// Whether a dimension is as long as the cache and what is new together, by its name.
pub(super) fn is_total(name: &str) -> bool {
    has_word(name, &["total", "mask"])
}

/// Whether a dimension is a length of tokens, by its name.
pub(super) fn is_length(name: &str) -> bool {
    has_word(
        name,
        &["seq", "sequence", "seqlen", "tokens", "length", "len"],
    )
}

fn has_word(name: &str, words: &[&str]) -> bool {
    let name = name.to_lowercase();
    let mut parts = name.split(|c: char| !c.is_alphanumeric());
    parts.any(|part| words.contains(&part))
}
