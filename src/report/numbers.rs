//! Numbers with the digits that their intervals support, and no more.

use crate::analysis::case_rows::CaseRow;
use crate::analysis::pair::{Pair, Ratio};
use crate::base::humanize;

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
    pub fn text(self, ns: f64, half_ns: Option<f64>) -> String {
        humanize::within(ns / self.ns, half_ns.map(|half| half / self.ns))
    }
}

/// A time in the unit that suits it.
pub fn time(ns: f64, half_ns: Option<f64>) -> String {
    let (ns_of_unit, name) = humanize::unit_of(ns);
    let half = half_ns.map(|half| half / ns_of_unit);
    format!("{} {name}", humanize::within(ns / ns_of_unit, half))
}

/// A case's median in a unit of its own.
pub fn median(row: &CaseRow) -> Option<String> {
    Some(time(row.latency_ns.as_ref()?.median, row.median_half_ns()))
}

/// A case's throughput, in items a second and without the unit.
pub fn rate(row: &CaseRow) -> Option<String> {
    let rate = row.throughput_per_s?;
    let half = row.rate_half().map(|share| share * rate);
    Some(humanize::within(rate, half))
}

/// The ends of a speed-up's interval, with a digit more than it has itself.
pub fn interval(ratio: &Ratio) -> Option<String> {
    ratio.interval_words()
}

/// A speed-up with its interval and verdict in a few words.
pub fn gain(pair: &Pair) -> Option<String> {
    let ratio = pair.ratio.as_ref()?;
    let times = ratio.words();
    Some(match interval(ratio) {
        Some(interval) => format!("{times} (95 % interval {interval}, {})", pair.verdict.call),
        None => format!("{times} ({})", pair.verdict.call),
    })
}

/// A share: `88 %`.
pub fn share(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

/// Half an interval as a share of its value: `0.8 %`.
pub fn relative(share: f64) -> String {
    if share >= 1.0 {
        return "> 100 %".to_owned();
    }
    format!("{} %", humanize::significant(share * 100.0, 2))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::bootstrap::Interval;

    #[test]
    fn digits_are_those_that_the_interval_supports() {
        let ratio = |low, high| Ratio {
            speed_up: 2.9762,
            ci95: Some(Interval { low, high }),
            rounds: 5,
        };
        assert_eq!(ratio(2.91, 3.04).words(), "2.98 ×");
        assert_eq!(interval(&ratio(2.91, 3.04)).unwrap(), "2.910 to 3.040");
        assert_eq!(ratio(2.1, 4.2).words(), "3 ×");
        assert_eq!(interval(&ratio(2.1, 4.2)).unwrap(), "2.1 to 4.2");
        let alone = Ratio {
            ci95: None,
            ..ratio(0.0, 0.0)
        };
        assert_eq!(alone.words(), "3.0 ×");
        assert_eq!(time(6_751_200.0, Some(34_000.0)), "6.75 ms");
        assert_eq!(time(6_751_200.0, None), "6.8 ms");
    }

    #[test]
    fn a_column_has_one_unit() {
        assert_eq!(Unit::of([6e6, 9e7].into_iter()).name, "ms");
        assert_eq!(Unit::of([6e3, 9e4].into_iter()).name, "µs");
        assert_eq!(Unit::of(std::iter::empty()).name, "ms");
        assert_eq!(Unit::MS.text(850_000.0, Some(1_000.0)), "0.850");
    }
}
