//! The uncertainty of a median, or of a ratio of two, by resampling rounds and then the samples
//! within them.
//!
//! Iterations inside a round share its heat and its neighbours, so they are not independent; rounds
//! nearly are. Two-stage (cluster) bootstrap, percentile interval: Davison & Hinkley, *Bootstrap
//! Methods and their Application*, 1997, §3.8. Assumes rounds that could be exchanged.
//!
//! The second stage is not carried out sample by sample. The median of n values drawn from a set is
//! the set's quantile at a Beta(½(n + 1), ½(n + 1)) distributed place, which for all but the smallest
//! n is a normal one around ½ with a variance of 1 ÷ 4(n + 2). So each resample draws rounds, then one
//! place, and looks up one quantile of the drawn rounds taken together.

use rand_distr::{Distribution as _, StandardNormal};
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
    let mut rounds = Rounds::of(rounds)?;
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    middle_95(
        (0..resamples)
            .map(|_| rounds.median_of_resample(&mut rng))
            .collect(),
    )
}

/// The 95 % interval of the median of `before` over the median of `after`, each side resampled by
/// itself; nothing where a side has fewer than two rounds with samples, or times of zero.
pub fn ratio_interval(
    before: &[Vec<f64>],
    after: &[Vec<f64>],
    resamples: usize,
    seed: u64,
) -> Option<Interval> {
    let (mut before, mut after) = (Rounds::of(before)?, Rounds::of(after)?);
    if before.lowest() <= 0.0 || after.lowest() <= 0.0 {
        return None;
    }
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut ratio = || before.median_of_resample(&mut rng) / after.median_of_resample(&mut rng);
    middle_95((0..resamples).map(|_| ratio()).collect())
}

/// Half the width of the 95 % interval of the median as a share of the median.
pub fn relative_half_width(rounds: &[Vec<f64>], resamples: usize, seed: u64) -> Option<f64> {
    let interval = median_interval(rounds, resamples, seed)?;
    let all: Vec<f64> = rounds.iter().flatten().copied().collect();
    let centre = median(&all).filter(|m| *m > 0.0)?;
    Some((interval.high - interval.low) / 2.0 / centre)
}

/// Rounds laid out so that a quantile of any choice of them is found by bisection.
#[derive(Debug)]
struct Rounds {
    /// The samples of all rounds, ascending.
    values: Vec<f64>,
    /// For each value one row with, for each round, how many of its samples are in `values` up to there.
    up_to: Vec<u32>,
    /// How many samples each round has.
    sizes: Vec<u32>,
    /// How often each round was drawn for the resample in hand.
    drawn: Vec<u32>,
}

impl Rounds {
    /// Nothing for fewer than two rounds with samples, or where a sample is not a number.
    fn of(rounds: &[Vec<f64>]) -> Option<Self> {
        let longest = rounds.iter().map(Vec::len).max().unwrap_or(0);
        let step = longest.div_ceil(MOST_PER_ROUND).max(1);
        let filled = || rounds.iter().filter(|round| !round.is_empty());
        let n_rounds = filled().count();
        let mut tagged: Vec<(f64, usize)> = filled()
            .enumerate()
            .flat_map(|(tag, round)| round.iter().step_by(step).map(move |&value| (value, tag)))
            .collect();
        if n_rounds < 2 || tagged.iter().any(|(value, _)| !value.is_finite()) {
            return None;
        }
        tagged.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let mut sizes = vec![0; n_rounds];
        let mut up_to = Vec::with_capacity(tagged.len() * n_rounds);
        for &(_, tag) in &tagged {
            sizes[tag] += 1;
            up_to.extend_from_slice(&sizes);
        }
        Some(Self {
            values: tagged.into_iter().map(|(value, _)| value).collect(),
            up_to,
            drawn: vec![0; n_rounds],
            sizes,
        })
    }

    fn lowest(&self) -> f64 {
        self.values.first().copied().unwrap_or_default()
    }

    /// Draws as many rounds as there are, and from them as many samples as they have; their median.
    fn median_of_resample(&mut self, rng: &mut Xoshiro256PlusPlus) -> f64 {
        let n_rounds = self.sizes.len();
        self.drawn.fill(0);
        for _ in 0..n_rounds {
            self.drawn[below(rng, n_rounds)] += 1;
        }
        let n = f64::from(weighted(&self.sizes, &self.drawn));
        let off: f64 = StandardNormal.sample(rng);
        let place = 0.5 + off / (4.0 * (n + 2.0)).sqrt();
        // At least one sample: the lowest value is at place zero.
        let wanted = (place * n).ceil().clamp(1.0, n) as u32;
        let (mut low, mut high) = (0, self.values.len() - 1);
        while low < high {
            let middle = usize::midpoint(low, high);
            let row = &self.up_to[middle * n_rounds..(middle + 1) * n_rounds];
            if weighted(row, &self.drawn) >= wanted {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        self.values[low]
    }
}

/// How many samples that is, each round counted as often as it was drawn.
fn weighted(counts: &[u32], drawn: &[u32]) -> u32 {
    counts
        .iter()
        .zip(drawn)
        .map(|(count, times)| count * times)
        .sum()
}

/// Where the middle 95 % of the values lie; nothing for none.
fn middle_95(mut values: Vec<f64>) -> Option<Interval> {
    values.sort_unstable_by(f64::total_cmp);
    let low = quantile_sorted(&values, 0.025)?;
    let high = quantile_sorted(&values, 0.975)?;
    Some(Interval { low, high })
}

/// A number below `n`, by multiplication instead of division (Lemire 2019); its bias is below 2⁻³².
fn below(rng: &mut Xoshiro256PlusPlus, n: usize) -> usize {
    let high = rng.next_u64() >> 32;
    ((high * n as u64) >> 32) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Five rounds of fifty, with values that do not repeat and a shift from round to round.
    fn rounds(shift: f64) -> Vec<Vec<f64>> {
        let value =
            |r: i32, i: i32| 100.0 + f64::from(r) * shift + f64::from((i * 17 + r) % 50) / 5.0;
        (0..5)
            .map(|r| (0..50).map(|i| value(r, i)).collect())
            .collect()
    }

    /// The same interval the long way: every sample drawn.
    fn drawn_one_by_one(rounds: &[Vec<f64>], resamples: usize) -> Interval {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(11);
        let mut medians = Vec::new();
        for _ in 0..resamples {
            let mut drawn = Vec::new();
            for _ in 0..rounds.len() {
                let round = &rounds[below(&mut rng, rounds.len())];
                drawn.extend((0..round.len()).map(|_| round[below(&mut rng, round.len())]));
            }
            medians.push(median(&drawn).unwrap());
        }
        middle_95(medians).unwrap()
    }

    #[test]
    fn the_short_way_agrees_with_the_long_way() {
        for shift in [0.0, 0.3, 2.0, 30.0] {
            let rounds = rounds(shift);
            let long = drawn_one_by_one(&rounds, 4_000);
            let short = median_interval(&rounds, 4_000, 5).unwrap();
            let width = long.high - long.low;
            assert!(
                (short.low - long.low).abs() < 0.2 * width
                    && (short.high - long.high).abs() < 0.2 * width,
                "{shift}: {short:?} {long:?}"
            );
        }
    }

    #[test]
    fn one_round_has_no_interval() {
        let one = [vec![1.0, 2.0], vec![]];
        assert_eq!(median_interval(&one, 100, 1), None);
        assert_eq!(ratio_interval(&one, &rounds(0.0), 100, 1), None);
        assert_eq!(ratio_interval(&rounds(0.0), &one, 100, 1), None);
    }

    #[test]
    fn a_ratio_is_found_with_its_uncertainty() {
        let halved: Vec<Vec<f64>> = rounds(0.0)
            .iter()
            .map(|round| round.iter().map(|value| value / 2.0).collect())
            .collect();
        let steady = ratio_interval(&rounds(0.0), &halved, 1_000, 3).unwrap();
        assert!(steady.low < 2.0 && 2.0 < steady.high, "{steady:?}");
        assert!(steady.high - steady.low < 0.1, "{steady:?}");
        let restless = ratio_interval(&rounds(20.0), &halved, 1_000, 3).unwrap();
        assert!(restless.high - restless.low > 0.5, "{restless:?}");
        assert_eq!(
            ratio_interval(&rounds(0.0), &halved, 1_000, 3),
            Some(steady)
        );
        let zeros = vec![vec![0.0; 9]; 3];
        assert_eq!(ratio_interval(&rounds(0.0), &zeros, 100, 3), None);
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
