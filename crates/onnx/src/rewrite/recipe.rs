//! What is to be done to a network before it runs: its numbers, its batch, and how ranges are found.

use std::fmt;
use std::path::PathBuf;

use super::Precision;
use super::ranges::Method;

/// Everything that is to be done to a network; the default leaves it as it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Recipe {
    /// The numbers that it computes with.
    pub precision: Precision,
    /// The batch size that is written into it.
    pub batch: Option<usize>,
    /// Operator types and node names that stay in floats.
    pub leave_out: Vec<String>,
    /// Inputs of the user's own for finding ranges; nothing for made-up ones.
    pub calibration: Option<PathBuf>,
    /// How a range follows from the values that were seen.
    pub ranges: Method,
}

impl Default for Recipe {
    fn default() -> Self {
        Self {
            precision: Precision::Float,
            batch: None,
            leave_out: Vec::new(),
            calibration: None,
            ranges: Method::MinMax,
        }
    }
}

impl Recipe {
    /// Whether the network stays as it is.
    pub fn is_plain(&self) -> bool {
        self.precision == Precision::Float && self.batch.is_none()
    }

    /// Refuses what has no effect.
    pub fn check(&self) -> Result<(), String> {
        if self.precision == Precision::Float && !self.leave_out.is_empty() {
            return Err("keep_float has an effect with precision=fp16 or int8 only".to_owned());
        }
        if self.precision != Precision::Int8 {
            if self.calibration.is_some() {
                return Err("calibration has an effect with precision=int8 only".to_owned());
            }
            if self.ranges != Method::MinMax {
                return Err("ranges has an effect with precision=int8 only".to_owned());
            }
        }
        Ok(())
    }
}

impl fmt::Display for Recipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let batch = self.batch.map(|batch| format!("batch {batch}"));
        let numbers = (self.precision != Precision::Float).then(|| self.precision.to_string());
        let words: Vec<String> = numbers.into_iter().chain(batch).collect();
        f.write_str(&words.join(", "))
    }
}

/// `minmax`, `percentile`, or `percentile:99.9`.
pub fn parse_ranges(text: &str) -> Result<Method, String> {
    let unknown =
        || format!("ranges={text} is not known; there are minmax, percentile and percentile:99.9");
    match text.split_once(':') {
        None if text == "minmax" => Ok(Method::MinMax),
        None if text == "percentile" => Ok(Method::PERCENTILE),
        Some(("percentile", percent)) => match percent.parse::<f64>() {
            Ok(percent) if (50.0..=100.0).contains(&percent) => Ok(Method::Percentile(percent)),
            _ => Err(format!(
                "ranges={text}: a percentile is a number from 50 to 100"
            )),
        },
        _ => Err(unknown()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read() {
        assert_eq!(parse_ranges("minmax"), Ok(Method::MinMax));
        assert_eq!(parse_ranges("percentile"), Ok(Method::PERCENTILE));
        assert_eq!(
            parse_ranges("percentile:99.9"),
            Ok(Method::Percentile(99.9))
        );
        assert!(
            parse_ranges("percentile:9")
                .unwrap_err()
                .contains("50 to 100")
        );
        assert!(parse_ranges("entropy").unwrap_err().contains("minmax"));
    }

    #[test]
    fn what_has_no_effect_is_refused() {
        let plain = Recipe::default();
        assert!(plain.is_plain() && plain.check().is_ok());
        let kept = Recipe {
            leave_out: vec!["Gemm".to_owned()],
            ..Recipe::default()
        };
        assert!(kept.check().unwrap_err().contains("keep_float"));
        let fixed = Recipe {
            batch: Some(4),
            precision: Precision::Fp16,
            ..Recipe::default()
        };
        assert_eq!(fixed.to_string(), "fp16, batch 4");
        assert!(!fixed.is_plain() && fixed.check().is_ok());
    }
}
