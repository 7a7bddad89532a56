//! How likely more rounds settle a comparison: the predictive distribution of what they will say.
//!
//! From the rounds so far, the variance of a round's logarithm is drawn (ν s² ÷ χ², the scaled inverse χ² of ν
//! degrees of freedom), then the mean given the variance, then the rounds to come given both; the old and the new
//! rounds together make the estimate that would be judged (Gelman et al., *Bayesian Data Analysis*, 2013, §3.2, the
//! normal model with the standard noninformative prior). A number of rounds that takes the scatter as known promises
//! what does not come: five rounds know it to a factor of two. Assumes rounds that go on to scatter as they did.

use rand_distr::{ChiSquared, Distribution as _, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng as _;

use super::ratio::Estimate;
use super::sequential::Look;
use crate::base::humanize;

/// Numbers of rounds of which one is proposed.
const PROPOSED: [u32; 6] = [5, 10, 20, 50, 100, 200];
/// The first of these that settles it with this probability is proposed, else the last.
const ENOUGH: f64 = 0.5;
/// A proposal that settles it with less than this is none.
const LEAST: f64 = 0.05;
/// Draws of what comes, and their seed.
const DRAWS: u32 = 400;
const SEED: u64 = 0x726f_756e_6473;
/// A probability is said in steps of this: what so many draws from so few rounds can carry.
const STEP: f64 = 0.05;

/// A number of further rounds, and how likely they settle a comparison.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MoreRounds {
    /// How many more rounds.
    pub rounds: u32,
    /// How likely they settle it, from 0 to 1, in steps of 5 %.
    pub probability: f64,
    /// How long they take, in seconds, where that is known.
    pub seconds: Option<f64>,
}

impl MoreRounds {
    /// In words: `5 more rounds (15 s) settle it with about 35 %`.
    pub fn text(&self) -> String {
        let rounds = humanize::pluralised(u64::from(self.rounds), "more round");
        let time = self.seconds.map(humanize::clock_time);
        let time = time.map_or_else(String::new, |time| format!(" ({time})"));
        let percent = (self.probability * 100.0).round();
        format!("{rounds}{time} settle it with about {percent} %")
    }
}

/// The smallest number of rounds that probably settles a comparison, or the largest that is proposed.
///
/// Nothing where even these settle it with next to no probability. The rounds are pairs: those of cases that were not
/// interleaved say no more for being more. `is_settled` judges an estimate with half the width of its interval.
pub fn more_rounds(
    estimate: &Estimate,
    is_settled: impl Fn(&Estimate, f64) -> bool,
) -> Option<MoreRounds> {
    if estimate.freedom < 1.0 || !estimate.error.is_finite() {
        return None;
    }
    let mut found = None;
    for more in PROPOSED {
        let probability = probability(estimate, more, &is_settled)?;
        found = Some((more, probability));
        if probability >= ENOUGH {
            break;
        }
    }
    let (rounds, probability) = found.filter(|(_, probability)| *probability >= LEAST)?;
    Some(MoreRounds {
        rounds,
        probability: (probability / STEP).round().clamp(1.0, 19.0) * STEP,
        seconds: None,
    })
}

/// How likely so many more rounds settle a comparison; nothing where an estimate has no scatter to draw from.
fn probability(
    estimate: &Estimate,
    more: u32,
    is_settled: &impl Fn(&Estimate, f64) -> bool,
) -> Option<f64> {
    let freedom = estimate.freedom;
    let (n, k) = (freedom + 1.0, f64::from(more));
    let squares = freedom * n * estimate.error.powi(2);
    let of_old = ChiSquared::new(freedom).ok()?;
    let of_new = ChiSquared::new(k - 1.0).ok()?;
    let all = n + k;
    let kept = Look::Later.freedom(all as u32);
    let t = Look::Later.reach(kept);
    let later = estimate.after(estimate.rounds + more);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(SEED);
    let mut settled = 0_u32;
    for _ in 0..DRAWS {
        let variance = squares / of_old.sample(&mut rng);
        let normal: f64 = StandardNormal.sample(&mut rng);
        let mean = estimate.ln + normal * (variance / n).sqrt();
        let normal: f64 = StandardNormal.sample(&mut rng);
        let new_mean = mean + normal * (variance / k).sqrt();
        let apart = (new_mean - estimate.ln).powi(2) * n * k / all;
        let new_squares = squares + variance * of_new.sample(&mut rng) + apart;
        let then = Estimate {
            ln: (n * estimate.ln + k * new_mean) / all,
            error: (new_squares / (all - 1.0) / all).sqrt(),
            freedom: kept,
            ..later
        };
        settled += u32::from(is_settled(&then, t * then.error));
    }
    Some(f64::from(settled) / f64::from(DRAWS))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::summary::{mean, standard_deviation};

    const FLOOR: f64 = 0.01;

    /// As verdicts are: a change beyond the floor, or none within it.
    fn is_settled(estimate: &Estimate, half: f64) -> bool {
        let size = estimate.ln.abs();
        size - half > FLOOR || size + half <= FLOOR
    }

    fn estimate(rounds: &[f64]) -> Estimate {
        let n = rounds.len() as f64;
        let ln = mean(rounds).unwrap();
        Estimate {
            ln,
            error: standard_deviation(rounds, ln).unwrap() / n.sqrt(),
            freedom: n - 1.0,
            rounds: rounds.len() as u32,
            starts: rounds.len() as u32,
            apart: None,
            spread: 0.0,
            look: Look::Planned,
            carry_over: 0.0,
            lag: 0.0,
        }
    }

    #[test]
    fn what_is_said_comes_as_often_as_it_is_said() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(11);
        let mut normal = move || -> f64 { StandardNormal.sample(&mut rng) };
        // By quarters of the probability: how many predictions, the sum of what they say, how many came true.
        let mut quarters = [(0_u32, 0.0, 0_u32); 4];
        for _ in 0..3_000 {
            // Differences and scatters of every size.
            let (truth, scatter) = (0.06 * normal(), 0.01 * (1.2 * normal()).exp());
            let mut rounds: Vec<f64> = (0..5).map(|_| truth + scatter * normal()).collect();
            let now = estimate(&rounds);
            if is_settled(&now, now.half_width()) {
                continue;
            }
            let Some(probability) = probability(&now, 30, &is_settled) else {
                continue;
            };
            rounds.extend((0..30).map(|_| truth + scatter * normal()));
            let then = Estimate {
                look: Look::Later,
                ..estimate(&rounds)
            };
            let quarter = &mut quarters[((probability * 4.0) as usize).min(3)];
            quarter.0 += 1;
            quarter.1 += probability;
            quarter.2 += u32::from(is_settled(&then, then.half_width()));
        }
        for (place, (n, said, came)) in quarters.into_iter().enumerate() {
            assert!(n > 60, "too few to say: {quarters:?}");
            let (said, came) = (said / f64::from(n), f64::from(came) / f64::from(n));
            // Within its quarter, give or take what so few runs scatter.
            let scatter = 2.0 * (0.25 / f64::from(n)).sqrt();
            let (low, high) = (
                place as f64 / 4.0 - scatter,
                (place + 1) as f64 / 4.0 + scatter,
            );
            assert!(
                (low..=high).contains(&came),
                "said {said}, came {came}: {quarters:?}"
            );
            assert!(
                (said - came).abs() <= 0.05 + scatter,
                "said {said}, came {came}"
            );
        }
    }

    #[test]
    fn the_smallest_number_that_probably_settles_it_is_proposed() {
        // 3 % ± 4.2: some more rounds, and not two thousand.
        let open = Estimate {
            ln: 0.03,
            error: 0.015,
            ..estimate(&[0.0, 0.1, 0.2, 0.1, 0.05])
        };
        let found = more_rounds(&open, is_settled).unwrap();
        assert!([10, 20, 50].contains(&found.rounds), "{found:?}");
        assert!((0.5..=0.95).contains(&found.probability), "{found:?}");
        let steps = found.probability / STEP;
        assert!((steps - steps.round()).abs() < 1e-9, "{found:?}");
        // A change of exactly the floor, which thousands of rounds have not settled.
        let hopeless = Estimate {
            ln: FLOOR,
            error: 0.000_4,
            freedom: 4_999.0,
            rounds: 5_000,
            ..open
        };
        assert_eq!(more_rounds(&hopeless, is_settled), None);
        let restless = Estimate { error: 0.3, ..open };
        let found = more_rounds(&restless, is_settled).unwrap();
        assert!(found.rounds <= 200 && found.probability < 0.95, "{found:?}");
        let told = MoreRounds {
            rounds: 5,
            probability: 0.35,
            seconds: Some(15.0),
        };
        assert_eq!(
            told.text(),
            "5 more rounds (15 s) settle it with about 35 %"
        );
        let close = Estimate {
            ln: 0.03,
            error: 0.004,
            ..open
        };
        assert_eq!(
            more_rounds(&close, is_settled).map(|found| found.rounds),
            Some(5)
        );
    }
}
