//! Actions on what is seen of charts.

use powerband_findings::chart::view::{ChartView, Zoom};

/// Actions on what is seen of charts.
#[derive(Clone, Debug, PartialEq)]
pub enum Charts {
    /// Shows part of a chart of the screen, by the chart's name; nothing for all of it.
    Look(String, Option<ChartView>),
    /// Shows all of every chart of the screen.
    LookAtAll,
    /// A step of the chart that has the focus or that the pointer was on last, or of the first one.
    Step(Zoom),
}
