//! Whether indices stay below the sizes of the tables that they index, at a point: those of the inputs, and
//! those that a network works out of the sizes of its inputs, as positions are.
//!
//! Only the nodes that indices come from are looked at, and of each value only how far its numbers reach, so
//! that thousands of points take no time. What cannot be followed is not held against a point.

use std::collections::{BTreeMap, BTreeSet};

use super::graph::ValueGraph;
use super::uses;
use crate::infer::{self, Ints, Shapes};
use crate::pb::tensor_proto::DataType;
use crate::pb::{GraphProto, ModelProto, NodeProto, TensorProto};
use crate::proto;
use powerband_core::domain::tensor::TensorSpec;

/// Indices that come from more nodes than this are not followed.
const MOST_NODES: usize = 2_000;
/// An end beyond this stands for "to the end".
const NO_END: i64 = i32::MAX as i64;

/// The least and the greatest number of a value.
type ValueRange = (i64, i64);

/// What must stay below the size of a table.
enum Index {
    /// The numbers of a value.
    Value(String),
    /// A part of the table, up to the end that a value says.
    Part { ends: String, axes: Vec<usize> },
    /// The positions of a value: those before its second dimension ends.
    Columns { of: String },
    /// A count of positions.
    Count(String),
}

/// A table and what must stay below its size.
struct Limit {
    index: Index,
    table: String,
    /// The sizes of the table; one where it is looked up along one dimension.
    rows: Vec<usize>,
}

/// A table that indices exceed at a point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TableOverflow {
    pub table: String,
    pub rows: usize,
    /// The rows that would be needed.
    pub needed: i64,
    /// The inputs of the model that the index comes from.
    pub inputs: Vec<String>,
}

/// The limits of a network, and the nodes that say where indices come from.
#[derive(Default)]
pub(super) struct Limits {
    limits: Vec<Limit>,
    /// Those nodes as a network, without weights.
    model: ModelProto,
    /// How far long constants reach.
    long: BTreeMap<String, ValueRange>,
}

impl Limits {
    pub(super) fn find(whole: &GraphProto, graph: &ValueGraph<'_>) -> Self {
        let mut limits = Vec::new();
        let mut wanted = BTreeSet::new();
        for node in &graph.nodes {
            for limit in limits_of(graph, node) {
                let from = match &limit.index {
                    Index::Value(value)
                    | Index::Part { ends: value, .. }
                    | Index::Columns { of: value }
                    | Index::Count(value) => value,
                };
                let mut own = wanted.clone();
                if add_sources(graph, from, &mut own) {
                    wanted = own;
                    limits.push(limit);
                }
            }
        }
        if limits.is_empty() {
            return Self::default();
        }
        let nodes: Vec<NodeProto> = whole
            .node
            .iter()
            .filter(|node| node.output.iter().any(|output| wanted.contains(output)))
            .cloned()
            .collect();
        let mut long = BTreeMap::new();
        let mut initializer = Vec::new();
        let inputs = nodes.iter().flat_map(|node| &node.input).chain(&wanted);
        let names: BTreeSet<&String> = inputs.collect();
        for tensor in names.into_iter().filter_map(|name| {
            let stored = graph.constant(name)?;
            graph.maker(name).is_none().then_some(stored)
        }) {
            if proto::tensor_elements(tensor) <= proto::SHORT {
                initializer.push(tensor.clone());
                continue;
            }
            if let Some(reach) = reach_of_tensor(tensor) {
                long.insert(tensor.name.clone(), reach);
            }
            initializer.push(TensorProto {
                name: tensor.name.clone(),
                data_type: tensor.data_type,
                dims: tensor.dims.clone(),
                ..Default::default()
            });
        }
        let model = ModelProto {
            graph: Some(GraphProto {
                node: nodes,
                initializer,
                input: whole.input.clone(),
                ..Default::default()
            }),
            ..Default::default()
        };
        Self {
            limits,
            model,
            long,
        }
    }

    /// The first table that is too small for these inputs; `known` is how far those reach that files fill.
    pub(super) fn exceeded(
        &self,
        specs: &[TensorSpec],
        known: &BTreeMap<String, ValueRange>,
    ) -> Option<TableOverflow> {
        if self.limits.is_empty() {
            return None;
        }
        let (shapes, ints) = infer::infer_with_ints(&self.model, specs);
        let mut reached = ValueRanges {
            shapes,
            ints,
            reach: self.long.clone(),
        };
        reached.reach.extend(known.clone());
        for spec in specs {
            let in_a_row = spec.counting_axis().map_or(1, |axis| spec.dims[axis]);
            if let Some(reach) = spec.fill.bounds(spec.element, in_a_row) {
                reached.reach.entry(spec.name.clone()).or_insert(reach);
            }
        }
        for node in proto::nodes(&self.model) {
            reached.follow(node);
        }
        self.limits.iter().find_map(|limit| {
            let (needed, rows) = reached.overflow(limit)?;
            let inputs = specs
                .iter()
                .filter(|spec| self.comes_from(limit, &spec.name));
            Some(TableOverflow {
                table: limit.table.clone(),
                rows,
                needed,
                inputs: inputs.map(|spec| spec.name.clone()).collect(),
            })
        })
    }

    /// Whether an index is worked out of an input.
    fn comes_from(&self, limit: &Limit, input: &str) -> bool {
        let (Index::Value(value)
        | Index::Part { ends: value, .. }
        | Index::Columns { of: value }
        | Index::Count(value)) = &limit.index;
        let mut names = BTreeSet::from([value.as_str()]);
        // Nodes stand behind those that they take from.
        for node in proto::nodes(&self.model).iter().rev() {
            if node.output.iter().any(|name| names.contains(name.as_str())) {
                names.extend(node.input.iter().map(String::as_str));
            }
        }
        names.contains(input)
    }
}

/// The limits that a node sets.
fn limits_of(graph: &ValueGraph<'_>, node: &NodeProto) -> Vec<Limit> {
    let value = |slot| proto::input(node, slot).map(str::to_owned);
    let mut found = Vec::new();
    let along = |slot: usize, axis: i64| {
        let table = graph.table(proto::input(node, slot)?)?;
        let rank = i64::try_from(table.dims.len()).ok()?;
        let axis = usize::try_from(if axis < 0 { axis + rank } else { axis }).ok()?;
        Some((table.name, vec![*table.dims.get(axis)?]))
    };
    for slot in 0..node.input.len() {
        let looked_up = uses::lookup_slots(node, slot);
        let table = looked_up.and_then(|(into, axis)| along(into, axis));
        if let (Some((table, rows)), Some(index)) = (table, value(slot)) {
            found.push(Limit {
                index: Index::Value(index),
                table,
                rows,
            });
        }
    }
    let mut push = |index: Option<Index>, table: Option<(String, Vec<usize>)>| {
        if let (Some(index), Some((table, rows))) = (index, table) {
            found.push(Limit { index, table, rows });
        }
    };
    match node.op_type.as_str() {
        "Slice" => {
            let table = value(0).and_then(|name| graph.table(&name));
            let ends = value(2).filter(|name| graph.constant(name).is_none());
            if let (Some(table), Some(ends)) = (table, ends) {
                let axes = sliced_axes(graph, node, table.dims.len());
                let index = axes.map(|axes| Index::Part { ends, axes });
                push(index, Some((table.name, table.dims)));
            }
        }
        "EmbedLayerNormalization" | "QEmbedLayerNormalization" if value(8).is_none() => {
            push(value(0).map(|of| Index::Columns { of }), along(3, 0));
        }
        "GroupQueryAttention" => push(value(6).map(Index::Count), along(7, 0)),
        _ => {}
    }
    found
}

/// The dimensions that a slice cuts; nothing where they are worked out.
fn sliced_axes(graph: &ValueGraph<'_>, node: &NodeProto, rank: usize) -> Option<Vec<usize>> {
    let Some(axes) = proto::input(node, 3) else {
        return Some((0..rank).collect());
    };
    let axes = proto::int_values(graph.constant(axes)?)?;
    let rank = i64::try_from(rank).ok()?;
    let from_start = |axis: i64| usize::try_from(if axis < 0 { axis + rank } else { axis }).ok();
    axes.into_iter().map(from_start).collect()
}

/// Adds a value and all that it is worked out of; whether there were few enough.
fn add_sources(graph: &ValueGraph<'_>, value: &str, wanted: &mut BTreeSet<String>) -> bool {
    let mut open = vec![value];
    while let Some(name) = open.pop() {
        if !wanted.insert(name.to_owned()) {
            continue;
        }
        if wanted.len() > MOST_NODES {
            return false;
        }
        if let Some(node) = graph.maker(name) {
            open.extend(
                node.input
                    .iter()
                    .map(String::as_str)
                    .filter(|name| !name.is_empty()),
            );
        }
    }
    true
}

fn reach_of_tensor(tensor: &TensorProto) -> Option<ValueRange> {
    let ends = |values: &mut dyn Iterator<Item = i64>| {
        let first = values.next()?;
        Some(values.fold((first, first), |(low, high), value| {
            (low.min(value), high.max(value))
        }))
    };
    match DataType::try_from(tensor.data_type).ok()? {
        DataType::Int64 if tensor.raw_data.is_empty() => {
            ends(&mut tensor.int64_data.iter().copied())
        }
        DataType::Int64 => {
            let (words, _) = tensor.raw_data.as_chunks::<8>();
            ends(&mut words.iter().map(|word| i64::from_le_bytes(*word)))
        }
        DataType::Int32 if tensor.raw_data.is_empty() => {
            ends(&mut tensor.int32_data.iter().map(|value| i64::from(*value)))
        }
        DataType::Int32 => {
            let (words, _) = tensor.raw_data.as_chunks::<4>();
            ends(
                &mut words
                    .iter()
                    .map(|word| i64::from(i32::from_le_bytes(*word))),
            )
        }
        _ => None,
    }
}

/// How far the values of a network reach at a point.
struct ValueRanges {
    shapes: Shapes,
    ints: Ints,
    reach: BTreeMap<String, ValueRange>,
}

impl ValueRanges {
    fn reach_of(&self, value: &str) -> Option<ValueRange> {
        if let Some(reach) = self.reach.get(value) {
            return Some(*reach);
        }
        let ints = self.ints.get(value)?;
        Some((*ints.iter().min()?, *ints.iter().max()?))
    }

    fn of_input(&self, node: &NodeProto, slot: usize) -> Option<ValueRange> {
        self.reach_of(proto::input(node, slot)?)
    }

    /// Both ends of what is known of all these inputs together.
    fn of_all(&self, node: &NodeProto, slots: impl Iterator<Item = usize>) -> Option<ValueRange> {
        let mut all: Option<ValueRange> = None;
        for slot in slots {
            let (low, high) = self.of_input(node, slot)?;
            let (least, greatest) = all.unwrap_or((low, high));
            all = Some((low.min(least), high.max(greatest)));
        }
        all
    }

    fn follow(&mut self, node: &NodeProto) {
        let Some(reach) = self.reach_behind(node) else {
            return;
        };
        for output in &node.output {
            if !self.ints.contains_key(output) {
                self.reach.insert(output.clone(), reach);
            }
        }
    }

    fn reach_behind(&self, node: &NodeProto) -> Option<ValueRange> {
        let one = || self.of_input(node, 0);
        let two = || Some((self.of_input(node, 0)?, self.of_input(node, 1)?));
        let mul = |(a, b): (i64, i64), (c, d): (i64, i64)| {
            let all = [
                a.checked_mul(c)?,
                a.checked_mul(d)?,
                b.checked_mul(c)?,
                b.checked_mul(d)?,
            ];
            Some((*all.iter().min()?, *all.iter().max()?))
        };
        match node.op_type.as_str() {
            "Cast" | "CastLike" | "Identity" | "Reshape" | "Unsqueeze" | "Squeeze" | "Flatten"
            | "Transpose" | "Expand" | "Tile" | "Slice" | "Split" | "Gather" | "GatherElements"
            | "ReduceMax" | "ReduceMin" | "Trilu" => one(),
            "Concat" => self.of_all(node, 0..node.input.len()),
            "Where" => self.of_all(node, 1..3),
            "Add" => {
                let ((a, b), (c, d)) = two()?;
                Some((a.checked_add(c)?, b.checked_add(d)?))
            }
            "Sub" => {
                let ((a, b), (c, d)) = two()?;
                Some((a.checked_sub(d)?, b.checked_sub(c)?))
            }
            "Mul" => {
                let (a, b) = two()?;
                mul(a, b)
            }
            "Min" => {
                let ((a, b), (c, d)) = two()?;
                Some((a.min(c), b.min(d)))
            }
            "Max" => {
                let ((a, b), (c, d)) = two()?;
                Some((a.max(c), b.max(d)))
            }
            "Clip" => {
                let (mut low, mut high) = one()?;
                if let Some((least, _)) = self.of_input(node, 1) {
                    (low, high) = (low.max(least), high.max(least));
                }
                if let Some((_, most)) = self.of_input(node, 2) {
                    (low, high) = (low.min(most), high.min(most));
                }
                Some((low, high))
            }
            "Neg" => one().and_then(|(low, high)| Some((high.checked_neg()?, low.checked_neg()?))),
            "Range" => {
                let (start, end) = (self.of_input(node, 0)?, self.of_input(node, 1)?);
                let (step, _) = self.of_input(node, 2)?;
                (step == 1).then(|| (start.0, (end.1 - 1).max(start.0)))
            }
            "CumSum" | "ReduceSum" => {
                let reach = one()?;
                mul(reach, (1, self.added_up(node)?))
            }
            "Equal" | "Not" | "Greater" | "GreaterOrEqual" | "Less" | "LessOrEqual" | "And"
            | "Or" | "Xor" => Some((0, 1)),
            "ConstantOfShape" => {
                let value = proto::attribute(node, "value").and_then(|value| value.t.as_ref());
                match value {
                    None => Some((0, 0)),
                    Some(value) => {
                        let ints = proto::int_values(value)?;
                        Some((*ints.first()?, *ints.first()?))
                    }
                }
            }
            _ => None,
        }
    }

    /// How many numbers a sum has, at most.
    fn added_up(&self, node: &NodeProto) -> Option<i64> {
        let dims = self.shapes.get(proto::input(node, 0)?)?;
        let rank = i64::try_from(dims.len()).ok()?;
        let stated = proto::ints(node, "axes");
        let axes = stated.or_else(|| self.ints.get(proto::input(node, 1)?).map(Vec::as_slice))?;
        let sizes = axes.iter().map(|axis| {
            let axis = if *axis < 0 { axis + rank } else { *axis };
            let size = dims.get(usize::try_from(axis).ok()?)?;
            i64::try_from(*size).ok()
        });
        sizes.product()
    }

    /// The rows that would be needed and those that there are, where they are too few.
    fn overflow(&self, limit: &Limit) -> Option<(i64, usize)> {
        let exceeds = |needed: i64, rows: usize| {
            let has = i64::try_from(rows).unwrap_or(i64::MAX);
            (needed > has).then_some((needed, rows))
        };
        match &limit.index {
            Index::Value(value) => {
                let (low, high) = self.reach_of(value)?;
                let rows = *limit.rows.first()?;
                // Indices below zero count from the end.
                exceeds(high.saturating_add(1), rows).or_else(|| exceeds(low.checked_neg()?, rows))
            }
            Index::Columns { of } => {
                let columns = *self.shapes.get(of)?.get(1)?;
                exceeds(i64::try_from(columns).ok()?, *limit.rows.first()?)
            }
            Index::Count(value) => exceeds(self.reach_of(value)?.1, *limit.rows.first()?),
            Index::Part { ends, axes } => {
                let ends = self.ints.get(ends)?;
                let parts = axes.iter().zip(ends);
                parts.into_iter().find_map(|(axis, end)| {
                    let rows = *limit.rows.get(*axis)?;
                    (*end < NO_END && rows > 1)
                        .then(|| exceeds(*end, rows))
                        .flatten()
                })
            }
        }
    }
}
