//! Where the interval bands of curves are, and how a band fades where its interval leaves the chart.
//!
//! A band reaches from the curve to both ends of the intervals. Where an end is inside the chart, the band ends
//! there at full strength. Where it is beyond the edge, the band fades to nothing on the way: it says that the
//! interval goes on, and an interval that says nothing does not paint the whole chart.

use super::PlotSurface;
use crate::chart::area::Position;
use crate::chart::spec::ChartPoint;

/// How strong a band is at its curve.
pub const BAND: f64 = 0.14;
/// A side that leaves the chart fades over this share of the chart's height.
const FADE: f64 = 0.25;
/// Outlines that a painter without gradients lays over each other for a band that fades.
const LAYERS: usize = 6;

/// The end of one side of a band.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct End {
    /// Its place.
    pub at: Position,
    /// Whether the interval ends here; otherwise the band has faded to nothing.
    pub is_inside: bool,
}

/// A band at one point of its curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slice {
    /// The place on the curve, where the band is strongest.
    pub middle: Position,
    /// Towards smaller values.
    pub low: End,
    /// Towards larger ones.
    pub high: End,
}

/// The band of an unbroken piece of a curve; empty where fewer than two points have intervals.
pub fn band(plot: &dyn PlotSurface, run: &[ChartPoint]) -> Vec<Slice> {
    let slices = run.iter().filter_map(|point| slice(plot, point));
    let slices: Vec<Slice> = slices.collect();
    if slices.len() < 2 {
        return Vec::new();
    }
    slices
}

fn slice(plot: &dyn PlotSurface, point: &ChartPoint) -> Option<Slice> {
    let inner = plot.inner();
    let (low, high) = point.band?;
    let (x, y) = plot.place(point.x, point.y);
    let [low, high] = [low, high].map(|end| plot.place(point.x, end).1);
    if ![x, y, low, high].iter().all(|one| one.is_finite()) {
        return None;
    }
    let height = inner.height();
    // What is far outside is not painted; near it slopes stay what they are.
    let near = |y: f64| y.clamp(inner.top - height, inner.bottom + height);
    let from = y.clamp(inner.top, inner.bottom);
    let high = if high < inner.top {
        let at = (x, (from - FADE * height).max(inner.top));
        End {
            at,
            is_inside: false,
        }
    } else {
        End {
            at: (x, near(high)),
            is_inside: true,
        }
    };
    let low = if low > inner.bottom {
        let at = (x, (from + FADE * height).min(inner.bottom));
        End {
            at,
            is_inside: false,
        }
    } else {
        End {
            at: (x, near(low)),
            is_inside: true,
        }
    };
    Some(Slice {
        middle: (x, near(y)),
        low,
        high,
    })
}

/// The outlines of a band for a painter without gradients, and how strong each is.
///
/// One outline where all of the band is inside the chart, else several over each other, which end one after the
/// other where the band fades.
pub fn outlines(slices: &[Slice]) -> (Vec<Vec<Position>>, f64) {
    let ends = slices.iter().flat_map(|slice| [slice.low, slice.high]);
    let layers = if ends.clone().all(|end| end.is_inside) {
        1
    } else {
        LAYERS
    };
    let outline = |layer: usize| {
        let share = layer as f64 / layers as f64;
        let place = |slice: &Slice, end: End| {
            let share = if end.is_inside { 1.0 } else { share };
            let (x, middle) = slice.middle;
            (x, middle + (end.at.1 - middle) * share)
        };
        let lows = slices.iter().map(|slice| place(slice, slice.low));
        let highs = slices.iter().rev().map(|slice| place(slice, slice.high));
        lows.chain(highs).collect()
    };
    let each = 1.0 - (1.0 - BAND).powf(1.0 / layers as f64);
    ((1..=layers).map(outline).collect(), each)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::area::Area;
    use crate::chart::layout::testing::TestPlot;
    use crate::chart::spec::ChartSpec;

    fn point(x: f64, y: f64, band: (f64, f64)) -> ChartPoint {
        ChartPoint {
            x,
            y,
            band: Some(band),
            tag: 0,
        }
    }

    /// On a sheet of 400 by 200 that shows 0 to 1 along both axes.
    fn sheet() -> TestPlot {
        TestPlot(ChartSpec::default())
    }

    #[test]
    fn a_band_inside_the_chart_is_one_outline() {
        let run = [point(0.0, 0.5, (0.4, 0.6)), point(1.0, 0.5, (0.4, 0.6))];
        let slices = band(&sheet(), &run);
        assert!(
            slices
                .iter()
                .all(|one| one.low.is_inside && one.high.is_inside)
        );
        let (outlines, strength) = outlines(&slices);
        assert_eq!((outlines.len(), strength), (1, BAND));
        assert_eq!(outlines[0][0], (0.0, 120.0));
    }

    #[test]
    fn an_interval_that_leaves_the_chart_fades_and_does_not_fill_it() {
        let run = [point(0.0, 0.5, (0.4, 0.6)), point(1.0, 0.5, (-9e9, 1e12))];
        let slices = band(&sheet(), &run);
        assert!(slices[0].high.is_inside && !slices[1].high.is_inside);
        assert_eq!(slices[1].high.at, (400.0, 50.0), "a quarter of the height");
        assert_eq!(slices[1].low.at, (400.0, 150.0));
        let (outlines, strength) = outlines(&slices);
        assert_eq!(outlines.len(), LAYERS);
        let all = 1.0 - (1.0 - strength).powi(LAYERS as i32);
        assert!((all - BAND).abs() < 1e-9, "as strong at the curve");
        let inner = Area::new(0.0, 0.0, 400.0, 200.0);
        assert!(outlines.iter().flatten().all(|at| inner.contains(*at)));
        let top = |outline: &Vec<Position>| outline.iter().map(|at| at.1).fold(f64::MAX, f64::min);
        assert!(top(&outlines[0]) > top(&outlines[LAYERS - 1]));
        // Near the edge it ends there.
        let high = [point(0.0, 0.9, (0.8, 7.0)), point(1.0, 0.9, (0.8, 7.0))];
        assert_eq!(band(&sheet(), &high)[0].high.at.1, 0.0);
    }

    #[test]
    fn one_interval_or_none_is_no_band() {
        let run = [
            point(0.0, 0.5, (0.4, 0.6)),
            point(1.0, 0.5, (0.4, f64::NAN)),
        ];
        assert!(band(&sheet(), &run).is_empty());
    }
}
