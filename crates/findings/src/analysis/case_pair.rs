//! Two cases that belong together: how they relate, and whether that is a change.

use serde::Serialize;

use super::case_rows::CaseRow;
use super::conditions;
use super::earlier_sessions::{EarlierSessions, SessionMean};
use super::side::ComparedSide;
use super::verdict::{self, Verdict};
use powerband_core::base::humanize;
use powerband_core::domain::case::CaseKey;
use powerband_core::domain::point::Point;
use powerband_core::domain::session::Session;
use powerband_core::stats::bootstrap::Interval;
use powerband_core::stats::ratio::{self, Estimate, RoundSamples};
use powerband_core::stats::sequential::Look;
use powerband_core::stats::summary::mean;

/// Digits of the ends of an interval: one more than of the ratio, so that an end near 1 is not rounded
/// onto it.
const DIGITS_OF_ENDS: usize = 4;
/// How a speed-up comes about, where it stands beside two medians.
pub const OVER_ROUNDS: &str = "Speed-up: the geometric mean of the rounds' ratios (once rounds were added, the fastest and the slowest seventh of the starts are left out), paired where the two were interleaved. It may differ from the quotient of the two medians.";

/// The speed-up of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Ratio {
    /// Latency before over after; above 1 means that after is faster. The geometric mean of the rounds'
    /// ratios of medians, or the ratio of the medians where there is one round.
    pub speed_up: f64,
    /// Its 95 % interval, of two that were not interleaved the 99 % one; nothing where a side has fewer than two
    /// rounds.
    pub ci95: Option<Interval>,
    /// Rounds that the interval rests on.
    pub rounds: u32,
    /// Whether the two were not interleaved, so that the interval is the 99 % one.
    #[serde(skip)]
    pub is_apart: bool,
}

impl Ratio {
    /// The speed-up as text: `2.98 ×`.
    pub fn speed_up_text(&self) -> String {
        humanize::ratio(self.speed_up)
    }

    /// Its interval in words, `2.910 to 3.040`; not known where it reaches beyond ten times either way, and
    /// nothing where there is none.
    pub fn interval_text(&self) -> Option<String> {
        let interval = self.ci95?;
        Some(interval_text(interval, self.speed_up))
    }

    /// What its interval is called: `95 % interval`.
    pub fn interval_name(&self) -> &'static str {
        if self.is_apart {
            "99 % interval"
        } else {
            "95 % interval"
        }
    }

    /// Its interval with its name: `95 % interval 2.910 to 3.040`; nothing where there is none.
    pub fn named_interval_text(&self) -> Option<String> {
        let interval = self.interval_text()?;
        Some(format!("{} {interval}", self.interval_name()))
    }
}

/// The interval of a ratio in words.
pub(super) fn interval_text(interval: Interval, ratio: f64) -> String {
    if !interval.tells_of(ratio) {
        return humanize::NOT_KNOWN.to_owned();
    }
    let [low, high] =
        [interval.low, interval.high].map(|end| humanize::significant(end, DIGITS_OF_ENDS));
    format!("{low} to {high}")
}

/// A case before and the matching case after, with their speed-up and verdict.
#[derive(Clone, Debug, PartialEq)]
pub struct CasePair {
    /// Point of the sweep before.
    pub before_point: Point,
    /// Point after; another one only where both were picked by hand.
    pub after_point: Point,
    pub before: CaseRow,
    pub after: CaseRow,
    /// How they relate; per item where the batch sizes differ.
    pub ratio: Option<Ratio>,
    /// What the ratio and the verdict rest on, where there is an interval.
    pub estimate: Option<Estimate>,
    /// Whether the two took turns; where they did not, measuring both again, in turns, would tell more.
    pub is_interleaved: bool,
    pub verdict: Verdict,
}

impl CasePair {
    /// Whether the two have different batch sizes, so that latencies are compared per item.
    pub fn is_per_item(&self) -> bool {
        self.before_point.batch() != self.after_point.batch()
    }

    /// How much more time it takes after, in per cent of the time before; less than zero where it takes less.
    pub fn loss_percent(&self) -> Option<f64> {
        self.ratio.map(|ratio| (1.0 / ratio.speed_up - 1.0) * 100.0)
    }
}

/// Puts two cases side by side; what is known of earlier sessions counts where they were not interleaved.
pub(super) fn compare_cases(
    before: &ComparedSide<'_>,
    after: &ComparedSide<'_>,
    first: &CaseRow,
    second: &CaseRow,
    earlier: &EarlierSessions,
) -> CasePair {
    // Cases of one run take turns, and what slows a machine down for a round slows down its cases alone.
    let is_interleaved =
        conditions::is_interleaved((before.session, before.setup), (after.session, after.setup));
    let (mine, theirs) = (before.visits(first.point), after.visits(second.point));
    let estimate = if is_interleaved {
        interleaved_estimate(before.session, &mine, &theirs)
    } else {
        let mean = |side: &ComparedSide<'_>, point| {
            let setup = side.setup;
            SessionMean::of_case(side.session, CaseKey { setup, point })
        };
        let means = (mean(before, first.point), mean(after, second.point));
        let sessions = earlier.spread_between(means.0.as_ref(), means.1.as_ref());
        ratio::unpaired(&mine, &theirs, sessions)
    };
    // One for batches of the same size; else it turns times per batch into times per item.
    let items = second.point.batch() as f64 / first.point.batch() as f64;
    let estimate = estimate.map(|estimate| Estimate {
        ln: estimate.ln + items.ln(),
        ..estimate
    });
    let withheld = why_no_ratio(before, after, first, second);
    let estimate = estimate.filter(|_| withheld.is_none());
    let (ratio, verdict) = match withheld {
        Some(reason) => (None, Verdict::withheld(reason)),
        None => (
            ratio_of(first, second, items, estimate.as_ref()),
            judge(first, second, estimate.as_ref()).with_round_time(before.round_s()),
        ),
    };
    CasePair {
        before_point: first.point,
        after_point: second.point,
        ratio,
        estimate,
        is_interleaved,
        verdict,
        before: first.clone(),
        after: second.clone(),
    }
}

/// How two cases of one session that took turns compare.
pub(super) fn interleaved_estimate(
    session: &Session,
    before: &[RoundSamples],
    after: &[RoundSamples],
) -> Option<Estimate> {
    let of_both = |own: &&RoundSamples| after.iter().any(|other| other.round == own.round);
    let last = before.iter().filter(of_both).map(|own| own.round).max()?;
    let look = look_after_round(session, last);
    ratio::paired_at_look(before, after, look)
}

/// Which look at a comparison it is that ends with this round: the one after the planned rounds, or one after rounds were
/// added because it was not settled.
pub(super) fn look_after_round(session: &Session, last_round: u32) -> Look {
    let measure = &session.plan.measure;
    let added = session.sittings.first().map(|one| one.first_round);
    let until_settled = measure.until_settled.then_some(measure.rounds);
    let mut later = added.into_iter().chain(until_settled);
    if later.any(|first| last_round >= first) {
        Look::Later
    } else {
        Look::Planned
    }
}

/// The geometric mean of the speed-ups of pairs. Nothing where no pair has one.
///
/// Pairs of one run share its rounds, so that one disturbance can shift all of them in the same direction:
/// the mean is taken to be as uncertain as its pairs are on average, not less.
pub(super) fn mean_speed_up(pairs: &[CasePair]) -> Option<Ratio> {
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
        is_apart: ratios.iter().any(|ratio| ratio.is_apart),
    })
}

impl From<&Estimate> for Ratio {
    fn from(estimate: &Estimate) -> Self {
        Self {
            speed_up: estimate.ratio(),
            ci95: Some(estimate.interval()),
            rounds: estimate.rounds,
            is_apart: estimate.apart.is_some(),
        }
    }
}

fn ratio_of(
    first: &CaseRow,
    second: &CaseRow,
    items: f64,
    estimate: Option<&Estimate>,
) -> Option<Ratio> {
    if let Some(estimate) = estimate {
        return Some(estimate.into());
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
        is_apart: false,
    })
}

/// Why two cases have no ratio at all; nothing where they have one.
fn why_no_ratio(
    before: &ComparedSide<'_>,
    after: &ComparedSide<'_>,
    first: &CaseRow,
    second: &CaseRow,
) -> Option<String> {
    let is_time = |row: &CaseRow| row.latency_ns.as_ref().is_some_and(|times| times.min > 0.0);
    if !is_time(first) || !is_time(second) {
        return Some("some times are zero, which no real run takes".to_owned());
    }
    conditions::why_not_comparable((before.session, before.setup), (after.session, after.setup))
}

/// The verdict, or why there can be none.
fn judge(first: &CaseRow, second: &CaseRow, estimate: Option<&Estimate>) -> Verdict {
    match estimate {
        Some(estimate) => verdict::verdict_of_estimate(estimate),
        None if first.is_stated_only() || second.is_stated_only() => {
            Verdict::withheld("one side states its time without its rounds")
        }
        None if first.rounds.min(second.rounds) < 2 => {
            Verdict::withheld("one round does not show how rounds differ; measure five or more")
        }
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
            is_apart: false,
        }
    }

    #[test]
    fn an_interval_stands_beside_its_ratio_and_takes_none_of_its_digits() {
        let told = |ratio: Ratio| (ratio.speed_up_text(), ratio.interval_text().unwrap());
        let both = |ratio: &str, ends: &str| (ratio.to_owned(), ends.to_owned());
        assert_eq!(
            told(ratio(1.0912, 1.185, 1.2871)),
            both("1.19 ×", "1.091 to 1.287")
        );
        assert_eq!(
            told(ratio(0.7286, 0.75, 0.7714)),
            both("0.750 ×", "0.7286 to 0.7714")
        );
        // An end that is not 1 does not read as if it were.
        assert_eq!(
            told(ratio(0.9996, 1.04, 1.068)),
            both("1.04 ×", "0.9996 to 1.068")
        );
        let alone = Ratio {
            ci95: None,
            ..ratio(1.0, 2.0, 3.0)
        };
        assert_eq!(alone.interval_text(), None);
    }

    #[test]
    fn an_interval_beyond_ten_times_either_way_is_not_known() {
        let told = |low, high| ratio(low, 9.0, high).interval_text().unwrap();
        assert_eq!(told(0.000_4, 25_376.448), humanize::NOT_KNOWN);
        assert_eq!(told(0.8, 10.0), humanize::NOT_KNOWN);
        assert_eq!(told(8.0, 91.0), humanize::NOT_KNOWN);
        assert_eq!(told(1.0, 81.0), "1.000 to 81.00");
    }
}
