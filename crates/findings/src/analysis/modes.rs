//! Modes of the samples of a case, and of two cases: whether a mode moved, or only how often it was met.

use super::case_pair::CasePair;
use powerband_core::base::humanize;
use powerband_core::domain::case::Case;
use powerband_core::stats::modes::{self, Mode};
use powerband_core::stats::ratio::RoundSamples;
use powerband_core::stats::student;
use powerband_core::stats::summary::median;

use super::verdict::{LEAST_FLOOR, ONE_START_FLOOR};

/// A difference of shares below this is none.
const LEAST_SHARE: f64 = 0.05;
/// A round has so many samples of a mode at least, or it says nothing of where the mode is.
const FEWEST_IN_ROUND: usize = 3;

/// The modes of a case in a line; nothing where its samples are one pile.
pub fn modes_text(case: &Case) -> Option<String> {
    let samples: Vec<f64> = case.samples_ns().map(|ns| ns as f64).collect();
    let found = modes::modes(&samples);
    (found.len() > 1).then(|| format!("Modes: {}", list(&found)))
}

/// `8.00 ms, 62.0 % of the samples; 12.0 ms, 38.0 %`.
fn list(modes: &[Mode]) -> String {
    let text = |(place, mode): (usize, &Mode)| {
        let share = humanize::percent(mode.share);
        let of_what = if place == 0 { " of the samples" } else { "" };
        format!("{}, {share}{of_what}", humanize::duration_ns(mode.centre))
    };
    let texts: Vec<String> = modes.iter().enumerate().map(text).collect();
    texts.join("; ")
}

/// The modes of both sides of a pair in a sentence; nothing where each is one pile.
pub(super) fn pair_text(
    pair: &CasePair,
    before: &[RoundSamples],
    after: &[RoundSamples],
) -> Option<String> {
    let [mine, theirs] = [before, after].map(modes_of_rounds);
    let is_known = !mine.is_empty() && !theirs.is_empty();
    let has_several = mine.len().max(theirs.len()) > 1;
    if !is_known || !has_several || pair.is_per_item() || pair.ratio.is_none() {
        return None;
    }
    let at = humanize::capitalised(&pair.before_point.to_string());
    // What was not interleaved differs by more than its rounds show.
    if !pair.is_interleaved || !are_the_same(&mine, &theirs) {
        let side = |modes: &[Mode]| match modes {
            [one] => ("one mode".to_owned(), humanize::duration_ns(one.centre)),
            several => (format!("{} modes", several.len()), list(several)),
        };
        let ((mine, times), (theirs, times_after)) = (side(&mine), side(&theirs));
        return Some(format!(
            "{at} has {mine} before ({times}) and {theirs} after ({times_after})."
        ));
    }
    let both = mine.iter().zip(&theirs);
    // One start says as little of where a mode is as of the whole.
    let starts = pair.estimate.map_or(1, |estimate| estimate.starts);
    let floor = if starts < 2 {
        ONE_START_FLOOR
    } else {
        LEAST_FLOOR
    };
    let each =
        both.map(|(first, second)| change_text((first, before), (second, after), floor.ln_1p()));
    let each: Vec<String> = each.collect();
    Some(format!(
        "{at} has {} modes on both sides: {}.",
        mine.len(),
        each.join("; ")
    ))
}

/// Whether each mode of a side is the nearest of the other side's to the one that is nearest to it.
fn are_the_same(mine: &[Mode], theirs: &[Mode]) -> bool {
    let nearest = |mode: &Mode, others: &[Mode]| {
        let apart = |other: &Mode| (other.centre / mode.centre).ln().abs();
        let others = others.iter().map(apart).enumerate();
        others
            .min_by(|(_, a), (_, b)| a.total_cmp(b))
            .map(|(place, _)| place)
    };
    let mut places = 0..mine.len();
    let is_pair = |place| {
        nearest(&mine[place], theirs) == Some(place) && nearest(&theirs[place], mine) == Some(place)
    };
    mine.len() == theirs.len() && places.all(is_pair)
}

fn modes_of_rounds(rounds: &[RoundSamples]) -> Vec<Mode> {
    let samples = rounds.iter().flat_map(|round| &round.samples);
    modes::modes(&samples.copied().collect::<Vec<f64>>())
}

/// Whether a mode moved, and whether its share changed.
fn change_text(
    (first, before): (&Mode, &[RoundSamples]),
    (second, after): (&Mode, &[RoundSamples]),
    floor: f64,
) -> String {
    let own = |mode: &Mode, round: &RoundSamples| -> Vec<f64> {
        let own = round.samples.iter().filter(|value| mode.holds(**value));
        own.copied().collect()
    };
    let centres = |mode: &Mode, rounds: &[RoundSamples]| -> Vec<f64> {
        let own = rounds.iter().map(|round| own(mode, round));
        let own = own.filter(|own| own.len() >= FEWEST_IN_ROUND);
        own.filter_map(|own| median(&own)).map(f64::ln).collect()
    };
    let shares = |mode: &Mode, rounds: &[RoundSamples]| -> Vec<f64> {
        let of_round =
            |round: &RoundSamples| own(mode, round).len() as f64 / round.samples.len() as f64;
        rounds
            .iter()
            .filter(|round| !round.samples.is_empty())
            .map(of_round)
            .collect()
    };
    let moved = change(&centres(first, before), &centres(second, after), floor);
    let shared = change(&shares(first, before), &shares(second, after), LEAST_SHARE);
    let [from, to] = [first, second].map(|mode| humanize::duration_ns(mode.centre));
    let place = match moved {
        Change::Beyond => format!("{from} moved to {to}"),
        Change::Within => format!("{from} stayed"),
        Change::Open => format!("whether {from} moved ({to} after) is not settled"),
    };
    let [less, more] = [first, second].map(|mode| humanize::percent(mode.share));
    let share = match shared {
        Change::Beyond => format!("its share changed from {less} to {more}"),
        Change::Within => format!("its share stayed near {more}"),
        Change::Open => {
            format!("its share is {less} before and {more} after, which is not settled")
        }
    };
    format!("{place}, {share}")
}

/// What the 99 % interval of a difference of means says of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    /// It lies beyond the floor.
    Beyond,
    /// It lies within the floor.
    Within,
    Open,
}

fn change(before: &[f64], after: &[f64], floor: f64) -> Change {
    let Some((difference, half)) = student::difference(before, after, 0.01) else {
        return Change::Open;
    };
    let size = difference.abs();
    if size - half > floor {
        Change::Beyond
    } else if size + half <= floor {
        Change::Within
    } else {
        Change::Open
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::case_rows;
    use crate::analysis::comparison::{ComparedSide, compare_setups};
    use crate::analysis::testing::{measure, session, spread_over_starts};
    use powerband_core::domain::session::Session;

    /// Two setups whose samples lie around 8 and 12 ms, or elsewhere; `slow` of ten of the second setup are slow ones.
    fn two_setups(slow: usize, slow_us: u64) -> Session {
        let mut session = session(&["ort:cpu", "tract:cpu"], &[4]);
        for (setup, slow, slow_us) in [(0, 4, 12_000), (1, slow, slow_us)] {
            let sample = |round: u64, number: u64| {
                let is_slow = number % 10 < slow as u64;
                let micros = if is_slow { slow_us } else { 8_000 };
                micros * 1_000 + round * 3_000 + number * 200
            };
            let round = |round: u64| -> Vec<u64> { (0..40).map(|n| sample(round, n)).collect() };
            let rounds: Vec<Vec<u64>> = (0..5).map(round).collect();
            let rounds: Vec<&[u64]> = rounds.iter().map(Vec::as_slice).collect();
            measure(&mut session, setup, 4, &rounds);
        }
        spread_over_starts(&mut session);
        session
    }

    fn remark(session: &Session) -> String {
        let rows = case_rows::case_rows(session);
        let side = |setup| ComparedSide {
            session,
            rows: &rows,
            setup,
            point: None,
        };
        let comparison = compare_setups(&side(0), &side(1));
        let mut remarks = comparison.remarks.into_iter();
        remarks
            .find(|remark| remark.contains("mode"))
            .unwrap_or_default()
    }

    #[test]
    fn a_mode_that_moved_is_told_from_one_that_is_met_more_often() {
        let expected = "Batch 4 has 2 modes on both sides: 8.01 ms stayed, its share changed from 60.0 % to 20.0 %; 12.0 ms stayed, its share changed from 40.0 % to 80.0 %.";
        assert_eq!(remark(&two_setups(8, 12_000)), expected);
        let moved = remark(&two_setups(4, 14_000));
        assert!(
            moved
                .contains("8.01 ms stayed, its share stayed near 60.0 %; 12.0 ms moved to 14.0 ms"),
            "{moved}"
        );
        // Where one is gone and another is new, none moved.
        let mut shifted = two_setups(6, 18_000);
        for round in &mut shifted.cases[1].rounds {
            for sample in round.samples_ns.iter_mut().filter(|ns| **ns < 10_000_000) {
                *sample += 4_000_000;
            }
        }
        let shifted = remark(&shifted);
        assert!(
            shifted.contains(
                "has 2 modes before (8.01 ms, 60.0 % of the samples; 12.0 ms, 40.0 %) and 2 modes after (12.0 ms"
            ),
            "{shifted}"
        );
        let gone = remark(&two_setups(0, 12_000));
        let words = "has 2 modes before (8.01 ms, 60.0 % of the samples; 12.0 ms, 40.0 %) and one mode after (8.01 ms)";
        assert!(gone.contains(words), "{gone}");
    }

    #[test]
    fn a_case_names_its_modes_and_one_pile_has_none_to_name() {
        let session = two_setups(0, 12_000);
        let text = modes_text(&session.cases[0]);
        assert_eq!(
            text.as_deref(),
            Some("Modes: 8.01 ms, 60.0 % of the samples; 12.0 ms, 40.0 %")
        );
        assert_eq!(modes_text(&session.cases[1]), None);
    }
}
