//! The arithmetic of whole numbers with a scale: value = scale × (stored − zero point).
//!
//! `int8` calls it with ranges and stored floats and writes the results down. Nothing here knows
//! of graphs.

/// Largest 8-bit weight. The range is the same on both sides, so that zero is in its middle.
const WEIGHT_MOST: f32 = 127.0;

/// Largest weight of 7 bits.
const REDUCED_MOST: f32 = 63.0;

/// Biases stay far enough from the ends of 32 bits for the sum to be added to them.
const BIAS_MOST: f32 = (1 << 30) as f32;

/// How an activation is stored in 8 bits without sign.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Affine {
    /// The value of one step.
    pub scale: f32,
    /// What stands for zero.
    pub zero: u8,
}

impl Affine {
    /// For values in a range. The range is widened to hold zero, which is then exact: padding and
    /// rectifiers depend on it.
    pub(crate) fn of_range(low: f32, high: f32) -> Self {
        let (low, high) = (low.min(0.0), high.max(0.0));
        let scale = (high / 255.0) - (low / 255.0);
        if scale < f32::MIN_POSITIVE {
            return Self {
                scale: 1.0,
                zero: 0,
            };
        }
        let zero = (-low / scale).round_ties_even().clamp(0.0, 255.0) as u8;
        Self { scale, zero }
    }

    /// For exactly these values.
    pub(crate) fn of_values(values: &[f32]) -> Self {
        let low = values.iter().copied().fold(0.0, f32::min);
        let high = values.iter().copied().fold(0.0, f32::max);
        Self::of_range(low, high)
    }

    /// The stored form of a value.
    pub(super) fn store(self, value: f32) -> u8 {
        let steps = (value / self.scale).round_ties_even() + f32::from(self.zero);
        steps.clamp(0.0, 255.0) as u8
    }
}

/// Weights in 8 bits, with a scale for each output channel.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct QuantisedWeights {
    /// As stored.
    pub stored: Vec<i8>,
    /// One per channel.
    pub scales: Vec<f32>,
}

/// How the channels of a weight tensor lie in memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Channels {
    count: usize,
    stride: usize,
}

impl Channels {
    /// The channels along one dimension; nothing where there is no such dimension or no element.
    pub(super) fn along(dims: &[usize], axis: usize) -> Option<Self> {
        let count = *dims.get(axis)?;
        let stride = dims[axis + 1..].iter().product();
        (!dims.contains(&0)).then_some(Self { count, stride })
    }

    /// How many.
    pub(super) fn count(self) -> usize {
        self.count
    }

    fn channel_of(self, index: usize) -> usize {
        index / self.stride % self.count
    }
}

/// Stores weights, symmetric around zero. `bias` is what is added to each channel, in values of the
/// input's steps: a channel's scale grows where its bias would not fit into 32 bits otherwise.
pub(super) fn weights(
    values: &[f32],
    channels: Channels,
    reduced: bool,
    bias: Option<&[f32]>,
) -> QuantisedWeights {
    let most = if reduced { REDUCED_MOST } else { WEIGHT_MOST };
    let mut largest = vec![0.0_f32; channels.count];
    for (index, value) in values.iter().enumerate() {
        let channel = &mut largest[channels.channel_of(index)];
        *channel = channel.max(value.abs());
    }
    let scales: Vec<f32> = largest
        .iter()
        .enumerate()
        .map(|(channel, largest)| {
            let least = bias.map_or(0.0, |bias| bias[channel].abs() / BIAS_MOST);
            let scale = (largest / most).max(least);
            // A channel of zeros and without a bias takes any scale.
            if scale < f32::MIN_POSITIVE {
                1.0
            } else {
                scale
            }
        })
        .collect();
    let stored = values.iter().enumerate().map(|(index, value)| {
        let steps = (value / scales[channels.channel_of(index)]).round_ties_even();
        steps.clamp(-most, most) as i8
    });
    QuantisedWeights {
        stored: stored.collect(),
        scales,
    }
}

/// Stores a bias in steps of the products that it is added to.
pub(crate) fn bias(values: &[f32], scales: &[f32]) -> Vec<i32> {
    values
        .iter()
        .zip(scales)
        .map(|(&value, &scale)| (f64::from(value) / f64::from(scale)).round_ties_even() as i32)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_is_exact() {
        for (low, high) in [
            (-1.0, 2.0),
            (0.5, 3.0),
            (-7.3, -0.1),
            (0.0, 6.0),
            (-1e-3, 1e4),
        ] {
            let affine = Affine::of_range(low, high);
            assert_eq!(affine.store(0.0), affine.zero);
            let back = |stored: u8| affine.scale * (f32::from(stored) - f32::from(affine.zero));
            for value in [low, high, 0.5 * (low + high)] {
                let error = (back(affine.store(value)) - value).abs();
                assert!(error <= affine.scale, "{low} {high} {value} {error}");
            }
        }
        assert_eq!(Affine::of_range(0.0, 5.1).zero, 0);
        assert_eq!(Affine::of_range(-5.0, 0.0).zero, 255);
        let (scale, zero) = (1.0, 0);
        assert_eq!(Affine::of_range(0.0, 0.0), Affine { scale, zero });
        assert_eq!(Affine::of_values(&[0.0, 0.0]), Affine { scale, zero });
        assert!(Affine::of_range(f32::MIN, f32::MAX).scale.is_finite());
    }

    #[test]
    fn each_channel_has_its_scale() {
        let values = [1.0, -127.0, 0.75, 0.25, 0.0, 0.0];
        let rows = weights(&values, Channels::along(&[3, 2], 0).unwrap(), false, None);
        assert_eq!(rows.scales, [1.0, 0.75 / 127.0, 1.0]);
        assert_eq!(rows.stored, [1, -127, 127, 42, 0, 0]);
        let columns = weights(&values, Channels::along(&[3, 2], 1).unwrap(), true, None);
        assert_eq!(columns.scales, [1.0 / 63.0, 127.0 / 63.0]);
        assert_eq!(columns.stored, [63, -63, 47, 0, 0, 0]);
        assert!(Channels::along(&[3, 0], 0).is_none());
    }

    #[test]
    fn biases_fit() {
        let channels = Channels::along(&[2, 1], 0).unwrap();
        let weights = weights(&[1e-12, 1.0], channels, false, Some(&[3.0, 3.0]));
        let stored = bias(&[3.0, 3.0], &weights.scales);
        assert_eq!(stored, [1 << 30, 381]);
    }
}
