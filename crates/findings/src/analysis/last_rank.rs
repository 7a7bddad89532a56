//! Which rank of a job the others wait for, as far as the recorded steps settle it.

use serde::Serialize;

use powerband_core::base::humanize;
use powerband_core::domain::ranks::{JobTimes, RankTimes};
use powerband_core::stats::share::chance_of_hits;

/// A rank is named where chance alone would have it last so often in fewer than this share of recordings.
const CHANCE: f64 = 0.05;
/// No more steps than these are asked for.
const MOST_STEPS: u64 = 10_000;

/// Whether one rank keeps the others waiting.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LastRank {
    /// The rank that was last in most steps.
    pub rank: u32,
    /// In so many of the steps.
    pub steps_last: u64,
    pub steps: u64,
    /// What the others waited for it in a step, on average of all steps, in nanoseconds: from when the last but one had
    /// begun.
    pub waited_per_step_ns: f64,
    /// Whether it is more often than chance would have it among as many ranks.
    pub is_settled: bool,
    /// Steps that would settle it at the same share; nothing where it is settled, or so many would not.
    pub steps_needed: Option<u64>,
}

impl LastRank {
    /// Nothing where nothing divides the recording into steps, or no rank was ever last.
    pub fn read(job: &JobTimes) -> Option<Self> {
        let n_ranks = job.ranks.iter().filter(|rank| rank.steps > 0).count();
        let last = job.ranks.iter().max_by_key(|rank| {
            (
                rank.steps_last,
                rank.kept_waiting_ns,
                std::cmp::Reverse(rank.rank),
            )
        })?;
        if n_ranks < 2 || last.steps_last == 0 {
            return None;
        }
        let is_settled = is_beyond_chance(last.steps_last, last.steps, n_ranks);
        let steps_needed = || {
            let share = last.steps_last as f64 / last.steps as f64;
            (last.steps + 1..=MOST_STEPS)
                .find(|steps| is_beyond_chance((share * *steps as f64) as u64, *steps, n_ranks))
        };
        Some(Self {
            rank: last.rank,
            steps_last: last.steps_last,
            steps: last.steps,
            waited_per_step_ns: last.kept_waiting_ns as f64 / last.steps as f64,
            is_settled,
            steps_needed: if is_settled { None } else { steps_needed() },
        })
    }

    /// A sentence.
    pub fn sentence(&self) -> String {
        let often = format!(
            "in {} of {}",
            humanize::count(self.steps_last),
            humanize::pluralised(self.steps, "step")
        );
        let (rank, time) = (self.rank, humanize::duration_ns(self.waited_per_step_ns));
        if self.is_settled {
            return format!(
                "In this recording the others wait for rank {rank}: it begins last {often}, {time} a step after the one before it"
            );
        }
        let needed = match self.steps_needed {
            Some(steps) => format!("; {} would settle it", humanize::pluralised(steps, "step")),
            None => String::new(),
        };
        format!(
            "Which rank the others wait for is not settled: rank {rank} begins last {often}, as chance may have it{needed}"
        )
    }
}

/// Whether a rank is last more often than by chance, where any of them could have been the one.
fn is_beyond_chance(hits: u64, steps: u64, n_ranks: usize) -> bool {
    let share = 1.0 / n_ranks as f64;
    chance_of_hits(hits, steps, share) * n_ranks as f64 <= CHANCE
}

/// What is said of a job in sentences.
pub fn job_sentences(job: &JobTimes) -> Vec<String> {
    let mut sentences: Vec<String> = Vec::new();
    match LastRank::read(job) {
        Some(last) => sentences.push(last.sentence()),
        None if !job.collectives.is_empty() => sentences.push(
            "Which rank the others wait for is not settled: nothing divides the files into steps"
                .to_owned(),
        ),
        None => {}
    }
    if job.unmatched > 0 {
        sentences.push(format!(
            "{} of collectives {} not matched: ranks may pass them without waiting, or the files do not say which belong together",
            humanize::pluralised(job.unmatched, "call"),
            if job.unmatched == 1 { "is" } else { "are" }
        ));
    }
    sentences
}

/// Ranks with the share of their collectives in which nothing computed.
pub fn exposed_share(rank: &RankTimes) -> Option<f64> {
    (rank.collective_ns > 0).then(|| rank.exposed_ns as f64 / rank.collective_ns as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(steps_last: &[u64], steps: u64) -> JobTimes {
        let rank = |(rank, steps_last): (u32, &u64)| RankTimes {
            rank,
            steps,
            steps_last: *steps_last,
            kept_waiting_ns: 1_000_000 * steps_last,
            ..RankTimes::default()
        };
        JobTimes {
            ranks: (0..).zip(steps_last).map(rank).collect(),
            ..JobTimes::default()
        }
    }

    #[test]
    fn a_rank_is_named_where_it_is_last_more_often_than_by_chance() {
        let found = LastRank::read(&job(&[1, 0, 7, 0], 8)).unwrap();
        assert!(found.is_settled, "{found:?}");
        assert_eq!((found.rank, found.steps_last), (2, 7));
        assert_eq!(
            found.sentence(),
            "In this recording the others wait for rank 2: it begins last in 7 of 8 steps, 875 µs a step after the one before it"
        );
    }

    #[test]
    fn few_steps_and_two_ranks_settle_nothing() {
        let found = LastRank::read(&job(&[3, 1], 4)).unwrap();
        assert!(!found.is_settled);
        let needed = found.steps_needed.unwrap();
        assert!((15..40).contains(&needed), "{needed}");
        assert!(
            found.sentence().contains("is not settled"),
            "{}",
            found.sentence()
        );
        // Half of the steps would not settle it however many there are.
        assert_eq!(LastRank::read(&job(&[2, 2], 4)).unwrap().steps_needed, None);
        assert_eq!(LastRank::read(&job(&[0, 0], 4)), None);
        assert_eq!(LastRank::read(&JobTimes::default()), None);
    }

    #[test]
    fn chance_alone_names_a_rank_in_few_recordings() {
        use rand_xoshiro::Xoshiro256PlusPlus;
        use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};
        let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
        let named = (0..1_000).filter(|_| {
            let mut lasts = [0; 4];
            for _ in 0..20 {
                lasts[(random.next_u64() >> 62) as usize] += 1;
            }
            LastRank::read(&job(&lasts, 20)).is_some_and(|found| found.is_settled)
        });
        let named = named.count();
        assert!(named <= 60, "{named} of 1000");
    }
}
