//! How many times as fast one case is as another, and how sure that is.
//!
//! Each round's median stands for the round, because iterations inside a round are not independent.
//! Rounds in which both cases had their turn are paired: what slowed the machine down for the whole
//! round drops out. Rounds of one start of a worker are not independent either, because a process is a draw
//! too: its memory lies where it lies. The unit is therefore the start: the mean of the logarithms of its rounds'
//! ratios. The estimate is the mean of the starts, its 95 % interval that of a mean of paired values, as far as the look at
//! it lets it reach (`sequential`), on logarithms so that a ratio and its inverse are treated alike. Where there was one start only, the interval is
//! that of its rounds, and does not show how the next start would differ.
//!
//! Cases measured at different times have no pairs. Their interval is a 99 % one, of Welch's (1947) variance or of
//! that of sessions (`session_spread`), whichever is more. Assumes starts that could be exchanged.

use std::collections::BTreeMap;

use super::bootstrap::Interval;
use super::sequential::Look;
use super::session_spread::SessionSpread;
use super::student;
use super::summary::{mean, median, standard_deviation};

/// Half a visit has at least so many samples, or the visit says nothing of how it compares with itself.
const FEWEST_IN_HALF: usize = 2;
/// With fewer starts nothing can be said of how one resembles the next.
const FEWEST_FOR_LAG: usize = 20;
/// So many standard deviations a normal value exceeds in one of a hundred cases.
const ONE_SIDED_99: f64 = 2.326;

/// Samples of one round of a case.
#[derive(Clone, Debug, PartialEq)]
pub struct RoundSamples {
    /// Number of the round.
    pub round: u32,
    /// Number of the start of its worker.
    pub start: u32,
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
    /// Starts of workers that it rests on: those of pairs that share none, or those of the side that has fewer. With
    /// one, the error is that of the rounds.
    pub starts: u32,
    /// How much sessions differ, where the rounds are no pairs.
    pub apart: Option<SessionSpread>,
    /// How far off a comparison of so many rounds of one case with itself may be, as a logarithm.
    pub spread: f64,
    /// Which look it is, where the rounds are pairs.
    pub look: Look,
    /// By how much the ratio of the first halves of the visits differs from that of the second halves, as a logarithm: what
    /// ran before carries over, or one side warms up. Zero where no difference is shown.
    pub carry_over: f64,
    /// How much a start's ratio resembles that of the start before, as a correlation: the error is too small by that. Zero
    /// where none is shown, and where starts are too few for it.
    pub lag: f64,
}

impl Estimate {
    /// Time before over time after; above 1 means that after is faster.
    pub fn ratio(&self) -> f64 {
        self.ln.exp()
    }

    /// Half the width of the interval of the logarithm: of the 95 % interval of pairs, of the 99 % interval of what is
    /// no pair.
    pub fn half_width(&self) -> f64 {
        match self.apart {
            None => self.look.reach(self.freedom) * self.error,
            Some(sessions) => {
                (student::t995(self.freedom) * self.error).max(sessions.least_half_width())
            }
        }
    }

    /// The interval of the ratio.
    pub fn interval(&self) -> Interval {
        let half = self.half_width();
        Interval {
            low: (self.ln - half).exp(),
            high: (self.ln + half).exp(),
        }
    }

    /// The same after so many rounds in all, if rounds go on to scatter as they did. Each round that is added is a
    /// start of its own, and they are looked at after the planned look.
    pub fn after(&self, rounds: u32) -> Self {
        let narrower = (f64::from(self.rounds) / f64::from(rounds)).sqrt();
        let starts = self.starts + rounds.saturating_sub(self.rounds);
        Self {
            error: self.error * narrower,
            freedom: Look::Later.freedom(starts.max(2)),
            rounds,
            starts,
            spread: self.spread * narrower,
            look: Look::Later,
            ..*self
        }
    }
}

/// Compares two cases whose rounds of the same number belong together. Rounds that only one has are left
/// out. Nothing for fewer than two pairs, or where a time is not above zero.
pub fn paired(before: &[RoundSamples], after: &[RoundSamples]) -> Option<Estimate> {
    paired_at_look(before, after, Look::Planned)
}

/// The same at a look that is not the planned one, as far as values that are far off are left out then.
pub fn paired_at_look(
    before: &[RoundSamples],
    after: &[RoundSamples],
    look: Look,
) -> Option<Estimate> {
    let mut ratios = Vec::new();
    let mut units: Vec<Vec<f64>> = Vec::new();
    let mut visits = Vec::new();
    let mut carried: Vec<f64> = Vec::new();
    let mut last: Option<(u32, u32)> = None;
    for first in before {
        let Some(second) = after.iter().find(|second| second.round == first.round) else {
            continue;
        };
        let ratio = ln_median(first)? - ln_median(second)?;
        ratios.push(ratio);
        // What shares a start with the pair before, on either side, is not independent of it.
        let is_another = last.is_none_or(|(a, b)| a != first.start && b != second.start);
        last = Some((first.start, second.start));
        match units.last_mut().filter(|_| !is_another) {
            Some(unit) => unit.push(ratio),
            None => units.push(vec![ratio]),
        }
        let halves = ln_of_halves(first).zip(ln_of_halves(second));
        carried.extend(halves.map(|(own, other)| own - other));
        visits.extend([first, second]);
    }
    let n_starts = units.len() as u32;
    let rounds = ratios.len();
    let values = start_means(&units, ratios);
    let centre = look.centre(&values)?;
    Some(Estimate {
        ln: centre.mean,
        error: centre.error,
        freedom: centre.freedom,
        rounds: rounds as u32,
        starts: n_starts,
        apart: None,
        spread: spread(&visits, rounds as f64),
        look,
        carry_over: carry_over(&carried).unwrap_or(0.0),
        lag: lag(&values).filter(|_| n_starts > 1).unwrap_or(0.0),
    })
}

/// The mean of each start; the rounds themselves where there is one start only.
fn start_means(starts: &[Vec<f64>], rounds: Vec<f64>) -> Vec<f64> {
    if starts.len() > 1 {
        starts.iter().filter_map(|start| mean(start)).collect()
    } else {
        rounds
    }
}

/// Compares two cases that were not interleaved. Nothing where a side has fewer than two rounds, or where a time is not
/// above zero.
pub fn unpaired(
    before: &[RoundSamples],
    after: &[RoundSamples],
    sessions: SessionSpread,
) -> Option<Estimate> {
    let first = SideMoments::from_rounds(before)?;
    let second = SideMoments::from_rounds(after)?;
    let (a, b) = (first.variance / first.n, second.variance / second.n);
    let welch = student::welch_freedom((a, first.n), (b, second.n));
    let visits: Vec<&RoundSamples> = before.iter().chain(after).collect();
    let rounds = before.len().min(after.len());
    // Each side is a draw of a session.
    let of_sessions = (2.0 * sessions.deviation().powi(2), sessions.freedom());
    let (variance, sessions) = larger_variance((a + b, welch), of_sessions, sessions);
    Some(unpaired_estimate(
        first.mean - second.mean,
        variance,
        (rounds as u32, first.n_starts.min(second.n_starts)),
        sessions,
        spread(&visits, rounds as f64),
    ))
}

/// Compares the mean of earlier sessions, as logarithms, with one more session. Nothing where there is no earlier
/// session, where this one has fewer than two rounds, or where a time is not above zero.
pub fn against_sessions(
    earlier: &[f64],
    after: &[RoundSamples],
    sessions: SessionSpread,
) -> Option<Estimate> {
    let side = SideMoments::from_rounds(after)?;
    let of_sessions = (
        sessions.deviation().powi(2) * (1.0 + 1.0 / earlier.len() as f64),
        sessions.freedom(),
    );
    let own = (side.variance / side.n, side.n - 1.0);
    let (variance, sessions) = larger_variance(own, of_sessions, sessions);
    let visits: Vec<&RoundSamples> = after.iter().collect();
    Some(unpaired_estimate(
        mean(earlier)? - side.mean,
        variance,
        (after.len() as u32, side.n_starts),
        sessions,
        spread(&visits, after.len() as f64),
    ))
}

/// The mean of a case's starts, or of its rounds where there is one start only, as a logarithm; nothing where a time is
/// not above zero, or there is none.
pub fn ln_mean(visits: &[RoundSamples]) -> Option<f64> {
    mean(&values_by_start(visits)?.0)
}

/// The larger one of two variances with their degrees of freedom, and what the estimate rests on then.
fn larger_variance(
    of_rounds: (f64, f64),
    of_sessions: (f64, f64),
    sessions: SessionSpread,
) -> ((f64, f64), SessionSpread) {
    match sessions {
        _ if of_rounds.0 <= of_sessions.0 => (of_sessions, sessions),
        SessionSpread::Narrow => (of_rounds, sessions),
        _ => (of_rounds, SessionSpread::Exceeded),
    }
}

fn unpaired_estimate(
    ln: f64,
    (variance, freedom): (f64, f64),
    (rounds, starts): (u32, u32),
    sessions: SessionSpread,
    spread: f64,
) -> Estimate {
    Estimate {
        ln,
        error: variance.sqrt(),
        freedom,
        rounds,
        starts,
        apart: Some(sessions),
        spread,
        look: Look::Planned,
        carry_over: 0.0,
        lag: 0.0,
    }
}

struct SideMoments {
    n: f64,
    n_starts: u32,
    mean: f64,
    variance: f64,
}

impl SideMoments {
    fn from_rounds(visits: &[RoundSamples]) -> Option<Self> {
        let (values, n_starts) = values_by_start(visits)?;
        let mean = mean(&values)?;
        Some(Self {
            n: values.len() as f64,
            n_starts,
            mean,
            variance: standard_deviation(&values, mean)?.powi(2),
        })
    }
}

/// The logarithms of the medians, as `start_means` has them, and how many starts there are.
fn values_by_start(visits: &[RoundSamples]) -> Option<(Vec<f64>, u32)> {
    let mut starts: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    let mut rounds = Vec::with_capacity(visits.len());
    for visit in visits {
        let median = ln_median(visit)?;
        starts.entry(visit.start).or_default().push(median);
        rounds.push(median);
    }
    let n_starts = starts.len() as u32;
    Some((
        start_means(&starts.into_values().collect::<Vec<_>>(), rounds),
        n_starts,
    ))
}

fn ln_median(visit: &RoundSamples) -> Option<f64> {
    let is_time = |value: &f64| value.is_finite() && *value > 0.0;
    if !visit.samples.iter().all(is_time) {
        return None;
    }
    median(&visit.samples).map(f64::ln)
}

/// The spread of a case against itself: the first half of each visit against its second, as far as two
/// standard errors of a comparison of so many rounds go. Zero where visits are too short for that.
fn spread(visits: &[&RoundSamples], rounds: f64) -> f64 {
    let squares: Vec<f64> = visits
        .iter()
        .filter_map(|visit| Some(ln_of_halves(visit)?.powi(2)))
        .collect();
    let square = mean(&squares).unwrap_or(0.0);
    2.0 * (square / rounds).sqrt()
}

/// The median of the first half of a visit over that of the second, as a logarithm; nothing where it is too short.
fn ln_of_halves(visit: &RoundSamples) -> Option<f64> {
    let (first, second) = visit.samples.split_at(visit.samples.len() / 2);
    if first.len() < FEWEST_IN_HALF {
        return None;
    }
    Some((median(first)? / median(second)?).ln())
}

/// The mean of what pairs of visits carry over, where its 99 % interval leaves zero out.
fn carry_over(carried: &[f64]) -> Option<f64> {
    let mean = mean(carried)?;
    let n = carried.len() as f64;
    let error = standard_deviation(carried, mean)? / n.sqrt();
    (mean.abs() > student::t995(n - 1.0) * error).then_some(mean)
}

/// The correlation of each value with the one before, where independent values show as much in one of a hundred cases
/// (Anderson 1942: normal around −1/n, with a variance of 1/n).
fn lag(values: &[f64]) -> Option<f64> {
    let n = values.len() as f64;
    if values.len() < FEWEST_FOR_LAG {
        return None;
    }
    let mean = mean(values)?;
    let from_mean: Vec<f64> = values.iter().map(|value| value - mean).collect();
    let squares: f64 = from_mean.iter().map(|value| value * value).sum();
    let products: f64 = from_mean.windows(2).map(|two| two[0] * two[1]).sum();
    let correlation = products / squares;
    (correlation > ONE_SIDED_99 / n.sqrt() - 1.0 / n).then_some(correlation)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_distr::{Distribution as _, StandardNormal};
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::SeedableRng as _;

    /// Rounds of one start each.
    fn visits(medians: &[f64]) -> Vec<RoundSamples> {
        (0..)
            .zip(medians)
            .map(|(round, &median)| RoundSamples {
                round,
                start: round,
                samples: vec![median; 9],
            })
            .collect()
    }

    /// The same rounds, so many of each start.
    fn by_start(mut visits: Vec<RoundSamples>, rounds: u32) -> Vec<RoundSamples> {
        for visit in &mut visits {
            visit.start = visit.round / rounds;
        }
        visits
    }

    #[test]
    fn what_carries_over_into_one_side_is_known() {
        let with_slow_beginning = |medians: &[f64], times: f64| {
            let mut visits = visits(medians);
            for visit in &mut visits {
                visit.samples[..4]
                    .iter_mut()
                    .for_each(|sample| *sample *= times);
            }
            visits
        };
        let carried = |one: f64, other: f64| {
            let sides = (
                with_slow_beginning(&BEFORE, one),
                with_slow_beginning(&AFTER, other),
            );
            paired(&sides.0, &sides.1).unwrap().carry_over
        };
        assert!((carried(1.0, 1.2) + 1.2_f64.ln()).abs() < 1e-9);
        assert!((carried(1.2, 1.0) - 1.2_f64.ln()).abs() < 1e-9);
        // What both sides have says nothing of their ratio.
        assert!(carried(1.2, 1.2).abs() < 1e-9);
        assert!(carried(1.0, 1.0).abs() < 1e-9);
        assert_eq!(carry_over(&[0.05, -0.04, 0.02, -0.03, 0.01]), None);
    }

    const BEFORE: [f64; 5] = [10.0, 10.4, 9.9, 10.1, 12.0];
    const AFTER: [f64; 5] = [9.0, 9.5, 9.1, 9.0, 10.6];

    #[test]
    fn intervals_equal_scipys() {
        let (before, after) = (visits(&BEFORE), visits(&AFTER));
        // scipy.stats.ttest_rel(log(before), log(after)).confidence_interval(0.97)
        let pairs = paired(&before, &after).unwrap();
        assert!((pairs.ln - 0.10389967239947424).abs() < 1e-9, "{pairs:?}");
        let half = pairs.half_width();
        assert!((half - 0.024493317).abs() < 1e-9, "{half}");
        assert_eq!((pairs.rounds, pairs.starts, pairs.spread), (5, 5, 0.0));
        // scipy.stats.ttest_ind(log(before), log(after), equal_var=False).confidence_interval(0.99), which is wider than
        // what sessions that hardly differ allow for.
        let calm = SessionSpread::Known {
            deviation: 0.001,
            sessions: 9,
        };
        let lone = unpaired(&before, &after, calm).unwrap();
        assert!((lone.ln - pairs.ln).abs() < 1e-12);
        assert_eq!(lone.apart, Some(SessionSpread::Exceeded));
        let freedom = lone.freedom;
        assert!((freedom - 7.865751120070182).abs() < 1e-9, "{freedom}");
        let half = lone.half_width();
        assert!((half - 0.15910979698137295).abs() < 1e-9, "{half}");
    }

    #[test]
    fn the_unit_is_the_start() {
        // Within a start nothing varies, from start to start a lot.
        let before = by_start(visits(&[10.0, 10.0, 10.5, 10.5, 9.8, 9.8]), 2);
        let after = by_start(visits(&[10.0; 6]), 2);
        let pairs = paired(&before, &after).unwrap();
        assert_eq!((pairs.rounds, pairs.starts, pairs.freedom), (6, 3, 2.0));
        let each = paired(&visits(&[10.0, 10.5, 9.8]), &visits(&[10.0; 3])).unwrap();
        assert!((pairs.ln - each.ln).abs() < 1e-12);
        assert!((pairs.half_width() - each.half_width()).abs() < 1e-12);
        // Rounds taken for independent would say more than they know.
        let rounds = paired(&by_start(before.clone(), 1), &by_start(after.clone(), 1)).unwrap();
        assert!(rounds.half_width() < 0.6 * pairs.half_width());
        // A start that one side shares through all rounds leaves one unit.
        let shared = paired(&before, &by_start(after.clone(), 6)).unwrap();
        assert_eq!((shared.starts, shared.freedom), (1, 5.0));
        let calm = SessionSpread::Known {
            deviation: 0.0,
            sessions: 5,
        };
        let lone = unpaired(&before, &after, calm).unwrap();
        assert_eq!((lone.rounds, lone.starts), (6, 3));
        assert!((lone.freedom - 2.0).abs() < 1e-9, "{}", lone.freedom);
    }

    #[test]
    fn what_slows_a_whole_round_drops_out_of_pairs() {
        let before = visits(&[10.0, 20.0, 15.0, 11.0, 40.0]);
        let after = visits(&[5.0, 10.0, 7.5, 5.5, 20.0]);
        let pairs = paired(&before, &after).unwrap();
        assert!((pairs.ratio() - 2.0).abs() < 1e-9 && pairs.error < 1e-9);
        let lone = unpaired(&before, &after, SessionSpread::Assumed).unwrap();
        assert!(lone.half_width() > 0.5);
    }

    #[test]
    fn sessions_that_differ_widen_what_is_not_interleaved() {
        let (before, after) = (visits(&[10.0; 5]), visits(&[9.0; 5]));
        let half = |sessions| unpaired(&before, &after, sessions).unwrap().half_width();
        let known = SessionSpread::of_means(&[0.0, 0.12, -0.12, 0.12, -0.12, 0.0]).unwrap();
        let deviation = known.deviation();
        // scipy.stats.t.ppf(0.995, 5)
        let expected = 4.032_142_983_555_227 * deviation * 2.0_f64.sqrt();
        assert!((half(known) - expected).abs() < 1e-9, "{}", half(known));
        let assumed = 2.575_834 * 0.05 * 2.0_f64.sqrt();
        assert!((half(SessionSpread::Assumed) - assumed).abs() < 1e-4);
        assert!((half(SessionSpread::Narrow) - 1.7_f64.ln()).abs() < 1e-12);
        assert_eq!(SessionSpread::of_means(&[0.0; 4]), None, "too few");
        // Against the mean of six, one more session is off by its own draw and by a sixth of theirs.
        let earlier = [10.0_f64.ln(); 6];
        let new = against_sessions(&earlier, &after, known).unwrap();
        assert!((new.ln - (10.0_f64 / 9.0).ln()).abs() < 1e-12);
        let share = new.half_width() / half(known);
        assert!((share - (7.0_f64 / 12.0).sqrt()).abs() < 1e-9, "{share}");
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
        let assumed = SessionSpread::Assumed;
        for wrong in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let wrong = visits(&[5.0, wrong]);
            assert_eq!(paired(&fine, &wrong), None);
            assert_eq!(unpaired(&wrong, &fine, assumed), None);
            assert_eq!(against_sessions(&[1.0], &wrong, assumed), None);
        }
        assert_eq!(paired(&[], &fine), None);
        assert_eq!(unpaired(&fine, &[], assumed), None);
        assert_eq!(against_sessions(&[], &fine, assumed), None);
    }

    #[test]
    fn more_rounds_make_the_interval_as_narrow_as_promised() {
        let (before, after) = (visits(&BEFORE), visits(&AFTER));
        let now = paired(&before, &after).unwrap();
        let then = now.after(80);
        // Of eighty, twelve at either end are left out.
        assert_eq!((then.rounds, then.starts, then.freedom), (80, 80, 55.0));
        assert!((then.error / now.error - 0.25).abs() < 1e-12);
        // They are looked at again, which makes it wider than Student's of as many.
        assert!(then.half_width() < now.half_width() / 3.0);
        let once = Estimate {
            look: Look::Planned,
            ..then
        };
        assert!(once.half_width() < now.half_width() / 4.0);
        assert!(then.half_width() > once.half_width());
    }

    #[test]
    fn a_case_is_compared_with_itself_by_halves() {
        let restless = |round| RoundSamples {
            round,
            start: round,
            samples: [[10.0; 5], [11.0; 5]].concat(),
        };
        let side: Vec<RoundSamples> = (0..4).map(restless).collect();
        let spread = paired(&side, &side).unwrap().spread;
        // Every half is 10 % off the other; two standard errors of four rounds.
        assert!((spread - 1.1_f64.ln()).abs() < 1e-9, "{spread}");
    }

    #[test]
    fn starts_that_resemble_the_one_before_are_noticed() {
        let own = |medians: &[f64]| {
            let others = vec![1.0; medians.len()];
            paired(&visits(medians), &visits(&others)).unwrap().lag
        };
        // Slow and fast for five starts each.
        let waves: Vec<f64> = (0..30)
            .map(|n| if n / 5 % 2 == 0 { 1.1 } else { 1.0 })
            .collect();
        assert!(own(&waves) > 0.5, "{}", own(&waves));
        assert_eq!(own(&waves[..15]), 0.0, "too few to tell");
        // By turns: each is the opposite of the one before, which makes no interval too narrow.
        let turns: Vec<f64> = (0..30).map(|n| 1.0 + f64::from(n % 2) / 10.0).collect();
        assert_eq!(own(&turns), 0.0);
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
        let mut noise = || {
            let normal: f64 = StandardNormal.sample(&mut rng);
            (0.05 * normal).exp()
        };
        let shown = (0..2_000).filter(|_| {
            let medians: Vec<f64> = (0..30).map(|_| noise()).collect();
            own(&medians) > 0.0
        });
        let shown = shown.count();
        assert!(shown < 40, "{shown} of 2000 that are independent");
    }
}
