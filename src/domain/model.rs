//! What is known of a network: its inputs, its size, its cost, its operators.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

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

/// An input or output as the file states it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Port {
    /// Its name.
    pub name: String,
    /// Its element type.
    pub element: ElementType,
    /// Its dimensions; empty for a scalar.
    pub dims: Vec<Dim>,
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

/// The model that a session measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_nobody_knows_are_not_the_same() {
        let model = |sha256: &str| ModelRef {
            name: "net".to_owned(),
            file: String::new(),
            sha256: sha256.to_owned(),
            parameters: 0,
            macs: None,
            fixed_batch: None,
        };
        assert_eq!(model("").is_same_file(&model("")), None);
        assert_eq!(model("aa").is_same_file(&model("")), None);
        assert_eq!(model("aa").is_same_file(&model("aa")), Some(true));
        assert_eq!(model("aa").is_same_file(&model("bb")), Some(false));
    }
}
