//! Who is measured when: the order of the cases in each round, and each round's share of the rule.
//!
//! Pure; `run` does what is decided here.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

use powerband_core::domain::case::{Case, CaseKey, WarmUp};
use powerband_core::domain::plan::{Load, MOST_ROUNDS_FACTOR, MeasureRule, Plan, WAKE_UP_MS};
use powerband_core::domain::point::Point;
use powerband_core::schedule::alternation::SWITCH_MS;
use powerband_core::stats::bootstrap;
use powerband_worker::protocol::RoundRule;

/// Runs before the first sample of a visit, however long they take: one fills the caches again.
const WAKE_UP_RUNS: u64 = 1;
/// Of a longer run the time that a switch disturbs is a small part, in nanoseconds.
const LONG_RUN_NS: u64 = 3_000_000_000;

/// The cases in this round's order: shuffled anew each round, the same for the same seed, so that
/// heat and neighbours hit all cases alike.
///
/// Cases of one point stay together, because they are
/// what is compared: what disturbs the machine for a second is then in both, and drops out.
pub fn order(mut cases: Vec<CaseKey>, round: u32, seed: u64) -> Vec<CaseKey> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed ^ (u64::from(round) << 32));
    shuffle(&mut cases, &mut rng);
    let mut points: Vec<Point> = cases.iter().map(|case| case.point).collect();
    points.sort_unstable();
    points.dedup();
    // Shuffled by itself: a point with many cases would most often come first otherwise.
    shuffle(&mut points, &mut rng);
    cases.sort_by_key(|case| points.iter().position(|point| *point == case.point));
    cases
}

/// Fisher and Yates, from the end.
fn shuffle<T>(items: &mut [T], rng: &mut Xoshiro256PlusPlus) {
    for last in (1..items.len()).rev() {
        let other = (rng.next_u64() % (last as u64 + 1)) as usize;
        items.swap(last, other);
    }
}

/// The points that are opened on the way to one: from the smallest on, each at least twice as large as the one
/// before. Opening all of many would keep the first round waiting.
pub(crate) fn steps_to(point: Point, points: impl IntoIterator<Item = Point>) -> Vec<Point> {
    let mut smaller: Vec<Point> = points.into_iter().filter(|p| p.is_within(point)).collect();
    smaller.sort_by_key(|point| (point.volume(), *point));
    let mut steps: Vec<Point> = Vec::new();
    for point in smaller {
        if steps
            .last()
            .is_none_or(|last| point.volume() >= last.volume() * 2)
        {
            steps.push(point);
        }
    }
    steps
}

/// What one visit to a case is to do.
pub fn visit(plan: &Plan, case: CaseKey, round: u32) -> RoundRule {
    RoundRule {
        load: plan.load,
        // Arrivals of their own for each visit, the same ones for the same plan.
        seed: plan.seed
            ^ (u64::from(round) << 32)
            ^ ((case.setup as u64) << 48)
            ^ case.point.volume(),
        ..share(&plan.measure)
    }
}

/// One round's share of what the rule asks of a case.
pub fn share(rule: &MeasureRule) -> RoundRule {
    let rounds = u64::from(rule.rounds.max(1));
    RoundRule {
        load: Load::Closed,
        seed: 0,
        starts_at_ns: None,
        wake_up_runs: WAKE_UP_RUNS,
        wake_up_ns: WAKE_UP_MS * 1_000_000,
        min_samples: rule.min_samples.div_ceil(rounds),
        min_ns: rule.min_time_ms * 1_000_000 / rounds,
        max_ns: rule.max_time_ms * 1_000_000 / rounds,
        max_samples: rule.max_samples.div_ceil(rounds).max(1),
    }
}

/// What one turn of an experiment is to do. A run that outlasts what a switch disturbs is not made twice.
pub(crate) fn turn(rule: &MeasureRule, warm_up: Option<&WarmUp>) -> RoundRule {
    let run_ns = warm_up.map_or(0, |warm_up| warm_up.spent_ns / warm_up.runs.max(1));
    let is_long = run_ns > LONG_RUN_NS;
    RoundRule {
        wake_up_runs: if is_long { 0 } else { WAKE_UP_RUNS },
        wake_up_ns: if is_long { 0 } else { SWITCH_MS * 1_000_000 },
        ..share(rule)
    }
}

/// Whether a case wants another round.
pub(crate) fn wants_round(case: &Case, rule: &MeasureRule, round: u32) -> bool {
    if round < rule.rounds {
        return true;
    }
    let Some(target) = rule.target_ci95_rel else {
        return false;
    };
    let time_left = case.spent_ns() < rule.max_time_ms * 1_000_000;
    let samples_left = case.n_samples()
        < rule
            .max_samples
            .saturating_mul(u64::from(MOST_ROUNDS_FACTOR));
    time_left
        && samples_left
        && round < rule.rounds * MOST_ROUNDS_FACTOR
        && relative_half_width(case) > target
}

/// Half the 95 % interval of the median as a share of it; infinite where it is not known.
fn relative_half_width(case: &Case) -> f64 {
    bootstrap::width_for_stopping(&case.independent_samples(&case.starts(&[], false)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use powerband_core::domain::case::Round;
    use powerband_core::domain::plan::PresetName;

    #[test]
    fn the_way_to_a_batch_size_is_in_doubling_steps() {
        let steps = |batch, batches: Vec<usize>| -> Vec<usize> {
            let points = batches.into_iter().map(Point::of_batch);
            let steps = steps_to(Point::of_batch(batch), points);
            steps.into_iter().map(Point::batch).collect()
        };
        assert_eq!(steps(70, (1..=70).collect()), [1, 2, 4, 8, 16, 32, 64]);
        assert_eq!(steps(7, vec![12, 3, 5, 4, 6]), [3, 6]);
        assert_eq!(steps(16, vec![1, 2, 4, 8, 16]), [1, 2, 4, 8]);
        assert_eq!(steps(1, (1..=70).collect()), [0; 0]);
        let at = |batch, seq| Point::new([("batch", batch), ("seq", seq)]);
        let grid = [at(1, 32), at(1, 128), at(8, 32), at(8, 128), at(2, 512)];
        assert_eq!(
            steps_to(at(8, 128), grid),
            [at(1, 32), at(1, 128), at(8, 32)]
        );
    }

    fn keys() -> Vec<CaseKey> {
        (0..2)
            .flat_map(|setup| {
                [1, 2, 4, 8]
                    .map(Point::of_batch)
                    .map(|point| CaseKey { setup, point })
            })
            .collect()
    }

    fn case(rounds: &[&[u64]]) -> Case {
        let mut case = Case::pending(CaseKey {
            setup: 0,
            point: Point::of_batch(1),
        });
        case.rounds = (0..)
            .zip(rounds)
            .map(|(round, samples)| Round {
                round,
                spent_ns: samples.iter().sum(),
                samples_ns: samples.to_vec(),
                ..Round::default()
            })
            .collect();
        case
    }

    #[test]
    fn every_round_has_every_case_in_an_order_of_its_own() {
        let first = order(keys(), 0, 7);
        let second = order(keys(), 1, 7);
        assert_ne!(first, second);
        assert_eq!(first, order(keys(), 0, 7), "the seed decides");
        for mut shuffled in [first, second] {
            for pair in shuffled.chunks(2) {
                assert_eq!(
                    pair[0].point.batch(),
                    pair[1].point.batch(),
                    "what is compared is together"
                );
            }
            shuffled.sort_unstable();
            assert_eq!(shuffled, keys());
        }
    }

    #[test]
    fn every_setup_comes_first_as_often_as_the_others() {
        let firsts = (0..400)
            .filter(|&round| order(keys(), round, 7)[0].setup == 0)
            .count();
        assert!((150..250).contains(&firsts), "{firsts}");
    }

    #[test]
    fn rounds_add_up_to_the_rule() {
        for preset in PresetName::ALL {
            let rule = MeasureRule::from_preset(preset);
            let share = share(&rule);
            assert!(share.min_samples * u64::from(rule.rounds) >= rule.min_samples);
            assert!(share.max_ns * u64::from(rule.rounds) <= rule.max_time_ms * 1_000_000);
        }
    }

    #[test]
    fn a_restless_case_gets_more_rounds_and_a_steady_one_does_not() {
        let rule = MeasureRule::from_preset(PresetName::Standard);
        let steady = case(&[[100; 50].as_slice(); 5]);
        let restless = case(&[&[100; 50], &[120; 50], &[90; 50], &[140; 50], &[100; 50]]);
        assert!(
            wants_round(&steady, &rule, 4),
            "a planned round is always made"
        );
        assert!(!wants_round(&steady, &rule, 5));
        assert!(wants_round(&restless, &rule, 5));
        assert!(!wants_round(&restless, &rule, 20), "not for ever");
        assert!(!wants_round(
            &restless,
            &MeasureRule::from_preset(PresetName::Quick),
            5
        ));
    }
}
