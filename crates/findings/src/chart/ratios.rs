//! The speed-up of each case, with its interval.

use super::axis;
use super::spec::{Axis, ChartPoint, ChartSpec, Mark, Series, SeriesId, Stroke};
use crate::analysis::comparison::CasePair;
use crate::analysis::dimensions;
use powerband_core::domain::point::BATCH;

/// A dot with its interval for each pair, over the first dimension that varies before, a series for each setup after; a
/// level where nothing changed. The axis begins at zero and always holds the level.
pub fn speed_ups(pairs: &[CasePair], colour: impl Fn(usize) -> usize) -> ChartSpec {
    let points: Vec<_> = pairs.iter().map(|pair| pair.before_point).collect();
    let varying = dimensions::varying_dimensions(&points);
    let along = varying.first().map_or(BATCH, |one| one.name);
    let x = axis::sizes(along, points.iter().filter_map(|point| point.get(along)));
    let mut series: Vec<Series> = Vec::new();
    for pair in pairs {
        let Some(point) = point(pair, along, &x) else {
            continue;
        };
        let id = SeriesId(pair.after.setup as u64);
        match series.iter_mut().find(|series| series.id == id) {
            Some(series) => series.points.push(point),
            None => series.push(Series::new(
                id,
                pair.after.setup_label.clone(),
                colour(pair.after.setup),
                Stroke::Dots,
                vec![point],
            )),
        }
    }
    let points = || series.iter().flat_map(|series| &series.points);
    let highest = points().map(|point| point.y).fold(1.0, f64::max);
    let reach = points()
        .filter_map(|point| point.band)
        .map(|band| band.1)
        .fold(highest, f64::max);
    let mark = Mark::Level {
        y: 1.0,
        text: "no change".to_owned(),
    };
    ChartSpec {
        title: "Speed-up".to_owned(),
        y: axis::from_zero("times as fast", axis::upper_end(highest, reach)),
        marks: if series.is_empty() {
            Vec::new()
        } else {
            vec![mark]
        },
        series,
        x,
        ..ChartSpec::default()
    }
}

fn point(pair: &CasePair, along: &str, x: &Axis) -> Option<ChartPoint> {
    let ratio = pair.ratio?;
    let size = pair.before_point.get(along)?;
    Some(
        ChartPoint::new(
            x.scale.to_coordinate(size as f64),
            ratio.speed_up,
            size as u64,
        )
        .with_band(ratio.ci95.map(|interval| (interval.low, interval.high))),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::case_rows;
    use crate::analysis::comparison::{self, ComparedSide};
    use crate::analysis::testing::{measure_near, session};

    #[test]
    fn a_dot_for_each_pair_and_a_level_at_one() {
        let mut session = session(&["ort:cpu", "tract:cpu"], &[1, 8]);
        for (batch, micros) in [(1, 1_000), (8, 6_000)] {
            measure_near(&mut session, 0, batch, micros);
            measure_near(&mut session, 1, batch, 2_000);
        }
        let rows = case_rows::case_rows(&session);
        let side = |setup: usize| ComparedSide {
            session: &session,
            rows: &rows,
            setup,
            point: None,
        };
        let spec = speed_ups(&comparison::compare_setups(&side(0), &side(1)).pairs, |_| 3);
        let points = &spec.series[0].points;
        assert_eq!((points[0].x, points[1].x), (0.0, 3.0));
        assert!((points[0].y - 0.5).abs() < 1e-4 && (points[1].y - 3.0).abs() < 1e-4);
        assert!(points.iter().all(|point| point.band.is_some()));
        assert!(spec.y.high > 3.0);
        assert!(matches!(spec.marks[0], Mark::Level { y: 1.0, .. }));
        // Both setups of both sessions: distinguished by name and colour.
        let both = [0, 1].map(|setup| comparison::compare_setups(&side(setup), &side(setup)).pairs);
        let both = speed_ups(&both.concat(), |setup| setup + 5);
        let told: Vec<(&str, usize)> = both
            .series
            .iter()
            .map(|series| (series.name.as_str(), series.colour))
            .collect();
        assert_eq!(told, [("ort:cpu", 5), ("tract:cpu", 6)]);
        // The tooltip of a point is read off its place, which is that of its batch size alone.
        assert!(both.series.iter().all(|series| series.points[1].x == 3.0));
        // Only when it is painted are the intervals put beside each other.
        let aside = |spec: &ChartSpec| -> Vec<f64> {
            spec.series.iter().map(|one| spec.aside(one)).collect()
        };
        let beside = aside(&both);
        assert!(beside[0] < 0.0 && (beside[0] + beside[1]).abs() < 1e-9);
        assert_eq!(aside(&spec), [0.0]);
        assert!(speed_ups(&[], |_| 0).is_empty());
    }
}
