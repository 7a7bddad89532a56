//! The time that a scheduler gives: a round that would not be over in time is not begun.

use std::time::Duration;

use super::ActiveRun;
use powerband_core::base::clock;
use powerband_core::base::humanize::clock_time;
use powerband_core::domain::case::CaseKey;
use powerband_core::domain::event::RunEvent;
use powerband_core::domain::outcome::Outcome;
use powerband_worker::slurm;

/// How much longer than the ones before it a round may take.
const MARGIN: f64 = 1.05;
/// What ending takes: the workers end, and the session is written.
const RESERVE: Duration = Duration::from_secs(5);

impl ActiveRun<'_, '_> {
    /// Before a round: ends the cases whose job would be over before the round is.
    pub(super) fn end_what_does_not_fit(&mut self) {
        self.round_began_ns.push(clock::monotonic_ns());
        let Some(round) = self.round_length() else {
            return;
        };
        let mut jobs = self.jobs();
        if let Some(job) = &self.request.job {
            let setups = 0..self.session.plan.setups.len();
            jobs.push((job.clone(), setups.collect()));
        }
        let needed = round.mul_f64(MARGIN) + RESERVE;
        for (job, setups) in jobs {
            let left = slurm::time_left(&job, &self.stop);
            let Some(left) = left.filter(|left| *left < needed) else {
                continue;
            };
            // The end of its worker says so.
            if slurm::is_preempted(&job, &self.stop) {
                continue;
            }
            let open = self
                .session
                .cases
                .iter()
                .filter(|case| !case.outcome.is_final() && setups.contains(&case.setup));
            let open: Vec<(CaseKey, usize)> =
                open.map(|case| (case.key(), case.rounds.len())).collect();
            for (case, rounds) in open {
                let outcome = match self.outcome_if_stopped(case) {
                    Outcome::Cancelled => Outcome::Walltime {
                        reason: self.too_short(rounds, left, round),
                    },
                    measured => measured,
                };
                self.tell(RunEvent::CaseEnded { case, outcome });
            }
        }
    }

    fn too_short(&self, rounds: usize, left: Duration, round: Duration) -> String {
        format!(
            "the allocation ends in {}, and a round takes {}, so the run ended after {rounds} of {} rounds",
            clock_time(left.as_secs_f64()),
            clock_time(round.as_secs_f64().max(1.0)),
            self.rounds.planned
        )
    }

    /// How long the next round takes, by those that were measured; nothing before the first.
    fn round_length(&self) -> Option<Duration> {
        let began = &self.round_began_ns;
        let lengths = began.windows(2).map(|pair| pair[1].saturating_sub(pair[0]));
        let lengths: Vec<u64> = lengths.collect();
        // The first one has the loading of the models in it, and so has each where workers are ended in between.
        let starts_again = self.alone || self.gap_ns().is_some();
        let whole = match lengths.as_slice() {
            [first] if starts_again => Some((*first).max(self.gap_ns().unwrap_or_default())),
            [_, later @ ..] => later.iter().max().copied(),
            [] => None,
        };
        let longest = whole.or_else(|| self.longest_measured_ns())?;
        Some(Duration::from_nanos(longest))
    }

    /// The time that was spent measuring in the longest round.
    fn longest_measured_ns(&self) -> Option<u64> {
        let mut spent = std::collections::BTreeMap::<u32, u64>::new();
        for round in self.session.cases.iter().flat_map(|case| &case.rounds) {
            *spent.entry(round.round).or_default() += round.spent_ns;
        }
        spent.into_values().max()
    }
}
