//! Speed and quality of several setups: a point for each, and the Pareto front.

use super::axis;
use super::spec::{Axis, AxisScale, ChartPoint, ChartSpec, Mark, Series, SeriesId, Stroke, Tick};
use crate::analysis::accuracy;
use crate::analysis::trade_off::{Quality, QualityLevel};
use powerband_core::base::humanize;
use powerband_core::domain::point;

/// Speeds that are further apart than this share a chart on a logarithmic axis only.
const FAR_APART: f64 = 30.0;
/// Letters of a name beside its point.
const LONGEST_NAME: usize = 30;
/// Digits behind the point of the smallest distance from 1 that is labelled.
const MOST_DIGITS: usize = 10;
/// Room below the lowest and above the highest cosine, in decades.
const ROOM: f64 = 0.2;

/// A setup that has a speed and a quality.
#[derive(Clone, Debug, PartialEq)]
pub struct TradeOffPoint {
    /// Which series it is.
    pub id: SeriesId,
    /// Its name.
    pub name: String,
    /// Its palette index.
    pub colour: usize,
    /// At which batch size.
    pub at: point::Point,
    /// Items a second.
    pub per_s: f64,
    /// How good it is.
    pub level: QualityLevel,
    /// Whether it is on the Pareto front.
    pub is_front: bool,
}

/// Speed to the right, quality upwards.
pub fn scatter(spots: &[TradeOffPoint], quality: Quality) -> ChartSpec {
    let x = speeds(spots);
    let (y, height) = if quality.is_share() {
        (shares(spots, quality), None)
    } else {
        let (axis, one) = cosines(spots);
        (axis, Some(one))
    };
    let place = |value: f64| match height {
        None => value * 100.0,
        Some(one) if accuracy::is_one(value) => one,
        Some(_) => AxisScale::FromOne.to_coordinate(value),
    };
    let at = |spot: &TradeOffPoint| (x.scale.to_coordinate(spot.per_s), place(spot.level.value));
    let series = spots.iter().map(|spot| {
        let (x, y) = at(spot);
        Series::new(
            spot.id,
            spot.name.clone(),
            spot.colour,
            Stroke::Dots,
            vec![
                ChartPoint::new(x, y, spot.at.tag()).with_band(
                    spot.level
                        .interval
                        .map(|(low, high)| (place(low), place(high))),
                ),
            ],
        )
    });
    let edge = edge(spots.iter().filter(|spot| spot.is_front).map(at), &x, &y);
    let names = spots.iter().map(|spot| Mark::Name {
        at: at(spot),
        series: spot.id,
        text: humanize::shorten(&spot.name, LONGEST_NAME),
    });
    ChartSpec {
        title: "Speed and accuracy".to_owned(),
        series: series.collect(),
        marks: edge.into_iter().chain(names).collect(),
        x,
        y,
        ..ChartSpec::default()
    }
}

/// Down the stairs from the best to the fastest: setups left of and below them are dominated.
fn edge(front: impl Iterator<Item = (f64, f64)>, x: &Axis, y: &Axis) -> Option<Mark> {
    let mut front: Vec<(f64, f64)> = front.collect();
    front.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.total_cmp(&a.1)));
    let last = *front.last()?;
    let mut through = Vec::with_capacity(2 * front.len() + 1);
    let mut speed = x.low;
    for at in front {
        through.extend([(speed, at.1), at]);
        speed = at.0;
    }
    through.push((last.0, y.low));
    // A stair of no height is no corner.
    through.dedup();
    Some(Mark::Edge { through })
}

fn speeds(spots: &[TradeOffPoint]) -> Axis {
    let speeds = || spots.iter().map(|spot| spot.per_s);
    let (least, most) = (
        speeds().fold(f64::INFINITY, f64::min),
        speeds().fold(0.0, f64::max),
    );
    if least > 0.0 && most / least > FAR_APART {
        axis::logarithmic("items per second", least / 1.5, most * 1.5)
    } else {
        axis::from_zero("items per second", most * 1.08)
    }
}

/// In percent, around the shares and their intervals.
fn shares(spots: &[TradeOffPoint], quality: Quality) -> Axis {
    let ends = |spot: &TradeOffPoint| {
        spot.level
            .interval
            .unwrap_or((spot.level.value, spot.level.value))
    };
    let low = spots.iter().map(|spot| ends(spot).0).fold(1.0, f64::min);
    let high = spots.iter().map(|spot| ends(spot).1).fold(0.0, f64::max);
    let title = match quality {
        Quality::SameChoice => "% same choice as the reference",
        Quality::Top5 => "% right among five",
        _ => "% right",
    };
    let mut axis = axis::between(title, low * 100.0, high * 100.0);
    // There is nothing beyond all and none, but a point there needs room.
    axis.ticks.retain(|tick| (0.0..=100.0).contains(&tick.at));
    axis
}

/// By how many digits cosines are from 1, so that 0.9, 0.99 and 0.999 are equally far apart; and the
/// height of 1 itself, which has no place on such an axis and stands on top.
fn cosines(spots: &[TradeOffPoint]) -> (Axis, f64) {
    let distances = || {
        let values = spots.iter().map(|spot| spot.level.value);
        values
            .filter(|value| !accuracy::is_one(*value))
            .map(|value| 1.0 - value)
    };
    let nearest = distances().fold(f64::INFINITY, f64::min);
    let farthest = distances().fold(0.0, f64::max);
    let has_one = spots.iter().any(|spot| accuracy::is_one(spot.level.value));
    let by_distance = if farthest > 0.0 {
        axis::logarithmic("", nearest, farthest)
    } else {
        axis::logarithmic("", 1e-3, 1e-1)
    };
    let mut ticks: Vec<Tick> = by_distance
        .ticks
        .iter()
        .rev()
        .map(|tick| Tick {
            at: -tick.at,
            text: from_one(AxisScale::Log10.to_number(tick.at)),
        })
        .collect();
    let mut high = -by_distance.low + ROOM;
    let one = high.ceil();
    if has_one {
        // What would touch it gives way.
        ticks.retain(|tick| tick.at < one - ROOM);
        ticks.push(Tick {
            at: one,
            text: "1".to_owned(),
        });
        high = one + ROOM;
    }
    let axis = Axis {
        title: "worst cosine".to_owned(),
        scale: AxisScale::FromOne,
        low: -by_distance.high - ROOM,
        high,
        ticks,
    };
    (axis, one)
}

/// A number by its distance from 1, without needless digits: `0.999`.
fn from_one(distance: f64) -> String {
    let text = format!("{:.*}", MOST_DIGITS, 1.0 - distance);
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" {
        "0".to_owned()
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spot(place: usize, per_s: f64, value: f64, is_front: bool) -> TradeOffPoint {
        TradeOffPoint {
            id: SeriesId(place as u64),
            name: format!("setup {place}"),
            colour: place,
            at: point::Point::of_batch(8),
            per_s,
            level: QualityLevel {
                value,
                interval: None,
            },
            is_front,
        }
    }

    fn texts(axis: &Axis) -> Vec<&str> {
        axis.ticks.iter().map(|tick| tick.text.as_str()).collect()
    }

    #[test]
    fn cosines_are_as_far_apart_as_their_digits() {
        let spots = [
            spot(0, 100.0, 1.0, true),
            spot(1, 200.0, 0.999_99, true),
            spot(2, 300.0, 0.98, true),
            spot(3, 50.0, 0.99, false),
        ];
        let spec = scatter(&spots, Quality::Cosine);
        assert_eq!(texts(&spec.y), ["0.99", "0.999", "0.9999", "0.99999", "1"]);
        let heights: Vec<f64> = spec
            .series
            .iter()
            .map(|series| series.points[0].y)
            .collect();
        assert!((heights[1] - 5.0).abs() < 1e-6 && (heights[3] - 2.0).abs() < 1e-9);
        let last = spec.y.ticks.last().unwrap();
        assert_eq!(heights[0], last.at, "1 stands on its line");
        assert!(heights[0] > heights[1] && spec.y.high > heights[0]);
        assert!(heights.iter().all(|height| *height > spec.y.low));
    }

    #[test]
    fn the_edge_goes_down_the_stairs() {
        let spots = [
            spot(0, 30.0, 0.5, true),
            spot(1, 10.0, 0.9, true),
            spot(2, 20.0, 0.4, false),
        ];
        let spec = scatter(&spots, Quality::Top1);
        let Mark::Edge { through } = &spec.marks[0] else {
            panic!("{:?}", spec.marks);
        };
        let low = spec.y.low;
        assert_eq!(
            through[..],
            [
                (0.0, 90.0),
                (10.0, 90.0),
                (10.0, 50.0),
                (30.0, 50.0),
                (30.0, low)
            ]
        );
        assert_eq!(spec.marks.len(), 4, "a name for each");
    }

    #[test]
    fn shares_end_at_all_of_them() {
        let mut all = spot(0, 10.0, 1.0, true);
        all.level.interval = Some((0.94, 1.0));
        let spec = scatter(&[all], Quality::SameChoice);
        assert!(
            spec.y.ticks.iter().all(|tick| tick.at <= 100.0),
            "{:?}",
            spec.y
        );
        assert_eq!(texts(&spec.y).last(), Some(&"100"));
        assert!(spec.y.high > 100.0);
        assert_eq!(spec.series[0].points[0].band, Some((94.0, 100.0)));
    }

    #[test]
    fn few_cosines_have_labels_between_the_digits() {
        let spec = scatter(&[spot(0, 10.0, 0.7, true)], Quality::Cosine);
        assert!(spec.y.ticks.len() >= 4, "{:?}", texts(&spec.y));
        assert!(
            texts(&spec.y).iter().all(|text| text.len() <= 5),
            "{:?}",
            texts(&spec.y)
        );
        let same = scatter(&[spot(0, 10.0, 1.0, true)], Quality::Cosine);
        assert_eq!(texts(&same.y).last(), Some(&"1"));
        let opposite = scatter(
            &[spot(0, 10.0, -1.0, true), spot(1, 9.0, 0.99, true)],
            Quality::Cosine,
        );
        assert!(opposite.series[0].points[0].y > opposite.y.low);
        assert!(scatter(&[], Quality::Cosine).is_empty());
    }

    #[test]
    fn speeds_far_apart_are_on_a_logarithmic_axis() {
        let near = scatter(
            &[spot(0, 10.0, 0.9, true), spot(1, 200.0, 0.9, true)],
            Quality::Top1,
        );
        assert_eq!((near.x.scale, near.x.low), (AxisScale::Linear, 0.0));
        let far = scatter(
            &[spot(0, 10.0, 0.9, true), spot(1, 2_000.0, 0.9, true)],
            Quality::Top1,
        );
        assert_eq!(far.x.scale, AxisScale::Log10);
    }
}
