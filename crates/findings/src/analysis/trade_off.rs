//! Speed and quality of each setup, and which setups are on the Pareto front.
//!
//! The front is drawn jointly over the speeds; the qualities are those of the given inputs, on which all setups ran.

use std::fmt;

use super::accuracy;
use super::batch_curve::{BatchCurve, CurvePoint};
use super::case_rounds::{JointDraws, RoundStatistic};
use powerband_core::domain::accuracy::{Accuracy, HitCount};
use powerband_core::domain::point::Point;
use powerband_core::stats::bootstrap::Interval;
use powerband_core::stats::joint::{AGREEMENT, DRAWS, LEAST_CANDIDATE};
use powerband_core::stats::pareto;
use powerband_core::stats::share::Share;

/// Which number stands for quality.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Quality {
    /// Items whose label came out on top.
    #[default]
    Top1,
    /// Items whose label is among the first five.
    Top5,
    /// Items of which the setup says what the reference says.
    SameChoice,
    /// The lowest cosine between an item and its reference.
    Cosine,
}

impl Quality {
    /// Every one, in the order in which they are offered.
    pub const ALL: [Self; 4] = [Self::Top1, Self::Top5, Self::SameChoice, Self::Cosine];

    /// Its definition in one sentence.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Top1 => "Share of the samples whose label has the largest value.",
            Self::Top5 => "Share of the samples whose label is among the five largest values.",
            Self::SameChoice => {
                "Share of the inputs whose largest value is where the reference has it."
            }
            Self::Cosine => {
                "The lowest cosine between the output for an input and the reference's: 1 is the same."
            }
        }
    }

    /// Whether it is a share of items.
    pub fn is_share(self) -> bool {
        self != Self::Cosine
    }

    /// How good a setup is by it, where that is known.
    pub fn level_in(self, accuracy: &Accuracy) -> Option<QualityLevel> {
        let hits = match self {
            Self::Top1 => accuracy.top1,
            Self::Top5 => accuracy.top5,
            Self::SameChoice => accuracy.same_choice,
            Self::Cosine => {
                let value = accuracy.distance?.worst_cosine;
                return value.is_finite().then_some(QualityLevel {
                    value,
                    interval: None,
                });
            }
        };
        let share = share(hits?)?;
        Some(QualityLevel {
            value: share.value(),
            interval: Some((share.low, share.high)),
        })
    }
}

impl fmt::Display for Quality {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Top1 => "top-1",
            Self::Top5 => "top-5",
            Self::SameChoice => "same choice",
            Self::Cosine => "cosine",
        })
    }
}

/// A quality value; more is better.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QualityLevel {
    /// A share from 0 to 1, or a cosine.
    pub value: f64,
    /// The 95 % interval of a share.
    pub interval: Option<(f64, f64)>,
}

/// At which point the speed counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SpeedPoint {
    /// Where each setup has its best throughput.
    #[default]
    Best,
    /// At one point of the sweep.
    Point(Point),
}

impl fmt::Display for SpeedPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Best => f.write_str("at best throughput"),
            Self::Point(point) => write!(f, "at {point}"),
        }
    }
}

/// A setup whose outputs were to be compared.
#[derive(Clone, Copy, Debug)]
pub struct JudgedSetup<'a> {
    /// How close it is.
    pub accuracy: &'a Accuracy,
    /// How fast it is; nothing where nothing was measured.
    pub curve: Option<&'a BatchCurve>,
    /// Which of the open sessions it is of: those are not interleaved.
    pub session: usize,
}

/// How fast a setup is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Speed {
    /// At this point of the sweep.
    pub point: Point,
    /// Items a second.
    pub per_s: f64,
    /// Its 95 % interval.
    pub ci95: Option<Interval>,
}

/// Speed and quality of a setup with its rank.
#[derive(Clone, Debug, PartialEq)]
pub struct SetupStanding {
    pub speed: Option<Speed>,
    pub level: Option<QualityLevel>,
    /// Position relative to the Pareto front.
    pub rank: ParetoRank,
}

/// Position of a setup relative to the Pareto front.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParetoRank {
    /// On the Pareto front: no setup is at least as good in both and better in one.
    Front,
    /// Dominated, by the fastest setup of the front that dominates it, by its place; by one of several where which
    /// is not settled.
    Dominated(Vec<usize>),
    /// On the front in some draws and dominated in others: the share of those on the front, in percent, and the
    /// places of the setups that may dominate it.
    NotSettled {
        /// Draws in which it is on the front, in percent.
        percent: u32,
        /// What may dominate it.
        by: Vec<usize>,
    },
    /// It is no point, and why.
    Unknown(String),
}

/// The qualities that can be chosen: known of every setup that could be compared.
pub fn known_qualities(judged: &[JudgedSetup<'_>]) -> Vec<Quality> {
    let is_known =
        |setup: &JudgedSetup<'_>, quality: Quality| quality.level_in(setup.accuracy).is_some();
    let any =
        |setup: &&JudgedSetup<'_>| Quality::ALL.iter().any(|quality| is_known(setup, *quality));
    let compared: Vec<&JudgedSetup<'_>> = judged.iter().filter(any).collect();
    let sound: Vec<&JudgedSetup<'_>> = compared
        .iter()
        .filter(|setup| setup.accuracy.trouble.is_none())
        .copied()
        .collect();
    // Where every setup has a problem, their known qualities count.
    let all = if sound.is_empty() { &compared } else { &sound };
    Quality::ALL
        .into_iter()
        .filter(|quality| !all.is_empty() && all.iter().all(|setup| is_known(setup, *quality)))
        .collect()
}

/// Points at which a setup was measured, ascending.
pub fn measured_points(judged: &[JudgedSetup<'_>]) -> Vec<Point> {
    let points = judged.iter().filter_map(|setup| setup.curve);
    let mut points: Vec<Point> = points
        .flat_map(|curve| curve.points.iter().map(|point| point.point))
        .collect();
    points.sort_unstable();
    points.dedup();
    points
}

/// Where each setup stands, in their order.
pub fn judged_standings(
    judged: &[JudgedSetup<'_>],
    quality: Quality,
    at: SpeedPoint,
) -> Vec<SetupStanding> {
    let found: Vec<(Option<&CurvePoint>, Option<QualityLevel>)> = judged
        .iter()
        .map(|setup| (point_at(setup, at), quality.level_in(setup.accuracy)))
        .collect();
    let has_several = judged
        .windows(2)
        .any(|pair| pair[0].session != pair[1].session);
    let mut joint = if has_several {
        JointDraws::of_several_sessions()
    } else {
        JointDraws::default()
    };
    let ranked: Vec<Ranked> = judged
        .iter()
        .zip(&found)
        .filter_map(|(setup, (point, level))| {
            let (point, level) = (point.as_ref()?, level.as_ref()?);
            let draws = joint.draws(setup.session, &point.by_round, RoundStatistic::Rate);
            Some(Ranked {
                speed: point.throughput_per_s?,
                draws,
                quality: counted(quality, level.value),
            })
        })
        .collect();
    let ranks = ranks(&ranked);
    // Places among those that could be ranked, as places among all.
    let is_ranked = |(point, level): &(Option<&CurvePoint>, Option<QualityLevel>)| {
        level.is_some() && point.is_some_and(|point| point.throughput_per_s.is_some())
    };
    let places: Vec<usize> = (0..found.len())
        .filter(|place| is_ranked(&found[*place]))
        .collect();
    let mut ranks = ranks.into_iter().map(|rank| rank.placed(&places));
    judged
        .iter()
        .zip(found)
        .map(|(setup, (point, level))| {
            let speed = point.and_then(speed_of);
            let rank = match reason(setup, speed, level, quality, at) {
                Some(reason) => ParetoRank::Unknown(reason),
                None => ranks.next().unwrap_or(ParetoRank::Front),
            };
            SetupStanding { speed, level, rank }
        })
        .collect()
}

/// A setup with a speed and a quality.
struct Ranked {
    speed: f64,
    /// Draws of the logarithm of the speed; nothing where its uncertainty is not known.
    draws: Option<Vec<f64>>,
    quality: f64,
}

impl ParetoRank {
    fn placed(self, places: &[usize]) -> Self {
        let placed = |by: Vec<usize>| by.into_iter().map(|place| places[place]).collect();
        match self {
            Self::Dominated(by) => Self::Dominated(placed(by)),
            Self::NotSettled { percent, by } => Self::NotSettled {
                percent,
                by: placed(by),
            },
            other => other,
        }
    }
}

/// What draws of the front say of each setup. One whose uncertainty is not known counts as what is shown.
fn ranks(ranked: &[Ranked]) -> Vec<ParetoRank> {
    let n = ranked.len();
    let mut on_front = vec![0; n];
    let mut beaten = vec![vec![0; n]; n];
    let mut worth = vec![(0.0, 0.0); n];
    for draw in 0..DRAWS {
        for (worth, one) in worth.iter_mut().zip(ranked) {
            let drawn = one.draws.as_ref().map(|draws| draws[draw]);
            *worth = (drawn.unwrap_or_else(|| one.speed.ln()), one.quality);
        }
        let front = pareto::front(&worth);
        for place in 0..n {
            if front.contains(&place) {
                on_front[place] += 1;
            } else {
                beaten[place][fastest_dominator(&worth, &front, place)] += 1;
            }
        }
    }
    let share = |count: usize| count as f64 / DRAWS as f64;
    let is_known = ranked.iter().all(|one| one.draws.is_some());
    let rank = |place: usize| {
        let mut by: Vec<usize> = (0..n)
            .filter(|other| share(beaten[place][*other]) >= LEAST_CANDIDATE)
            .collect();
        by.sort_by_key(|other| std::cmp::Reverse(beaten[place][*other]));
        let front = share(on_front[place]);
        if n == 1 || (is_known && front >= AGREEMENT) {
            ParetoRank::Front
        } else if is_known && 1.0 - front >= AGREEMENT {
            ParetoRank::Dominated(by)
        } else {
            ParetoRank::NotSettled {
                percent: (front * 100.0).round() as u32,
                by,
            }
        }
    };
    (0..n).map(rank).collect()
}

/// The share with its interval.
pub fn share(hits: HitCount) -> Option<Share> {
    Share::wilson(hits.hits, hits.of)
}

/// A quality for comparing: cosines that differ from 1 by rounding alone are equal.
fn counted(quality: Quality, value: f64) -> f64 {
    if quality == Quality::Cosine && accuracy::is_one(value) {
        1.0
    } else {
        value
    }
}

/// The point at which the speed of a setup counts.
fn point_at<'a>(setup: &JudgedSetup<'a>, at: SpeedPoint) -> Option<&'a CurvePoint> {
    let points = &setup.curve?.points;
    let faster = |a: &&CurvePoint, b: &&CurvePoint| a.rate_or_zero().total_cmp(&b.rate_or_zero());
    match at {
        SpeedPoint::Best => points.iter().max_by(faster),
        SpeedPoint::Point(at) => points.iter().find(|point| point.point == at),
    }
}

fn speed_of(point: &CurvePoint) -> Option<Speed> {
    Some(Speed {
        point: point.point,
        per_s: point.throughput_per_s?,
        ci95: point.throughput_ci95,
    })
}

/// Why a setup is no point.
fn reason(
    setup: &JudgedSetup<'_>,
    speed: Option<Speed>,
    level: Option<QualityLevel>,
    quality: Quality,
    at: SpeedPoint,
) -> Option<String> {
    if level.is_none() {
        let trouble = setup.accuracy.trouble.clone();
        return Some(trouble.unwrap_or_else(|| format!("{quality} is not known of it")));
    }
    match (speed, at) {
        (Some(_), _) => None,
        (None, SpeedPoint::Best) => Some("it was not measured".to_owned()),
        (None, SpeedPoint::Point(point)) => Some(format!("it was not measured at {point}")),
    }
}

/// The fastest of the front that is at least as good in both.
fn fastest_dominator(worth: &[(f64, f64)], front: &[usize], place: usize) -> usize {
    let (speed, quality) = worth[place];
    front
        .iter()
        .copied()
        .filter(|&other| worth[other].0 >= speed && worth[other].1 >= quality)
        .max_by(|&a, &b| worth[a].0.total_cmp(&worth[b].0))
        .unwrap_or(place)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing::{measure, measure_near, session};
    use crate::analysis::{batch_curve, case_rows};
    use powerband_core::domain::accuracy::OutputDistance;

    fn accuracy(worst_cosine: f64, same: u64) -> Accuracy {
        Accuracy {
            items: 64,
            distance: Some(OutputDistance {
                worst_cosine,
                ..OutputDistance::default()
            }),
            same_choice: Some(HitCount { hits: same, of: 64 }),
            ..Accuracy::default()
        }
    }

    /// Setups that take so many microseconds an item, at batches 1 and 4.
    fn curves(micros: &[u64]) -> Vec<BatchCurve> {
        let mut session = session(&vec!["fake"; micros.len()], &[1, 4]);
        for (setup, micros) in micros.iter().enumerate() {
            measure_near(&mut session, setup, 1, micros * 2);
            measure_near(&mut session, setup, 4, micros * 4);
        }
        // Each round of a process of its own.
        for round in session.cases.iter_mut().flat_map(|case| &mut case.rounds) {
            round.start = Some(round.round);
        }
        batch_curve::batch_curves(&case_rows::case_rows(&session))
    }

    fn judged<'a>(accuracies: &'a [Accuracy], curves: &'a [BatchCurve]) -> Vec<JudgedSetup<'a>> {
        let both = accuracies.iter().zip(curves);
        both.map(|(accuracy, curve)| JudgedSetup {
            accuracy,
            curve: Some(curve),
            session: 0,
        })
        .collect()
    }

    #[test]
    fn the_front_has_those_whom_nobody_beats() {
        let lost = Accuracy {
            trouble: Some("it does not run".to_owned()),
            ..Accuracy::default()
        };
        let accuracies = [
            accuracy(1.0 - 1e-12, 64),
            accuracy(1.0 - 3e-13, 64),
            accuracy(0.98, 61),
            accuracy(0.97, 62),
            lost,
        ];
        let curves = curves(&[1_000, 4_000, 250, 300, 100]);
        let judged = judged(&accuracies, &curves);
        assert_eq!(
            known_qualities(&judged),
            [Quality::SameChoice, Quality::Cosine]
        );
        let ranks = |quality| -> Vec<ParetoRank> {
            let standings = judged_standings(&judged, quality, SpeedPoint::Best);
            standings
                .into_iter()
                .map(|standing| standing.rank)
                .collect()
        };
        let lost = ParetoRank::Unknown("it does not run".to_owned());
        // The second is closer by rounding alone.
        assert_eq!(
            ranks(Quality::Cosine),
            [
                ParetoRank::Front,
                ParetoRank::Dominated(vec![0]),
                ParetoRank::Front,
                ParetoRank::Dominated(vec![2]),
                lost.clone()
            ]
        );
        assert_eq!(
            ranks(Quality::SameChoice),
            [
                ParetoRank::Front,
                ParetoRank::Dominated(vec![0]),
                ParetoRank::Front,
                ParetoRank::Front,
                lost
            ]
        );
    }

    #[test]
    fn speeds_that_scatter_leave_the_front_open() {
        let mut session = session(&["fake"; 3], &[1]);
        // The second is as fast as the first, give or take a third; the third far slower and worse than both.
        for (setup, micros) in [
            (0, [1_000, 1_010, 990, 1_000, 1_005]),
            (1, [1_300, 700, 900, 1_250, 800]),
            (2, [9_000, 9_100, 9_050, 9_000, 9_000]),
        ] {
            let rounds: Vec<Vec<u64>> = micros.map(|micros: u64| vec![micros * 1_000; 9]).into();
            let rounds: Vec<&[u64]> = rounds.iter().map(Vec::as_slice).collect();
            measure(&mut session, setup, 1, &rounds);
        }
        let curves = batch_curve::batch_curves(&case_rows::case_rows(&session));
        let accuracies = [accuracy(0.99, 64), accuracy(0.98, 64), accuracy(0.97, 64)];
        let standings = judged_standings(
            &judged(&accuracies, &curves),
            Quality::Cosine,
            SpeedPoint::Best,
        );
        assert_eq!(standings[0].rank, ParetoRank::Front);
        let ParetoRank::NotSettled { percent, by } = &standings[1].rank else {
            panic!("{standings:?}")
        };
        assert!((5..95).contains(percent) && *by == [0], "{standings:?}");
        let ParetoRank::Dominated(by) = &standings[2].rank else {
            panic!("{standings:?}")
        };
        assert!(!by.is_empty(), "{standings:?}");
    }

    #[test]
    fn speed_is_that_of_the_best_batch_or_of_the_one_that_was_asked_for() {
        let accuracies = [accuracy(0.9, 32)];
        let curves = curves(&[1_000]);
        let judged = judged(&accuracies, &curves);
        assert_eq!(measured_points(&judged), [1, 4].map(Point::of_batch));
        let batch = |at| {
            judged_standings(&judged, Quality::SameChoice, at)[0]
                .speed
                .map(|speed| speed.point.batch())
        };
        assert_eq!(batch(SpeedPoint::Best), Some(4));
        assert_eq!(batch(SpeedPoint::Point(Point::of_batch(1))), Some(1));
        let missing = &judged_standings(
            &judged,
            Quality::SameChoice,
            SpeedPoint::Point(Point::of_batch(2)),
        )[0];
        assert_eq!(
            missing.rank,
            ParetoRank::Unknown("it was not measured at batch 2".to_owned())
        );
        let level = missing.level.unwrap();
        let (low, high) = level.interval.unwrap();
        assert!(low < 0.4 && high > 0.6 && level.value == 0.5, "{level:?}");
    }

    #[test]
    fn only_what_is_known_of_all_can_be_asked_for() {
        let labelled = Accuracy {
            top1: Some(HitCount { hits: 3, of: 4 }),
            ..accuracy(0.9, 60)
        };
        let accuracies = [labelled.clone(), accuracy(0.9, 60)];
        let curves = curves(&[1_000, 1_000]);
        let both = judged(&accuracies, &curves);
        assert_eq!(
            known_qualities(&both),
            [Quality::SameChoice, Quality::Cosine]
        );
        assert_eq!(known_qualities(&both[..1]).len(), 3);
        assert_eq!(known_qualities(&[]), []);
        let standings = judged_standings(&both, Quality::Top1, SpeedPoint::Best);
        assert_eq!(
            standings[1].rank,
            ParetoRank::Unknown("top-1 is not known of it".to_owned())
        );
        // Equal in both: neither dominates.
        let standings = judged_standings(&both, Quality::Cosine, SpeedPoint::Best);
        assert!(
            standings
                .iter()
                .all(|standing| standing.rank == ParetoRank::Front)
        );
    }
}
