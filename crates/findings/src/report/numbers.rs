//! Numbers as reports have them.

use crate::analysis::case_pair::Pair;
use crate::analysis::case_rows::CaseRow;
use powerband_core::base::humanize;

/// A unit of time for a whole column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unit {
    /// What it is called.
    pub name: &'static str,
    ns: f64,
}

impl Unit {
    /// Milliseconds.
    pub const MS: Self = Self {
        name: "ms",
        ns: 1e6,
    };

    /// The unit that suits most of these times, in nanoseconds.
    pub fn of(times_ns: impl Iterator<Item = f64>) -> Self {
        let known = times_ns.filter(|ns| ns.is_finite() && *ns > 0.0);
        let (sum, count) = known.fold((0.0, 0.0), |(sum, count), ns| (sum + ns.ln(), count + 1.0));
        if count == 0.0 {
            return Self::MS;
        }
        match f64::exp(sum / count) {
            ns if ns < 1e3 => Self {
                name: "ns",
                ns: 1.0,
            },
            ns if ns < 3e5 => Self {
                name: "µs",
                ns: 1e3,
            },
            ns if ns < 3e9 => Self::MS,
            _ => Self { name: "s", ns: 1e9 },
        }
    }

    /// A time in this unit, without its name.
    pub fn text(self, ns: f64) -> String {
        humanize::value(ns / self.ns)
    }
}

/// A case's median with how far off it may be: `14.6 ms ± 150 %`.
pub(crate) fn median_with_uncertainty(row: &CaseRow) -> Option<String> {
    let median = row.median_words()?;
    Some(match row.uncertainty_words() {
        Some(uncertainty) => format!("{median} ± {uncertainty}"),
        None => median,
    })
}

/// A case's throughput, in items a second and without the unit.
pub fn rate(row: &CaseRow) -> Option<String> {
    row.throughput_per_s.map(humanize::value)
}

/// A speed-up with its interval and verdict in a few words.
pub fn gain(pair: &Pair) -> Option<String> {
    let ratio = pair.ratio.as_ref()?;
    let times = ratio.words();
    Some(match ratio.interval_words() {
        Some(interval) => format!("{times} (95 % interval {interval}, {})", pair.verdict.call),
        None => format!("{times} ({})", pair.verdict.call),
    })
}

/// A share: `88 %`.
pub fn share(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_has_one_unit() {
        assert_eq!(Unit::of([6e6, 9e7].into_iter()).name, "ms");
        assert_eq!(Unit::of([6e3, 9e4].into_iter()).name, "µs");
        assert_eq!(Unit::of(std::iter::empty()).name, "ms");
        assert_eq!(Unit::MS.text(850_000.0), "0.850");
    }
}
