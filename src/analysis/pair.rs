//! Two cases that belong together: how they relate, and whether that is a change.

use super::case_rows::CaseRow;
use super::comparison::Side;
use super::conditions;
use super::verdict::{self, Verdict};
use crate::base::humanize;
use crate::stats::bootstrap::Interval;
use crate::stats::ratio::{self, Estimate};
use crate::stats::summary::mean;

/// Half an interval, as a share, that is narrower than anybody reads off a ratio.
const FINEST: f64 = 0.01;

/// How many times as fast the one is as the other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// Latency before over after; above 1 means that after is faster. The geometric mean of the rounds'
    /// ratios of medians, or the ratio of the medians where there is one round.
    pub speed_up: f64,
    /// Its 95 % interval; nothing where a side has fewer than two rounds.
    pub ci95: Option<Interval>,
    /// Rounds that the interval rests on.
    pub rounds: u32,
}

impl Ratio {
    /// Half of its interval: the longer side.
    pub fn half(&self) -> Option<f64> {
        let half = |interval: Interval| {
            let (below, above) = (self.speed_up - interval.low, interval.high - self.speed_up);
            below.max(above)
        };
        self.ci95.map(half)
    }

    /// As people read it, with as many digits as its interval supports, and three at most: `2.98 ×`.
    pub fn words(&self) -> String {
        self.as_exact(self.speed_up)
    }

    /// The ends of its interval, one digit finer than the ratio, so that an end near 1 is not rounded onto
    /// it. Where two rounds cannot tell, nobody wants to know by how much.
    pub fn interval_words(&self) -> Option<String> {
        let Interval { low, high } = self.ci95?;
        let finer = self.supported().map(|half| half / 10.0);
        let end = |value: f64| humanize::within(value, finer);
        Some(if high < 100.0 {
            format!("{} to {}", end(low), end(high))
        } else {
            format!("{} to over 100", end(low))
        })
    }

    /// Another ratio of the same two cases, no more exact than this one.
    pub fn as_exact(&self, ratio: f64) -> String {
        format!("{} ×", humanize::within(ratio, self.supported()))
    }

    /// Half of its interval, or of one that is as narrow as anybody reads.
    fn supported(&self) -> Option<f64> {
        let finest = self.speed_up.abs() * FINEST;
        self.half().map(|half| half.max(finest))
    }
}

/// Two cases that belong together.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    /// Batch size before.
    pub before_batch: usize,
    /// Batch size after; another one only where both were picked by hand.
    pub after_batch: usize,
    /// The case before.
    pub before: CaseRow,
    /// The case after.
    pub after: CaseRow,
    /// How they relate; per item where the batch sizes differ.
    pub ratio: Option<Ratio>,
    /// Whether it got faster.
    pub verdict: Verdict,
}

impl Pair {
    /// Whether the two have different batch sizes, so that latencies are compared per item.
    pub fn is_per_item(&self) -> bool {
        self.before_batch != self.after_batch
    }

    /// How much more time it takes after, in per cent of the time before; less than zero where it takes less.
    pub fn loss_percent(&self) -> Option<f64> {
        self.ratio.map(|ratio| (1.0 / ratio.speed_up - 1.0) * 100.0)
    }
}

/// Puts two cases side by side.
pub(super) fn of(before: &Side<'_>, after: &Side<'_>, first: &CaseRow, second: &CaseRow) -> Pair {
    // Turns were taken where both belong to one run.
    let is_one_run = before.session.is_of_one_run_with(after.session);
    let (mine, theirs) = (before.visits(first.batch), after.visits(second.batch));
    let estimate = if is_one_run {
        ratio::paired(&mine, &theirs)
    } else {
        ratio::unpaired(&mine, &theirs)
    };
    // One for batches of the same size; else it turns times per batch into times per item.
    let items = second.batch as f64 / first.batch as f64;
    let estimate = estimate.map(|estimate| Estimate {
        ln: estimate.ln + items.ln(),
        ..estimate
    });
    let (ratio, verdict) = match obstacle(before, after, first, second) {
        Some(reason) => (None, Verdict::withheld(reason)),
        None => (
            ratio_of(first, second, items, estimate.as_ref()),
            judge(first, second, estimate.as_ref()),
        ),
    };
    Pair {
        before_batch: first.batch,
        after_batch: second.batch,
        ratio,
        verdict,
        before: first.clone(),
        after: second.clone(),
    }
}

/// The geometric mean of the speed-ups of pairs. Nothing where no pair has one.
///
/// Pairs of one run share its rounds, so that what is off in one may be off in all in the same direction:
/// the mean is taken to be as unsure as its pairs are on average, not less.
pub(super) fn overall(pairs: &[Pair]) -> Option<Ratio> {
    let ratios: Vec<Ratio> = pairs.iter().filter_map(|pair| pair.ratio).collect();
    let logarithms: Vec<f64> = ratios.iter().map(|ratio| ratio.speed_up.ln()).collect();
    let ln = mean(&logarithms)?;
    let halves: Option<Vec<f64>> = ratios
        .iter()
        .map(|ratio| ratio.ci95.map(|ci| (ci.high / ci.low).ln() / 2.0))
        .collect();
    let half = halves.and_then(|halves| mean(&halves));
    Some(Ratio {
        speed_up: ln.exp(),
        ci95: half.map(|half| Interval {
            low: (ln - half).exp(),
            high: (ln + half).exp(),
        }),
        rounds: ratios.iter().map(|ratio| ratio.rounds).min()?,
    })
}

fn ratio_of(
    first: &CaseRow,
    second: &CaseRow,
    items: f64,
    estimate: Option<&Estimate>,
) -> Option<Ratio> {
    if let Some(estimate) = estimate {
        return Some(Ratio {
            speed_up: estimate.ratio(),
            ci95: Some(estimate.interval()),
            rounds: estimate.rounds,
        });
    }
    let medians = (
        first.latency_ns.as_ref()?.median,
        second.latency_ns.as_ref()?.median,
    );
    let speed_up = medians.0 / medians.1 * items;
    (speed_up.is_finite() && speed_up > 0.0).then_some(Ratio {
        speed_up,
        ci95: None,
        rounds: 1,
    })
}

/// Why two cases have no ratio at all; nothing where they have one.
fn obstacle(
    before: &Side<'_>,
    after: &Side<'_>,
    first: &CaseRow,
    second: &CaseRow,
) -> Option<String> {
    let is_time = |row: &CaseRow| row.latency_ns.as_ref().is_some_and(|times| times.min > 0.0);
    if !is_time(first) || !is_time(second) {
        return Some("there are times of zero, which no real run takes".to_owned());
    }
    conditions::obstacle((before.session, before.setup), (after.session, after.setup))
}

/// The verdict, or why there can be none.
fn judge(first: &CaseRow, second: &CaseRow, estimate: Option<&Estimate>) -> Verdict {
    match estimate {
        Some(estimate) => verdict::of(estimate),
        None if first.rounds.min(second.rounds) < 2 => Verdict::withheld(
            "one round says nothing of how rounds differ; measure with --rounds 5 or more",
        ),
        None => Verdict::withheld("the two have fewer than two rounds in common"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratio(low: f64, speed_up: f64, high: f64) -> Ratio {
        Ratio {
            speed_up,
            ci95: Some(Interval { low, high }),
            rounds: 5,
        }
    }

    #[test]
    fn ends_of_an_interval_are_one_digit_finer_than_the_ratio() {
        let told = |ratio: Ratio| (ratio.words(), ratio.interval_words().unwrap());
        let both = |ratio: &str, ends: &str| (ratio.to_owned(), ends.to_owned());
        assert_eq!(
            told(ratio(1.0912, 1.185, 1.2871)),
            both("1.2 ×", "1.09 to 1.29")
        );
        assert_eq!(
            told(ratio(0.7286, 0.75, 0.7714)),
            both("0.75 ×", "0.729 to 0.771")
        );
        assert_eq!(
            told(ratio(1.6231, 1.68, 1.7371)),
            both("1.68 ×", "1.623 to 1.737")
        );
        // An end that is not 1 does not read as if it were.
        assert_eq!(
            told(ratio(1.012, 1.04, 1.068)),
            both("1.04 ×", "1.012 to 1.068")
        );
        let alone = Ratio {
            ci95: None,
            ..ratio(1.0, 2.0, 3.0)
        };
        assert_eq!(alone.interval_words(), None);
        assert!(
            ratio(0.5, 9.0, 300.0)
                .interval_words()
                .unwrap()
                .ends_with("to over 100")
        );
    }
}
