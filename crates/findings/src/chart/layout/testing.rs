//! A sheet on which tests lay out charts.

use super::{Font, PlotSurface, Size};
use crate::chart::area::{Area, Position};
use crate::chart::spec::ChartSpec;

/// A chart of 400 by 200 that shows 0 to 1 along both axes, with words of 6 by 12 for each letter.
pub(crate) struct TestPlot(pub(crate) ChartSpec);

impl PlotSurface for TestPlot {
    fn spec(&self) -> &ChartSpec {
        &self.0
    }

    fn inner(&self) -> Area {
        Area::new(0.0, 0.0, 400.0, 200.0)
    }

    fn marker(&self) -> f64 {
        3.0
    }

    fn place(&self, x: f64, y: f64) -> Position {
        (x * 400.0, 200.0 - y * 200.0)
    }

    fn size(&self, text: &str, _: Font) -> Size {
        (6.0 * text.chars().count() as f64, 12.0)
    }
}
