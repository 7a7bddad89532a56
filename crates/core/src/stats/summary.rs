//! A sample of run times in a few numbers: centre, spread, percentiles, outliers.

use super::percentiles::{eligible_percentile, quantile_sorted};

/// A sample in a few numbers, in the unit of the sample.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// How many values.
    pub n: u64,
    /// Smallest.
    pub min: f64,
    /// Largest.
    pub max: f64,
    /// Middle: half of the values lie below it. The centre that is reported.
    pub median: f64,
    /// Arithmetic mean.
    pub mean: f64,
    /// Mean of the values from the first to the third quartile, both included.
    pub mean_inner_half: f64,
    /// Standard deviation of the sample (n − 1); nothing for a single value.
    pub std: Option<f64>,
    /// First quartile.
    pub q1: f64,
    /// Third quartile.
    pub q3: f64,
    /// 90th percentile, where there are enough values.
    pub p90: Option<f64>,
    /// 95th percentile, where there are enough values.
    pub p95: Option<f64>,
    /// 99th percentile, where there are enough values.
    pub p99: Option<f64>,
    /// 99.9th percentile, where there are enough values.
    pub p99_9: Option<f64>,
}

impl Summary {
    /// The summary of values in any order; nothing for none, or where one is not a number.
    pub fn from_values(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut sorted: Vec<f64> = values.into_iter().collect();
        if sorted.iter().any(|v| !v.is_finite()) {
            return None;
        }
        sorted.sort_by(f64::total_cmp);
        let (&min, &max) = (sorted.first()?, sorted.last()?);
        let quantile = |q| quantile_sorted(&sorted, q);
        let (q1, median, q3) = (quantile(0.25)?, quantile(0.5)?, quantile(0.75)?);
        let mean = mean(&sorted)?;
        let inner: Vec<f64> = sorted
            .iter()
            .copied()
            .filter(|v| (q1..=q3).contains(v))
            .collect();
        Some(Self {
            n: sorted.len() as u64,
            min,
            max,
            median,
            mean,
            mean_inner_half: self::mean(&inner).unwrap_or(median),
            std: standard_deviation(&sorted, mean),
            q1,
            q3,
            p90: eligible_percentile(&sorted, 90.0),
            p95: eligible_percentile(&sorted, 95.0),
            p99: eligible_percentile(&sorted, 99.0),
            p99_9: eligible_percentile(&sorted, 99.9),
        })
    }

    /// Interquartile range as a share of the median: how noisy the sample is.
    pub fn relative_iqr(&self) -> Option<f64> {
        (self.median > 0.0).then(|| (self.q3 - self.q1) / self.median)
    }
}

/// The arithmetic mean; nothing for no values.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The median of values in any order; nothing for no values.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    quantile_sorted(&sorted, 0.5)
}

/// The standard deviation of a sample about its mean, dividing by n − 1; nothing for a single value.
pub(crate) fn standard_deviation(values: &[f64], mean: f64) -> Option<f64> {
    let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
    (values.len() > 1).then(|| (squares / (values.len() - 1) as f64).sqrt())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    #[test]
    fn figures_equal_numpys() {
        // numpy 2: mean, std(ddof=1), percentile 25/50/75 of this list.
        let summary = Summary::from_values([12.0, 10.0, 11.0, 10.5, 30.0, 10.2]).unwrap();
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} {b}");
        close(summary.mean, 13.95);
        close(summary.std.unwrap(), 7.895_251_737_595_198);
        close(summary.median, 10.75);
        close(summary.q1, 10.275);
        close(summary.q3, 11.75);
        assert_eq!(summary.n, 6);
        assert_eq!((summary.p90, summary.p99), (None, None));
        close(summary.mean_inner_half, 10.75);
    }

    /// 700 values with a tail, the same everywhere.
    pub(crate) fn fixed_set() -> Vec<f64> {
        let value = |i: u32| {
            let tail = if i.is_multiple_of(97) { 300.0 } else { 0.0 };
            1000.0 + f64::from(i * 7919 % 701) * 0.25 + tail
        };
        (0..700).map(value).collect()
    }

    #[test]
    fn figures_of_a_large_sample_equal_numpys_and_scipys() {
        let summary = Summary::from_values(fixed_set()).unwrap();
        // numpy.mean, std(ddof=1), median, percentile; the mean from the first to the third quartile,
        // which here is scipy.stats.trim_mean(values, 0.25) as well.
        for (ours, theirs) in [
            (summary.mean, 1_090.877_5),
            (summary.std.unwrap(), 59.729_463_499_239_71),
            (summary.median, 1_088.375),
            (summary.q1, 1_044.187_5),
            (summary.q3, 1_132.812_5),
            (summary.p90.unwrap(), 1_159.525),
            (summary.p95.unwrap(), 1_168.262_5),
            (summary.p99.unwrap(), 1_300.222_5),
            (summary.mean_inner_half, 1_088.375),
        ] {
            assert!((ours / theirs - 1.0).abs() < 1e-9, "{ours} {theirs}");
        }
        assert_eq!(summary.p99_9, None, "it takes 6,636");
    }

    #[test]
    fn odd_samples_give_no_confident_number() {
        assert_eq!(Summary::from_values([]), None);
        assert_eq!(Summary::from_values([1.0, f64::NAN]), None);
        let single = Summary::from_values([5.0]).unwrap();
        assert_eq!((single.median, single.std), (5.0, None));
        assert_eq!(
            Summary::from_values([0.0, 0.0]).unwrap().relative_iqr(),
            None
        );
    }
}
