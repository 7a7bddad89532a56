//! Whether differences lie above zero or only scatter around it.
//!
//! Wilcoxon's signed-rank test (*Individual Comparisons by Ranking Methods*, 1945), one-sided: sizes
//! are ranked, and the ranks of those above zero added up. The chance is exact, for ties as well: every
//! choice of signs is counted, and equal sizes share the mean of their ranks. Differences of nothing
//! are left out. Assumes pairs that are independent, and differences that would lie evenly around zero
//! if there were nothing; it does not ask how far the stray ones stray.

/// How likely the ranks above zero add up to so much or more where every sign is a coin's; 1 for no
/// differences. Time grows with the cube of their number.
pub fn chance(differences: &[f64]) -> f64 {
    let mut ordered: Vec<f64> = differences.iter().copied().filter(|d| *d != 0.0).collect();
    ordered.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
    let ranks = doubled_ranks(&ordered);
    let above: usize = ordered
        .iter()
        .zip(&ranks)
        .filter(|(difference, _)| **difference > 0.0)
        .map(|(_, rank)| rank)
        .sum();
    let sums = shares_of_sums(&ranks);
    sums.iter().skip(above).sum::<f64>().min(1.0)
}

/// Twice the rank of each, so that the mean of two neighbours is whole.
fn doubled_ranks(ordered: &[f64]) -> Vec<usize> {
    let mut ranks = Vec::with_capacity(ordered.len());
    for alike in ordered.chunk_by(|a, b| a.abs() == b.abs()) {
        let before = ranks.len();
        let shared = 2 * before + alike.len() + 1;
        ranks.resize(before + alike.len(), shared);
    }
    ranks
}

/// The share of all choices of signs that make each sum.
fn shares_of_sums(ranks: &[usize]) -> Vec<f64> {
    let mut shares = vec![0.0; ranks.iter().sum::<usize>() + 1];
    shares[0] = 1.0;
    let mut most = 0;
    for &rank in ranks {
        most += rank;
        for sum in (0..=most).rev() {
            let with = sum.checked_sub(rank).map_or(0.0, |less| shares[less]);
            shares[sum] = f64::midpoint(shares[sum], with);
        }
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What scipy 1.17 says: `wilcoxon(x, alternative="greater", method="exact").pvalue`.
    #[test]
    fn it_is_scipys() {
        let close =
            |found: f64, expected: f64| assert!((found - expected).abs() < 1e-12, "{found}");
        close(chance(&[1.0, 2.0, 3.0, 4.0, 5.0]), 1.0 / 32.0);
        close(chance(&[-1.0, 2.0, 3.0, 4.0, 5.0]), 2.0 / 32.0);
        close(
            chance(&[1.5, -2.5, 3.5, -4.5, 5.5, 6.5, -7.5, 8.5]),
            0.273_437_5,
        );
        let mut one_stray: Vec<f64> = (1..15).map(f64::from).collect();
        one_stray.push(-1e12);
        close(chance(&one_stray), 0.004_180_908_203_125);
    }

    #[test]
    fn equal_sizes_share_a_rank_and_nothing_is_left_out() {
        // Ranks 1.5, 1.5, 3: of eight choices one makes 6 and two make 4.5.
        assert!((chance(&[1.0, -1.0, 2.0, 0.0]) - 3.0 / 8.0).abs() < 1e-12);
    }

    #[test]
    fn nothing_tells_nothing() {
        assert_eq!(chance(&[]), 1.0);
        assert_eq!(chance(&[0.0, 0.0]), 1.0);
        assert_eq!(chance(&[-1.0, -2.0, -3.0]), 1.0);
    }
}
