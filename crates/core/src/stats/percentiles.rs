//! Quantiles of a sorted sample, and how many samples a percentile needs before it means anything.

/// Percentiles that are reported, with the fewest samples that stand behind each.
///
/// The least n for which a bound that one sample in n exceeds holds with 99 % confidence:
/// P(Binomial(n, 1 − p) ≤ 1) ≤ 1 %. This is the early stopping of `MLPerf`'s `LoadGen` with one sample over
/// the bound; it assumes independent samples.
pub const ELIGIBLE: [(f64, u64); 4] = [(90.0, 64), (95.0, 130), (99.0, 662), (99.9, 6_636)];

/// The quantile `q` in 0..=1 of values in ascending order, by linear interpolation between the two
/// nearest order statistics (Hyndman & Fan type 7, the default of numpy and R); nothing for no values.
pub fn quantile_sorted(sorted: &[f64], q: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let position = q.clamp(0.0, 1.0) * last as f64;
    let below = position.floor() as usize;
    let share = position - below as f64;
    let low = *sorted.get(below)?;
    let high = *sorted.get((below + 1).min(last))?;
    Some(low + (high - low) * share)
}

/// The percentile, if there are enough samples to stand behind it.
pub(crate) fn eligible_percentile(sorted: &[f64], percent: f64) -> Option<f64> {
    let (_, needed) = ELIGIBLE.iter().find(|(p, _)| *p == percent)?;
    (sorted.len() as u64 >= *needed)
        .then(|| quantile_sorted(sorted, percent / 100.0))
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_equal_numpys() {
        // numpy.percentile([1, 2, 4, 8, 16], [0, 10, 50, 90, 99, 100])
        let values = [1.0, 2.0, 4.0, 8.0, 16.0];
        let expected = [
            (0.0, 1.0),
            (0.1, 1.4),
            (0.5, 4.0),
            (0.9, 12.8),
            (0.99, 15.68),
            (1.0, 16.0),
        ];
        for (q, value) in expected {
            assert!(
                (quantile_sorted(&values, q).unwrap() - value).abs() < 1e-12,
                "{q}"
            );
        }
        assert_eq!(quantile_sorted(&[], 0.5), None);
        assert_eq!(quantile_sorted(&[3.0], 0.99), Some(3.0));
    }

    #[test]
    fn the_counts_follow_from_their_formula() {
        for (percent, needed) in ELIGIBLE {
            let p = percent / 100.0;
            let chance = |n: u64| p.powi(n as i32) + n as f64 * (1.0 - p) * p.powi(n as i32 - 1);
            assert!(
                chance(needed) <= 0.01 && chance(needed - 1) > 0.01,
                "p{percent}"
            );
        }
    }

    #[test]
    fn a_percentile_waits_for_its_samples() {
        for (percent, needed) in ELIGIBLE {
            let enough = vec![1.0; needed as usize];
            assert_eq!(eligible_percentile(&enough, percent), Some(1.0));
            assert_eq!(eligible_percentile(&enough[1..], percent), None);
        }
    }
}
