//! Whether weights name what is there, and whether how sure they are comes true.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

use super::*;

fn effect(ratio: f64, error: f64) -> Effect {
    Effect {
        ln: ratio.ln(),
        error,
    }
}

/// Arithmetic, bytes of memory, bytes of caches, starts.
fn floors(shares: [f64; 4]) -> FloorShares {
    let [compute, memory, cache, launch] = shares.map(|share| Some(Share { share, error: 0.02 }));
    FloorShares {
        compute,
        memory,
        cache,
        launch,
    }
}

fn likeliest(evidence: &Evidence) -> (CaseLimit, f64) {
    weigh(&observations(evidence), Some(2))[0]
}

/// A case on two threads: half of them, a load that streams memory, floors, time of a node, and how busy they are.
fn seen(threads: f64, load: f64, shares: [f64; 4], node_us: f64, busy: (f64, bool)) -> Evidence {
    Evidence {
        half_threads: Some(effect(threads, 0.02)),
        streaming: Some(effect(load, 0.02)),
        floors: Some(floors(shares)),
        node_ns: Some(node_us * 1e3),
        busy: Some(BusyShare {
            share: busy.0,
            of_left: busy.0,
            threads: 2,
            spins: busy.1,
        }),
        memory_scaling: Some(0.3),
        memory_shared: Some(0.5),
        ..Evidence::default()
    }
}

#[test]
fn each_limit_is_told_by_what_it_does() {
    let (spins, sleeps) = ((0.98, true), |share| (share, false));
    let none = [0.01; 4];
    let cases = [
        (
            CaseLimit::Compute,
            seen(1.9, 1.01, [0.8, 0.05, 0.01, 0.0], 900.0, spins),
        ),
        (
            CaseLimit::Memory,
            seen(1.3, 1.5, [0.05, 0.6, 0.01, 0.0], 900.0, spins),
        ),
        (
            CaseLimit::Cache,
            seen(1.9, 1.3, [0.05, 0.01, 0.6, 0.0], 300.0, spins),
        ),
        (
            CaseLimit::Launch,
            seen(0.97, 1.0, [0.0, 0.0, 0.01, 0.8], 0.4, spins),
        ),
        (
            CaseLimit::Serial,
            seen(1.0, 1.02, none, 400.0, sleeps(0.52)),
        ),
        (
            CaseLimit::Waiting,
            seen(1.0, 1.0, none, 400.0, sleeps(0.04)),
        ),
        (
            CaseLimit::Imbalance,
            seen(1.48, 1.01, [0.3, 0.02, 0.02, 0.0], 900.0, sleeps(0.78)),
        ),
    ];
    for (limit, evidence) in cases {
        let (found, weight) = likeliest(&evidence);
        assert!(
            found == limit && weight > 0.9,
            "{limit:?}: {found:?} {weight}"
        );
    }
}

#[test]
fn a_wide_interval_says_little_and_nothing_is_ruled_out() {
    let wide = Evidence {
        half_threads: Some(effect(1.9, 1.0)),
        ..Evidence::default()
    };
    assert!(likeliest(&wide).1 < 0.5);
    let sharp = Evidence {
        half_threads: Some(effect(1.9, 0.01)),
        ..Evidence::default()
    };
    for (limit, weight) in weigh(&observations(&sharp), Some(2)) {
        assert!(weight > 1e-4, "{limit:?} {weight}");
    }
    assert!(observations(&Evidence::default()).is_empty());
}

#[test]
fn what_a_roof_explains_badly_is_not_settled_by_it_alone() {
    let unexplained = Evidence {
        floors: Some(floors([0.1, 0.1, 0.02, 0.01])),
        ..Evidence::default()
    };
    assert!(likeliest(&unexplained).1 < 0.7);
}

#[test]
fn one_thread_waits_for_no_other_and_a_card_has_none() {
    let evidence = Evidence {
        half_threads: Some(effect(1.45, 0.02)),
        ..Evidence::default()
    };
    let weight = |limit, threads| {
        let weights = weigh(&observations(&evidence), threads);
        weights.iter().find(|(one, _)| *one == limit).unwrap().1
    };
    assert!(weight(CaseLimit::Imbalance, Some(2)) > 0.3);
    assert!(weight(CaseLimit::Imbalance, Some(1)) < 1e-9);
    assert!(weight(CaseLimit::Serial, Some(1)) > 0.0);
    assert!(weight(CaseLimit::Serial, None) < 1e-9);
}

struct Draws(Xoshiro256PlusPlus);

impl Draws {
    fn share(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// By Box and Muller.
    fn normal(&mut self, predicted: Predicted) -> f64 {
        let (one, other) = (self.share().max(1e-12), self.share());
        let unit = (-2.0 * one.ln()).sqrt() * (2.0 * std::f64::consts::PI * other).cos();
        predicted.ln + predicted.width * unit
    }

    /// What a load costs a case that is limited so, as `load_likelihood` has it.
    fn load(&mut self, limit: CaseLimit) -> Predicted {
        match limit {
            CaseLimit::Memory => predicted(0.34, 0.25),
            CaseLimit::Cache if self.share() < 0.5 => predicted(0.25, 0.25),
            CaseLimit::Cache => predicted(0.02, 0.05),
            CaseLimit::Serial => predicted(0.04, 0.07),
            CaseLimit::Waiting => predicted(0.0, 0.03),
            CaseLimit::Compute | CaseLimit::Launch | CaseLimit::Imbalance => predicted(0.015, 0.04),
        }
    }

    /// A case that is limited so, seen with some error, on a machine of two cores; now and then something is missing.
    fn case(&mut self, limit: CaseLimit) -> Evidence {
        let machine = Evidence {
            memory_scaling: Some(0.14),
            memory_shared: Some(0.56),
            ..Evidence::default()
        };
        let measured = |predicted: Predicted, draws: &mut Self| {
            let error = 0.01 + 0.15 * draws.share();
            let ln = draws.normal(predicted);
            let seen = draws.normal(Predicted { ln, width: error });
            (draws.share() < 0.8).then_some(Effect { ln: seen, error })
        };
        let half_threads = measured(threads_predicted(limit, &machine), self);
        let streaming = measured(self.load(limit), self);
        let share = |own: bool, draws: &mut Self| {
            let ln = draws.normal(if own { OWN } else { NOT_OWN });
            Some(Share {
                share: ln.min(0.0).exp(),
                error: 0.02,
            })
        };
        let floors = FloorShares {
            compute: share(limit == CaseLimit::Compute, self),
            memory: share(limit == CaseLimit::Memory, self),
            cache: share(limit == CaseLimit::Cache, self),
            launch: share(limit == CaseLimit::Launch, self),
        };
        Evidence {
            half_threads,
            streaming,
            floors: (self.share() < 0.8).then_some(floors),
            ..machine
        }
    }
}

#[test]
fn how_sure_it_is_comes_true() {
    let mut draws = Draws(Xoshiro256PlusPlus::seed_from_u64(51));
    // By how sure an answer was: how many there were, how many were right, and how many of these it expected.
    let mut bins = [(0_u32, 0_u32, 0.0_f64); 3];
    for _ in 0..4_000 {
        let mut left = draws.share();
        let drawn = CaseLimit::ALL.into_iter().find(|limit| {
            left -= limit.prior(Some(2));
            left < 0.0
        });
        let truth = drawn.unwrap_or(CaseLimit::Compute);
        let evidence = draws.case(truth);
        if observations(&evidence).is_empty() {
            continue;
        }
        let (found, weight) = likeliest(&evidence);
        let bin = match weight {
            weight if weight >= 0.95 => 2,
            weight if weight >= 0.85 => 1,
            _ => 0,
        };
        bins[bin].0 += 1;
        bins[bin].1 += u32::from(found == truth);
        bins[bin].2 += weight;
    }
    let [_, near, sure] = bins;
    let right = |bin: (u32, u32, f64)| f64::from(bin.1) / f64::from(bin.0);
    assert!(near.0 >= 200 && sure.0 >= 200, "{bins:?}");
    assert!((0.85..=0.95).contains(&right(near)), "{bins:?}");
    assert!(right(sure) >= 0.95, "{bins:?}");
}
