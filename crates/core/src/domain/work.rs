//! Work: the arithmetic that something needs and the bytes that it moves, apart from how long it takes.

use std::fmt;

use crate::base::humanize;
use serde::{Deserialize, Serialize};

/// Number format of a computation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum NumberFormat {
    /// 32-bit floats.
    F32,
    /// 16-bit floats with the exponent of 32-bit ones.
    Bf16,
    /// 16-bit IEEE floats.
    F16,
    /// 8-bit integers, summed in 32 bits.
    Int8,
    /// 64-bit floats.
    F64,
}

impl NumberFormat {
    /// Every one.
    pub const ALL: [Self; 5] = [Self::F32, Self::Bf16, Self::F16, Self::Int8, Self::F64];

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::F32 => "fp32",
            Self::Bf16 => "bf16",
            Self::F16 => "fp16",
            Self::Int8 => "int8",
            Self::F64 => "fp64",
        }
    }
}

impl NumberFormat {
    /// The unit of its operations: integers have no floating-point ones.
    pub fn operation_unit(self) -> &'static str {
        match self {
            Self::Int8 => "OP",
            Self::F32 | Self::Bf16 | Self::F16 | Self::F64 => "FLOP",
        }
    }

    /// Operations a second as they are shown: `503 GFLOP/s`.
    pub fn rate_text(self, per_s: f64) -> String {
        humanize::with_prefix(per_s, &format!("{}/s", self.operation_unit()))
    }
}

impl fmt::Display for NumberFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What something has to do: a node, a kernel, or several calls of one together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Work {
    /// Operations, where a multiplication and an addition are two; counted low rather than high.
    pub operations: u64,
    /// What they are done with.
    pub numbers: NumberFormat,
    /// Bytes that move at least: inputs, weights and outputs once, and nothing in between.
    pub low_bytes: u64,
    /// Bytes that move where every tensor of every node is written and read once.
    pub high_bytes: u64,
}

impl Work {
    /// Two together; nothing where they compute with different numbers and both compute.
    pub fn plus(self, other: Self) -> Option<Self> {
        let numbers = match (self.operations, other.operations) {
            (_, 0) => self.numbers,
            (0, _) => other.numbers,
            _ if self.numbers == other.numbers => self.numbers,
            _ => return None,
        };
        Some(Self {
            operations: self.operations.saturating_add(other.operations),
            numbers,
            low_bytes: self.low_bytes.saturating_add(other.low_bytes),
            high_bytes: self.high_bytes.saturating_add(other.high_bytes),
        })
    }

    /// The work of this many calls.
    pub fn times(self, calls: u64) -> Self {
        Self {
            operations: self.operations.saturating_mul(calls),
            low_bytes: self.low_bytes.saturating_mul(calls),
            high_bytes: self.high_bytes.saturating_mul(calls),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work(operations: u64, numbers: NumberFormat) -> Work {
        Work {
            operations,
            numbers,
            low_bytes: 8,
            high_bytes: 16,
        }
    }

    #[test]
    fn copies_take_the_numbers_of_what_computes() {
        let sum = work(0, NumberFormat::F32)
            .plus(work(10, NumberFormat::Int8))
            .unwrap();
        assert_eq!((sum.operations, sum.numbers), (10, NumberFormat::Int8));
        assert_eq!((sum.low_bytes, sum.high_bytes), (16, 32));
        assert_eq!(
            work(1, NumberFormat::F32).plus(work(1, NumberFormat::Int8)),
            None
        );
        assert_eq!(work(2, NumberFormat::F32).times(3).operations, 6);
    }
}
