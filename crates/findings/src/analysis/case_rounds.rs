//! The rounds of a case in a few numbers, and draws of several cases together from them.
//!
//! What is stated of several cases (a best, a knee, a front, an odd one out) is stated by these draws;
//! `powerband_core::stats::joint` has the method.

use std::collections::BTreeMap;

use powerband_core::domain::case::Case;
use powerband_core::domain::machine::RemoteMachine;
use powerband_core::domain::session::Session;
use powerband_core::stats::joint::{self, RankedValue, RoundValue, SharedNoise};
use powerband_core::stats::percentiles::quantile_sorted;
use powerband_core::stats::session_spread::SessionSpread;
use powerband_core::stats::summary::mean;

/// Seed of the draws, so that the same session always says the same.
const SEED: u64 = 0x6a6f_696e_7400_0000;
/// With one start of its worker a case is one draw of a process, which its rounds do not show: the standard deviation
/// of its logarithm that is assumed, by which two such processes differ by less than 5 % in 95 of 100 cases.
const ONE_START: f64 = 0.018;
/// The one-sided end of an interval: so large a share of the draws lies below it.
const ONE_SIDED: f64 = 0.95;

/// The statistic of a round that is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoundStatistic {
    /// Median time of a batch.
    Median,
    /// Mean time of a batch.
    Mean,
    /// 90th percentile of the time of a batch.
    P90,
    /// 99th percentile of the time of a batch.
    P99,
    /// Items a second.
    Rate,
}

/// A round in a few numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RoundFigures {
    /// Number of the round.
    pub round: u32,
    /// The start of the process that it is of, where that is recorded.
    pub start: Option<u32>,
    /// Median time of a batch, in nanoseconds.
    pub median_ns: f64,
    /// Mean time of a batch, in nanoseconds.
    pub mean_ns: f64,
    /// 90th percentile, in nanoseconds, however few samples there are: for its scatter from round to round.
    pub p90_ns: f64,
    /// 99th percentile, in nanoseconds, however few samples there are: for its scatter from round to round.
    pub p99_ns: f64,
    /// Items a second; nothing where they are not reported.
    pub rate_per_s: Option<f64>,
}

/// The rounds of a case, and where they were measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CaseRounds {
    /// The machine, by its place in the session: 0 is this one. Rounds on one machine took turns.
    pub machine: usize,
    /// Index into the plan's setups: cases of one setup may share its process.
    pub setup: usize,
    /// The rounds in order.
    pub rounds: Vec<RoundFigures>,
}

impl CaseRounds {
    /// Those of a case with the times of its rounds, in nanoseconds; of one without samples, each time that was
    /// reported is a round.
    pub(super) fn of_case(session: &Session, case: &Case, times: &[Vec<f64>]) -> Self {
        let items = case.point.batch() as f64;
        let starts = session.starts(case);
        let numbers = case.rounds.iter().map(|round| round.round).chain(0..);
        let figures = times.iter().zip(numbers).enumerate();
        let figures = figures.filter_map(|(place, (samples, number))| {
            let measured = case.rounds.get(place);
            let rate_per_s = match measured {
                Some(round) if round.spent_ns > 0 => {
                    Some(1e9 * items * samples.len() as f64 / round.spent_ns as f64)
                }
                Some(_) => None,
                None => case.stated.get(place).and_then(|one| one.throughput_per_s),
            };
            let mut samples = samples.clone();
            samples.sort_by(f64::total_cmp);
            Some(RoundFigures {
                round: number,
                start: starts.get(place).copied(),
                median_ns: quantile_sorted(&samples, 0.5)?,
                mean_ns: mean(&samples)?,
                p90_ns: quantile_sorted(&samples, 0.9)?,
                p99_ns: quantile_sorted(&samples, 0.99)?,
                rate_per_s,
            })
        });
        Self {
            machine: machine_place(session, case.setup),
            setup: case.setup,
            rounds: figures.collect(),
        }
    }

    /// Whether all rounds are of one start, or do not say of which.
    fn is_of_one_start(&self) -> bool {
        let mut pairs = self.rounds.windows(2);
        pairs.all(|pair| pair[0].start == pair[1].start)
    }

    fn values(&self, figure: RoundStatistic) -> Option<Vec<RoundValue>> {
        let is_of_one_start = self.is_of_one_start();
        let value = |one: &RoundFigures| {
            let value = match figure {
                RoundStatistic::Median => one.median_ns,
                RoundStatistic::Mean => one.mean_ns,
                RoundStatistic::P90 => one.p90_ns,
                RoundStatistic::P99 => one.p99_ns,
                RoundStatistic::Rate => one.rate_per_s?,
            };
            (value > 0.0).then(|| RoundValue {
                round: one.round,
                start: one.start.filter(|_| !is_of_one_start),
                ln: value.ln(),
            })
        };
        self.rounds.iter().map(value).collect()
    }
}

/// The place of a setup's machine among those of its session: that of the first of this name and host, from 1.
fn machine_place(session: &Session, setup: usize) -> usize {
    let Some(machine) = session.machine_of(setup) else {
        return 0;
    };
    let mut machines = session.machines.iter();
    let is_it =
        |other: &RemoteMachine| (&other.name, &other.host) == (&machine.name, &machine.host);
    machines.position(is_it).map_or(0, |place| place + 1)
}

/// Draws of cases, in which those that were measured in turns share what happened in their rounds.
#[derive(Debug, Default)]
pub struct JointDraws {
    /// By run and machine.
    noises: BTreeMap<(usize, usize), SharedNoise>,
    /// Draws of a process, by run, machine and setup; of a session, by run alone.
    processes: BTreeMap<(usize, usize, usize), Vec<f64>>,
    sessions: BTreeMap<usize, Vec<f64>>,
    has_several_sessions: bool,
}

impl JointDraws {
    /// Those of cases of several sessions: each is a draw of its machine, which its rounds do not show.
    pub fn of_several_sessions() -> Self {
        Self {
            has_several_sessions: true,
            ..Self::default()
        }
    }

    /// Draws of the logarithm of a case's figure; nothing for fewer than two rounds. `run` tells apart runs that
    /// were not interleaved.
    pub fn draws(
        &mut self,
        run: usize,
        case: &CaseRounds,
        figure: RoundStatistic,
    ) -> Option<Vec<f64>> {
        let seed = |kind: u64, machine: usize, setup: usize| {
            let place = [(kind, 60), (run as u64, 48), (machine as u64, 36)];
            let place = place
                .iter()
                .fold(0, |all, (part, shift)| all ^ (part << shift));
            SEED ^ place ^ ((setup as u64) << 8)
        };
        let noise = self.noises.entry((run, case.machine));
        let noise = noise.or_insert_with(|| SharedNoise::new(seed(0, case.machine, 0)));
        let mut draws = noise.draws(&case.values(figure)?)?;
        let mut add = |normals: &[f64], deviation: f64| {
            for (draw, normal) in draws.iter_mut().zip(normals) {
                *draw += deviation * normal;
            }
        };
        if case.is_of_one_start() {
            let process = self.processes.entry((run, case.machine, case.setup));
            let seed = seed(1, case.machine, case.setup);
            add(process.or_insert_with(|| joint::normals(seed)), ONE_START);
        }
        if self.has_several_sessions {
            let session = self.sessions.entry(run);
            let session = session.or_insert_with(|| joint::normals(seed(2, 0, 0)));
            add(session, SessionSpread::Assumed.deviation());
        }
        Some(draws)
    }

    /// A case's figure as one of several.
    pub fn contender(
        &mut self,
        run: usize,
        case: &CaseRounds,
        figure: RoundStatistic,
        shown: f64,
    ) -> RankedValue {
        let draws = self.draws(run, case, figure);
        RankedValue { shown, draws }
    }

    /// What a case's figure is at most, with 95 % confidence, and never below what is shown.
    pub fn upper_end(
        &mut self,
        case: &CaseRounds,
        figure: RoundStatistic,
        shown: f64,
    ) -> Option<f64> {
        let draws = self.draws(0, case, figure)?;
        Some(joint::quantile(&draws, ONE_SIDED)?.exp().max(shown))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::case_rows;
    use crate::analysis::testing::{measure, session};

    #[test]
    fn a_round_has_its_figures() {
        let mut session = session(&["ort:cpu"], &[4]);
        measure(&mut session, 0, 4, &[&[1_000, 3_000, 2_000], &[4_000; 5]]);
        let found = case_rows::case_rows(&session).remove(0).by_round;
        assert_eq!((found.machine, found.rounds.len()), (0, 2));
        let first = found.rounds[0];
        assert_eq!(
            (first.round, first.median_ns, first.mean_ns),
            (0, 2_000.0, 2_000.0)
        );
        assert_eq!(first.rate_per_s, Some(4.0 * 3.0 / 6e-6));
        assert_eq!(found.rounds[1].p99_ns, 4_000.0);
    }

    #[test]
    fn the_upper_end_is_above_what_is_shown_and_follows_the_rounds() {
        let mut session = session(&["ort:cpu", "tract:cpu", "rten:cpu"], &[1]);
        measure(&mut session, 0, 1, &[&[1_000; 3], &[1_010; 3], &[990; 3]]);
        measure(&mut session, 1, 1, &[&[1_000; 3], &[3_000; 3], &[500; 3]]);
        measure(&mut session, 2, 1, &[&[1_000; 3]]);
        let rows = case_rows::case_rows(&session);
        let mut joint = JointDraws::default();
        let mut end =
            |setup: usize| joint.upper_end(&rows[setup].by_round, RoundStatistic::Median, 1_000.0);
        let quiet = end(0).unwrap();
        assert!(quiet > 1_000.0 && quiet < 1_060.0, "{quiet}");
        assert!(end(1).unwrap() > 3_000.0);
        assert_eq!(end(2), None, "one round");
    }

    #[test]
    fn one_start_is_one_draw_of_a_process_and_a_session_one_of_its_machine() {
        let mut session = session(&["ort:cpu", "tract:cpu"], &[1, 2]);
        for setup in 0..2 {
            for batch in [1, 2] {
                measure(
                    &mut session,
                    setup,
                    batch,
                    &[&[1_000; 3], &[1_000; 3], &[1_000; 3]],
                );
            }
        }
        let width = |joint: &mut JointDraws, session: &Session, other: (usize, usize)| {
            let rows = case_rows::case_rows(session);
            let (run, place) = other;
            let first = joint
                .draws(0, &rows[0].by_round, RoundStatistic::Median)
                .unwrap();
            let second = joint
                .draws(run, &rows[place].by_round, RoundStatistic::Median)
                .unwrap();
            let apart: Vec<f64> = first.iter().zip(&second).map(|(a, b)| a - b).collect();
            joint::quantile(&apart, 0.975).unwrap() - joint::quantile(&apart, 0.025).unwrap()
        };
        let of_setup = |session: &Session| {
            let place = session
                .cases
                .iter()
                .position(|case| case.setup == 1)
                .unwrap();
            (0, place)
        };
        let other = of_setup(&session);
        let mut joint = JointDraws::default();
        // Two processes that were started once each may differ by 5 % either way.
        let processes = width(&mut joint, &session, other);
        assert!((processes - 0.1).abs() < 0.01, "{processes}");
        // Batches of one setup share the process.
        let batches = (0..4).find(|place| *place != 0 && session.cases[*place].setup == 0);
        assert!(width(&mut joint, &session, (0, batches.unwrap())) < 1e-9);
        for round in session.cases.iter_mut().flat_map(|case| &mut case.rounds) {
            round.start = Some(round.round);
        }
        assert!(
            width(&mut joint, &session, other) < 1e-9,
            "each round a start"
        );
        let apart = width(
            &mut JointDraws::of_several_sessions(),
            &session,
            (1, other.1),
        );
        assert!(
            (apart - 2.0 * 1.96 * 0.05 * 2_f64.sqrt()).abs() < 0.04,
            "{apart}"
        );
    }
}
