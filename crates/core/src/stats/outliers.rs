//! Samples that lie far from the others: classified, counted and shown, never removed.

use super::percentiles::quantile_sorted;
use super::summary::median;

/// A modified z-score beyond this is an outlier (Iglewicz & Hoaglin, *How to Detect and Handle Outliers*, 1993).
const MODIFIED_Z: f64 = 3.5;
/// The median absolute deviation of a normal distribution is this many standard deviations.
const NORMAL_MAD: f64 = 0.6745;
/// Where more than half of the samples are the same, their deviation counts as at least this share of
/// the median: a clock's tick is no outlier.
const LEAST_DEVIATION: f64 = 1e-4;

/// How far off a sample is, by Tukey's fences (*Exploratory Data Analysis*, 1977).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Beyond 1.5 interquartile ranges from the quartiles.
    Mild,
    /// Beyond 3.
    Severe,
}

/// A sample far from the others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outlier {
    /// Its place among the samples.
    pub index: usize,
    /// Its value.
    pub value: f64,
    /// How far off it is.
    pub severity: Severity,
}

/// The outliers of a sample, in its order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outliers {
    /// Beyond Tukey's fences.
    pub tukey: Vec<Outlier>,
    /// How many have a modified z-score beyond 3.5.
    pub by_z_score: u64,
}

impl Outliers {
    /// Classifies values in the order in which they came.
    pub fn classify(values: &[f64]) -> Self {
        let mut sorted = values.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let quantile = |q| quantile_sorted(&sorted, q);
        let (Some(q1), Some(middle), Some(q3)) = (quantile(0.25), quantile(0.5), quantile(0.75))
        else {
            return Self::default();
        };
        let range = q3 - q1;
        let beyond =
            |value: f64, times: f64| value < q1 - times * range || value > q3 + times * range;
        let tukey = values.iter().enumerate().filter_map(|(index, &value)| {
            let severity = match value {
                value if beyond(value, 3.0) => Severity::Severe,
                value if beyond(value, 1.5) => Severity::Mild,
                _ => return None,
            };
            Some(Outlier {
                index,
                value,
                severity,
            })
        });
        let deviations: Vec<f64> = values.iter().map(|value| (value - middle).abs()).collect();
        let typical = median(&deviations)
            .unwrap_or(0.0)
            .max(middle.abs() * LEAST_DEVIATION);
        let by_z_score = deviations
            .iter()
            .filter(|deviation| NORMAL_MAD * **deviation > MODIFIED_Z * typical)
            .count() as u64;
        Self {
            tukey: tukey.collect(),
            by_z_score,
        }
    }

    /// How many are beyond the inner fences but not the outer ones.
    pub fn n_mild(&self) -> u64 {
        self.count(Severity::Mild)
    }

    /// How many are beyond the outer fences.
    pub fn n_severe(&self) -> u64 {
        self.count(Severity::Severe)
    }

    fn count(&self, severity: Severity) -> u64 {
        let such = |outlier: &&Outlier| outlier.severity == severity;
        self.tukey.iter().filter(such).count() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outliers_are_told_by_how_far_off_they_are() {
        // Quartiles 11 and 13 by numpy: fences 8 and 16, and 5 and 19.
        let values = [
            10.0, 11.0, 12.0, 13.0, 14.0, 11.0, 12.0, 13.0, 17.0, 30.0, 12.0,
        ];
        let outliers = Outliers::classify(&values);
        let found: Vec<(usize, Severity)> = outliers
            .tukey
            .iter()
            .map(|outlier| (outlier.index, outlier.severity))
            .collect();
        let expected = [(8, Severity::Mild), (9, Severity::Severe)];
        assert_eq!(found, expected);
        assert_eq!((outliers.n_mild(), outliers.n_severe()), (1, 1));
        // Median 12, median absolute deviation 1: 17 has a score of 3.4, 30 one of 12.
        assert_eq!(outliers.by_z_score, 1);
    }

    #[test]
    fn counts_of_a_large_sample_equal_numpys() {
        // numpy.percentile for the fences, scipy.stats.median_abs_deviation for the scores.
        let outliers = Outliers::classify(&crate::stats::summary::tests::fixed_set());
        assert_eq!((outliers.n_mild(), outliers.n_severe()), (4, 4));
        assert_eq!(outliers.by_z_score, 7);
    }

    #[test]
    fn odd_samples() {
        assert_eq!(Outliers::classify(&[]), Outliers::default());
        assert_eq!(Outliers::classify(&[5.0; 9]), Outliers::default());
        let tick = [vec![1_000_000.0; 9], vec![1_000_001.0]].concat();
        assert_eq!(Outliers::classify(&tick).by_z_score, 0);
    }
}
