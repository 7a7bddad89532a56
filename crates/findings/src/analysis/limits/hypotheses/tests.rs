//! Whether weights name what is there, and whether how sure they are comes true.

use std::fs;
use std::path::Path;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

use super::*;
use crate::chart::axis;
use crate::chart::figure::Drawing;
use crate::chart::spec::{ChartPoint, ChartSpec, Series, SeriesId, Stroke};
use crate::export::style::Style;
use crate::export::svg;

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
            CaseLimit::Compute if self.share() < CACHED_OPERANDS => predicted(0.12, 0.10),
            CaseLimit::Compute | CaseLimit::Clock | CaseLimit::Launch | CaseLimit::Imbalance => {
                predicted(0.015, 0.04)
            }
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

/// How sure the likeliest limit of made-up cases was, and whether it was right.
fn drawn_answers(cases: usize) -> Vec<(f64, bool)> {
    let mut draws = Draws(Xoshiro256PlusPlus::seed_from_u64(51));
    let mut answers = Vec::new();
    for _ in 0..cases {
        let mut left = draws.share();
        let drawn = CaseLimit::ALL.into_iter().find(|limit| {
            left -= limit.prior(Some(2));
            left < 0.0
        });
        let truth = drawn.unwrap_or(CaseLimit::Compute);
        let evidence = draws.case(truth);
        if !observations(&evidence).is_empty() {
            let (found, weight) = likeliest(&evidence);
            answers.push((weight, found == truth));
        }
    }
    answers
}

/// The answers whose certainty lies between these: how many, their mean certainty, and the share that was right.
fn bin(answers: &[(f64, bool)], from: f64, to: f64) -> (usize, f64, f64) {
    let within = answers.iter().filter(|(sure, _)| (from..to).contains(sure));
    let within: Vec<&(f64, bool)> = within.collect();
    let count = within.len() as f64;
    let sure = within.iter().map(|(sure, _)| sure).sum::<f64>() / count;
    let right = within.iter().filter(|(_, is_right)| *is_right).count() as f64 / count;
    (within.len(), sure, right)
}

#[test]
fn how_sure_it_is_comes_true() {
    let answers = drawn_answers(4_000);
    let (near, sure) = (bin(&answers, 0.85, 0.95), bin(&answers, 0.95, 1.1));
    assert!(near.0 >= 200 && sure.0 >= 200, "{near:?} {sure:?}");
    assert!((0.85..=0.95).contains(&near.2), "{near:?}");
    assert!(sure.2 >= 0.95, "{sure:?}");
}

/// The figure of the guide: how sure answers are against how often they are right.
#[test]
fn a_load_that_seems_to_help_speaks_for_no_limit_of_bytes() {
    let seen = |times: f64| {
        let evidence = Evidence {
            threads: Some(2),
            streaming: Some(Effect {
                ln: times.ln(),
                error: 0.05,
            }),
            ..Evidence::default()
        };
        let seen = observations(&evidence);
        let place = |limit| CaseLimit::ALL.iter().position(|one| *one == limit);
        let of = |limit| seen[0].likelihoods[place(limit).expect("it is weighed")];
        of(CaseLimit::Memory) / of(CaseLimit::Compute)
    };
    assert!(seen(0.78) < 1.0 && seen(1.0) < 1.0, "{}", seen(0.78));
    assert!(seen(1.4) > 1.0);
}

#[test]
fn the_figure_of_the_guide_shows_the_calibration() {
    let answers = drawn_answers(4_000);
    let steps = (3..10).map(|step| f64::from(step) / 10.0);
    let bins = steps.map(|from| bin(&answers, from, if from > 0.85 { 1.1 } else { from + 0.1 }));
    let points = bins
        .filter(|(count, ..)| *count > 0)
        .map(|(count, sure, right)| {
            let half = 1.96 * (right * (1.0 - right) / count as f64).sqrt();
            ChartPoint::new(sure, right, count as u64)
                .with_band(Some((right - half, (right + half).min(1.0))))
        });
    let point = |at: f64| ChartPoint::new(at, at, 0);
    let series = |id: u64, name: &str, points: Vec<ChartPoint>, stroke: Stroke| {
        Series::new(SeriesId(id), name.to_owned(), id as usize, stroke, points)
    };
    let chart = ChartSpec {
        title: "How sure answers are, and how often they are right".to_owned(),
        x: axis::between("how sure it is", 0.3, 1.0),
        y: axis::between("share that is right", 0.2, 1.0),
        series: vec![
            series(
                0,
                "made-up cases, with 95 % intervals",
                points.collect(),
                Stroke::Dots,
            ),
            series(
                1,
                "as sure as it says",
                vec![point(0.3), point(1.0)],
                Stroke::Thin,
            ),
        ],
        ..ChartSpec::default()
    };
    let drawn = svg::write(&Drawing::Chart(Box::new(chart)), &Style::default());
    let guide =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/pictures/why-calibration.svg");
    if std::env::var_os("POWERBAND_RENEW_PICTURES").is_some() {
        fs::write(&guide, &drawn).unwrap();
    }
    assert!(
        fs::read_to_string(&guide).unwrap() == drawn,
        "{} is another figure now; POWERBAND_RENEW_PICTURES=1 takes the new one",
        guide.display()
    );
}
