//! Rewrites: a network in, the same network with other numbers out.
//!
//! A model comes from `source`; what comes out is a model again, for the engines. `fp16` halves the
//! floats, `int8` turns the layers into whole numbers with the help of ranges that the caller
//! measures on the network of `observe`, `raise` writes older operators as newer ones, and `fold` merges
//! normalisations into convolutions.
//! `islands` finds what 16 bits do not hold, `caches` what goes round in a decoder, `left` says what stays in floats. `batch` leaves the numbers
//! alone and fixes the size of the batch. Nothing here runs a network.

pub mod batch;
mod caches;
mod fold;
pub mod fp16;
mod halving;
pub mod int8;
mod islands;
pub mod left;
pub mod observe;
mod parts;
mod placing;
mod quantity;
mod raise;
pub mod ranges;
pub mod recipe;
mod types;

use std::fmt;
use std::str::FromStr;

use crate::pb::ModelProto;
use thiserror::Error;

/// The numbers that a network computes with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Precision {
    /// As the file says; 32-bit floats as a rule.
    #[default]
    Float,
    /// 16-bit floats.
    Fp16,
    /// 8-bit integers, with scales.
    Int8,
}

impl Precision {
    /// Every precision, the widest first.
    pub const ALL: &[Self] = &[Self::Float, Self::Fp16, Self::Int8];

    /// What setups call them, in the same order.
    pub const WORDS: [&str; 3] = [Self::Float.word(), Self::Fp16.word(), Self::Int8.word()];

    const fn word(self) -> &'static str {
        match self {
            Self::Float => "fp32",
            Self::Fp16 => "fp16",
            Self::Int8 => "int8",
        }
    }
}

impl fmt::Display for Precision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

/// A word that names no precision.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("no such precision: {0:?}. Say fp32, fp16 or int8")]
pub struct UnknownPrecision(pub String);

impl FromStr for Precision {
    type Err = UnknownPrecision;

    fn from_str(text: &str) -> Result<Self, UnknownPrecision> {
        match text.trim().to_lowercase().as_str() {
            "float" | "float32" | "fp32" | "f32" => Ok(Self::Float),
            "fp16" | "float16" | "half" | "f16" => Ok(Self::Fp16),
            "int8" | "i8" => Ok(Self::Int8),
            _ => Err(UnknownPrecision(text.to_owned())),
        }
    }
}

/// A network that was rewritten.
#[derive(Clone, Debug)]
pub struct Rewritten {
    /// The new network.
    pub model: ModelProto,
    /// What matters when the two are compared, in sentences.
    pub notes: Vec<String>,
    /// How much was changed.
    pub counts: Counts,
}

/// How much a rewrite changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Nodes that compute with the new numbers.
    pub rewritten: u64,
    /// Nodes that take floats and compute with 32-bit ones as before.
    pub left: u64,
    /// Nodes that were added to go between one kind of number and another.
    pub added: u64,
    /// Stored tensors that hold the new numbers.
    pub tensors: u64,
    /// Normalisations that went into the convolution before them.
    pub folded: u64,
    /// Stored values that were too large and became the largest there is.
    pub clamped: u64,
    /// Stored values that were too small and became the smallest there is.
    pub raised: u64,
}

/// Why a network cannot be rewritten.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum RewriteError {
    /// Nothing to work on.
    #[error("the model holds no graph")]
    NoGraph,
    /// Made with operators that are too old.
    #[error(
        "the network uses operator set {found}, and this rewrite needs {needed}. Export it again \
         with a newer operator set"
    )]
    Opset {
        /// What the file says.
        found: i64,
        /// The oldest that works.
        needed: i64,
    },
    /// Raising the operator set would change what the network computes.
    #[error(
        "the network uses operator set {found}, and this rewrite needs {needed}, in which \
         {operator} has another form without an equal. Export it again with operator set {needed}"
    )]
    Raise {
        /// What the file says.
        found: i64,
        /// The oldest that works.
        needed: i64,
        /// An operator that changed in between.
        operator: String,
    },
    /// A branch or a loop.
    #[error(
        "{node} holds a graph of its own, which cannot be rewritten. Export the network without \
         branches and loops"
    )]
    Subgraph {
        /// The node and its operator.
        node: String,
    },
    /// Values that are lists of tensors.
    #[error("{node} works on lists of tensors, which cannot be rewritten")]
    Sequence {
        /// The node and its operator.
        node: String,
    },
    /// Weights that are elsewhere.
    #[error("tensor {tensor:?} is stored in a file next to the model, which has not been read")]
    External { tensor: String },
    /// Stored values that do not fit their shape.
    #[error("tensor {tensor:?} does not hold the values that its shape promises")]
    Damaged { tensor: String },
    /// The network is quantised already.
    #[error("the network is quantised already: it holds {operator}")]
    Quantised {
        /// The operator that shows it.
        operator: String,
    },
    /// Nothing that this rewrite knows.
    #[error("the network holds no layer that could be quantised")]
    Nothing,
    /// Ranges that were not measured.
    #[error("no range is known for {missing} tensors, the first of them {tensor:?}")]
    NoRange {
        /// How many.
        missing: usize,
        /// The first.
        tensor: String,
    },
    /// A range that is none.
    #[error("the range of {tensor:?} is {low} to {high}, which is none")]
    BadRange {
        tensor: String,
        /// Its lower end.
        low: f32,
        /// Its upper end.
        high: f32,
    },
    /// Inputs that cannot be fed.
    #[error("the network's batch cannot be fixed: {why}")]
    Input {
        /// What is wrong with them.
        why: String,
    },
    /// A batch that the file rules out.
    #[error(
        "the network's batch is fixed at {fixed}, so it cannot be given a batch of {asked}. Export it \
         with an open first dimension"
    )]
    FixedBatch {
        /// What the file says.
        fixed: usize,
        /// What was asked for.
        asked: usize,
    },
    /// No dimension that could take the batch, or no batch.
    #[error(
        "the network cannot be given a batch of {asked}: no input has a dimension that could take it. \
         Export it with an open first dimension, and ask for a batch of 1 or more"
    )]
    NoBatch {
        /// What was asked for.
        asked: usize,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn precisions_are_read_as_they_are_written() {
        for &precision in Precision::ALL {
            assert_eq!(precision.to_string().parse(), Ok(precision));
        }
        assert_eq!(" Half ".parse(), Ok(Precision::Fp16));
        let message = "int4".parse::<Precision>().unwrap_err().to_string();
        assert!(message.contains("\"int4\""), "{message}");
    }
}
