//! How much work something is: from the shapes of what goes in and out to operations and bytes.
//!
//! The formulas are shared by ONNX files, whose nodes have attributes, and by profiles, whose events have
//! shapes and types alone. Operations are counted low rather than high: a multiplication and an addition are
//! two, a transcendental function counts as one, comparisons, copies and whole numbers that are no 8-bit
//! products count as none. What is not known is not guessed: then there is no cost.

mod operator_kinds;
pub mod operators;
pub mod torch;

use crate::domain::work::{NumberFormat, Work};

/// What a tensor consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Element {
    /// Bits of one.
    pub bits: u64,
    /// What is computed with them; nothing for whole numbers that only count or point.
    pub numbers: Option<NumberFormat>,
}

impl Element {
    /// 32-bit floats.
    pub const F32: Self = Self::float(32, NumberFormat::F32);

    const fn float(bits: u64, numbers: NumberFormat) -> Self {
        Self {
            bits,
            numbers: Some(numbers),
        }
    }

    const fn integer(bits: u64) -> Self {
        Self {
            bits,
            numbers: None,
        }
    }

    /// An element type as ONNX Runtime or PyTorch calls it.
    pub fn named(name: &str) -> Option<Self> {
        let name = name.strip_prefix("c10::").unwrap_or(name);
        Some(match name {
            "float" | "float32" => Self::F32,
            "double" | "float64" => Self::float(64, NumberFormat::F64),
            "float16" | "Half" | "half" => Self::float(16, NumberFormat::F16),
            "bfloat16" | "BFloat16" => Self::float(16, NumberFormat::Bf16),
            "int8" | "uint8" | "signed char" | "unsigned char" | "qint8" | "quint8" => {
                Self::float(8, NumberFormat::Int8)
            }
            "int4" | "uint4" => Self::integer(4),
            "bool" => Self::integer(8),
            "int16" | "uint16" | "short" | "short int" => Self::integer(16),
            "int32" | "uint32" | "int" => Self::integer(32),
            "int64" | "uint64" | "long" | "long int" => Self::integer(64),
            _ => return None,
        })
    }
}

/// A tensor: its sizes and what it consists of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operand {
    /// Its sizes.
    pub dims: Vec<usize>,
    /// What it consists of.
    pub element: Element,
}

impl Operand {
    /// A tensor of these sizes.
    pub fn new(dims: &[usize], element: Element) -> Self {
        Self {
            dims: dims.to_vec(),
            element,
        }
    }

    /// How many elements it has.
    pub fn elements(&self) -> u64 {
        elements(&self.dims)
    }

    /// How many bytes it has.
    pub fn bytes(&self) -> u64 {
        bytes(self.elements(), self.element)
    }
}

/// How many elements such sizes have.
pub fn elements(dims: &[usize]) -> u64 {
    let sizes = dims.iter().map(|&dim| dim as u64);
    sizes.fold(1, u64::saturating_mul)
}

/// Bytes of so many elements.
pub fn bytes(elements: u64, element: Element) -> u64 {
    elements.saturating_mul(element.bits).div_ceil(8)
}

/// Operations of a matrix product that makes so many elements, each from so many pairs.
pub fn product(made: u64, pairs: u64) -> u64 {
    made.saturating_mul(pairs).saturating_mul(2)
}

/// Operations of a convolution that makes so many elements with weights of these sizes: outputs, inputs of a
/// group, window. A transposed one is counted from the elements that go in.
pub fn convolution(places: u64, weights: &[usize]) -> u64 {
    product(places, elements(weights.get(1..).unwrap_or_default()))
}

/// Operations of attention: so many values of all queries together, each with so many keys, and as many
/// values of the result.
pub fn attention(queries: u64, results: u64, keys: u64) -> u64 {
    product(queries.saturating_add(results), keys)
}

/// Operations a value for normalisation by the mean and the deviation of a row: mean and square, then
/// difference, factor of the row, scale and shift.
pub const LAYER_NORM: u64 = 7;
/// By the square mean alone.
pub const RMS_NORM: u64 = 4;
/// By known statistics, which are one factor and one shift a channel.
pub const BATCH_NORM: u64 = 2;
/// Operations a value for softmax: the largest, the difference, the exponential, the sum, the share.
pub const SOFTMAX: u64 = 5;

/// What a node costs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cost {
    /// Operations.
    pub operations: u64,
    /// What they are done with.
    pub numbers: NumberFormat,
    /// Bytes that are read of each input, at least.
    pub reads: Vec<u64>,
    /// Bytes that are written of each output, at least.
    pub writes: Vec<u64>,
    /// Bytes of all inputs and outputs, and of what has to be between them.
    pub high: u64,
    /// Whether it only changes how the same bytes are looked at, so that nothing has to move.
    pub is_view: bool,
}

impl Cost {
    /// The work of the node alone.
    pub fn work(&self) -> Work {
        let moved = self.reads.iter().chain(&self.writes);
        let low = moved.fold(0, |sum: u64, &bytes| sum.saturating_add(bytes));
        let low_bytes = if self.is_view { 0 } else { low };
        Work {
            operations: self.operations,
            numbers: self.numbers,
            low_bytes,
            high_bytes: self.high.max(low_bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn element_types_go_by_the_names_of_both_tools() {
        for (name, bits, numbers) in [
            ("float", 32, Some(NumberFormat::F32)),
            ("c10::BFloat16", 16, Some(NumberFormat::Bf16)),
            ("float16", 16, Some(NumberFormat::F16)),
            ("uint8", 8, Some(NumberFormat::Int8)),
            ("long int", 64, None),
            ("uint4", 4, None),
        ] {
            let element = Element::named(name).unwrap();
            assert_eq!((element.bits, element.numbers), (bits, numbers), "{name}");
        }
        assert_eq!(Element::named("Scalar"), None);
    }

    #[test]
    fn sizes_beyond_counting_stay_the_largest() {
        let endless = Operand::new(&[usize::MAX, 8], Element::F32);
        assert_eq!(endless.bytes(), u64::MAX / 8 + 1);
        assert_eq!(product(u64::MAX, 3), u64::MAX);
        assert_eq!(convolution(10, &[]), 20);
    }
}
