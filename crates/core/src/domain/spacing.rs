//! How far the rounds of a case lie apart.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::base::humanize;

/// How far the rounds of a case lie apart. Where they do, each is a start of its setup's worker; where they do not,
/// they follow one another in one process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spacing {
    /// From the beginning of a round of a case to that of its next, at least, in milliseconds.
    pub between_ms: u64,
    /// From the beginning of its first round to that of its last, at least, in milliseconds.
    pub span_ms: u64,
}

impl Spacing {
    /// The longest time between two rounds that can be asked for.
    const MOST_NS: f64 = 600e9;
    /// That of the presets: rounds of one process within two seconds say little of the next start.
    pub const USUAL: Self = Self {
        between_ms: 3_000,
        span_ms: 15_000,
    };

    /// Whether rounds lie apart at all.
    pub fn is_apart(self) -> bool {
        self.between_ms > 0 || self.span_ms > 0
    }

    /// From the beginning of a round of a case to that of its next, where there are so many, in nanoseconds.
    pub fn gap_ns(self, rounds: u32) -> u64 {
        let gaps = u64::from(rounds.max(2) - 1);
        let gap_ms = self.between_ms.max(self.span_ms.div_ceil(gaps));
        gap_ms.saturating_mul(1_000_000)
    }

    /// From the beginning of its first round to that of its last, in nanoseconds.
    pub fn span_ns(self, rounds: u32) -> u64 {
        let gaps = u64::from(rounds.saturating_sub(1));
        self.gap_ns(rounds).saturating_mul(gaps)
    }
}

/// The same time between all rounds: `5s`, `500ms`, or `0s` for none.
impl FromStr for Spacing {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let between_ns = humanize::parse_duration_ns(text);
        let between_ns = between_ns.filter(|ns| *ns <= Self::MOST_NS);
        let between_ns = between_ns.ok_or_else(|| {
            format!("\"{text}\" is no time from one round to the next; write 5s or 500ms, or 0s for none, up to 600s")
        })?;
        Ok(Self {
            between_ms: (between_ns / 1e6).round() as u64,
            span_ms: 0,
        })
    }
}

/// `5s`, as it is typed.
impl fmt::Display for Spacing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.between_ms {
            ms if ms % 1_000 == 0 => write!(f, "{}s", ms / 1_000),
            ms => write!(f, "{ms}ms"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_span_as_much_however_many_they_are() {
        assert_eq!(Spacing::USUAL.gap_ns(2), 15_000_000_000);
        assert_eq!(Spacing::USUAL.gap_ns(60), 3_000_000_000);
        assert_eq!(Spacing::USUAL.span_ns(1), 0);
    }

    #[test]
    fn a_spacing_is_read_back() {
        for text in ["0s", "3s", "250ms", "600s"] {
            assert_eq!(text.parse::<Spacing>().unwrap().to_string(), text);
        }
        assert!(!"0s".parse::<Spacing>().unwrap().is_apart());
        for wrong in ["", "3", "-1s", "soon", "601s"] {
            assert!(wrong.parse::<Spacing>().is_err(), "{wrong}");
        }
    }
}
