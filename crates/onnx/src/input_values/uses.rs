//! What a network does with an input: looks something up by it, hides positions by it, takes it for a length.
//!
//! Each function walks from the input through nodes that leave its numbers what they are to the nodes that give
//! them a meaning. `roles` makes a rule of what is found.

use std::collections::BTreeSet;

use super::graph::{LookupTable, ValueGraph};
use crate::pb::NodeProto;
use crate::proto;

/// Numbers that stand for "minus infinity" in front of a softmax are below this.
const HIDING: f64 = -100.0;
/// A walk that went through so many values has lost its way.
const MOST_VALUES: usize = 10_000;

/// What is looked up by an input.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Lookup {
    /// Rows of a constant.
    Constant {
        table: LookupTable,
        /// Along which of its dimensions.
        axis: usize,
        /// What is added to the input before; nothing where that is not a constant.
        offset: Option<i64>,
    },
    /// Part of a value that is worked out.
    Computed {
        value: String,
        /// Along which of its dimensions; may count from the end.
        axis: i64,
    },
}

/// Where a node looks something up: the input of it that is looked into, and along which dimension.
pub(super) fn lookup_slots(node: &NodeProto, slot: usize) -> Option<(usize, i64)> {
    let int = |name| proto::int(node, name).unwrap_or(0);
    Some(match (node.op_type.as_str(), slot) {
        ("Gather" | "GatherElements", 1) => (0, int("axis")),
        ("GatherBlockQuantized", 1) => (0, int("gather_axis")),
        ("EmbedLayerNormalization" | "QEmbedLayerNormalization", 0) => (2, 0),
        ("EmbedLayerNormalization" | "QEmbedLayerNormalization", 1) => (4, 0),
        ("EmbedLayerNormalization", 8) => (3, 0),
        ("RotaryEmbedding", 1) if node.domain == "com.microsoft" => (2, 0),
        ("RotaryEmbedding", 3) if node.domain != "com.microsoft" => (1, 0),
        _ => return None,
    })
}

/// What is looked up by an input, in the order of the graph.
pub(super) fn lookups(graph: &ValueGraph<'_>, input: &str) -> Vec<Lookup> {
    let mut found = Vec::new();
    let mut walk = Walk::new((input.to_owned(), Some(0)));
    while let Some((value, offset)) = walk.next() {
        for (node, slot) in graph.users(&value) {
            if let Some((looked_into, axis)) = lookup_slots(node, *slot) {
                found.extend(lookup(graph, node, looked_into, axis, offset));
                continue;
            }
            let other = |slot| proto::input(node, slot).and_then(|name| graph.number(name));
            let moved = match (node.op_type.as_str(), slot) {
                ("Add", _) => Some(
                    other(1 - slot.min(&1))
                        .zip(offset)
                        .map(|(c, o)| o + c as i64),
                ),
                ("Sub", 0) => Some(other(1).zip(offset).map(|(c, o)| o - c as i64)),
                ("Max" | "Min" | "Concat", _) | ("Where", 1 | 2) => Some(offset),
                _ if keeps_numbers(node, *slot) => Some(offset),
                _ => None,
            };
            if let Some(offset) = moved {
                walk.push_unseen(node.output.iter().map(|name| (name.clone(), offset)));
            }
        }
    }
    found
}

fn lookup(
    graph: &ValueGraph<'_>,
    node: &NodeProto,
    looked_into: usize,
    axis: i64,
    offset: Option<i64>,
) -> Option<Lookup> {
    let value = proto::input(node, looked_into)?;
    let Some(table) = graph.table(value) else {
        let value = value.to_owned();
        return Some(Lookup::Computed { value, axis });
    };
    let rank = i64::try_from(table.dims.len()).ok()?;
    let axis = usize::try_from(if axis < 0 { axis + rank } else { axis }).ok()?;
    table.dims.get(axis)?;
    Some(Lookup::Constant {
        table,
        axis,
        offset,
    })
}

/// What a mask is filled with so that it hides nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mask {
    /// Ones keep.
    Ones,
    /// Ones hide, or what it has is added to the scores.
    Zeros,
}

/// Which numbers hide nothing, where an input is used as a mask, and the operator that shows it.
pub(super) fn mask(graph: &ValueGraph<'_>, input: &str, is_float: bool) -> Option<(Mask, String)> {
    let mut walk = Walk::new((input.to_owned(), false));
    while let Some((value, flipped)) = walk.next() {
        let kept_where = |is_one: bool| {
            if is_one == flipped {
                Mask::Zeros
            } else {
                Mask::Ones
            }
        };
        for (node, slot) in graph.users(&value) {
            let number = |slot| proto::input(node, slot).and_then(|name| graph.number(name));
            let hides = |slot| number(slot).is_some_and(|value| value < HIDING);
            let operator = node.op_type.as_str();
            let ends = match (operator, *slot) {
                ("Where", 0) if hides(1) => Some(kept_where(false)),
                ("Where", 0) if hides(2) => Some(kept_where(true)),
                ("Mul", slot) if hides(1 - slot.min(1)) => Some(kept_where(false)),
                // One less: nothing, or minus one, which a large factor follows.
                ("Sub", 0) if number(1) == Some(1.0) => Some(kept_where(true)),
                ("Attention", 3) if node.domain == "com.microsoft" => Some(kept_where(true)),
                ("Attention", 3) if !is_float => Some(kept_where(true)),
                ("MultiHeadAttention", 4)
                | ("QAttention", 5)
                | ("EmbedLayerNormalization" | "QEmbedLayerNormalization", 7) => {
                    Some(kept_where(true))
                }
                ("Attention", 3) | ("MultiHeadAttention", 5) | ("GroupQueryAttention", 10) => {
                    Some(Mask::Zeros)
                }
                // Floats that reach the scores as they are.
                ("Add", _) if is_float && !flipped && is_scored(graph, node) => Some(Mask::Zeros),
                _ => None,
            };
            if let Some(mask) = ends {
                return Some((mask, node.op_type.clone()));
            }
            let onward = match (operator, *slot) {
                ("Not" | "Less", 0) | ("Sub", 1) => Some(!flipped),
                ("Equal", slot) => match number(1 - slot.min(1)) {
                    Some(0.0) => Some(!flipped),
                    Some(1.0) => Some(flipped),
                    _ => None,
                },
                // A picture that is multiplied by its mask is no mask.
                ("Mul", slot) if is_float && number(1 - slot.min(1)).is_none() => None,
                ("Greater" | "GreaterOrEqual", 0) | ("And" | "Mul" | "Concat", _) => Some(flipped),
                _ if keeps_numbers(node, *slot) => Some(flipped),
                _ => None,
            };
            if let Some(flipped) = onward {
                walk.push_unseen(node.output.iter().map(|name| (name.clone(), flipped)));
            }
        }
    }
    None
}

/// Whether a softmax follows a sum.
fn is_scored(graph: &ValueGraph<'_>, sum: &NodeProto) -> bool {
    const MOST_NODES_BETWEEN: usize = 4;
    let mut values: Vec<&str> = sum.output.iter().map(String::as_str).collect();
    for _ in 0..MOST_NODES_BETWEEN {
        let users = values.iter().flat_map(|value| graph.users(value));
        let users: Vec<&NodeProto> = users.map(|(node, _)| *node).collect();
        if users.iter().any(|node| node.op_type == "Softmax") {
            return true;
        }
        let passes = |node: &&NodeProto| {
            matches!(
                &*node.op_type,
                "Add" | "Mul" | "Div" | "Max" | "Cast" | "Reshape" | "Clip"
            )
        };
        let passing = users.into_iter().filter(passes);
        values = passing
            .flat_map(|node| node.output.iter().map(String::as_str))
            .collect();
    }
    false
}

/// Which length an operator takes an input for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CountedLength {
    /// All positions but one.
    LastPosition,
    /// All positions.
    AllPositions,
    /// A dimension of a value.
    Dimension {
        value: String,
        /// Which of its dimensions.
        axis: usize,
    },
}

/// Which length an input is taken for, and by which operator.
pub(super) fn length(graph: &ValueGraph<'_>, input: &str) -> Option<(CountedLength, String)> {
    let mut walk = Walk::new((input.to_owned(), ()));
    while let Some((value, ())) = walk.next() {
        for (node, slot) in graph.users(&value) {
            let of_first = |axis| {
                let value = proto::input(node, 0)?.to_owned();
                Some(CountedLength::Dimension { value, axis })
            };
            let int = |name| proto::int(node, name).unwrap_or(0);
            let counted = match (node.op_type.as_str(), *slot) {
                ("GroupQueryAttention", 5) => Some(CountedLength::LastPosition),
                ("GroupQueryAttention", 6) => Some(CountedLength::AllPositions),
                ("LSTM" | "GRU" | "RNN", 4) => of_first(usize::from(int("layout") == 1)),
                ("ReverseSequence", 1) => usize::try_from(int("time_axis")).ok().and_then(of_first),
                _ => None,
            };
            if let Some(counted) = counted {
                return Some((counted, node.op_type.clone()));
            }
            if keeps_numbers(node, *slot) {
                walk.push_unseen(node.output.iter().map(|name| (name.clone(), ())));
            }
        }
    }
    None
}

/// The number that an input is compared with by `Equal`, the first in the order of the graph: the sampling rate that
/// decides which branch runs, the task that a network is asked for.
pub(super) fn compared_number(graph: &ValueGraph<'_>, input: &str) -> Option<f64> {
    let mut walk = Walk::new((input.to_owned(), ()));
    while let Some((value, ())) = walk.next() {
        for (node, slot) in graph.users(&value) {
            if node.op_type == "Equal" {
                let other = proto::input(node, 1 - slot.min(&1));
                if let Some(number) = other.and_then(|name| graph.number(name)) {
                    return Some(number);
                }
            }
            if keeps_numbers(node, *slot) {
                walk.push_unseen(node.output.iter().map(|name| (name.clone(), ())));
            }
        }
    }
    None
}

/// Whether a node hands on the numbers of one of its inputs as they are, all or some of them.
fn keeps_numbers(node: &NodeProto, slot: usize) -> bool {
    let moves = matches!(
        node.op_type.as_str(),
        "Cast"
            | "CastLike"
            | "Identity"
            | "Reshape"
            | "Unsqueeze"
            | "Squeeze"
            | "Flatten"
            | "Transpose"
            | "Expand"
            | "Tile"
            | "Slice"
            | "Split"
            | "Gather"
            | "GatherElements"
            | "GatherND"
            | "Clip"
    );
    moves && slot == 0
}

/// Values that are still to be looked at, each with what is known of it.
struct Walk<K> {
    open: Vec<(String, K)>,
    seen: BTreeSet<(String, K)>,
}

impl<K: Ord + Clone> Walk<K> {
    fn new(start: (String, K)) -> Self {
        Self {
            seen: [start.clone()].into(),
            open: vec![start],
        }
    }

    fn next(&mut self) -> Option<(String, K)> {
        self.open.pop()
    }

    fn push_unseen(&mut self, values: impl Iterator<Item = (String, K)>) {
        for value in values {
            if self.seen.len() < MOST_VALUES && self.seen.insert(value.clone()) {
                self.open.push(value);
            }
        }
    }
}
