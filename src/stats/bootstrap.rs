//! The uncertainty of a median, by resampling rounds and then the samples within them.
//!
//! Iterations inside a round share its heat and its neighbours, so they are not independent; rounds
//! nearly are. Two-stage (cluster) bootstrap, percentile interval: Davison & Hinkley, *Bootstrap
//! Methods and their Application*, 1997, §3.8. Assumes rounds that could be exchanged.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

use super::percentiles::quantile_sorted;
use super::summary::median;

/// Where a round has more samples, all rounds are thinned by the same step before resampling: the
/// interval is governed by the rounds, and its cost must not depend on how fast a model is.
const MOST_PER_ROUND: usize = 200;

/// An interval and the value it belongs to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// The 95 % interval of the median over all rounds; nothing for fewer than two rounds with samples,
/// because one round says nothing of how rounds differ.
pub fn median_interval(rounds: &[Vec<f64>], resamples: usize, seed: u64) -> Option<Interval> {
    let longest = rounds.iter().map(Vec::len).max().unwrap_or(0);
    let step = longest.div_ceil(MOST_PER_ROUND).max(1);
    let thinned = |round: &Vec<f64>| round.iter().copied().step_by(step).collect::<Vec<f64>>();
    let rounds: Vec<Vec<f64>> = rounds
        .iter()
        .filter(|r| !r.is_empty())
        .map(thinned)
        .collect();
    if rounds.len() < 2 {
        return None;
    }
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut drawn = Vec::with_capacity(rounds.iter().map(Vec::len).sum());
    let mut medians = Vec::with_capacity(resamples);
    for _ in 0..resamples {
        drawn.clear();
        for _ in 0..rounds.len() {
            let round = &rounds[below(&mut rng, rounds.len())];
            drawn.extend((0..round.len()).map(|_| round[below(&mut rng, round.len())]));
        }
        medians.push(middle(&mut drawn)?);
    }
    medians.sort_by(f64::total_cmp);
    let low = quantile_sorted(&medians, 0.025)?;
    let high = quantile_sorted(&medians, 0.975)?;
    Some(Interval { low, high })
}

/// Half the width of the 95 % interval of the median as a share of the median.
pub fn relative_half_width(rounds: &[Vec<f64>], resamples: usize, seed: u64) -> Option<f64> {
    let interval = median_interval(rounds, resamples, seed)?;
    let all: Vec<f64> = rounds.iter().flatten().copied().collect();
    let centre = median(&all).filter(|m| *m > 0.0)?;
    Some((interval.high - interval.low) / 2.0 / centre)
}

/// A number below `n`, by multiplication instead of division (Lemire 2019); its bias is below 2⁻³².
fn below(rng: &mut Xoshiro256PlusPlus, n: usize) -> usize {
    let high = rng.next_u64() >> 32;
    ((high * n as u64) >> 32) as usize
}

/// The median without sorting the whole; the order of the values is lost.
fn middle(values: &mut [f64]) -> Option<f64> {
    let half = values.len() / 2;
    let even = values.len().is_multiple_of(2);
    if values.is_empty() {
        return None;
    }
    let (lower, upper, _) = values.select_nth_unstable_by(half, f64::total_cmp);
    let upper = *upper;
    if !even {
        return Some(upper);
    }
    let lower = lower.iter().copied().max_by(f64::total_cmp)?;
    Some(f64::midpoint(lower, upper))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_even_and_an_odd_middle() {
        assert_eq!(middle(&mut [4.0, 1.0, 3.0]), Some(3.0));
        assert_eq!(middle(&mut [4.0, 1.0, 3.0, 2.0]), Some(2.5));
        assert_eq!(middle(&mut []), None);
    }

    #[test]
    fn one_round_has_no_interval() {
        assert_eq!(median_interval(&[vec![1.0, 2.0], vec![]], 100, 1), None);
    }

    #[test]
    fn the_interval_holds_the_median_and_widens_with_the_rounds() {
        let round = |shift: f64| (0..50).map(|i| 100.0 + shift + f64::from(i % 10)).collect();
        let steady: Vec<Vec<f64>> = (0..5).map(|_| round(0.0)).collect();
        let restless: Vec<Vec<f64>> = (0..5).map(|r| round(f64::from(r) * 20.0)).collect();
        let narrow = median_interval(&steady, 500, 3).unwrap();
        let wide = median_interval(&restless, 500, 3).unwrap();
        assert!(narrow.low <= 104.5 && 104.5 <= narrow.high, "{narrow:?}");
        assert!(
            wide.high - wide.low > 5.0 * (narrow.high - narrow.low),
            "{wide:?} {narrow:?}"
        );
        assert_eq!(
            median_interval(&steady, 500, 3),
            Some(narrow),
            "the same seed, the same interval"
        );
    }
}
