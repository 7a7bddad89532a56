//! Actions on the curves.

use crate::sessions::Pin;
use powerband_findings::analysis::batch_curve::{Efficiency, Statistic};
use powerband_findings::analysis::energy::EnergyKind;
use powerband_findings::analysis::trade_off::{Quality, SpeedPoint};
use powerband_findings::chart::heat_map::cases::MapQuantity;
use powerband_findings::chart::spec::SeriesId;

/// Actions on the curves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Curves {
    /// Which latency is drawn.
    Statistic(Statistic),
    /// Which efficiency is drawn.
    Efficiency(Efficiency),
    /// Which energy is drawn.
    Energy(EnergyKind),
    /// Which quality is drawn beside the speed.
    Quality(Quality),
    /// At which batch size the speed counts there.
    At(SpeedPoint),
    /// Whose graph is shown.
    Examined(SeriesId),
    /// Logarithmic or linear latency.
    LogLatency(bool),
    /// Logarithmic or linear throughput.
    LogThroughput(bool),
    /// The latency limit in nanoseconds.
    Limit(Option<f64>),
    /// The same while it is dragged: the axis stays as it is until a `Limit` comes.
    DragLimit(f64),
    /// Shows or hides a series.
    ToggleSeries(SeriesId),
    /// Shows one series alone, or all again.
    OnlySeries(SeriesId),
    /// Shows the series of one model and no others, by the model's place in the legend.
    OnlyModel(usize),
    /// Charts of its own for each model, or all in one.
    GroupByModel(bool),
    /// Shows every series.
    ShowAll,
    /// Shows a chart alone in the place of those over batch sizes, by its id; nothing for all again.
    Enlarge(Option<&'static str>),
    /// The charts over batch sizes one below the other, or side by side.
    Stack(bool),
    /// The dimension of the sweep along x.
    Over(&'static str),
    /// The size of another dimension that is drawn; nothing for a series of each size.
    Fix(&'static str, Option<usize>),
    /// Curves over the first dimension at one size of the second: a column or a row of the heat map.
    Along(&'static str, &'static str, usize),
    /// Curves, the heat map, or both.
    Show(SweepView),
    /// What the heat map shows.
    Mapped(MapQuantity),
    /// The dimension that stands upwards in the heat map.
    Upwards(&'static str),
    /// The one setup that the heat map shows; nothing for all.
    MapSetup(Option<SeriesId>),
    /// Highlights a series while the pointer is on it.
    Highlight(Option<SeriesId>),
    /// Pins a case, or unpins it.
    Pin(Option<Pin>),
    /// Pins a second case beside the first, or takes it away.
    PinSecond(Option<Pin>),
    /// Pins the case after the second one of the table beside the first.
    PinSecondNext,
    /// Pins the next (above 0) or the previous case of the table.
    PinStep(i8),
}

/// The view of a sweep over several dimensions: curves, heat map or both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SweepView {
    /// Curves over one dimension.
    Curves,
    /// The heat map over two.
    Map,
    /// Both.
    #[default]
    Both,
}

impl SweepView {
    /// Every one, with its name.
    pub const ALL: [(Self, &'static str); 3] = [
        (Self::Curves, "curves"),
        (Self::Map, "heat map"),
        (Self::Both, "both"),
    ];
}
