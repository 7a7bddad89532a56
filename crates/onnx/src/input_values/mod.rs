//! What each input of a network is filled with, and why: indices stay below the size of the table that they
//! index, masks hide nothing, positions count up, lengths are those of the shapes.
//!
//! A network goes in once; then each point of a sweep gets its fills from `InputValues::fill`, which refuses
//! what cannot work: positions beyond their table, a mask of another size, a file that does not fit. `graph` and
//! `uses` say what the network does with its inputs, `roles` what they stand for, `limits` how far indices may
//! go, `arrays` reads the user's files.

mod arrays;
mod graph;
mod limits;
mod recurrent;
mod roles;
#[cfg(test)]
mod tests;
mod uses;

use std::collections::{BTreeMap, BTreeSet};

use thiserror::Error;

use self::arrays::Array;
pub use self::arrays::{ArrayError, tensor};
use self::graph::ValueGraph;
use self::limits::{Limits, TableOverflow};
pub(crate) use self::recurrent::state_axes;
use self::roles::{InputRole, Lengths, Role, dim_name};
use crate::batch_axis::{BatchAxes, name_of};
use crate::dim_expression;
use crate::infer::{self, Shapes};
use crate::pb::ModelProto;
use powerband_core::base::humanize;
use powerband_core::domain::fill::Fill;
use powerband_core::domain::input_sizes::InputSizes;
use powerband_core::domain::input_sizes::{BATCH, InputAxis};
use powerband_core::domain::model::{Dim, Port};
use powerband_core::domain::point::Point;
use powerband_core::domain::tensor::TensorSpec;

/// Why inputs cannot be filled at a point.
#[derive(Debug, Error)]
pub enum ValuesError {
    /// A choice for an input that there is not.
    #[error("--input names an input {name:?} that the model does not have; it has {}", known.join(", "))]
    UnknownInput { name: String, known: Vec<String> },
    /// Numbers that the type cannot hold.
    #[error("--input {name}={fill}: {reason}")]
    Element {
        name: String,
        fill: Fill,
        /// Why it cannot be.
        reason: String,
    },
    /// A file that cannot be read or does not fit.
    #[error("{0}")]
    Array(#[from] ArrayError),
    /// Indices beyond their table.
    #[error("{0}")]
    Excess(String),
    /// A mask of another size than what it masks.
    #[error(
        "{mask} has {found} columns ({dim}), and {parts} make {wanted}: give it that size, as in --shape \
         {mask}=Nx{wanted}"
    )]
    Mask {
        mask: String,
        /// How its dimension is called.
        dim: String,
        /// Its size.
        found: usize,
        /// The dimensions that it follows from, with their sizes.
        parts: String,
        /// What they add up to.
        wanted: usize,
    },
}

/// What is known of the inputs of a network.
pub struct InputValues<'a> {
    model: &'a ModelProto,
    ports: Vec<Port>,
    lengths: Lengths,
    roles: BTreeMap<String, InputRole>,
    limits: Limits,
    /// Operators that keep keys and values in buffers which may be longer than what is used of them.
    has_buffers: bool,
    /// What the user chose.
    chosen: BTreeMap<String, Fill>,
    /// The files among that, by input.
    files: BTreeMap<String, Array>,
}

impl<'a> InputValues<'a> {
    /// Looks at a network, whose inputs `ports` are.
    pub fn find(model: &'a ModelProto, ports: &[Port]) -> Self {
        let ports = ports.to_vec();
        let whole = model.graph.as_ref();
        let graph = whole.map(ValueGraph::new).unwrap_or_default();
        let lengths = roles::lengths(&graph, &ports);
        Self {
            model,
            roles: roles::roles(&graph, &ports, &lengths),
            limits: whole.map_or_else(Limits::default, |whole| Limits::find(whole, &graph)),
            has_buffers: graph
                .nodes
                .iter()
                .any(|node| node.op_type == "GroupQueryAttention"),
            ports,
            lengths,
            chosen: BTreeMap::new(),
            files: BTreeMap::new(),
        }
    }

    /// What inputs are filled with and why, where they are not filled as usual: `0…30,521: indexes
    /// word_embeddings.weight (30,522 rows)`.
    pub fn descriptions(&self) -> BTreeMap<String, String> {
        let roles = self.roles.iter();
        roles
            .map(|(name, role)| (name.clone(), role.description.clone()))
            .collect()
    }

    /// Takes over what the user chose for inputs.
    ///
    /// # Errors
    ///
    /// Where it fits at no point: an input that is not there, numbers that it cannot hold, a file that cannot
    /// be read or is of another type.
    pub fn choose(&mut self, chosen: &BTreeMap<String, Fill>) -> Result<(), ValuesError> {
        for (name, fill) in chosen {
            let Some(port) = self.ports.iter().find(|port| port.name == *name) else {
                return Err(ValuesError::UnknownInput {
                    name: name.clone(),
                    known: self.ports.iter().map(|port| port.name.clone()).collect(),
                });
            };
            if let Some(reason) = fill.refusal(port.element) {
                return Err(ValuesError::Element {
                    name: name.clone(),
                    fill: fill.clone(),
                    reason,
                });
            }
            if let Fill::File(path) = fill {
                self.files.insert(name.clone(), arrays::open(path, port)?);
            }
        }
        self.chosen.clone_from(chosen);
        Ok(())
    }

    /// The same sizes, with those of the files that fill inputs, where nothing else gives these: neither the
    /// point nor a shape.
    pub fn with_sizes_of_files(&self, point: Point, sizes: &InputSizes) -> InputSizes {
        let axes = BatchAxes::find(&self.ports, &sizes.batch_axis).ok();
        let mut given: BTreeSet<&str> = point.others().map(|(name, _)| name).collect();
        for dim in &sizes.dims {
            if let InputAxis::Named(name) = &dim.axis {
                given.insert(name);
            }
        }
        let shaped = self.ports.iter();
        let shaped = shaped.filter(|port| sizes.shapes.contains_key(&port.name));
        given.extend(shaped.flat_map(|port| port.dims.iter().filter_map(name_of)));
        let mut all = sizes.clone();
        for (name, file) in &self.files {
            let is_batch = |axis| axes.as_ref().is_some_and(|axes| axes.takes(name, axis));
            let dims = self.port(name).map_or(&[][..], |port| &port.dims);
            let mut named = dims
                .iter()
                .enumerate()
                .filter(|(axis, _)| !is_batch(*axis))
                .filter_map(|(_, dim)| name_of(dim));
            if named.any(|name| given.contains(name) || dim_expression::is_expression(name)) {
                continue;
            }
            let size = |(axis, (dim, size)): (usize, (&Dim, &usize))| match dim {
                _ if is_batch(axis) => BATCH,
                Dim::Fixed(fixed) => *fixed,
                Dim::Named(_) => *size,
            };
            let shape = dims.iter().zip(&file.dims).enumerate().map(size);
            all.shapes
                .entry(name.clone())
                .or_insert_with(|| shape.collect());
        }
        all
    }

    /// The inputs of a point with what each is filled with: what the user chose, or what its use asks for.
    ///
    /// # Errors
    ///
    /// Where a choice does not fit, or the sizes go beyond what the network has tables for.
    pub fn fill(&self, specs: Vec<TensorSpec>) -> Result<Vec<TensorSpec>, ValuesError> {
        let specs = self.filled(specs);
        for spec in &specs {
            if let (Some(file), Some(port)) = (self.files.get(&spec.name), self.port(&spec.name)) {
                file.check_sizes(port, spec)?;
            }
        }
        self.check_masks(&specs)?;
        let explained = self
            .exceeded(&specs)
            .and_then(|excess| self.explained(&excess, &specs));
        explained.map_or(Ok(specs), |text| Err(ValuesError::Excess(text)))
    }

    fn exceeded(&self, specs: &[TensorSpec]) -> Option<TableOverflow> {
        let files = self.files.iter();
        let known = files.filter_map(|(name, file)| Some((name.clone(), file.reach?)));
        self.limits.exceeded(specs, &known.collect())
    }

    fn port(&self, name: &str) -> Option<&Port> {
        self.ports.iter().find(|port| port.name == name)
    }

    fn filled(&self, mut specs: Vec<TensorSpec>) -> Vec<TensorSpec> {
        let chosen = &self.chosen;
        let role_of = |name: &str| {
            let role = self.roles.get(name).filter(|_| !chosen.contains_key(name));
            role.map(|role| &role.role)
        };
        let shapes = if specs
            .iter()
            .any(|spec| role_of(&spec.name).is_some_and(Role::needs_shapes))
        {
            infer::infer(self.model, &specs)
        } else {
            Shapes::new()
        };
        let fills: Vec<Fill> = specs
            .iter()
            .map(|spec| match (chosen.get(&spec.name), role_of(&spec.name)) {
                (Some(fill), _) => fill.clone(),
                (None, Some(role)) => role.fill(spec, &specs, &self.lengths, &shapes),
                (None, None) => Fill::Usual,
            })
            .collect();
        for (spec, fill) in specs.iter_mut().zip(fills) {
            spec.fill = fill;
        }
        specs
    }

    /// Refuses a mask whose size is another than that of what it masks. The sizes come from the user.
    fn check_masks(&self, specs: &[TensorSpec]) -> Result<(), ValuesError> {
        let (Some(sequence), Some(total)) = (&self.lengths.sequence, self.lengths.total_at(specs))
        else {
            return Ok(());
        };
        let Some(tokens) = self.port(&sequence.input) else {
            return Ok(());
        };
        let has_encoder = self.ports.iter().any(|port| port.name.contains("encoder"));
        for port in &self.ports {
            let is_mask = matches!(
                self.roles.get(&port.name),
                Some(InputRole {
                    role: Role::Mask(_),
                    ..
                })
            );
            let spec = specs.iter().find(|spec| spec.name == port.name);
            let (true, Some(&[_, found])) = (is_mask, spec.map(|spec| &*spec.dims)) else {
                continue;
            };
            let (dim, of_tokens) = (&port.dims[1], &tokens.dims[sequence.axis]);
            let is_same_name = dim == of_tokens && matches!(dim, Dim::Named(n) if !n.is_empty());
            let is_open = matches!(dim, Dim::Named(_));
            let follows_all = ["attention_mask", "input_mask"].contains(&&*port.name)
                && !has_encoder
                && !self.has_buffers;
            let wanted = match &self.lengths.past {
                _ if is_same_name => sequence.size_in(specs).unwrap_or(total),
                _ if is_open && follows_all => total,
                _ => continue,
            };
            if wanted != found {
                let past = self.lengths.past.iter().filter(|_| !is_same_name);
                let parts = past.chain([sequence]).map(|size| {
                    let count = humanize::count(size.size_in(specs).unwrap_or(0) as u64);
                    format!("{} {count}", size.name)
                });
                return Err(ValuesError::Mask {
                    mask: port.name.clone(),
                    dim: dim_name(port, 1),
                    found,
                    parts: parts.collect::<Vec<_>>().join(" + "),
                    wanted,
                });
            }
        }
        Ok(())
    }

    /// Says which dimensions go beyond a table, or which input does; nothing where neither is found, so that
    /// the run has to show it.
    fn explained(&self, excess: &TableOverflow, specs: &[TensorSpec]) -> Option<String> {
        let rows = humanize::count(excess.rows as u64);
        let needed = humanize::count(excess.needed.unsigned_abs());
        let has_grown = |dim: &str| {
            let larger = self.filled(self.with_one_more(specs, dim));
            self.exceeded(&larger)
                .is_some_and(|now| now.table == excess.table && now.needed != excess.needed)
        };
        let dims: Vec<(String, usize)> = self
            .open_dims(specs)
            .into_iter()
            .filter(|(name, _)| has_grown(name))
            .collect();
        if !dims.is_empty() {
            let sizes = dims
                .iter()
                .map(|(name, size)| format!("{name} {}", humanize::count(*size as u64)));
            let names: Vec<&str> = dims.iter().map(|(name, _)| name.as_str()).collect();
            return Some(format!(
                "{} needs {needed} rows of {}, which has {rows}: choose a smaller {}",
                sizes.collect::<Vec<_>>().join(" + "),
                excess.table,
                names.join(" or ")
            ));
        }
        let is_chosen = |input: &&String| self.chosen.contains_key(*input);
        let input = excess.inputs.iter().find(is_chosen)?;
        let fill = self.chosen.get(input)?;
        Some(format!(
            "--input {input}={fill} needs {needed} rows of {}, which {input} indexes and which has {rows}: \
             choose numbers below {rows}",
            excess.table
        ))
    }

    /// The dimensions that are not fixed and not worked out of others, with their sizes; the batch apart.
    fn open_dims(&self, specs: &[TensorSpec]) -> Vec<(String, usize)> {
        let mut found: Vec<(String, usize)> = Vec::new();
        let mut seen = BTreeSet::new();
        for port in &self.ports {
            let Some(spec) = specs.iter().find(|spec| spec.name == port.name) else {
                continue;
            };
            for (axis, size) in spec.dims.iter().enumerate() {
                let is_open = matches!(&port.dims.get(axis), Some(Dim::Named(name)) if !dim_expression::is_expression(name) || name.is_empty());
                let name = dim_name(port, axis);
                if is_open && !spec.batch_axes.contains(&axis) && seen.insert(name.clone()) {
                    found.push((name, *size));
                }
            }
        }
        // A past comes before what follows it.
        let is_past = |name: &str| {
            let past = self.lengths.past.as_ref();
            past.is_some_and(|past| past.name == name)
        };
        found.sort_by_key(|(name, _)| !is_past(name));
        found
    }

    /// The same inputs with one more of a dimension, and of all that are worked out of it.
    fn with_one_more(&self, specs: &[TensorSpec], dim: &str) -> Vec<TensorSpec> {
        let mut specs = specs.to_vec();
        for spec in &mut specs {
            let Some(port) = self.ports.iter().find(|port| port.name == spec.name) else {
                continue;
            };
            for (axis, size) in spec.dims.iter_mut().enumerate() {
                let own = dim_name(port, axis);
                let follows = matches!(&port.dims.get(axis), Some(Dim::Named(name))
                    if dim_expression::names(name).any(|name| name == dim));
                if own == dim || follows {
                    *size += 1;
                }
            }
        }
        specs
    }
}
