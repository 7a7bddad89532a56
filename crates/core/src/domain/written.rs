//! A number as a document writes it: its digits are kept, because they say how exact it is.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A number with so many digits is no figure of a benchmark.
const MOST_LETTERS: usize = 40;
/// What a number with a tilde may be off by, as a share of it.
const ABOUT: f64 = 0.02;

/// A figure or a range of figures, as written: `1,730`, `12.5`, `~804`, `65–75`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Written {
    text: String,
    low: WrittenNumber,
    high: WrittenNumber,
}

/// One number and half the unit of its last digit.
#[derive(Clone, Copy, Debug, PartialEq)]
struct WrittenNumber {
    value: f64,
    slack: f64,
}

/// Lowest and highest value that a written number can mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WrittenBounds {
    /// The least.
    pub low: f64,
    /// The most.
    pub high: f64,
}

impl WrittenBounds {
    /// One number and no other.
    pub fn exactly(value: f64) -> Self {
        Self {
            low: value,
            high: value,
        }
    }

    /// Whether both may be the same number.
    pub fn meets(self, other: Self) -> bool {
        // Ends that are sums of decimals are seldom exact.
        let reach = |end: f64| end + end.abs() * 1e-12;
        self.low <= reach(other.high) && other.low <= reach(self.high)
    }

    /// The bounds of a sum.
    pub fn sum(all: impl IntoIterator<Item = Self>) -> Self {
        all.into_iter().fold(Self::exactly(0.0), |sum, one| Self {
            low: sum.low + one.low,
            high: sum.high + one.high,
        })
    }

    /// Each end times a positive factor.
    pub fn times(self, factor: f64) -> Self {
        Self {
            low: self.low * factor,
            high: self.high * factor,
        }
    }

    /// The quotient of two numbers that are not negative; without limit where the divisor may be zero.
    pub fn over(self, divisor: Self) -> Self {
        let part = |above: f64, below: f64| {
            if below > 0.0 {
                above / below
            } else {
                f64::INFINITY
            }
        };
        Self {
            low: part(self.low.max(0.0), divisor.high),
            high: part(self.high, divisor.low),
        }
    }

    /// Wider by a share of each end.
    pub fn wider(self, share: f64) -> Self {
        Self {
            low: self.low * (1.0 - share),
            high: self.high * (1.0 + share),
        }
    }
}

impl Written {
    /// The number; the middle of a range.
    pub fn value(&self) -> f64 {
        f64::midpoint(self.low.value, self.high.value)
    }

    /// The lower end of a range, and the number where it is none.
    pub fn low(&self) -> f64 {
        self.low.value
    }

    /// The upper end of a range, and the number where it is none.
    pub fn high(&self) -> f64 {
        self.high.value
    }

    /// Whether it has two ends.
    pub fn is_range(&self) -> bool {
        self.low != self.high
    }

    /// What it may be: half a unit of the last digit to either side, and more where it says about.
    pub fn bounds(&self) -> WrittenBounds {
        let about = if self.text.starts_with('~') {
            ABOUT
        } else {
            0.0
        };
        let side = |number: WrittenNumber| number.slack.max(number.value * about);
        WrittenBounds {
            low: self.low.value - side(self.low),
            high: self.high.value + side(self.high),
        }
    }
}

impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl From<Written> for String {
    fn from(written: Written) -> Self {
        written.text
    }
}

impl TryFrom<String> for Written {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let unreadable = || {
            format!(
                "\"{}\" is no figure; write it as the document does: 1,730 or 12.5 or ~804 or 65–75",
                text.chars().take(MOST_LETTERS).collect::<String>()
            )
        };
        let words = text.strip_prefix('~').unwrap_or(&text);
        if words.chars().count() > MOST_LETTERS {
            return Err(unreadable());
        }
        let (first, last) = words.split_once(['–', '-']).unwrap_or((words, words));
        let ends = number(first).zip(number(last));
        let (low, high) = ends
            .filter(|(low, high)| low.value <= high.value)
            .ok_or_else(unreadable)?;
        Ok(Self { text, low, high })
    }
}

impl std::str::FromStr for Written {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        text.to_owned().try_into()
    }
}

/// Digits with commas between groups of three and at most one point.
fn number(text: &str) -> Option<WrittenNumber> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let mut groups = whole.split(',');
    let first = groups.next()?;
    let is_whole = is_digits(first)
        && groups.all(|group| is_digits(group) && group.len() == 3)
        && (first.len() <= 3 || !whole.contains(','));
    if !is_whole || (text.contains('.') && !is_digits(part)) {
        return None;
    }
    let value = format!("{}.{part}0", whole.replace(',', "")).parse::<f64>();
    let value = value.ok().filter(|value| value.is_finite())?;
    Some(WrittenNumber {
        value,
        slack: 0.5 / 10_f64.powi(part.len() as i32),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str) -> Written {
        text.parse().unwrap()
    }

    #[test]
    fn figures_keep_their_digits() {
        for (text, value, low, high) in [
            ("1,730", 1730.0, 1729.5, 1730.5),
            ("80", 80.0, 79.5, 80.5),
            ("2.10", 2.1, 2.095, 2.105),
            ("17301.5", 17301.5, 17301.45, 17301.55),
            ("~1,000", 1000.0, 980.0, 1020.0),
            ("0", 0.0, -0.5, 0.5),
        ] {
            let figure = written(text);
            let bounds = figure.bounds();
            assert_eq!((figure.to_string().as_str(), figure.value()), (text, value));
            assert!((bounds.low - low).abs() < 1e-9, "{text} {bounds:?}");
            assert!((bounds.high - high).abs() < 1e-9, "{text} {bounds:?}");
            assert!(!figure.is_range());
        }
    }

    #[test]
    fn ranges_have_two_ends() {
        for text in ["65–75", "65-75"] {
            let range = written(text);
            assert_eq!(
                (range.low(), range.high(), range.value()),
                (65.0, 75.0, 70.0)
            );
            assert!(range.is_range());
            assert_eq!(
                range.bounds(),
                WrittenBounds {
                    low: 64.5,
                    high: 75.5
                }
            );
        }
    }

    #[test]
    fn what_is_no_figure_is_refused() {
        let long = "9".repeat(400);
        for text in [
            "", "~", "–", "5–", "–5", "75–65", "1e9", "NaN", "inf", "1,73", "1,7300", "12,34.5",
            "1.", ".5", "1.2.3", "a few", " 5", "0x10", "١٢", &long,
        ] {
            let error = text.parse::<Written>().unwrap_err();
            assert!(error.contains("is no figure"), "{text}: {error}");
            assert!(error.chars().count() < 150, "{error}");
        }
    }

    #[test]
    fn quotients_know_their_bounds() {
        let rate = written("32").bounds().over(written("42.7").bounds());
        assert!(rate.low < 32.0 / 42.7 && 32.0 / 42.7 < rate.high);
        let endless = written("1").bounds().over(written("0").bounds());
        assert_eq!(endless.high, f64::INFINITY);
        assert!(endless.low > 0.0);
        assert!(!written("804").bounds().meets(written("749.4").bounds()));
        assert!(written("749").bounds().meets(written("749.4").bounds()));
    }
}
