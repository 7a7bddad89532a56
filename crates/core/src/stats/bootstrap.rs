//! The uncertainty of a median, by resampling rounds, or starts of the worker where there are several: a start
//! is then what is called a round here.
//!
//! Iterations inside a round share its heat and its neighbours, so they are not independent; rounds
//! nearly are. Each resample draws as many rounds as there are, with replacement, and takes the samples
//! within each as they are: Davison & Hinkley, *Bootstrap Methods and their Application*, 1997, §3.8,
//! strategy 1, which they show to have the right variance. Drawing samples anew within the rounds too
//! counts their scatter twice, because it is in the scatter of the rounds already.
//!
//! The interval is the median ± t × the resamples' standard deviation × √(n ÷ (n − 1)), with Student's t
//! for n − 1 degrees of freedom: with five rounds, percentiles of the resamples would be far too narrow
//! (Hesterberg, *What Teachers Should Know About the Bootstrap*, 2015, §4.3). It is taken on logarithms
//! where all samples are above zero. Assumes rounds that could be exchanged.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};
use serde::{Serialize, Serializer};

use super::student;
use super::summary::{mean, median, standard_deviation};

/// Where a round has more samples, all rounds are thinned by the same step before resampling: the
/// interval is governed by the rounds, and its cost must not depend on how fast a model is.
const MOST_PER_ROUND: usize = 200;

/// An end that is further from its value than so many times says nothing of it.
const FURTHEST: f64 = 10.0;

/// An interval and the value it belongs to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// As a list of its two ends.
impl Serialize for Interval {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        [self.low, self.high].serialize(serializer)
    }
}

impl Interval {
    /// Whether it says anything of the value: neither end is more than ten times away from it.
    pub fn tells_of(self, value: f64) -> bool {
        self.low * FURTHEST >= value && self.high <= value * FURTHEST
    }
}

/// The 95 % interval of the median over all rounds; nothing for fewer than two rounds with samples,
/// because one round says nothing of how rounds differ.
pub fn median_interval(rounds: &[Vec<f64>], resamples: usize, seed: u64) -> Option<Interval> {
    let mut rounds = Rounds::from_samples(rounds)?;
    let n = rounds.sizes.len() as f64;
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let on_logarithms = rounds.lowest() > 0.0;
    let forth = |value: f64| if on_logarithms { value.ln() } else { value };
    let back = |value: f64| if on_logarithms { value.exp() } else { value };
    let centre = forth(rounds.median_of_all());
    let medians: Vec<f64> = (0..resamples)
        .map(|_| forth(rounds.median_of_resample(&mut rng)))
        .collect();
    let deviation = standard_deviation(&medians, mean(&medians)?)?;
    let half = student::t975(n - 1.0) * deviation * (n / (n - 1.0)).sqrt();
    Some(Interval {
        low: back(centre - half),
        high: back(centre + half),
    })
}

/// Enough resamples for a stopping rule; what is reported is computed with more.
const RESAMPLES_FOR_STOPPING: usize = 400;

/// Half the interval of the median as a share of it, by which a run decides whether it goes on; infinite
/// where it is not known.
pub fn width_for_stopping(rounds: &[Vec<f64>]) -> f64 {
    relative_half_width(rounds, RESAMPLES_FOR_STOPPING, 1).unwrap_or(f64::INFINITY)
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
    fn from_samples(rounds: &[Vec<f64>]) -> Option<Self> {
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

    /// The median of all rounds taken together.
    fn median_of_all(&mut self) -> f64 {
        self.drawn.fill(1);
        self.median_of_drawn()
    }

    /// Draws as many rounds as there are; the median of their samples.
    fn median_of_resample(&mut self, rng: &mut Xoshiro256PlusPlus) -> f64 {
        let n_rounds = self.sizes.len();
        self.drawn.fill(0);
        for _ in 0..n_rounds {
            self.drawn[below(rng, n_rounds)] += 1;
        }
        self.median_of_drawn()
    }

    fn median_of_drawn(&self) -> f64 {
        let n = weighted(&self.sizes, &self.drawn);
        let upper = self.nth(n / 2 + 1);
        if n % 2 == 1 {
            return self.values[upper];
        }
        let lower = self.nth(n / 2);
        f64::midpoint(self.values[lower], self.values[upper])
    }

    /// The place of the n-th smallest sample of the drawn rounds, counted from one.
    fn nth(&self, wanted: u32) -> usize {
        let n_rounds = self.sizes.len();
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
        low
    }
}

/// How many samples that is, each round counted as often as it was drawn.
fn weighted(counts: &[u32], drawn: &[u32]) -> u32 {
    let drawn = &drawn[..counts.len()];
    let mut sum = 0;
    // By place: this is the innermost loop, and iterators of two slices are not inlined in every build.
    for place in 0..counts.len() {
        sum += counts[place] * drawn[place];
    }
    sum
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

    /// The same interval the long way: every resample put together and sorted.
    fn drawn_one_by_one(rounds: &[Vec<f64>], resamples: usize) -> Interval {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(11);
        let mut medians = Vec::new();
        for _ in 0..resamples {
            let drawn: Vec<f64> = (0..rounds.len())
                .flat_map(|_| rounds[below(&mut rng, rounds.len())].clone())
                .collect();
            medians.push(median(&drawn).unwrap().ln());
        }
        let n = rounds.len() as f64;
        let deviation = standard_deviation(&medians, mean(&medians).unwrap()).unwrap();
        let half = student::t975(n - 1.0) * deviation * (n / (n - 1.0)).sqrt();
        let centre = median(&rounds.concat()).unwrap().ln();
        Interval {
            low: (centre - half).exp(),
            high: (centre + half).exp(),
        }
    }

    #[test]
    fn the_short_way_agrees_with_the_long_way() {
        for shift in [0.3, 2.0, 30.0] {
            let rounds = rounds(shift);
            let long = drawn_one_by_one(&rounds, 4_000);
            let short = median_interval(&rounds, 4_000, 11).unwrap();
            assert!(
                (short.low / long.low - 1.0).abs() < 1e-12
                    && (short.high / long.high - 1.0).abs() < 1e-12,
                "{shift}: {short:?} {long:?}"
            );
        }
    }

    #[test]
    fn one_round_has_no_interval() {
        assert_eq!(median_interval(&[vec![1.0, 2.0], vec![]], 100, 1), None);
        assert_eq!(median_interval(&[vec![1.0], vec![f64::NAN]], 100, 1), None);
    }

    #[test]
    fn times_of_zero_have_an_interval_all_the_same() {
        let interval = median_interval(&[vec![0.0, 1.0], vec![0.0, 3.0]], 100, 1).unwrap();
        assert!(interval.low <= 0.5 && 0.5 <= interval.high, "{interval:?}");
    }

    #[test]
    fn the_interval_holds_the_median_and_widens_with_the_rounds() {
        let round = |shift: f64| (0..50).map(|i| 100.0 + shift + f64::from(i % 10)).collect();
        let steady: Vec<Vec<f64>> = (0..5).map(|r| round(f64::from(r) * 0.1)).collect();
        let restless: Vec<Vec<f64>> = (0..5).map(|r| round(f64::from(r) * 20.0)).collect();
        let narrow = median_interval(&steady, 500, 3).unwrap();
        let wide = median_interval(&restless, 500, 3).unwrap();
        assert!(narrow.low <= 104.7 && 104.7 <= narrow.high, "{narrow:?}");
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
