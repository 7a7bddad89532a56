//! Where everything on a chart stands. The window and exported pictures take the places from here and only paint.
//!
//! Lengths are in the unit of the painter. What depends on the size of type or of markers comes from `PlotLayout`.

pub(super) mod anchor;
pub mod bands;
pub mod bars;
pub mod cell_words;
pub mod cells;
pub mod failures;
pub mod heat_map;
pub mod labels;
pub mod lanes;
pub(crate) mod legend;
mod letters;
pub mod marks;
mod names;
pub mod network;
mod notes;
pub mod outline;
pub mod ribbon;
pub mod roofline;
mod room;
pub mod series;
#[cfg(test)]
pub(crate) mod testing;
pub mod ticks;
pub(crate) mod timeline_figure;
pub mod treemap;
pub mod wall_time;
pub mod words;

pub use self::anchor::{Anchor, Font, HorizontalAnchor, Size, VerticalAnchor};
pub use self::letters::Letters;
#[cfg(test)]
pub(crate) use self::letters::testing::letters;
pub(crate) use self::letters::{broken, cut};
use super::area::{Area, Position};
use super::spec::ChartSpec;

/// Where a chart is painted, and how large its words and markers are.
pub trait PlotSurface {
    /// The chart.
    fn spec(&self) -> &ChartSpec;
    /// The area within the axes.
    fn inner(&self) -> Area;
    /// Half the width of a point's marker.
    fn marker(&self) -> f64;
    /// The position of a point of the chart.
    fn place(&self, x: f64, y: f64) -> Position;
    /// The size of a text.
    fn size(&self, text: &str, font: Font) -> Size;
    /// The words of the limit: where a hand can drag it, they say so.
    fn limit_text(&self, text: &str) -> String {
        text.to_owned()
    }
}
