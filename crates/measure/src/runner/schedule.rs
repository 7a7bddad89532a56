//! Who is measured when: the order of the cases in each round, and each round's share of the rule.
//!
//! Pure; `run` does what is decided here.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

use crate::worker::protocol::RoundRule;
use powerband_core::domain::case::{Case, CaseKey};
use powerband_core::domain::plan::{Load, MOST_ROUNDS_FACTOR, MeasureRule, Plan, WAKE_UP_MS};
use powerband_core::stats::bootstrap;

/// Runs before the first sample of a visit, however long they take: one fills the caches again.
const WAKE_UP_RUNS: u64 = 1;

/// The cases in this round's order: shuffled anew each round, the same for the same seed, so that
/// heat and neighbours hit all cases alike.
///
/// Cases of one batch size stay together, because they are
/// what is compared: what disturbs the machine for a second is then in both, and drops out.
pub fn order(mut cases: Vec<CaseKey>, round: u32, seed: u64) -> Vec<CaseKey> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed ^ (u64::from(round) << 32));
    shuffle(&mut cases, &mut rng);
    let mut batches: Vec<usize> = Vec::new();
    for case in &cases {
        if !batches.contains(&case.batch) {
            batches.push(case.batch);
        }
    }
    // Shuffled by itself: a batch size with many cases would most often come first otherwise.
    batches.sort_unstable();
    shuffle(&mut batches, &mut rng);
    cases.sort_by_key(|case| batches.iter().position(|&batch| batch == case.batch));
    cases
}

/// Fisher and Yates, from the end.
fn shuffle<T>(items: &mut [T], rng: &mut Xoshiro256PlusPlus) {
    for last in (1..items.len()).rev() {
        let other = (rng.next_u64() % (last as u64 + 1)) as usize;
        items.swap(last, other);
    }
}

/// The batch sizes that are opened on the way to one: from the smallest on, each at least twice the one
/// before. Opening all of many would keep the first round waiting.
pub(crate) fn steps_to(batch: usize, sizes: impl IntoIterator<Item = usize>) -> Vec<usize> {
    let mut smaller: Vec<usize> = sizes.into_iter().filter(|size| *size < batch).collect();
    smaller.sort_unstable();
    let mut steps: Vec<usize> = Vec::new();
    for size in smaller {
        if steps.last().is_none_or(|last| size >= last * 2) {
            steps.push(size);
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
            ^ case.batch as u64,
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
    let rounds: Vec<Vec<f64>> = case
        .rounds
        .iter()
        .map(|round| round.samples_ns.iter().map(|&ns| ns as f64).collect())
        .collect();
    bootstrap::width_for_stopping(&rounds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use powerband_core::domain::case::Round;
    use powerband_core::domain::plan::PresetName;

    #[test]
    fn the_way_to_a_batch_size_is_in_doubling_steps() {
        assert_eq!(steps_to(70, 1..=70), [1, 2, 4, 8, 16, 32, 64]);
        assert_eq!(steps_to(7, [12, 3, 5, 4, 6]), [3, 6]);
        assert_eq!(steps_to(16, [1, 2, 4, 8, 16]), [1, 2, 4, 8]);
        assert_eq!(steps_to(1, 1..=70), [0; 0]);
    }

    fn keys() -> Vec<CaseKey> {
        (0..2)
            .flat_map(|setup| [1, 2, 4, 8].map(|batch| CaseKey { setup, batch }))
            .collect()
    }

    fn case(rounds: &[&[u64]]) -> Case {
        let mut case = Case::pending(CaseKey { setup: 0, batch: 1 });
        case.rounds = (0..)
            .zip(rounds)
            .map(|(round, samples)| Round {
                round,
                started_ns: 0,
                spent_ns: samples.iter().sum(),
                samples_ns: samples.to_vec(),
                company: None,
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
                assert_eq!(pair[0].batch, pair[1].batch, "what is compared is together");
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
            let rule = MeasureRule::of(preset);
            let share = share(&rule);
            assert!(share.min_samples * u64::from(rule.rounds) >= rule.min_samples);
            assert!(share.max_ns * u64::from(rule.rounds) <= rule.max_time_ms * 1_000_000);
        }
    }

    #[test]
    fn a_restless_case_gets_more_rounds_and_a_steady_one_does_not() {
        let rule = MeasureRule::of(PresetName::Standard);
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
            &MeasureRule::of(PresetName::Quick),
            5
        ));
    }
}
