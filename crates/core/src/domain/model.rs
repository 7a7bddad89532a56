//! What is known of a network: its inputs, its size, its cost, its operators.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::fill::Fill;
use super::setup::Setup;
use super::tensor::{ElementType, TensorSpec};

/// One dimension as a model file states it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Dim {
    /// A fixed size.
    Fixed(usize),
    /// A name that stands for a size chosen at run time; empty where the file gives none.
    Named(String),
}

impl std::fmt::Display for Dim {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Fixed(size) => write!(f, "{size}"),
            Self::Named(name) if name.is_empty() => f.write_str("?"),
            Self::Named(name) => f.write_str(name),
        }
    }
}

/// Which dimensions of an input are time and batch, by the recurrent layer that takes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecurrentAxes {
    /// The layer's operator: `LSTM`.
    pub operator: String,
    /// The dimension of the steps, from 0.
    pub time: Option<usize>,
    /// The dimension of the items, from 0; nothing where the layer makes it of something else.
    pub batch: Option<usize>,
}

/// An input or output as the file states it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Port {
    /// Its name.
    pub name: String,
    /// Its element type.
    pub element: ElementType,
    /// Its dimensions; empty for a scalar.
    pub dims: Vec<Dim>,
    /// What a recurrent layer says of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recurrent: Option<RecurrentAxes>,
}

impl Port {
    /// Type and shape as people write them: `float32 batch×3×224×224`.
    pub fn describe(&self) -> String {
        if self.dims.is_empty() {
            return format!("{} scalar", self.element);
        }
        let dims: Vec<String> = self.dims.iter().map(ToString::to_string).collect();
        format!("{} {}", self.element, dims.join("×"))
    }
}

/// Everything that `powerband model` shows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelSummary {
    /// What the file calls itself, or its file name.
    pub name: String,
    /// Version of the default operator set.
    pub opset: i64,
    /// Inputs that the caller must give.
    pub inputs: Vec<Port>,
    /// Why inputs that the caller must give cannot be fed.
    #[serde(default)]
    pub unfed: Vec<String>,
    /// What inputs are filled with and why, by their names; those without an entry are filled as usual.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fills: BTreeMap<String, String>,
    /// Outputs in order.
    pub outputs: Vec<Port>,
    /// Learned values: weights, biases, scales; not the running statistics of batch normalisation.
    pub parameters: u64,
    /// Bytes of all constants in the file.
    pub constant_bytes: u64,
    /// Multiply-accumulates of one run at `cost_at`, where shapes could be worked out.
    pub macs: Option<u64>,
    /// The input shapes at which `macs` was counted.
    pub cost_at: Vec<TensorSpec>,
    /// Nodes by operator type.
    pub operators: BTreeMap<String, u64>,
    /// What could not be worked out, and why.
    pub notes: Vec<String>,
}

impl ModelSummary {
    /// What an input is filled with, and why: `0…30,521: indexes word_embeddings.weight (30,522 rows)`.
    pub fn fill_of(&self, input: &Port) -> String {
        let known = self.fills.get(&input.name).cloned();
        known.unwrap_or_else(|| Fill::Usual.describe(input.element))
    }

    /// A line for each way in which inputs are filled, where it is not as usual: `input_ids: 0…30,521: indexes
    /// word_embeddings.weight (30,522 rows)`. Inputs that are filled alike share one.
    pub fn fill_lines(&self) -> Vec<String> {
        let mut lines: Vec<(&str, &str, usize)> = Vec::new();
        for port in &self.inputs {
            let Some(fill) = self.fills.get(&port.name) else {
                continue;
            };
            match lines.iter_mut().find(|(_, of_line, _)| of_line == fill) {
                Some((_, _, more)) => *more += 1,
                None => lines.push((&port.name, fill, 0)),
            }
        }
        let line = |(name, fill, more): (&str, &str, usize)| match more {
            0 => format!("{name}: {fill}"),
            more => format!("{name} and {more} more: {fill}"),
        };
        lines.into_iter().map(line).collect()
    }
}

/// The model that a session measured.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelRef {
    /// As the user named it: `resnet50`, or a file's stem.
    pub name: String,
    /// The file that the workers load.
    pub file: String,
    /// SHA-256 of that file, in hexadecimal.
    pub sha256: String,
    /// Learned values.
    pub parameters: u64,
    /// Multiply-accumulates for a batch of one, where they could be counted.
    pub macs: Option<u64>,
    /// The batch size that the file fixes, if it does.
    pub fixed_batch: Option<usize>,
}

impl ModelRef {
    /// Whether both are one file; nothing where the file of either is not known, as it is of what another
    /// program measured.
    pub fn is_same_file(&self, other: &Self) -> Option<bool> {
        let is_known = !self.sha256.is_empty() && !other.sha256.is_empty();
        is_known.then(|| self.sha256 == other.sha256)
    }
}

/// A network of a plan, and the setups that run it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedNetwork<'a> {
    /// The network; where all its setups run it rewritten, one of those files.
    pub model: &'a ModelRef,
    /// The setups, by their places in the plan.
    pub setups: Vec<usize>,
}

impl<'a> PlannedNetwork<'a> {
    /// The networks of a plan in the order of its setups: the plan's own, and those that setups have in its
    /// place, which `variants` holds by the setup.
    pub fn all(
        setups: &[Setup],
        model: &'a ModelRef,
        variants: &'a BTreeMap<usize, ModelRef>,
    ) -> Vec<Self> {
        let mut found: Vec<(Option<&str>, Self)> = Vec::new();
        for (setup, spec) in setups.iter().enumerate() {
            let own = spec.own_model();
            // A setup whose own network was not found runs nothing, the plan's network least of all.
            let runs = if own.is_some() {
                variants.get(&setup)
            } else {
                Some(model)
            };
            let Some(runs) = runs else {
                continue;
            };
            match found.iter_mut().find(|(name, _)| *name == own) {
                Some((_, network)) => {
                    network.setups.push(setup);
                    // What is rewritten has the rewriting in its name.
                    if runs.name.len() < network.model.name.len() {
                        network.model = runs;
                    }
                }
                None => found.push((
                    own,
                    Self {
                        model: runs,
                        setups: vec![setup],
                    },
                )),
            }
        }
        if found.is_empty() {
            return vec![Self {
                model,
                setups: (0..setups.len()).collect(),
            }];
        }
        found.into_iter().map(|(_, network)| network).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_files_are_not_the_same() {
        let model = |sha256: &str| ModelRef {
            name: "net".to_owned(),
            sha256: sha256.to_owned(),
            ..ModelRef::default()
        };
        assert_eq!(model("").is_same_file(&model("")), None);
        assert_eq!(model("aa").is_same_file(&model("")), None);
        assert_eq!(model("aa").is_same_file(&model("aa")), Some(true));
        assert_eq!(model("aa").is_same_file(&model("bb")), Some(false));
    }

    fn named(name: &str) -> ModelRef {
        ModelRef {
            name: name.to_owned(),
            ..ModelRef::default()
        }
    }

    #[test]
    fn setups_with_networks_of_their_own_are_beside_those_of_the_plan() {
        let specs = [
            "torch",
            "ort,precision=int8",
            "torch,model=net34",
            "ort,model=net34,precision=int8",
            "ort,model=lost",
        ];
        let setups: [Setup; 5] = specs.map(|spec| spec.parse().unwrap());
        let own = named("net18");
        let variants = [
            (1, named("net18 int8")),
            (2, named("net34")),
            (3, named("net34 int8")),
        ];
        let variants = BTreeMap::from(variants);
        let found = PlannedNetwork::all(&setups, &own, &variants);
        let found: Vec<(&str, &[usize])> = found
            .iter()
            .map(|network| (network.model.name.as_str(), network.setups.as_slice()))
            .collect();
        assert_eq!(found, [("net18", &[0, 1][..]), ("net34", &[2, 3])]);
        assert_eq!(PlannedNetwork::all(&[], &own, &variants)[0].model, &own);
    }
}
