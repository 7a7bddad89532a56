//! How many times as fast one case is as another, and how sure that is.
//!
//! Each round's median stands for the round, because iterations inside a round are not independent.
//! Rounds in which both cases had their turn are paired: what slowed the machine down for the whole
//! round drops out. The estimate is the mean of the logarithms of the rounds' ratios, its 95 % interval
//! is Student's: the textbook's paired t interval, on logarithms so that a ratio and its inverse are
//! treated alike. Cases measured at different times have no pairs; their interval is Welch's (1947).
//! Assumes rounds that could be exchanged.

use super::bootstrap::Interval;
use super::student;
use super::summary::{mean, median, standard_deviation};

/// Half a visit has at least so many samples, or the visit says nothing of how it compares with itself.
const FEWEST_IN_HALF: usize = 2;
/// Beyond so many rounds a number of rounds is no help any more.
pub(crate) const MOST_ROUNDS: u32 = 2_000;

/// One visit to a case.
#[derive(Clone, Debug, PartialEq)]
pub struct Visit {
    /// Number of the round.
    pub round: u32,
    /// Its samples, in the order in which they came.
    pub samples: Vec<f64>,
}

/// How one case compares with another. Logarithms are natural ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Logarithm of time before over time after.
    pub ln: f64,
    /// Its standard error.
    pub error: f64,
    /// Degrees of freedom of the error.
    pub freedom: f64,
    /// Rounds that it rests on: pairs, or those of the side that has fewer.
    pub rounds: u32,
    /// Whether the rounds are pairs.
    pub is_paired: bool,
    /// How far off a comparison of so many rounds of one case with itself may be, as a logarithm.
    pub spread: f64,
}

impl Estimate {
    /// Time before over time after; above 1 means that after is faster.
    pub fn ratio(&self) -> f64 {
        self.ln.exp()
    }

    /// Half the width of the 95 % interval of the logarithm.
    pub fn half_width(&self) -> f64 {
        student::t975(self.freedom) * self.error
    }

    /// The 95 % interval of the ratio.
    pub fn interval(&self) -> Interval {
        let half = self.half_width();
        Interval {
            low: (self.ln - half).exp(),
            high: (self.ln + half).exp(),
        }
    }

    /// The same after so many rounds in all, if rounds go on to scatter as they did.
    pub fn after(&self, rounds: u32) -> Self {
        let narrower = (f64::from(self.rounds) / f64::from(rounds)).sqrt();
        let freedom = f64::from(rounds) - 1.0;
        Self {
            error: self.error * narrower,
            // Two sides that are not paired have twice the freedom.
            freedom: if self.is_paired {
                freedom
            } else {
                2.0 * freedom
            },
            rounds,
            spread: self.spread * narrower,
            ..*self
        }
    }

    /// The fewest rounds in all that are enough, where more are no worse; nothing where that would be more
    /// than `MOST_ROUNDS`.
    pub fn fewest_rounds(&self, is_enough: impl Fn(&Self) -> bool) -> Option<u32> {
        let (mut low, mut high) = (self.rounds + 1, MOST_ROUNDS);
        if low > high || !is_enough(&self.after(high)) {
            return None;
        }
        while low < high {
            let middle = u32::midpoint(low, high);
            if is_enough(&self.after(middle)) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        Some(low)
    }
}

/// Compares two cases whose rounds of the same number belong together. Rounds that only one has are left
/// out. Nothing for fewer than two pairs, or where a time is not above zero.
pub fn paired(before: &[Visit], after: &[Visit]) -> Option<Estimate> {
    let mut ratios = Vec::new();
    let mut visits = Vec::new();
    for first in before {
        let Some(second) = after.iter().find(|second| second.round == first.round) else {
            continue;
        };
        ratios.push(ln_median(first)? - ln_median(second)?);
        visits.extend([first, second]);
    }
    let n = ratios.len() as f64;
    let ln = mean(&ratios)?;
    Some(Estimate {
        ln,
        error: standard_deviation(&ratios, ln)? / n.sqrt(),
        freedom: n - 1.0,
        rounds: ratios.len() as u32,
        is_paired: true,
        spread: spread(&visits, n),
    })
}

/// Compares two cases whose rounds have nothing to do with each other. Nothing where a side has fewer
/// than two, or where a time is not above zero.
pub fn unpaired(before: &[Visit], after: &[Visit]) -> Option<Estimate> {
    let first = Side::of(before)?;
    let second = Side::of(after)?;
    let (a, b) = (first.variance / first.n, second.variance / second.n);
    let freedom = if a + b > 0.0 {
        (a + b).powi(2) / (a.powi(2) / (first.n - 1.0) + b.powi(2) / (second.n - 1.0))
    } else {
        first.n + second.n - 2.0
    };
    let visits: Vec<&Visit> = before.iter().chain(after).collect();
    let rounds = first.n.min(second.n);
    Some(Estimate {
        ln: first.mean - second.mean,
        error: (a + b).sqrt(),
        freedom,
        rounds: rounds as u32,
        is_paired: false,
        spread: spread(&visits, rounds),
    })
}

struct Side {
    n: f64,
    mean: f64,
    variance: f64,
}

impl Side {
    fn of(visits: &[Visit]) -> Option<Self> {
        let medians = visits.iter().map(ln_median).collect::<Option<Vec<f64>>>()?;
        let mean = mean(&medians)?;
        Some(Self {
            n: medians.len() as f64,
            mean,
            variance: standard_deviation(&medians, mean)?.powi(2),
        })
    }
}

fn ln_median(visit: &Visit) -> Option<f64> {
    let is_time = |value: &f64| value.is_finite() && *value > 0.0;
    if !visit.samples.iter().all(is_time) {
        return None;
    }
    median(&visit.samples).map(f64::ln)
}

/// The spread of a case against itself: the first half of each visit against its second, as far as two
/// standard errors of a comparison of so many rounds go. Zero where visits are too short for that.
fn spread(visits: &[&Visit], rounds: f64) -> f64 {
    let squares: Vec<f64> = visits
        .iter()
        .filter_map(|visit| {
            let (first, second) = visit.samples.split_at(visit.samples.len() / 2);
            if first.len() < FEWEST_IN_HALF {
                return None;
            }
            Some((median(first)? / median(second)?).ln().powi(2))
        })
        .collect();
    let square = mean(&squares).unwrap_or(0.0);
    2.0 * (square / rounds).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visits(medians: &[f64]) -> Vec<Visit> {
        (0..)
            .zip(medians)
            .map(|(round, &median)| Visit {
                round,
                samples: vec![median; 9],
            })
            .collect()
    }

    #[test]
    fn intervals_equal_scipys() {
        let before = visits(&[10.0, 10.4, 9.9, 10.1, 12.0]);
        let after = visits(&[9.0, 9.5, 9.1, 9.0, 10.6]);
        // scipy.stats.ttest_rel(log(before), log(after)).confidence_interval()
        let pairs = paired(&before, &after).unwrap();
        assert!((pairs.ln - 0.10389967239947424).abs() < 1e-9, "{pairs:?}");
        assert!(
            (pairs.half_width() - PAIRED_HALF).abs() < 1e-9,
            "{}",
            pairs.half_width()
        );
        assert_eq!((pairs.rounds, pairs.spread), (5, 0.0));
        // scipy.stats.ttest_ind(log(before), log(after), equal_var=False)
        let lone = unpaired(&before, &after).unwrap();
        assert!((lone.ln - pairs.ln).abs() < 1e-12);
        assert!(
            (lone.freedom - WELCH_FREEDOM).abs() < 1e-9,
            "{}",
            lone.freedom
        );
        assert!(
            (lone.half_width() - WELCH_HALF).abs() < 1e-9,
            "{}",
            lone.half_width()
        );
    }

    const PAIRED_HALF: f64 = 0.020622191278414567;
    const WELCH_FREEDOM: f64 = 7.865751120070182;
    const WELCH_HALF: f64 = 0.10913115941200907;

    #[test]
    fn what_slows_a_whole_round_drops_out_of_pairs() {
        let before = visits(&[10.0, 20.0, 15.0, 11.0, 40.0]);
        let after = visits(&[5.0, 10.0, 7.5, 5.5, 20.0]);
        let pairs = paired(&before, &after).unwrap();
        assert!((pairs.ratio() - 2.0).abs() < 1e-9 && pairs.error < 1e-9);
        assert!(unpaired(&before, &after).unwrap().half_width() > 0.5);
    }

    #[test]
    fn rounds_are_paired_by_their_number() {
        let mut before = visits(&[10.0, 10.0, 10.0]);
        let after = visits(&[5.0, 5.0, 5.0]);
        before.remove(1);
        let pairs = paired(&before, &after).unwrap();
        assert_eq!(pairs.rounds, 2);
        before.remove(1);
        assert_eq!(paired(&before, &after), None, "one pair says nothing");
    }

    #[test]
    fn times_that_are_none_give_nothing() {
        let fine = visits(&[5.0, 5.0]);
        for wrong in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let wrong = visits(&[5.0, wrong]);
            assert_eq!(paired(&fine, &wrong), None);
            assert_eq!(unpaired(&wrong, &fine), None);
        }
        assert_eq!(paired(&[], &fine), None);
        assert_eq!(unpaired(&fine, &[]), None);
    }

    #[test]
    fn more_rounds_make_the_interval_as_narrow_as_promised() {
        let before = visits(&[10.0, 10.4, 9.9, 10.1, 12.0]);
        let after = visits(&[9.0, 9.5, 9.1, 9.0, 10.6]);
        let now = paired(&before, &after).unwrap();
        let rounds_for = |wanted: f64| now.fewest_rounds(|then| then.half_width() <= wanted);
        let wanted = now.half_width() / 4.0;
        let rounds = rounds_for(wanted).unwrap();
        let then = |rounds: u32| Estimate {
            error: now.error * (5.0 / f64::from(rounds)).sqrt(),
            freedom: f64::from(rounds) - 1.0,
            ..now
        };
        assert!(then(rounds).half_width() <= wanted);
        assert!(then(rounds - 1).half_width() > wanted);
        assert_eq!(rounds_for(1.0), Some(6), "there is always one more");
        assert_eq!(rounds_for(0.0), None);
        assert_eq!(rounds_for(1e-7), None, "too many rounds");
    }

    #[test]
    fn a_case_is_compared_with_itself_by_halves() {
        let restless = |round| Visit {
            round,
            samples: [[10.0; 5], [11.0; 5]].concat(),
        };
        let side: Vec<Visit> = (0..4).map(restless).collect();
        let spread = paired(&side, &side).unwrap().spread;
        // Every half is 10 % off the other; two standard errors of four rounds.
        assert!((spread - 1.1_f64.ln()).abs() < 1e-9, "{spread}");
    }
}
