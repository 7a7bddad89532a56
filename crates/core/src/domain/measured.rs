//! A figure of a roof with the repetitions that it comes from, and whether it is certain enough to explain a time by.

use serde::{Deserialize, Serialize};

/// Repetitions that lie farther apart than this share make a roof too noisy to explain a time by.
pub const NOISY: f64 = 0.05;
/// Other programs that use less than this share of the processors are ignored.
const UNTROUBLED: f64 = 0.02;

/// A figure that was measured several times.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MeasuredValue {
    /// The figure that is used.
    pub value: f64,
    /// The lowest of the repetitions that it was taken from.
    pub low: f64,
    /// The highest.
    pub high: f64,
    /// How many.
    pub repetitions: u32,
}

impl MeasuredValue {
    /// The distance from lowest to highest as a share of the figure.
    pub fn spread(self) -> f64 {
        if self.value > 0.0 {
            (self.high - self.low) / self.value
        } else {
            f64::INFINITY
        }
    }

    /// Whether it is too uncertain to explain a time by.
    pub fn is_noisy(self) -> bool {
        self.spread() > NOISY
    }

    /// The same, taken while others used this share of what it needs: alone it may be so much higher. So what was
    /// measured beside constant load is not taken for quiet because its repetitions agree.
    #[must_use]
    pub fn widened_for_load(self, share: f64) -> Self {
        if share < UNTROUBLED {
            return self;
        }
        let alone = self.value / (1.0 - share.min(0.95));
        Self {
            high: self.high.max(alone),
            ..self
        }
    }

    /// The figure of several stretches that lie apart: the highest, with the second highest as the lower end, so
    /// that a figure which came once is not quiet.
    pub fn highest(stretches: &[Self]) -> Option<Self> {
        let mut sorted = stretches.to_vec();
        sorted.sort_by(|a, b| b.value.total_cmp(&a.value));
        let (best, others) = sorted.split_first()?;
        let second = others.first().map_or(best.low, |second| second.value);
        Some(Self {
            low: best.low.min(second),
            repetitions: stretches.iter().map(|one| one.repetitions).sum(),
            ..*best
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn per_s(value: f64, low: f64) -> MeasuredValue {
        MeasuredValue {
            value,
            low,
            high: value,
            repetitions: 4,
        }
    }

    #[test]
    fn constant_load_beside_it_is_no_quiet() {
        let quiet = per_s(100.0, 99.5);
        assert!(!quiet.is_noisy() && quiet.widened_for_load(0.01) == quiet);
        let beside = quiet.widened_for_load(0.5);
        assert!(beside.is_noisy());
        assert_eq!((beside.value, beside.high), (100.0, 200.0));
    }

    #[test]
    fn stretches_have_to_agree() {
        let highest = |values: &[f64]| {
            let stretches: Vec<MeasuredValue> = values.iter().map(|at| per_s(*at, *at)).collect();
            MeasuredValue::highest(&stretches)
        };
        assert_eq!(highest(&[]), None);
        let calm = highest(&[60.0, 100.0, 98.0]).unwrap();
        assert_eq!((calm.value, calm.low, calm.repetitions), (100.0, 98.0, 12));
        assert!(!calm.is_noisy());
        assert!(highest(&[60.0, 100.0, 70.0]).unwrap().is_noisy());
        assert!(!highest(&[100.0]).unwrap().is_noisy());
    }
}
