//! How far an interval reaches that may be looked at more than once.
//!
//! A comparison is looked at when its planned rounds are over, and again whenever rounds were added because it was not
//! settled. Student's 95 % interval holds for one look. Looked at after each round from 6 to 60, it misses the true
//! ratio at some look in more than a quarter of all comparisons.
//!
//! So of the 5 % in which an interval may be wrong, the planned look has 3 %: Student's interval of 97 %. All looks
//! after it share the other 2 %, with an interval that holds at all of them together: Student's t mixed over the
//! true difference, in units of the spread, with a normal weight of precision g = 1. The mixture is a martingale where
//! the difference is the supposed one, so that it ever exceeds 1/0.02 with a probability of 2 % at most (Ville; M.
//! Lindon, D. Ham, M. Tingley and I. Bojinov, *Anytime-Valid Linear Models and Regression Adjusted Causal Inference in
//! Randomized Experiments*, arXiv 2210.08589). It reaches further than Student's: of few values, without end.
//!
//! Rounds are added on restless machines, where a start in ten takes half as long again. Of what is looked at later,
//! the seventh of the values at either end is therefore left out of the mean, and stands at its neighbours' place in the
//! variance (K. Yuen, *The two-sample trimmed t for unequal population variances*, Biometrika 61, 1974): a change of 10 %
//! took 9 starts in place of 44 there.

use super::student;
use super::summary::{mean, standard_deviation};

/// The probability that the planned look is wrong.
const OF_PLANNED: f64 = 0.03;
/// The probability that any look after it is wrong.
const OF_LATER: f64 = 0.02;
/// Precision of the weight of true differences, in units of the spread.
const G: f64 = 1.0;
/// The share of the values that is left out at either end where rounds were added.
const TRIMMED: f64 = 0.15;
const FEWEST_TRIMMED: usize = 8;

/// Which look at a comparison it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Look {
    /// The one after the planned rounds.
    #[default]
    Planned,
    /// Any after rounds were added.
    Later,
}

/// The centre of values, and how far off it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Centre {
    pub(crate) mean: f64,
    /// Its standard error.
    pub(crate) error: f64,
    pub(crate) freedom: f64,
}

/// How many of so many values are left out at either end.
fn cut(values: usize) -> usize {
    // Of fewer, what is left would have no interval.
    if values < FEWEST_TRIMMED {
        return 0;
    }
    (values as f64 * TRIMMED) as usize
}

impl Look {
    /// The centre of values: their mean, or what is left of it without the ends.
    pub(crate) fn centre(self, values: &[f64]) -> Option<Centre> {
        let n = values.len();
        let cut = match self {
            Self::Planned => 0,
            Self::Later => cut(n),
        };
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let kept = sorted.get(cut..n - cut)?;
        let (first, last) = (*kept.first()?, *kept.last()?);
        let centre = mean(kept)?;
        for (place, value) in sorted.iter_mut().enumerate() {
            if place < cut {
                *value = first;
            } else if place >= n - cut {
                *value = last;
            }
        }
        let middle = mean(&sorted)?;
        let deviation = standard_deviation(&sorted, middle)?;
        let (n, kept) = (n as f64, (n - 2 * cut) as f64);
        Some(Centre {
            mean: centre,
            error: deviation * ((n - 1.0) / (kept * (kept - 1.0))).sqrt(),
            freedom: kept - 1.0,
        })
    }

    /// The degrees of freedom of so many values.
    pub(crate) fn freedom(self, values: u32) -> f64 {
        let cut = match self {
            Self::Planned => 0,
            Self::Later => cut(values as usize),
        };
        f64::from(values) - 2.0 * cut as f64 - 1.0
    }

    /// How many standard errors the interval of a mean reaches either way, with so many degrees of freedom.
    pub(crate) fn reach(self, freedom: f64) -> f64 {
        match self {
            Self::Planned => student::quantile(1.0 - OF_PLANNED / 2.0, freedom),
            Self::Later => later_reach(freedom),
        }
    }
}

/// The largest t whose mixture is below 1/0.02; infinite where all are.
fn later_reach(freedom: f64) -> f64 {
    if !freedom.is_finite() || freedom < 1.0 {
        return f64::INFINITY;
    }
    let n = freedom + 1.0;
    let shrinkage = G / (G + n);
    // sqrt(r) ((1 + r x) / (1 + x))^(-n/2) = 1/α, solved for x = t²/ν.
    let bound = (OF_LATER * shrinkage.sqrt()).powf(2.0 / n);
    if bound <= shrinkage {
        return f64::INFINITY;
    }
    (freedom * (1.0 - bound) / (bound - shrinkage)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_distr::{Distribution as _, StandardNormal};
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::SeedableRng as _;

    /// Looks after each value from the first to the last.
    const FIRST: usize = 5;
    const LAST: usize = 60;
    const SERIES: u32 = 4_000;

    #[test]
    fn the_planned_look_is_students() {
        // scipy.stats.t.ppf(0.985, freedom)
        for (freedom, expected) in [(4.0, 3.297_629_727_890_704), (9.0, 2.573_803_977_546_803_3)] {
            let t = Look::Planned.reach(freedom);
            assert!((t / expected - 1.0_f64).abs() < 1e-7, "{freedom}: {t}");
        }
    }

    #[test]
    fn a_later_look_reaches_further_and_says_nothing_of_few_values() {
        assert!(Look::Later.reach(4.0).is_infinite() && Look::Later.reach(f64::NAN).is_infinite());
        let mut last = f64::INFINITY;
        for freedom in 5..200 {
            let freedom = f64::from(freedom);
            let width = Look::Later.reach(freedom) / (freedom + 1.0).sqrt();
            assert!(Look::Later.reach(freedom) > Look::Planned.reach(freedom));
            assert!(width < last, "{freedom}: each value makes it narrower");
            last = width;
        }
    }

    /// In how many series of like values an interval misses the truth at any look.
    fn wrong(
        draw: impl Fn(&mut Xoshiro256PlusPlus) -> f64,
        looks: impl Fn(usize) -> Option<Look>,
    ) -> f64 {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut wrong = 0;
        for _ in 0..SERIES {
            let values: Vec<f64> = (0..LAST).map(|_| draw(&mut rng)).collect();
            let mut looks = (FIRST..=LAST).filter_map(|n| Some((n, looks(n)?)));
            wrong += u32::from(looks.any(|(n, look)| {
                let centre = look.centre(&values[..n]).unwrap();
                centre.mean.abs() > look.reach(centre.freedom) * centre.error
            }));
        }
        f64::from(wrong) / f64::from(SERIES)
    }

    fn normal(rng: &mut Xoshiro256PlusPlus) -> f64 {
        StandardNormal.sample(rng)
    }

    /// One in ten on either side is far off.
    fn restless(rng: &mut Xoshiro256PlusPlus) -> f64 {
        let far: f64 = StandardNormal.sample(rng);
        normal(rng) + 8.0 * f64::from(i8::from(far > 1.28) - i8::from(far < -1.28))
    }

    fn look_at(n: usize) -> Look {
        if n == FIRST {
            Look::Planned
        } else {
            Look::Later
        }
    }

    #[test]
    fn looking_after_each_value_is_wrong_in_at_most_one_of_twenty() {
        for draw in [normal, restless] {
            let kept = wrong(draw, |n| Some(look_at(n)));
            assert!((0.01..=0.05).contains(&kept), "{kept}");
            let later = wrong(draw, |n| (n > FIRST).then_some(Look::Later));
            assert!(later <= 0.02, "{later}");
        }
        let once = wrong(normal, |n| (n == FIRST).then_some(Look::Planned));
        assert!((0.02..=0.04).contains(&once), "{once}");
        let naive = wrong(normal, |_| Some(Look::Planned));
        assert!(naive > 0.15, "{naive}");
    }

    #[test]
    fn what_is_far_off_is_left_out_of_what_is_looked_at_later() {
        let values = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 900.0];
        let centre = Look::Later.centre(&values).unwrap();
        assert_eq!((centre.mean, centre.freedom), (4.5, 7.0));
        // numpy.std([1, 1, 2, 3, 4, 5, 6, 7, 8, 8], ddof=1) and Yuen's factor for eight that are left.
        let expected = 2.718_251_071 * (9.0_f64 / 56.0).sqrt();
        assert!((centre.error - expected).abs() < 1e-6, "{centre:?}");
        let all = Look::Planned.centre(&values).unwrap();
        assert_eq!((all.mean, all.freedom), (93.6, 9.0));
        assert_eq!(Look::Later.freedom(10), 7.0);
    }
}
