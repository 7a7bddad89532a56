//! Where the marks of failed cases stand: several at one batch beside each other, so that each is seen.

use super::PlotSurface;
use crate::chart::area::Position;
use crate::chart::spec::{ChartSpec, Mark};

/// Sizes in halves of a point's marker: between the middles of two marks, a mark, and the line across it.
const STEP: f64 = 2.9;
const RADIUS: f64 = 1.25;
const ACROSS: f64 = 0.83;

/// The mark of a failed case: a ring on the axis with a line across.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FailureMark<'s> {
    /// Its middle.
    pub at: Position,
    /// The radius of the ring.
    pub radius: f64,
    /// The ends of the line.
    pub across: (Position, Position),
    /// The failure.
    pub mark: &'s Mark,
}

/// The part of the axis on which the marks stand.
#[derive(Clone, Copy, Debug, PartialEq)]
struct AxisExtent {
    /// How wide it is.
    width: f64,
    /// Where it ends.
    right: f64,
    /// Between the middles of two marks, where there is room.
    step: f64,
}

/// The marks of the failed cases of a chart.
pub fn failure_marks(plot: &dyn PlotSurface) -> Vec<FailureMark<'_>> {
    let (inner, marker) = (plot.inner(), plot.marker());
    let room = AxisExtent {
        width: inner.width(),
        right: inner.right,
        step: marker * STEP,
    };
    let y = inner.bottom;
    let reach = marker * ACROSS;
    let middle = |x: f64| plot.place(x, plot.spec().y.low).0;
    let places = places(plot.spec(), room, middle).into_iter();
    let failed = places.map(|(x, mark)| FailureMark {
        at: (x, y),
        radius: marker * RADIUS,
        across: ((x - reach, y + reach), (x + reach, y - reach)),
        mark,
    });
    failed.collect()
}

/// The middle of each mark, in the order in which a chart has them.
fn places(spec: &ChartSpec, room: AxisExtent, middle: impl Fn(f64) -> f64) -> Vec<(f64, &Mark)> {
    let counted = spec.failures();
    let middles: Vec<f64> = counted.iter().map(|(x, _)| middle(*x)).collect();
    let gaps = middles.windows(2).map(|pair| pair[1] - pair[0]);
    let narrowest = gaps.fold(room.width, f64::min);
    let mut before = vec![0.0; counted.len()];
    let mut found = Vec::new();
    for mark in &spec.marks {
        let Mark::Failed { x, .. } = mark else {
            continue;
        };
        let Some(place) = counted.iter().position(|(at, _)| at == x) else {
            continue;
        };
        let number = counted[place].1 as f64;
        let step = room.step.min(narrowest / number);
        let length = (number - 1.0) * step;
        let last_start = room.right.max(middles[place]) - length;
        let first = (middles[place] - length / 2.0).min(last_start);
        found.push((first + before[place] * step, mark));
        before[place] += 1.0;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::spec::SeriesId;

    fn standing(at: &[f64], room: AxisExtent) -> Vec<f64> {
        let failed = |(index, x): (usize, &f64)| Mark::Failed {
            x: *x,
            series: SeriesId(index as u64),
            colour: index,
            reason: String::new(),
        };
        let spec = ChartSpec {
            marks: at.iter().enumerate().map(failed).collect(),
            ..ChartSpec::default()
        };
        let found = places(&spec, room, |x| x * 10.0);
        found.into_iter().map(|(at, _)| at).collect()
    }

    #[test]
    fn marks_at_one_place_stand_side_by_side() {
        let room = AxisExtent {
            width: 100.0,
            right: 100.0,
            step: 4.0,
        };
        assert_eq!(standing(&[5.0], room), [50.0]);
        assert_eq!(standing(&[5.0, 5.0, 5.0], room), [46.0, 50.0, 54.0]);
        assert_eq!(
            standing(&[5.0, 6.0, 5.0, 6.0], room),
            [48.0, 58.0, 52.0, 62.0]
        );
        // They come closer where the next place is near.
        assert_eq!(standing(&[1.0, 1.3, 1.3], room), [10.0, 12.25, 13.75]);
    }

    #[test]
    fn they_end_where_the_axis_does() {
        let room = AxisExtent {
            width: 100.0,
            right: 100.0,
            step: 4.0,
        };
        assert_eq!(standing(&[10.0, 10.0], room), [96.0, 100.0]);
    }
}
