//! What stands in a cell: text for people and a plain number for spreadsheets. The one place where numbers of
//! tables get their digits and units.

use crate::analysis::accuracy;
use crate::analysis::device_readings;
use crate::analysis::energy;
use crate::analysis::flags::{Flag, FlagSeverity};
use crate::analysis::verdict::{Call, Verdict};
use powerband_core::base::humanize::{self, UNKNOWN};
use powerband_core::domain::accuracy::HitCount;
use powerband_core::domain::telemetry::Quantity;
use serde::Serialize;
use serde_json::Value;

/// Nanoseconds of a millisecond, the unit of every plain time.
const MS: f64 = 1e6;

/// What the colour of a cell says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// Nothing.
    #[default]
    Plain,
    /// Something got faster.
    Good,
    /// Something got slower, or is unreliable.
    Bad,
    /// The answer is open.
    Open,
}

/// What a cell is sorted by where that is not what it shows.
#[derive(Clone, Debug, PartialEq)]
pub enum SortKey {
    /// A number, as the lower end of an interval.
    Number(f64),
    /// Words, as a moment in UTC.
    Words(String),
}

/// What a window shows beside or in place of the text.
#[derive(Clone, Debug, PartialEq)]
pub enum Sign {
    /// A verdict with its grounds.
    Verdict(Verdict),
    /// What is suspicious about the number.
    Flags(Vec<Flag>),
}

/// A cell of a table: text for people, a plain number for programs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cell {
    /// What people read; nothing where the value is missing.
    pub text: Option<String>,
    /// The value as a plain number in the unit of the column; nothing for words.
    pub number: Option<f64>,
    /// Words as programs read and sort them, where people read others.
    pub plain: Option<String>,
    /// What rows are sorted by, where it is neither the number nor the text.
    pub rank: Option<SortKey>,
    /// What its colour says.
    pub tone: Tone,
    /// Why the value is missing, or more about one that is there.
    pub note: String,
    /// What a window shows with it.
    pub sign: Option<Sign>,
}

impl Cell {
    /// A value that is missing, and why.
    pub fn missing(why: impl Into<String>) -> Self {
        Self {
            note: why.into(),
            ..Self::default()
        }
    }

    /// A cell with a text.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            text: Some(text.into()),
            ..Self::default()
        }
    }

    /// A number with the text that people read for it.
    pub fn shown(text: impl Into<String>, number: f64) -> Self {
        Self {
            number: Some(number),
            ..Self::text(text)
        }
    }

    /// A number of things.
    pub fn count(number: u64) -> Self {
        Self::shown(humanize::count(number), number as f64)
    }

    /// A time in nanoseconds.
    pub fn time(ns: f64) -> Self {
        Self::shown(humanize::duration_ns(ns), ns / MS)
    }

    /// A time in nanoseconds that may be a loss or a gain.
    pub fn time_change(ns: f64) -> Self {
        Self::shown(humanize::time_change(ns), ns / MS)
    }

    /// A share of a whole, or of a change.
    pub fn share(share: f64) -> Self {
        Self::shown(humanize::percent(share), share * 100.0)
    }

    /// Items a second.
    pub fn rate(per_s: f64) -> Self {
        Self::shown(humanize::rate(per_s), per_s)
    }

    /// A number of bytes.
    pub fn bytes(bytes: f64) -> Self {
        Self::shown(humanize::bytes(bytes as u64), bytes)
    }

    /// How many times as large, or as fast.
    pub fn ratio(ratio: f64) -> Self {
        Self::shown(humanize::ratio(ratio), ratio)
    }

    /// Any number, with three digits.
    pub fn value(value: f64) -> Self {
        Self::shown(humanize::value(value), value)
    }

    /// An energy in joules.
    pub fn joules(joules: f64) -> Self {
        Self::shown(energy::joules_text(joules), joules)
    }

    /// What a device reads.
    pub fn reading(quantity: Quantity, value: f64) -> Self {
        Self::shown(device_readings::reading_text(quantity, value), value)
    }

    /// A cosine between an output and the reference's.
    pub fn cosine(cosine: f64) -> Self {
        Self::shown(accuracy::cosine(cosine), cosine)
    }

    /// A share of hits.
    pub fn hits(hits: HitCount) -> Option<Self> {
        Some(Self::shown(accuracy::percent(hits)?, hits.share()? * 100.0))
    }

    /// A moment: in local time for people, in UTC for programs.
    pub fn moment(utc: &str) -> Self {
        let cell = Self::text(humanize::moment(utc)).for_programs(utc);
        cell.ranked(SortKey::Words(utc.to_owned()))
    }

    /// A verdict, with its reason.
    pub fn verdict(verdict: &Verdict) -> Self {
        let reason = verdict.reason.clone().unwrap_or_default();
        let cell = Self::text(verdict.call.name())
            .toned(tone_of(verdict.call))
            .noted(reason);
        Self {
            sign: Some(Sign::Verdict(verdict.clone())),
            ..cell
        }
    }

    /// The names of flags after other words.
    pub fn flags(first: Option<&str>, flags: &[Flag], is_trouble: bool) -> Self {
        let names = first
            .into_iter()
            .chain(flags.iter().map(|flag| flag.name))
            .collect::<Vec<_>>();
        let is_red = flags.iter().any(|flag| flag.weight == FlagSeverity::Red);
        let tone = if is_red || is_trouble {
            Tone::Bad
        } else {
            Tone::Plain
        };
        Self::text(names.join(", ")).toned(tone).flagged(flags)
    }

    /// The same with a sign where anything is suspicious about it.
    #[must_use]
    pub fn flagged(self, flags: &[Flag]) -> Self {
        Self {
            sign: (!flags.is_empty()).then(|| Sign::Flags(flags.to_vec())),
            ..self
        }
    }

    /// The same in a tone.
    #[must_use]
    pub fn toned(self, tone: Tone) -> Self {
        Self { tone, ..self }
    }

    /// The same, sorted by something else.
    #[must_use]
    pub fn ranked(self, rank: SortKey) -> Self {
        Self {
            rank: Some(rank),
            ..self
        }
    }

    /// The same with other words for programs.
    #[must_use]
    pub fn for_programs(self, plain: impl Into<String>) -> Self {
        Self {
            plain: Some(plain.into()),
            ..self
        }
    }

    /// The same with the name that documents have for a value, in place of words for programs.
    #[must_use]
    pub fn named(self, value: impl Serialize) -> Self {
        match serde_json::to_value(value) {
            Ok(Value::String(name)) => self.for_programs(name),
            _ => self,
        }
    }

    /// The same with more about it.
    #[must_use]
    pub fn noted(self, note: impl Into<String>) -> Self {
        Self {
            note: note.into(),
            ..self
        }
    }

    /// The words that programs read; empty where the value is missing.
    pub fn plain_text(&self) -> &str {
        let text = self.plain.as_ref().or(self.text.as_ref());
        text.map_or("", String::as_str)
    }

    /// What people read: a dash where the value is missing.
    pub fn shown_text(&self) -> &str {
        self.text.as_deref().unwrap_or(UNKNOWN)
    }
}

/// The tone of a verdict.
pub fn tone_of(call: Call) -> Tone {
    match call {
        Call::Faster => Tone::Good,
        Call::Slower => Tone::Bad,
        Call::Same => Tone::Plain,
        Call::Inconclusive => Tone::Open,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_read_units_and_programs_read_numbers() {
        let time = Cell::time(14_600_000.0);
        assert_eq!(time.shown_text(), "14.6 ms");
        assert_eq!(time.number, Some(14.6));
        assert_eq!(Cell::time_change(-2e6).shown_text(), "−2.00 ms");
        assert_eq!(Cell::share(-0.03).shown_text(), "−3.00 %");
        assert_eq!(Cell::share(0.876).shown_text(), "87.6 %");
        let missing = Cell::missing("it crashed");
        assert_eq!((missing.shown_text(), missing.number), (UNKNOWN, None));
    }
}
