//! A share of a number of trials, and how sure it is.
//!
//! The interval is Wilson's score interval (Wilson, *Probable Inference, the Law of Succession, and
//! Statistical Inference*, 1927): it stays inside 0 to 1 and holds for shares near either end and for
//! few trials, where the textbook's ± does not (Brown, Cai & `DasGupta`, *Interval Estimation for a
//! Binomial Proportion*, 2001). Assumes trials that are independent of each other.

use serde::{Deserialize, Serialize};
use statrs::distribution::{Binomial, DiscreteCDF as _};

/// The point of the normal distribution below which 97.5 % lie.
const Z_975: f64 = 1.959_963_984_540_054;

/// So many of so many, with the 95 % interval of the share.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Share {
    /// How many it is true of.
    pub hits: u64,
    /// How many were looked at; never zero.
    pub of: u64,
    /// Lower end of the 95 % interval, from 0 to 1.
    pub low: f64,
    /// Upper end of the 95 % interval, from 0 to 1.
    pub high: f64,
}

impl Share {
    /// The share with its interval; nothing for none looked at, or for more hits than trials.
    pub fn wilson(hits: u64, of: u64) -> Option<Self> {
        if of == 0 || hits > of {
            return None;
        }
        let n = of as f64;
        let p = hits as f64 / n;
        let z2 = Z_975 * Z_975;
        let scale = 1.0 + z2 / n;
        let centre = (p + z2 / (2.0 * n)) / scale;
        let half = Z_975 * (p * (1.0 - p) / n + z2 / (4.0 * n * n)).sqrt() / scale;
        Some(Self {
            hits,
            of,
            // At the ends the formula gives 0 and 1 exactly, and its rounding does not.
            low: if hits == 0 {
                0.0
            } else {
                (centre - half).max(0.0)
            },
            high: if hits == of {
                1.0
            } else {
                (centre + half).min(1.0)
            },
        })
    }

    /// The share itself, from 0 to 1.
    pub fn value(&self) -> f64 {
        self.hits as f64 / self.of as f64
    }
}

/// How likely so many hits or more are, each of so many trials being one with a probability; 1 where that is none.
pub fn chance_of_hits(hits: u64, of: u64, probability: f64) -> f64 {
    match (Binomial::new(probability, of), hits.checked_sub(1)) {
        (Ok(trials), Some(below)) => trials.sf(below),
        _ => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_equal_statsmodels() {
        // statsmodels.stats.proportion.proportion_confint(hits, of, method="wilson").
        for (hits, of, low, high) in [
            (0, 10, 0.0, 0.277_532_799_862_889_26),
            (10, 10, 0.722_467_200_137_110_6, 1.0),
            (7, 10, 0.396_778_147_461_145_37, 0.892_208_732_593_698_9),
            (761, 1000, 0.733_600_371_806_297_4, 0.786_402_060_264_242_9),
            (1, 1, 0.206_549_314_377_237_4, 1.0),
            (
                38_065,
                50_000,
                0.757_543_496_525_842_3,
                0.765_016_355_631_089_4,
            ),
        ] {
            let share = Share::wilson(hits, of).unwrap();
            assert!((share.low - low).abs() < 1e-12, "{share:?} {low}");
            assert!((share.high - high).abs() < 1e-12, "{share:?} {high}");
        }
        assert_eq!(Share::wilson(3, 4).unwrap().value(), 0.75);
    }

    #[test]
    fn nothing_of_nothing_is_no_share() {
        assert_eq!(Share::wilson(0, 0), None);
        assert_eq!(Share::wilson(2, 1), None);
    }
}
