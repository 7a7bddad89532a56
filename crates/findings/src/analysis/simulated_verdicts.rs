//! Verdicts about machines that do not exist, so that the answer is known.
//!
//! Times are drawn with a spread of rounds, of processes and of sessions, and judged as those of real machines are. `benches/verdict.rs` prints the figures; a part
//! of them is a test. Compiled for tests only.

use std::f64::consts::TAU;

use super::verdict::{self, Call};
use powerband_core::stats::ratio::{self, Estimate, RoundSamples};
use powerband_core::stats::sequential::Look;
use powerband_core::stats::session_spread::SessionSpread;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

/// Samples of a round, and their scatter.
const SAMPLES: usize = 8;
const WITHIN: f64 = 0.004;
/// The share of a round's deviation that is a case's own where two took turns; the rest is the machine's, and drops out.
/// On a shared machine visits 1 to 2 s apart differed by a third of what rounds of a run did.
const OWN: f64 = 1.0 / 3.0;
/// Correlation of a round with the one before, where there is one.
const LAG: f64 = 0.3;
/// Change from the first to the last round, in spreads of a round.
const DRIFT: f64 = 2.0;

/// How rounds deviate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoiseShape {
    /// Normally.
    Normal,
    /// Normally, and the machine becomes slower from the first to the last round.
    Drift,
    /// As the round before did, with a correlation of 0.3.
    Lag,
    /// As Student's t with three degrees of freedom.
    HeavyTails,
}

impl NoiseShape {
    /// Every one.
    pub const ALL: [Self; 4] = [Self::Normal, Self::Drift, Self::Lag, Self::HeavyTails];
}

/// A machine. Spreads are standard deviations of logarithms.
#[derive(Clone, Copy, Debug)]
pub struct NoisyMachine {
    /// From round to round.
    pub rounds: f64,
    /// From process to process.
    pub processes: f64,
    /// From session to session.
    pub sessions: f64,
    /// How rounds deviate.
    pub shape: NoiseShape,
}

/// How a case is measured.
#[derive(Clone, Copy, Debug)]
pub struct Design {
    /// Starts of its worker.
    pub starts: u32,
    /// Rounds of each start.
    pub rounds: u32,
    /// Whether these are taken for starts of their own, as they were once.
    pub is_blind: bool,
}

/// How many comparisons got which answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VerdictCounts {
    /// *Faster*.
    pub faster: u32,
    /// *Slower*.
    pub slower: u32,
    /// All of them.
    pub all: u32,
}

impl VerdictCounts {
    /// The share that was called a change.
    pub fn changed(self) -> f64 {
        f64::from(self.faster + self.slower) / f64::from(self.all)
    }

    fn take(&mut self, estimate: Option<&Estimate>) {
        self.all += 1;
        match estimate.map(verdict::call) {
            Some(Call::Faster) => self.faster += 1,
            Some(Call::Slower) => self.slower += 1,
            _ => {}
        }
    }
}

/// Comparisons of two cases that took turns, of which the first takes `times` the time of the second.
pub fn interleaved(
    machine: &NoisyMachine,
    design: Design,
    times: f64,
    number: u32,
    seed: u64,
) -> VerdictCounts {
    let mut rng = NoiseRng::new(seed);
    let mut counts = VerdictCounts::default();
    for _ in 0..number {
        let (before, after) = machine.pair(&mut rng, design, times);
        counts.take(ratio::paired(&before, &after).as_ref());
    }
    counts
}

/// Comparisons of two cases that took turns, looked at after the planned starts and again after each further one until
/// they are settled, up to so many. Also the number of starts that each took, in order.
pub fn until_settled(
    machine: &NoisyMachine,
    (planned, most): (u32, u32),
    times: f64,
    number: u32,
    seed: u64,
) -> (VerdictCounts, Vec<u32>) {
    let design = Design {
        starts: most,
        rounds: 1,
        is_blind: false,
    };
    let mut rng = NoiseRng::new(seed);
    let mut counts = VerdictCounts::default();
    let mut taken = Vec::new();
    for _ in 0..number {
        let (before, after) = machine.pair(&mut rng, design, times);
        let mut looks = (planned..=most).map(|starts| {
            let [before, after] = [&before, &after].map(|side| &side[..starts as usize]);
            let look = if starts == planned {
                Look::Planned
            } else {
                Look::Later
            };
            (starts, ratio::paired_at_look(before, after, look))
        });
        let is_settled = |estimate: &Option<Estimate>| {
            let call = estimate.as_ref().map(verdict::call);
            call.is_some_and(|call| call != Call::Inconclusive)
        };
        let settled = looks.find(|(_, estimate)| is_settled(estimate));
        taken.push(settled.as_ref().map_or(most, |(starts, _)| *starts));
        counts.take(settled.and_then(|(_, estimate)| estimate).as_ref());
    }
    taken.sort_unstable();
    (counts, taken)
}

/// Comparisons of two sessions, of which the first takes `times` the time of the second, with so many earlier ones.
pub fn separate(
    machine: &NoisyMachine,
    design: Design,
    (times, n_earlier): (f64, usize),
    number: u32,
    seed: u64,
) -> VerdictCounts {
    let mut rng = NoiseRng::new(seed);
    let mut counts = VerdictCounts::default();
    for _ in 0..number {
        let mut session = |times: f64| {
            let own = machine.deviations(&mut rng, design.starts * design.rounds);
            let session = machine.sessions * rng.normal();
            machine.visits(&mut rng, design, own, times.ln() + session)
        };
        let earlier: Vec<f64> = (0..n_earlier)
            .filter_map(|_| ratio::ln_mean(&session(1.0)))
            .collect();
        let unknown = if design.starts > 2 {
            SessionSpread::Assumed
        } else {
            SessionSpread::Narrow
        };
        let spread = SessionSpread::of_means(&earlier).unwrap_or(unknown);
        let (before, after) = (session(times), session(1.0));
        counts.take(ratio::unpaired(&before, &after, spread).as_ref());
    }
    counts
}

impl NoisyMachine {
    /// What is a case's own where two take turns: what drifts or lasts from round to round is the machine's.
    fn of_a_case(&self) -> Self {
        let shape = match self.shape {
            NoiseShape::HeavyTails => NoiseShape::HeavyTails,
            NoiseShape::Normal | NoiseShape::Drift | NoiseShape::Lag => NoiseShape::Normal,
        };
        Self { shape, ..*self }
    }

    /// Two cases that took turns, of which the first takes `times` the time of the second.
    fn pair(
        &self,
        rng: &mut NoiseRng,
        design: Design,
        times: f64,
    ) -> (Vec<RoundSamples>, Vec<RoundSamples>) {
        let n = design.starts * design.rounds;
        let shared = self.deviations(rng, n);
        let mut side = |times: f64| {
            let own = self.of_a_case().deviations(rng, n);
            let both = shared.iter().zip(own);
            let both = both.map(|(shared, own)| shared * (1.0 - OWN * OWN).sqrt() + own * OWN);
            self.visits(rng, design, both.collect(), times.ln())
        };
        (side(times), side(1.0))
    }

    /// How much each round deviates.
    fn deviations(&self, rng: &mut NoiseRng, number: u32) -> Vec<f64> {
        let mut last = rng.normal();
        let end = f64::from(number.max(2)) - 1.0;
        let one = |round: u32| {
            let deviation = match self.shape {
                NoiseShape::Normal => rng.normal(),
                NoiseShape::Drift => rng.normal() + DRIFT * (f64::from(round) / end - 0.5),
                NoiseShape::HeavyTails => rng.student3(),
                NoiseShape::Lag => {
                    last = LAG * last + (1.0 - LAG * LAG).sqrt() * rng.normal();
                    last
                }
            };
            self.rounds * deviation
        };
        (0..number).map(one).collect()
    }

    fn visits(
        &self,
        rng: &mut NoiseRng,
        design: Design,
        deviations: Vec<f64>,
        ln: f64,
    ) -> Vec<RoundSamples> {
        let mut process = 0.0;
        let mut visits = Vec::with_capacity(deviations.len());
        for (round, deviation) in (0..).zip(deviations) {
            if round % design.rounds == 0 {
                process = self.processes * rng.normal();
            }
            let centre = ln + process + deviation;
            let sample = |_| (centre + WITHIN * rng.normal()).exp();
            visits.push(RoundSamples {
                round,
                start: if design.is_blind {
                    round
                } else {
                    round / design.rounds
                },
                samples: (0..SAMPLES).map(sample).collect(),
            });
        }
        visits
    }
}

/// Draws numbers.
struct NoiseRng(Xoshiro256PlusPlus);

impl NoiseRng {
    fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// Above 0 and at most 1.
    fn uniform(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) as f64 + 1.0) / (1_u64 << 53) as f64
    }

    /// Box and Muller, 1958.
    fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (TAU * self.uniform()).cos()
    }

    /// Student's t with three degrees of freedom, with a standard deviation of 1.
    fn student3(&mut self) -> f64 {
        let squares: f64 = (0..3).map(|_| self.normal().powi(2)).sum();
        self.normal() / squares.sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NUMBER: u32 = 800;

    fn design(starts: u32, rounds: u32) -> Design {
        Design {
            starts,
            rounds,
            is_blind: false,
        }
    }

    fn machine(rounds: f64, processes: f64, sessions: f64) -> NoisyMachine {
        NoisyMachine {
            rounds,
            processes,
            sessions,
            shape: NoiseShape::Normal,
        }
    }

    #[test]
    fn processes_that_differ_make_no_verdict() {
        let one = machine(0.01, 0.01, 0.0);
        for (number, design) in [(0, design(5, 1)), (1, design(3, 3))] {
            let counts = interleaved(&one, design, 1.0, NUMBER, number);
            assert!(counts.changed() <= 0.025, "{design:?}: {counts:?}");
        }
        for shape in [NoiseShape::Lag, NoiseShape::HeavyTails] {
            let one = NoisyMachine { shape, ..one };
            let counts = interleaved(&one, design(5, 1), 1.0, NUMBER, 2);
            assert!(counts.changed() <= 0.025, "{shape:?}: {counts:?}");
        }
        // One start, of which nothing below 5 % is said.
        let counts = interleaved(&one, design(1, 9), 1.0, NUMBER, 3);
        assert!(counts.changed() <= 0.025, "{counts:?}");
        // Its rounds, taken for independent, call one pair in ten a change and more.
        let blind = Design {
            is_blind: true,
            ..design(1, 9)
        };
        let counts = interleaved(&one, blind, 1.0, NUMBER, 3);
        assert!(counts.changed() > 0.1, "{counts:?}");
    }

    #[test]
    fn looking_until_it_is_settled_makes_no_verdict() {
        let one = machine(0.01, 0.01, 0.0);
        for shape in [NoiseShape::Normal, NoiseShape::Lag, NoiseShape::HeavyTails] {
            let one = NoisyMachine { shape, ..one };
            let (counts, _) = until_settled(&one, (5, 60), 1.0, NUMBER, 9);
            assert!(counts.changed() <= 0.05, "{shape:?}: {counts:?}");
        }
        let (found, taken) = until_settled(&one, (5, 60), 1.1, 200, 10);
        assert!(found.faster >= 190 && found.slower == 0, "{found:?}");
        assert!(taken[100] <= 8, "{taken:?}");
    }

    #[test]
    fn sessions_that_differ_make_no_verdict() {
        // Rounds of one stretch scatter by 2 %, sessions by 12 %.
        let restless = machine(0.02, 0.0, 0.12);
        for n_earlier in [0, 5, 8] {
            let counts = separate(&restless, design(1, 5), (1.0, n_earlier), NUMBER, 4);
            assert!(counts.changed() <= 0.025, "{n_earlier}: {counts:?}");
        }
        // Welch's interval of the rounds, which is what sessions that do not differ leave.
        let mut rng = NoiseRng::new(5);
        let mut welch = VerdictCounts::default();
        for _ in 0..NUMBER {
            let mut session = || {
                let own = restless.deviations(&mut rng, 5);
                let ln = restless.sessions * rng.normal();
                restless.visits(&mut rng, design(1, 5), own, ln)
            };
            let alike = SessionSpread::Known {
                deviation: 0.0,
                sessions: 5,
            };
            let (before, after) = (session(), session());
            welch.take(ratio::unpaired(&before, &after, alike).as_ref());
        }
        assert!(welch.changed() > 0.5, "{welch:?}");
        let spread = machine(0.09, 0.01, 0.02);
        let counts = separate(&spread, design(5, 1), (1.0, 0), NUMBER, 6);
        assert!(counts.changed() <= 0.025, "{counts:?}");
    }

    #[test]
    fn changes_that_are_there_are_found() {
        let quiet = machine(0.01, 0.003, 0.0);
        let counts = interleaved(&quiet, design(5, 1), 1.03, 200, 7);
        assert!(counts.faster >= 180 && counts.slower == 0, "{counts:?}");
        let counts = separate(&machine(0.03, 0.01, 0.02), design(5, 1), (1.3, 0), 200, 8);
        assert!(counts.faster >= 180 && counts.slower == 0, "{counts:?}");
    }
}
