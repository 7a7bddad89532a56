//! Everything that *Curves* draws.

use super::LegendEntry;
use super::axes::Axes;
use super::best::Best;
use super::graph::GraphCard;
use super::heat::DrawnMap;
use super::models::{ModelCharts, ModelGroup};
use super::row_refs::{CaseRef, SeriesRef};
use super::trade_off::TradeOff;
use crate::sessions::Pin;
use powerband_findings::chart::spec::ChartSpec;

/// Everything that is drawn, made anew when something changes and not at every frame.
#[derive(Clone, Debug, Default)]
pub struct CurvesCharts {
    /// Which dimensions of the sweep stand where.
    pub axes: Axes,
    /// The heat map, where two dimensions vary.
    pub map: Option<DrawnMap>,
    /// Latency against batch size.
    pub latency: ChartSpec,
    /// Throughput against batch size.
    pub throughput: ChartSpec,
    /// Efficiency against batch size.
    pub efficiency: ChartSpec,
    /// Memory against batch size.
    pub memory: ChartSpec,
    /// Energy against batch size.
    pub energy: ChartSpec,
    /// What each series would need of memory beyond what was measured.
    pub headroom: Vec<Headroom>,
    /// What the rows of the table of shapes are about.
    pub shapes: Vec<SeriesRef>,
    /// Why no energy is known, where it is not.
    pub no_energy: Option<String>,
    /// Speed beside quality.
    pub trade_off: TradeOff,
    /// What an engine made of the network.
    pub graph: GraphCard,
    /// How many series are not drawn because they were measured under another load.
    pub apart: usize,
    /// The models of the legend.
    pub models: Vec<ModelGroup>,
    /// The charts of each model, where they are wanted and there are several.
    pub by_model: Vec<ModelCharts>,
    /// Series by name, those of a model beside each other.
    pub legend: Vec<LegendEntry>,
    /// The best batch of each shown series under the limit.
    pub best: Vec<Best>,
    /// What the rows of the table of cases are about.
    pub cases: Vec<CaseRef>,
}

/// What a series says of batches that were not measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Headroom {
    /// Its palette index.
    pub colour: usize,
    /// The next doubling that does not fit.
    pub limit: String,
    /// Whose it is, what an item needs, and the same.
    pub sentence: String,
}

/// Two pinned cases as charts.
#[derive(Clone, Debug)]
pub struct TwoPinned {
    /// Which cases.
    pub pins: [Pin; 2],
    /// Both distributions.
    pub densities: ChartSpec,
    /// For each time the share of samples up to it.
    pub cumulative: ChartSpec,
}
