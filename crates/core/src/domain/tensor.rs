//! Shapes of tensors, and the seeded values that benchmarks feed in.

use half::f16;
use rand_distr::{Distribution as _, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};
use serde::{Deserialize, Serialize};

pub use super::element::ElementType;
use super::fill::Fill;

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
    /// What it is filled with where no file gives its values.
    #[serde(default, skip_serializing_if = "Fill::is_usual")]
    pub fill: Fill,
}

impl TensorSpec {
    /// An input or output of these sizes, none of which is known to be the batch.
    pub fn new(name: impl Into<String>, element: ElementType, dims: Vec<usize>) -> Self {
        Self {
            name: name.into(),
            element,
            dims,
            batch_axes: Vec::new(),
            fill: Fill::Usual,
        }
    }

    /// The dimension along which a range counts up: the last one that is not the batch.
    pub fn counting_axis(&self) -> Option<usize> {
        let axes = || (0..self.dims.len()).rev();
        axes()
            .find(|axis| !self.batch_axes.contains(axis))
            .or_else(|| axes().next())
    }

    /// What these inputs are filled with, as far as it is not as usual: `input_ids 0…30,521, attention_mask
    /// ones`.
    pub fn fills_text(specs: &[Self]) -> Option<String> {
        let filled = specs.iter().filter(|spec| !spec.fill.is_usual());
        let texts: Vec<String> = filled
            .map(|spec| format!("{} {}", spec.name, spec.fill.describe(spec.element)))
            .collect();
        (!texts.is_empty()).then(|| texts.join(", "))
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

impl TensorData {
    /// These numbers as elements of a type; what it cannot hold is cut to what it can.
    pub fn of_numbers(element: ElementType, numbers: impl Iterator<Item = f64>) -> Self {
        match element {
            ElementType::F32 => Self::F32(numbers.map(|number| number as f32).collect()),
            ElementType::F64 => Self::F64(numbers.collect()),
            ElementType::F16 => Self::F16(numbers.map(f16::from_f64).collect()),
            ElementType::I8 => Self::I8(numbers.map(|number| number as i8).collect()),
            ElementType::I16 => Self::I16(numbers.map(|number| number as i16).collect()),
            ElementType::I32 => Self::I32(numbers.map(|number| number as i32).collect()),
            ElementType::I64 => Self::I64(numbers.map(|number| number as i64).collect()),
            ElementType::U8 => Self::U8(numbers.map(|number| number as u8).collect()),
            ElementType::Bool => Self::Bool(numbers.map(|number| number != 0.0).collect()),
        }
    }
}

/// Normal floats, and bits for integers and booleans, which are valid wherever an index or a mask is asked
/// for.
fn usual(element: ElementType, n: usize, rng: &mut Xoshiro256PlusPlus) -> TensorData {
    let mut normal = || -> f32 { StandardNormal.sample(rng) };
    match element {
        ElementType::F32 => TensorData::F32((0..n).map(|_| normal()).collect()),
        ElementType::F64 => TensorData::F64((0..n).map(|_| f64::from(normal())).collect()),
        ElementType::F16 => TensorData::F16((0..n).map(|_| f16::from_f32(normal())).collect()),
        whole => {
            let bits = (0..n).map(|_| (rng.next_u64() >> 63) as f64);
            TensorData::of_numbers(whole, bits)
        }
    }
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
    /// The same values for the same seed, on every machine, as `spec.fill` has them. Without one they are
    /// normal floats, and zeros and ones for integers and booleans. Who has a file read for the values of
    /// `Fill::File` does not come here.
    pub fn seeded(spec: &TensorSpec, seed: u64) -> Self {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let n = spec.len();
        let data = match &spec.fill {
            Fill::Usual | Fill::File(_) => usual(spec.element, n, &mut rng),
            Fill::Zeros => TensorData::of_numbers(spec.element, (0..n).map(|_| 0.0)),
            Fill::Ones => TensorData::of_numbers(spec.element, (0..n).map(|_| 1.0)),
            Fill::Number(value) => TensorData::of_numbers(spec.element, (0..n).map(|_| *value)),
            Fill::Range { from } => {
                let axis = spec.counting_axis();
                let size = axis.map_or(1, |axis| spec.dims[axis].max(1));
                let each: usize = axis.map_or(1, |axis| spec.dims[axis + 1..].iter().product());
                let value = |place: usize| *from as f64 + (place / each.max(1) % size) as f64;
                TensorData::of_numbers(spec.element, (0..n).map(value))
            }
            Fill::Random { low, high } => {
                let is_float = spec.element.is_float();
                let draw = |_| {
                    // 53 bits are what a 64-bit float holds.
                    let share = (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
                    let value = low + share * (high - low);
                    if is_float {
                        value
                    } else {
                        // Rounding may reach the end, which is not among the numbers.
                        value.floor().min(high.ceil() - 1.0)
                    }
                };
                TensorData::of_numbers(spec.element, (0..n).map(draw))
            }
        };
        Self {
            spec: spec.clone(),
            data,
        }
    }

    /// The least and the greatest finite element.
    pub fn value_range(&self) -> Option<(f32, f32)> {
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
        assert_eq!(
            tensor(TensorData::F32(wild)).value_range(),
            Some((-1.5, 2.0))
        );
        assert_eq!(tensor(TensorData::F32(vec![f32::NAN])).value_range(), None);
        assert_eq!(
            tensor(TensorData::U8(vec![3, 9])).value_range(),
            Some((3.0, 9.0))
        );
    }

    #[test]
    fn values_are_as_the_fill_says() {
        let filled = |element, dims: &[usize], batch_axes: &[usize], fill: &str| {
            let spec = TensorSpec {
                batch_axes: batch_axes.to_vec(),
                fill: fill.parse().unwrap(),
                ..TensorSpec::new("x", element, dims.to_vec())
            };
            Tensor::seeded(&spec, 5).to_f64()
        };
        let ids = filled(ElementType::I64, &[4, 500], &[0], "random:0..30522");
        assert!(
            ids.iter()
                .all(|id| (0.0..30_522.0).contains(id) && id.fract() == 0.0)
        );
        assert!(ids.iter().any(|id| *id > 25_000.0) && ids.iter().any(|id| *id < 5_000.0));
        let bits = filled(ElementType::Bool, &[500], &[], "random:0..2");
        assert!(bits.contains(&0.0) && bits.contains(&1.0));
        let floats = filled(ElementType::F16, &[500], &[], "random:-1..0.5");
        assert!(floats.iter().all(|value| (-1.0..=0.5).contains(value)));
        let positions = [3.0, 4.0, 5.0, 3.0, 4.0, 5.0];
        assert_eq!(
            filled(ElementType::I32, &[2, 3], &[0], "range:3"),
            positions
        );
        let by_row = [0.0, 0.0, 1.0, 1.0];
        assert_eq!(filled(ElementType::U8, &[2, 2], &[1], "range"), by_row);
        assert_eq!(filled(ElementType::I64, &[], &[], "range:7"), [7.0]);
        assert_eq!(
            filled(ElementType::I64, &[3], &[0], "range"),
            [0.0, 1.0, 2.0]
        );
        assert!(filled(ElementType::I64, &[2, 0], &[0], "range").is_empty());
        assert_eq!(filled(ElementType::F32, &[2], &[], "0.5"), [0.5, 0.5]);
        assert_eq!(filled(ElementType::Bool, &[2], &[], "ones"), [1.0, 1.0]);
        assert_eq!(filled(ElementType::I16, &[2], &[], "zeros"), [0.0, 0.0]);
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
