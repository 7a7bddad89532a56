//! How the interval of a ratio closed in, round by round. A verdict is there after the planned rounds and after those that
//! were added; earlier ones are looks that the rule does not allow for.

use super::case_pair::{self, CasePair, Ratio};
use super::case_rows::CaseRow;
use super::side;
use super::verdict::{self, Call, Verdict};
use powerband_core::domain::case::CaseKey;
use powerband_core::domain::session::Session;
use powerband_core::stats::ratio::{self, RoundSamples};
use powerband_core::stats::sequential::Look;

/// Of more rounds so many are looked at, evenly apart, the last one among them.
const MOST_LOOKS: usize = 48;

/// The ratio of two cases after some of their rounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RoundRatio {
    /// The last of the rounds.
    pub round: u32,
    pub ratio: Ratio,
    pub call: Call,
}

/// The ratios of pairs of a session, one list each; none for those that did not take turns or are not compared.
pub fn ratios_of_pairs(
    session: &Session,
    pairs: &[CasePair],
    goes_on: bool,
) -> Vec<Vec<RoundRatio>> {
    let key = |row: &CaseRow| CaseKey {
        setup: row.setup,
        point: row.point,
    };
    let ratios = pairs.iter().map(|pair| {
        if !pair.is_interleaved || pair.ratio.is_none() {
            return Vec::new();
        }
        ratios_by_round(session, [key(&pair.before), key(&pair.after)], goes_on)
    });
    ratios.collect()
}

/// Takes back the verdicts of pairs of a run that goes on and has not measured its planned rounds yet: they are looks that
/// the rule does not allow for.
pub fn withhold_early_verdicts(session: &Session, pairs: &mut [CasePair]) {
    let planned = session.plan.measure.rounds;
    for pair in pairs {
        let rounds = pair.estimate.as_ref().map_or(0, |estimate| estimate.rounds);
        let is_early = pair.verdict.call != Call::Inconclusive && rounds < planned;
        if is_early && pair.is_interleaved {
            pair.verdict =
                Verdict::withheld(format!("{rounds} of {planned} planned rounds so far"));
        }
    }
}

/// The ratio after each round from the second on, of two cases of a session that took turns; of many rounds after some of
/// them. While a run goes on there is no verdict before its planned rounds.
fn ratios_by_round(
    session: &Session,
    [before, after]: [CaseKey; 2],
    goes_on: bool,
) -> Vec<RoundRatio> {
    let visits = |key: CaseKey| -> Vec<RoundSamples> {
        let case = session.case(key);
        case.map_or_else(Vec::new, |case| side::case_visits(session, case))
    };
    let (mine, theirs) = (visits(before), visits(after));
    let mut rounds: Vec<u32> = mine.iter().map(|visit| visit.round).collect();
    rounds.retain(|round| theirs.iter().any(|visit| visit.round == *round));
    let last = rounds.last().copied();
    let step = rounds.len().div_ceil(MOST_LOOKS).max(1);
    let mut rounds: Vec<u32> = rounds.into_iter().rev().step_by(step).collect();
    rounds.reverse();
    // A run that is over has its look after its last round, however many were planned.
    let over_after = last.filter(|_| !goes_on);
    let items = (after.point.batch() as f64 / before.point.batch() as f64).ln();
    let until =
        |visits: &'_ [RoundSamples], last: u32| visits.partition_point(|visit| visit.round <= last);
    let after_round = |last: u32| {
        let (own, other) = (until(&mine, last), until(&theirs, last));
        let look = case_pair::look_after_round(session, last);
        let is_look = look == Look::Later
            || last + 1 >= session.plan.measure.rounds
            || over_after == Some(last);
        let mut estimate = ratio::paired_at_look(&mine[..own], &theirs[..other], look)?;
        estimate.ln += items;
        Some(RoundRatio {
            round: last,
            ratio: Ratio::from(&estimate),
            call: if is_look {
                verdict::call(&estimate)
            } else {
                Call::Inconclusive
            },
        })
    };
    rounds.into_iter().filter_map(after_round).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::case_rows;
    use crate::analysis::comparison::{ComparedSide, compare_setups};
    use crate::analysis::testing::{measure, session, spread_over_starts};
    use powerband_core::domain::point::Point;

    #[test]
    fn the_last_one_is_what_the_comparison_says() {
        let mut session = session(&["ort:cpu", "tract:cpu"], &[4]);
        for (setup, micros) in [(0, 1_000), (1, 800)] {
            let round = |number: u64| vec![micros * 1_000 + number * number * 900; 9];
            let rounds: Vec<Vec<u64>> = (0..5).map(round).collect();
            let rounds: Vec<&[u64]> = rounds.iter().map(Vec::as_slice).collect();
            measure(&mut session, setup, 4, &rounds);
        }
        spread_over_starts(&mut session);
        session.plan.measure.rounds = 5;
        let key = |setup| CaseKey {
            setup,
            point: Point::of_batch(4),
        };
        let found = ratios_by_round(&session, [key(0), key(1)], true);
        let rounds: Vec<u32> = found.iter().map(|one| one.round).collect();
        assert_eq!(rounds, [1, 2, 3, 4], "an interval needs two rounds");
        let rows = case_rows::case_rows(&session);
        let side = |setup| ComparedSide {
            session: &session,
            rows: &rows,
            setup,
            point: None,
        };
        let comparison = compare_setups(&side(0), &side(1));
        let pair = &comparison.pairs[0];
        assert_eq!(Some(found[3].ratio), pair.ratio);
        assert_eq!(found[3].call, pair.verdict.call);
        assert_eq!(found[2].call, Call::Inconclusive, "not yet a look");
        // Of a run that ended before its planned rounds the last one is a look, and none while it goes on.
        session.plan.measure.rounds = 9;
        let last = |goes_on| ratios_by_round(&session, [key(0), key(1)], goes_on)[3].call;
        assert_eq!(last(false), Call::Faster);
        assert_eq!(last(true), Call::Inconclusive);
        let mut early = comparison.pairs.clone();
        withhold_early_verdicts(&session, &mut early);
        assert_eq!(early[0].verdict.call, Call::Inconclusive);
        let reason = early[0].verdict.reason.as_deref();
        assert_eq!(reason, Some("5 of 9 planned rounds so far"));
        session.plan.measure.rounds = 5;
        let mut whole = comparison.pairs.clone();
        withhold_early_verdicts(&session, &mut whole);
        assert_eq!(whole, comparison.pairs);
        let width = |one: &RoundRatio| one.ratio.ci95.map(|ci95| ci95.high / ci95.low);
        assert!(width(&found[0]) > width(&found[3]));
    }
}
