//! Types and shapes of tensors, and the seeded values that benchmarks feed in.

use std::fmt;

use half::f16;
use rand_distr::{Distribution as _, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};
use serde::{Deserialize, Serialize};

/// Element types that an input or output may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ElementType {
    /// 32-bit float.
    F32,
    /// 64-bit float.
    F64,
    /// 16-bit IEEE float.
    F16,
    /// Signed integers.
    I8,
    /// 16 bits.
    I16,
    /// 32 bits.
    I32,
    /// 64 bits.
    I64,
    /// Unsigned, 8 bits.
    U8,
    /// True or false, one byte each.
    Bool,
}

impl ElementType {
    /// Bytes of one element.
    pub fn size(self) -> u64 {
        match self {
            Self::I8 | Self::U8 | Self::Bool => 1,
            Self::F16 | Self::I16 => 2,
            Self::F32 | Self::I32 => 4,
            Self::F64 | Self::I64 => 8,
        }
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::F32 => "float32",
            Self::F64 => "float64",
            Self::F16 => "float16",
            Self::I8 => "int8",
            Self::I16 => "int16",
            Self::I32 => "int32",
            Self::I64 => "int64",
            Self::U8 => "uint8",
            Self::Bool => "bool",
        })
    }
}

/// An input with every dimension known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TensorSpec {
    /// The name the model gives it.
    pub name: String,
    /// Its element type.
    pub element: ElementType,
    /// Its dimensions.
    pub dims: Vec<usize>,
    /// Which of them are the batch, from 0; none for an input that is the same for every batch size.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub batch_axes: Vec<usize>,
}

impl TensorSpec {
    /// An input or output of these sizes, none of which is known to be the batch.
    pub fn new(name: impl Into<String>, element: ElementType, dims: Vec<usize>) -> Self {
        Self {
            name: name.into(),
            element,
            dims,
            batch_axes: Vec::new(),
        }
    }

    /// How many elements it has.
    pub fn len(&self) -> usize {
        self.dims.iter().product()
    }

    /// Whether a dimension is zero.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The elements of a tensor, row by row.
#[derive(Clone, Debug, PartialEq)]
pub enum TensorData {
    /// 32-bit floats.
    F32(Vec<f32>),
    /// 64-bit floats.
    F64(Vec<f64>),
    /// 16-bit floats.
    F16(Vec<f16>),
    /// 8-bit integers.
    I8(Vec<i8>),
    /// 16-bit integers.
    I16(Vec<i16>),
    /// 32-bit integers.
    I32(Vec<i32>),
    /// 64-bit integers.
    I64(Vec<i64>),
    /// Bytes.
    U8(Vec<u8>),
    /// Booleans.
    Bool(Vec<bool>),
}

/// A tensor: what it is and what is in it.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    /// Name, type and shape.
    pub spec: TensorSpec,
    /// The elements.
    pub data: TensorData,
}

impl Tensor {
    /// The same values for the same seed, on every machine: normal floats, and zeros and ones for
    /// integers and booleans, which are valid wherever an index or a mask is asked for.
    pub fn seeded(spec: &TensorSpec, seed: u64) -> Self {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let n = spec.len();
        let mut normal = || -> f32 { StandardNormal.sample(&mut rng) };
        let data = match spec.element {
            ElementType::F32 => TensorData::F32((0..n).map(|_| normal()).collect()),
            ElementType::F64 => TensorData::F64((0..n).map(|_| f64::from(normal())).collect()),
            ElementType::F16 => TensorData::F16((0..n).map(|_| f16::from_f32(normal())).collect()),
            whole => {
                let mut bit = || rng.next_u64() >> 63;
                match whole {
                    ElementType::I8 => TensorData::I8((0..n).map(|_| bit() as i8).collect()),
                    ElementType::I16 => TensorData::I16((0..n).map(|_| bit() as i16).collect()),
                    ElementType::I32 => TensorData::I32((0..n).map(|_| bit() as i32).collect()),
                    ElementType::I64 => TensorData::I64((0..n).map(|_| bit() as i64).collect()),
                    ElementType::U8 => TensorData::U8((0..n).map(|_| bit() as u8).collect()),
                    _ => TensorData::Bool((0..n).map(|_| bit() == 1).collect()),
                }
            }
        };
        Self {
            spec: spec.clone(),
            data,
        }
    }

    /// The least and the greatest finite element.
    pub fn reach(&self) -> Option<(f32, f32)> {
        let widen = |reach: Option<(f32, f32)>, value: f32| {
            let (low, high) = reach.unwrap_or((value, value));
            Some((low.min(value), high.max(value)))
        };
        let finite = |value: &f32| value.is_finite();
        if let TensorData::F32(values) = &self.data {
            return values.iter().copied().filter(finite).fold(None, widen);
        }
        let values = self.to_f64().into_iter().map(|value| value as f32);
        values.filter(finite).fold(None, widen)
    }

    /// The elements as 64-bit floats, for comparing outputs across engines.
    pub fn to_f64(&self) -> Vec<f64> {
        match &self.data {
            TensorData::F32(v) => v.iter().map(|&x| f64::from(x)).collect(),
            TensorData::F64(v) => v.clone(),
            TensorData::F16(v) => v.iter().map(|x| x.to_f64()).collect(),
            TensorData::I8(v) => v.iter().map(|&x| f64::from(x)).collect(),
            TensorData::I16(v) => v.iter().map(|&x| f64::from(x)).collect(),
            TensorData::I32(v) => v.iter().map(|&x| f64::from(x)).collect(),
            TensorData::I64(v) => v.iter().map(|&x| x as f64).collect(),
            TensorData::U8(v) => v.iter().map(|&x| f64::from(x)).collect(),
            TensorData::Bool(v) => v.iter().map(|&x| f64::from(u8::from(x))).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(element: ElementType) -> TensorSpec {
        TensorSpec::new("x", element, vec![2, 500])
    }

    #[test]
    fn seeded_values_repeat_and_differ_by_seed() {
        let one = Tensor::seeded(&spec(ElementType::F32), 7);
        assert_eq!(one, Tensor::seeded(&spec(ElementType::F32), 7));
        assert_ne!(one, Tensor::seeded(&spec(ElementType::F32), 8));
    }

    #[test]
    fn reach_leaves_out_what_is_no_number() {
        let tensor = |data| Tensor {
            spec: spec(ElementType::F32),
            data,
        };
        let wild = vec![f32::NAN, 2.0, f32::NEG_INFINITY, -1.5, 0.0];
        assert_eq!(tensor(TensorData::F32(wild)).reach(), Some((-1.5, 2.0)));
        assert_eq!(tensor(TensorData::F32(vec![f32::NAN])).reach(), None);
        assert_eq!(tensor(TensorData::U8(vec![3, 9])).reach(), Some((3.0, 9.0)));
    }

    #[test]
    fn floats_are_normal_and_integers_are_bits() {
        let values = Tensor::seeded(&spec(ElementType::F64), 1).to_f64();
        let mean = values.iter().sum::<f64>() / 1000.0;
        let variance = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 1000.0;
        assert!(
            mean.abs() < 0.1 && (variance - 1.0).abs() < 0.15,
            "{mean} {variance}"
        );
        let bits = Tensor::seeded(&spec(ElementType::I64), 1).to_f64();
        assert!(bits.iter().all(|&x| x == 0.0 || x == 1.0));
        assert!(bits.contains(&0.0) && bits.contains(&1.0));
    }
}
