//! Speed and quality of each setup, and which setups are on the Pareto front.

use std::fmt;

use super::accuracy;
use super::batch_curve::{BatchCurve, CurvePoint};
use powerband_core::domain::accuracy::{Accuracy, Hits};
use powerband_core::domain::point::Point;
use powerband_core::stats::bootstrap::Interval;
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
    pub fn of(self, accuracy: &Accuracy) -> Option<Level> {
        let hits = match self {
            Self::Top1 => accuracy.top1,
            Self::Top5 => accuracy.top5,
            Self::SameChoice => accuracy.same_choice,
            Self::Cosine => {
                let value = accuracy.distance?.worst_cosine;
                return value.is_finite().then_some(Level {
                    value,
                    interval: None,
                });
            }
        };
        let share = share(hits?)?;
        Some(Level {
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

/// How good something is; more is better.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level {
    /// A share from 0 to 1, or a cosine.
    pub value: f64,
    /// The 95 % interval of a share.
    pub interval: Option<(f64, f64)>,
}

/// At which point the speed counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum At {
    /// Where each setup has its best throughput.
    #[default]
    Best,
    /// At one point of the sweep.
    Point(Point),
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Best => f.write_str("at best throughput"),
            Self::Point(point) => write!(f, "at {point}"),
        }
    }
}

/// A setup whose outputs were to be compared.
#[derive(Clone, Copy, Debug)]
pub struct Judged<'a> {
    /// How close it is.
    pub accuracy: &'a Accuracy,
    /// How fast it is; nothing where nothing was measured.
    pub curve: Option<&'a BatchCurve>,
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

/// Where a setup stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Standing {
    /// How fast it is, where that is known.
    pub speed: Option<Speed>,
    /// How good it is, where that is known.
    pub level: Option<Level>,
    /// What that comes to.
    pub rank: Rank,
}

/// What speed and quality come to among others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rank {
    /// On the Pareto front: no setup is at least as good in both and better in one.
    Front,
    /// Dominated, by the fastest setup of the front that dominates it, by its place.
    Beaten(usize),
    /// It is no point, and why.
    Unknown(String),
}

/// The qualities that can be chosen: known of every setup that could be compared.
pub fn known(judged: &[Judged<'_>]) -> Vec<Quality> {
    let is_known = |setup: &Judged<'_>, quality: Quality| quality.of(setup.accuracy).is_some();
    let any = |setup: &&Judged<'_>| Quality::ALL.iter().any(|quality| is_known(setup, *quality));
    let compared: Vec<&Judged<'_>> = judged.iter().filter(any).collect();
    let sound: Vec<&Judged<'_>> = compared
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
pub fn points(judged: &[Judged<'_>]) -> Vec<Point> {
    let points = judged.iter().filter_map(|setup| setup.curve);
    let mut points: Vec<Point> = points
        .flat_map(|curve| curve.points.iter().map(|point| point.point))
        .collect();
    points.sort_unstable();
    points.dedup();
    points
}

/// Where each setup stands, in their order.
pub fn judged_standings(judged: &[Judged<'_>], quality: Quality, at: At) -> Vec<Standing> {
    let found: Vec<(Option<Speed>, Option<Level>)> = judged
        .iter()
        .map(|setup| (speed(setup, at), quality.of(setup.accuracy)))
        .collect();
    let worth: Vec<(f64, f64)> = found
        .iter()
        .map(|(speed, level)| match (speed, level) {
            (Some(speed), Some(level)) => (speed.per_s, counted(quality, level.value)),
            _ => (f64::NAN, f64::NAN),
        })
        .collect();
    let front = pareto::front(&worth);
    judged
        .iter()
        .zip(found)
        .enumerate()
        .map(|(place, (setup, (speed, level)))| Standing {
            rank: match reason(setup, speed, level, quality, at) {
                Some(reason) => Rank::Unknown(reason),
                None if front.contains(&place) => Rank::Front,
                None => Rank::Beaten(beater(&worth, &front, place)),
            },
            speed,
            level,
        })
        .collect()
}

/// The share with its interval.
pub fn share(hits: Hits) -> Option<Share> {
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

fn speed(setup: &Judged<'_>, at: At) -> Option<Speed> {
    let points = &setup.curve?.points;
    let faster = |a: &&CurvePoint, b: &&CurvePoint| a.rate_or_zero().total_cmp(&b.rate_or_zero());
    let point = match at {
        At::Best => points.iter().max_by(faster),
        At::Point(at) => points.iter().find(|point| point.point == at),
    };
    point.and_then(|point| {
        Some(Speed {
            point: point.point,
            per_s: point.throughput_per_s?,
            ci95: point.throughput_ci95,
        })
    })
}

/// Why a setup is no point.
fn reason(
    setup: &Judged<'_>,
    speed: Option<Speed>,
    level: Option<Level>,
    quality: Quality,
    at: At,
) -> Option<String> {
    if level.is_none() {
        let trouble = setup.accuracy.trouble.clone();
        return Some(trouble.unwrap_or_else(|| format!("{quality} is not known of it")));
    }
    match (speed, at) {
        (Some(_), _) => None,
        (None, At::Best) => Some("it was not measured".to_owned()),
        (None, At::Point(point)) => Some(format!("it was not measured at {point}")),
    }
}

/// The fastest of the front that is at least as good in both.
fn beater(worth: &[(f64, f64)], front: &[usize], place: usize) -> usize {
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
    use crate::analysis::testing::{measure_near, session};
    use crate::analysis::{batch_curve, case_rows};
    use powerband_core::domain::accuracy::Distance;

    fn accuracy(worst_cosine: f64, same: u64) -> Accuracy {
        Accuracy {
            items: 64,
            distance: Some(Distance {
                worst_cosine,
                ..Distance::default()
            }),
            same_choice: Some(Hits { hits: same, of: 64 }),
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
        batch_curve::batch_curves(&case_rows::case_rows(&session))
    }

    fn judged<'a>(accuracies: &'a [Accuracy], curves: &'a [BatchCurve]) -> Vec<Judged<'a>> {
        let both = accuracies.iter().zip(curves);
        both.map(|(accuracy, curve)| Judged {
            accuracy,
            curve: Some(curve),
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
        assert_eq!(known(&judged), [Quality::SameChoice, Quality::Cosine]);
        let ranks = |quality| -> Vec<Rank> {
            let standings = judged_standings(&judged, quality, At::Best);
            standings
                .into_iter()
                .map(|standing| standing.rank)
                .collect()
        };
        let lost = Rank::Unknown("it does not run".to_owned());
        // The second is closer by rounding alone.
        assert_eq!(
            ranks(Quality::Cosine),
            [
                Rank::Front,
                Rank::Beaten(0),
                Rank::Front,
                Rank::Beaten(2),
                lost.clone()
            ]
        );
        assert_eq!(
            ranks(Quality::SameChoice),
            [Rank::Front, Rank::Beaten(0), Rank::Front, Rank::Front, lost]
        );
    }

    #[test]
    fn speed_is_that_of_the_best_batch_or_of_the_one_that_was_asked_for() {
        let accuracies = [accuracy(0.9, 32)];
        let curves = curves(&[1_000]);
        let judged = judged(&accuracies, &curves);
        assert_eq!(points(&judged), [1, 4].map(Point::of_batch));
        let batch = |at| {
            judged_standings(&judged, Quality::SameChoice, at)[0]
                .speed
                .map(|speed| speed.point.batch())
        };
        assert_eq!(batch(At::Best), Some(4));
        assert_eq!(batch(At::Point(Point::of_batch(1))), Some(1));
        let missing =
            &judged_standings(&judged, Quality::SameChoice, At::Point(Point::of_batch(2)))[0];
        assert_eq!(
            missing.rank,
            Rank::Unknown("it was not measured at batch 2".to_owned())
        );
        let level = missing.level.unwrap();
        let (low, high) = level.interval.unwrap();
        assert!(low < 0.4 && high > 0.6 && level.value == 0.5, "{level:?}");
    }

    #[test]
    fn only_what_is_known_of_all_can_be_asked_for() {
        let labelled = Accuracy {
            top1: Some(Hits { hits: 3, of: 4 }),
            ..accuracy(0.9, 60)
        };
        let accuracies = [labelled.clone(), accuracy(0.9, 60)];
        let curves = curves(&[1_000, 1_000]);
        let both = judged(&accuracies, &curves);
        assert_eq!(known(&both), [Quality::SameChoice, Quality::Cosine]);
        assert_eq!(known(&both[..1]).len(), 3);
        assert_eq!(known(&[]), []);
        let standings = judged_standings(&both, Quality::Top1, At::Best);
        assert_eq!(
            standings[1].rank,
            Rank::Unknown("top-1 is not known of it".to_owned())
        );
        // Equal in both: neither dominates.
        let standings = judged_standings(&both, Quality::Cosine, At::Best);
        assert!(
            standings
                .iter()
                .all(|standing| standing.rank == Rank::Front)
        );
    }
}
