//! What each input of a network stands for, by its use and its name, and so what it is filled with at a point.
//!
//! Use counts before names: a mask that is looked up by is an index. Names are those that exporters give:
//! transformers and optimum (`attention_mask`, `token_type_ids`, `position_ids`, `past_key_values.0.key`), ONNX
//! Runtime's tools (`input_mask`, `segment_ids`, `past_0`, `seqlens_k`).

use std::collections::BTreeMap;

use super::graph::{LookupTable, ValueGraph};
use super::uses::{self, CountedLength, Lookup, Mask};
use crate::batch_axis::{BatchAxes, name_of};
use crate::infer::Shapes;
use powerband_core::base::humanize;
use powerband_core::domain::fill::Fill;
use powerband_core::domain::model::{Dim, Port};
use powerband_core::domain::tensor::{ElementType, TensorSpec};

/// Two lookups are seldom through one input; a list of more is cut.
const NAMED_TABLES: usize = 2;

/// Dimension of an input whose size other inputs are filled by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct InputDim {
    pub input: String,
    /// Which of its dimensions.
    pub axis: usize,
    pub name: String,
}

impl InputDim {
    fn new(port: &Port, axis: usize) -> Self {
        Self {
            input: port.name.clone(),
            axis,
            name: dim_name(port, axis),
        }
    }

    /// Its size at a point.
    pub(super) fn size_in(&self, specs: &[TensorSpec]) -> Option<usize> {
        let spec = specs.iter().find(|spec| spec.name == self.input)?;
        spec.dims.get(self.axis).copied()
    }
}

/// How a dimension is called in a sentence: by its name, or by its place.
pub(super) fn dim_name(port: &Port, axis: usize) -> String {
    let name = port.dims.get(axis).and_then(name_of);
    name.map_or_else(
        || format!("dimension {} of {}", axis + 1, port.name),
        str::to_owned,
    )
}

/// The dimensions of a language model that its other inputs follow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Lengths {
    /// Of the tokens that are fed.
    pub sequence: Option<InputDim>,
    /// Of the keys and values of the tokens before.
    pub past: Option<InputDim>,
}

impl Lengths {
    /// How many positions come before those that are fed.
    pub(super) fn past_at(&self, specs: &[TensorSpec]) -> usize {
        self.past
            .as_ref()
            .and_then(|past| past.size_in(specs))
            .unwrap_or(0)
    }

    /// The positions that there are at the end.
    pub(super) fn total_at(&self, specs: &[TensorSpec]) -> Option<usize> {
        self.sequence
            .as_ref()?
            .size_in(specs)?
            .checked_add(self.past_at(specs))
    }

    /// The sum of `total_at` as text for messages.
    pub(super) fn total_name(&self) -> String {
        let names = [&self.past, &self.sequence];
        let names: Vec<&str> = names
            .into_iter()
            .flatten()
            .map(|size| &*size.name)
            .collect();
        names.join(" + ")
    }
}

/// Which length an input has to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum LengthOf {
    Past,
    Sequence,
    Total,
    LastPosition,
    /// A dimension of a value.
    Value {
        value: String,
        axis: i64,
    },
}

/// What an input stands for.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Role {
    /// Indices into something with so many rows.
    Index { rows: usize },
    /// Indices into a value that is worked out, along one of its dimensions.
    IndexInto { value: String, axis: i64 },
    /// Which of two texts a token belongs to.
    TokenTypes,
    /// The places of the tokens.
    Positions,
    /// Which tokens count.
    Mask(Mask),
    /// A length.
    Length(LengthOf),
    /// Whether past keys and values are used.
    UsesPast,
    /// Keys and values of the tokens before.
    Past,
    /// The number that it is compared with.
    Number(f64),
}

/// What an input stands for, and how that is known.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct InputRole {
    pub role: Role,
    /// What it is filled with and why, for the page of the model.
    pub description: String,
}

/// The roles of all inputs that have one.
pub(super) fn roles(
    graph: &ValueGraph<'_>,
    ports: &[Port],
    lengths: &Lengths,
) -> BTreeMap<String, InputRole> {
    let found = ports.iter().filter_map(|port| {
        let role = role(graph, port, lengths)?;
        Some((port.name.clone(), role))
    });
    found.collect()
}

fn role(graph: &ValueGraph<'_>, port: &Port, lengths: &Lengths) -> Option<InputRole> {
    let name = port.name.to_lowercase();
    if port.element.is_float() {
        if is_past(port) {
            let description = "normal floats: past keys and values, by its name".to_owned();
            return Some(InputRole {
                role: Role::Past,
                description,
            });
        }
        if !is_called_mask(&name) {
            // Whole numbers that a file states as floats.
            let mut lookups = uses::lookups(graph, &port.name);
            let is_known = |lookup: &Lookup| {
                matches!(
                    lookup,
                    Lookup::Constant {
                        offset: Some(_),
                        ..
                    }
                )
            };
            lookups.retain(is_known);
            return indexed(&name, &lookups, lengths);
        }
        let mask = uses::mask(graph, &port.name, true);
        return mask.map(|(mask, operator)| masked(mask, &format!("by its use in {operator}")));
    }
    if let Some((counted, operator)) = uses::length(graph, &port.name) {
        let of = match counted {
            CountedLength::LastPosition => LengthOf::LastPosition,
            CountedLength::AllPositions => LengthOf::Total,
            CountedLength::Dimension { value, axis } => LengthOf::Value {
                value,
                axis: axis as i64,
            },
        };
        return length(of, lengths, &format!("by its use in {operator}"));
    }
    let lookups = uses::lookups(graph, &port.name);
    if let Some(index) = indexed(&name, &lookups, lengths) {
        return Some(index);
    }
    if let Some(number) = compared_role(graph, port) {
        return Some(number);
    }
    if is_called_mask(&name) {
        let used = uses::mask(graph, &port.name, false);
        let hides = name.contains("key_padding_mask");
        let by_name = if hides { Mask::Zeros } else { Mask::Ones };
        return Some(match used {
            Some((mask, operator)) => {
                masked(mask, &format!("by its name and its use in {operator}"))
            }
            None => masked(by_name, "by its name"),
        });
    }
    if is_called_position(&name) {
        return Some(positions(lengths, "by its name"));
    }
    if is_called_token_type(&name) {
        return Some(InputRole {
            role: Role::TokenTypes,
            description: "zeros: token types, by its name".to_owned(),
        });
    }
    if let Some(of) = called_length(&name).filter(|_| port.dims.len() < 2) {
        return length(of, lengths, "by its name");
    }
    let is_switch = graph.users(&port.name).iter().any(|(node, slot)| {
        *slot == 0 && matches!(node.op_type.as_str(), "If" | "Cast" | "Squeeze" | "Reshape")
    });
    if name.contains("use_cache") && is_switch {
        return Some(InputRole {
            role: Role::UsesPast,
            description: "ones: whether past keys and values are used, by its name".to_owned(),
        });
    }
    // Arithmetic alone does not make a mask of what is not called so.
    match uses::mask(graph, &port.name, false)? {
        (_, operator) if operator == "Sub" => None,
        (mask, operator) => Some(masked(mask, &format!("by its use in {operator}"))),
    }
}

/// The number that a single whole number is compared with.
fn compared_role(graph: &ValueGraph<'_>, port: &Port) -> Option<InputRole> {
    let is_single = port.dims.iter().all(|dim| *dim == Dim::Fixed(1));
    if !is_single || port.element == ElementType::Bool {
        return None;
    }
    let number = uses::compared_number(graph, &port.name)?;
    Some(InputRole {
        role: Role::Number(number),
        description: format!(
            "{}: what it is compared with in Equal",
            grouped_number(number)
        ),
    })
}

/// A whole number with thin spaces between its thousands.
fn grouped_number(number: f64) -> String {
    let size = humanize::count(number.abs() as u64);
    if number < 0.0 {
        return format!("−{size}");
    }
    size
}

/// Indices, by what they look up.
fn indexed(name: &str, lookups: &[Lookup], lengths: &Lengths) -> Option<InputRole> {
    let tables: Vec<(&LookupTable, usize, Option<i64>)> = lookups
        .iter()
        .filter_map(|lookup| match lookup {
            Lookup::Constant {
                table,
                axis,
                offset,
            } => Some((table, *axis, *offset)),
            Lookup::Computed { .. } => None,
        })
        .collect();
    if tables.is_empty() {
        let computed = lookups.iter().find_map(|lookup| match lookup {
            Lookup::Computed { value, axis } => Some((value, *axis)),
            Lookup::Constant { .. } => None,
        });
        let (value, axis) = computed.filter(|_| !is_called_position(name))?;
        return Some(InputRole {
            role: Role::IndexInto {
                value: value.clone(),
                axis,
            },
            description: format!("below the size of what it indexes, {value}"),
        });
    }
    let rows_left = |(table, axis, offset): &(&LookupTable, usize, Option<i64>)| {
        let rows = table.dims[*axis];
        let offset = offset.unwrap_or(0).max(0);
        rows.saturating_sub(usize::try_from(offset).unwrap_or(usize::MAX))
    };
    let rows = tables.iter().map(rows_left).min()?;
    let mut named: Vec<String> = Vec::new();
    for (table, axis, _) in &tables {
        let text = format!(
            "{} ({} rows)",
            table.name,
            humanize::count(table.dims[*axis] as u64)
        );
        if !named.contains(&text) {
            named.push(text);
        }
    }
    let more = named.len().saturating_sub(NAMED_TABLES);
    named.truncate(NAMED_TABLES);
    let mut indexes = format!("indexes {}", named.join(" and "));
    if more > 0 {
        indexes = format!("{indexes} and {more} more");
    }
    let called = |is_called: fn(&str) -> bool| {
        is_called(name)
            || (!is_called_tokens(name)
                && tables
                    .iter()
                    .all(|(table, ..)| is_called(&table.name.to_lowercase())))
    };
    if called(is_called_token_type) {
        return Some(InputRole {
            role: Role::TokenTypes,
            description: format!("zeros: token types; {indexes}"),
        });
    }
    if called(is_called_position) {
        return Some(positions(lengths, &indexes));
    }
    let fill = index_fill(rows);
    let words = match fill {
        Fill::Random { .. } => format!("0…{}", humanize::count(rows as u64 - 1)),
        _ => "zeros".to_owned(),
    };
    Some(InputRole {
        role: Role::Index { rows },
        description: format!("{words}: {indexes}"),
    })
}

fn masked(mask: Mask, why: &str) -> InputRole {
    let description = match mask {
        Mask::Ones => format!("ones: a mask that hides nothing, {why}"),
        Mask::Zeros => format!("zeros: a mask that hides nothing, {why}"),
    };
    InputRole {
        role: Role::Mask(mask),
        description,
    }
}

fn positions(lengths: &Lengths, why: &str) -> InputRole {
    let from = lengths.past.as_ref().map_or("0", |past| &*past.name);
    InputRole {
        role: Role::Positions,
        description: format!("counts up from {from}: positions; {why}"),
    }
}

/// A length, where the dimensions that it follows from are there.
fn length(of: LengthOf, lengths: &Lengths, why: &str) -> Option<InputRole> {
    let sequence = lengths.sequence.as_ref().map(|size| size.name.clone());
    let words = match &of {
        LengthOf::Past => lengths
            .past
            .as_ref()
            .map_or_else(|| "0".to_owned(), |past| past.name.clone()),
        LengthOf::Sequence => sequence?,
        LengthOf::Total => sequence.map(|_| lengths.total_name())?,
        LengthOf::LastPosition => sequence.map(|_| format!("{} − 1", lengths.total_name()))?,
        LengthOf::Value { value, axis } => format!("dimension {} of {value}", axis + 1),
    };
    Some(InputRole {
        role: Role::Length(of),
        description: format!("{words}: a length, {why}"),
    })
}

impl Role {
    /// What the input is filled with at a point. `shapes` are those of all values, where a role needs them.
    pub(super) fn fill(
        &self,
        spec: &TensorSpec,
        specs: &[TensorSpec],
        lengths: &Lengths,
        shapes: &Shapes,
    ) -> Fill {
        let number = |value: usize| Fill::Number(value as f64);
        let size = |value: &str, axis: i64| {
            let dims = shapes.get(value)?;
            let axis = if axis < 0 {
                axis + i64::try_from(dims.len()).ok()?
            } else {
                axis
            };
            dims.get(usize::try_from(axis).ok()?).copied()
        };
        match self {
            Self::Index { rows } => {
                // An input of few bits cannot say every row.
                let most = spec
                    .element
                    .whole_numbers()
                    .map_or(f64::MAX, |(_, most)| most);
                index_fill((*rows).min((most as usize).saturating_add(1)))
            }
            Self::IndexInto { value, axis } => size(value, *axis).map_or(Fill::Zeros, index_fill),
            Self::TokenTypes | Self::Mask(Mask::Zeros) => Fill::Zeros,
            Self::Mask(Mask::Ones) | Self::UsesPast => Fill::Ones,
            Self::Positions => {
                let past = lengths.past_at(specs);
                let counts = (0..spec.dims.len()).any(|axis| !spec.batch_axes.contains(&axis));
                match i64::try_from(past) {
                    Ok(from) if counts => Fill::Range { from },
                    _ => number(past),
                }
            }
            Self::Length(of) => {
                let length = match of {
                    LengthOf::Past => Some(lengths.past_at(specs)),
                    LengthOf::Sequence => lengths
                        .sequence
                        .as_ref()
                        .and_then(|size| size.size_in(specs)),
                    LengthOf::Total => lengths.total_at(specs),
                    LengthOf::LastPosition => {
                        lengths.total_at(specs).map(|total| total.saturating_sub(1))
                    }
                    LengthOf::Value { value, axis } => size(value, *axis),
                };
                length.map_or(Fill::Usual, number)
            }
            Self::Past => Fill::Usual,
            Self::Number(value) => Fill::Number(*value),
        }
    }

    /// Whether `fill` needs the shapes of all values.
    pub(super) fn needs_shapes(&self) -> bool {
        matches!(
            self,
            Self::IndexInto { .. } | Self::Length(LengthOf::Value { .. })
        )
    }
}

/// Indices into so many rows.
fn index_fill(rows: usize) -> Fill {
    if rows < 2 {
        return Fill::Zeros;
    }
    Fill::Random {
        low: 0.0,
        high: rows as f64,
    }
}

/// The dimensions that count tokens and the tokens before them.
pub(super) fn lengths(graph: &ValueGraph<'_>, ports: &[Port]) -> Lengths {
    let axes = BatchAxes::find(ports, &[]).ok();
    let is_batch = |port: &Port, axis: usize| {
        axes.as_ref()
            .is_some_and(|axes| axes.takes(&port.name, axis))
    };
    let open = |port: &Port| {
        let mut axes = (0..port.dims.len()).filter(|axis| !is_batch(port, *axis));
        axes.find(|axis| matches!(port.dims[*axis], Dim::Named(_)))
    };
    let is_counted = |port: &Port, axis: usize| {
        let name = name_of(&port.dims[axis]).unwrap_or_default();
        let words = ["past", "cache", "seq"];
        !is_batch(port, axis) && words.iter().any(|word| name.contains(word))
    };
    let is_own_past = |port: &&Port| is_past(port) && !port.name.to_lowercase().contains("encoder");
    let past = ports.iter().find(is_own_past).map(|port| {
        let named = (0..port.dims.len()).find(|axis| is_counted(port, *axis));
        // Where all sizes are fixed, values of a head come last and positions before them.
        let axis = named.or_else(|| open(port));
        InputDim::new(port, axis.unwrap_or(port.dims.len() - 2))
    });
    let is_tokens = |port: &&Port| {
        let name = port.name.to_lowercase();
        !is_past(port) && !is_called_mask(&name) && port.dims.len() > 1
    };
    let of_tokens = |port: &Port| {
        // Whatever comes first beside the batch, open or not.
        let axis = (0..port.dims.len()).find(|axis| !is_batch(port, *axis));
        axis.map(|axis| InputDim::new(port, axis))
    };
    let indices = || {
        let whole = ports.iter().filter(|port| !port.element.is_float());
        whole.filter(is_tokens)
    };
    let sequence = indices()
        .find(|port| is_called_tokens(&port.name.to_lowercase()))
        .or_else(|| indices().find(|port| !uses::lookups(graph, &port.name).is_empty()))
        .and_then(of_tokens)
        .or_else(|| {
            let mut floats = ports.iter().filter(|port| port.element.is_float());
            floats.find_map(|port| {
                let axis = Some(port).filter(is_tokens).and_then(open)?;
                Some(InputDim::new(port, axis))
            })
        });
    Lengths { sequence, past }
}

/// Whether an input holds keys and values of the tokens before.
pub(super) fn is_past(port: &Port) -> bool {
    let name = port.name.to_lowercase();
    port.dims.len() > 2 && (name.starts_with("past") || name.contains("cache"))
}

pub(super) fn is_called_mask(name: &str) -> bool {
    name.contains("mask") && !name.contains("masked") && !name.starts_with("has_")
}

fn is_called_position(name: &str) -> bool {
    ["position", "wpe", "pos_ids", "pos_emb"]
        .iter()
        .any(|word| name.contains(word))
}

fn is_called_token_type(name: &str) -> bool {
    ["token_type", "segment"]
        .iter()
        .any(|word| name.contains(word))
}

fn is_called_tokens(name: &str) -> bool {
    name.contains("input_ids") || name == "tokens" || name == "ids"
}

/// The length that an input of this name is.
fn called_length(name: &str) -> Option<LengthOf> {
    let is_length = name.contains("length")
        || ["_len", "_lens", "lens", "seqlen", "seqlens"]
            .iter()
            .any(|ending| name.ends_with(ending));
    Some(match name {
        _ if name.contains("seqlens_k") => LengthOf::LastPosition,
        _ if !is_length || name.contains("max") || name.contains("min") => return None,
        _ if name.contains("past") => LengthOf::Past,
        _ if name.contains("total") => LengthOf::Total,
        _ => LengthOf::Sequence,
    })
}
