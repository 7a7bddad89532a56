//! The curves screen: what is drawn, what is hidden, what is pinned, and the table below.

pub(crate) mod action;
pub mod axes;
pub mod best;
pub mod claims;
pub(crate) mod commands;
mod drawing;
pub mod graph;
pub mod heat;
pub(crate) mod menu;
pub mod models;
pub(crate) mod palette;
mod row_refs;
mod tables;
pub mod trade_off;
mod two_pins;
mod update;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::sessions::{self, OpenSession, OpenSessions, Pin, SessionId};
pub use drawing::{CurvesCharts, Headroom, TwoPinned};
use models::{ModelCharts, ModelGroup};
use powerband_core::domain::plan::Load;
use powerband_core::domain::point::BATCH;
use powerband_findings::analysis::limits::throughput::{self, ThroughputRoof};
use powerband_findings::analysis::trade_off::{Quality, SpeedPoint};
use powerband_findings::chart::claims as chart;
use powerband_findings::chart::curves::{self, CurveOptions, Overlay};
use powerband_findings::chart::lanes::Lanes;
use powerband_findings::chart::spec::{ChartSpec, Mark, SeriesId};
use powerband_findings::chart::{energy, memory, throughput_roofs};
pub use row_refs::{CaseRef, SeriesRef};

/// Why a series is not drawn although it is not hidden.
pub const APART: &str = "Measured under another load: service time and response time are not drawn in one chart. Hide or close the other series to see this one.";

/// The charts that can be shown alone: their ids, and what they are called.
pub const CHARTS: [(&str, &str); 8] = [
    ("latency", "Latency"),
    ("throughput", "Throughput"),
    ("efficiency", "Efficiency"),
    ("memory", "Memory"),
    ("energy", "Energy"),
    ("trade-off", "Speed and accuracy"),
    ("histogram", "Latency distribution"),
    ("strip", "Latency over time"),
];

/// The samples of the pinned case.
#[derive(Clone, Debug)]
pub struct Pinned {
    /// Which case.
    pub pin: Pin,
    /// Latency distribution.
    pub histogram: ChartSpec,
    /// Latency over time.
    pub strip: ChartSpec,
    /// Text in place of samples where another program reported statistics only.
    pub told: Option<String>,
    /// Outliers, in a sentence.
    pub outliers: String,
    /// Phases of its runs and results of training, one per line; empty where they were not reported.
    pub parts: Vec<String>,
    /// Device telemetry over the same time as the strip.
    pub lanes: Lanes,
}

/// One series in the legend.
#[derive(Clone, Debug, PartialEq)]
pub struct LegendEntry {
    /// Which.
    pub id: SeriesId,
    /// Its name.
    pub name: String,
    /// Its palette index.
    pub colour: usize,
    /// The place of its model among those of the legend.
    pub model: usize,
    /// Whether it is drawn.
    pub shown: bool,
    /// Whether it was measured under another load, so that it cannot be drawn beside the others.
    pub is_apart: bool,
    /// Its fixed and per-item time, its knee and its limit, in a sentence.
    pub explained: String,
}

/// The curves screen.
#[derive(Debug, Default)]
pub struct CurvesState {
    /// The model that the latency limit is of.
    pub(crate) limited_model: String,
    /// What is drawn.
    pub options: CurveOptions,
    /// Series that are not drawn.
    pub hidden: BTreeSet<SeriesId>,
    /// The chart that is shown alone, by its id.
    pub enlarged: Option<&'static str>,
    /// Whether each model has charts of its own, where there are several.
    pub groups_by_model: bool,
    /// Whether the charts over batch sizes stand one below the other and not side by side.
    pub stacked: bool,
    /// The series under the pointer.
    pub highlighted: Option<SeriesId>,
    /// The case whose samples are shown.
    pub pin: Option<Pin>,
    /// Its charts, once they are made.
    pub pinned: Option<Arc<Pinned>>,
    /// The case beside it.
    pub second: Option<Pin>,
    /// The charts of both, once they are made.
    pub two: Option<Arc<TwoPinned>>,
    /// The quality that is drawn beside the speed; nothing for the first that is known.
    pub quality: Option<Quality>,
    /// At which batch size the speed counts there.
    pub at: SpeedPoint,
    /// The setup whose graph is shown; nothing for the first that has one.
    pub examined: Option<SeriesId>,
    /// Which dimensions of the sweep stand where.
    pub axes: axes::AxisChoice,
    /// What the heat map shows.
    pub map: heat::MapChoice,
    /// What is drawn.
    pub drawn: Arc<CurvesCharts>,
    /// The curves along x, where that is not the batch.
    lines: BTreeMap<SessionId, axes::BatchCurves>,
    /// Whether a run went on while the screen was not shown, and its tables are to be made.
    pub(crate) is_stale: bool,
}

impl CurvesState {
    /// Makes anew everything that is drawn.
    pub(crate) fn redraw(&mut self, open: &OpenSessions) {
        self.redraw_charts(open);
        self.redraw_resources(open);
        self.redraw_cards(open);
    }

    /// Makes anew the charts alone: while the limit is dragged the table stays as it is.
    pub(crate) fn redraw_charts(&mut self, open: &OpenSessions) {
        self.renew_axes(open);
        let mut legend = self.legend(open);
        legend.extend(claims::legend(
            open,
            &self.hidden,
            self.load(open).is_open(),
        ));
        let models = models::group(open, &mut legend);
        let shown: Vec<&LegendEntry> = legend.iter().filter(|entry| entry.shown).collect();
        let charts = self.charts_of(open, &shown);
        let by_model = self.charts_by_model(open, &shown, &models);
        let overlays = self.overlays(open, &shown);
        let map = self.heat_map(open, &shown);
        let limit = self.options.limit_ns;
        let best = limit.map(|limit| best::best_batches(&overlays, limit, self.options.statistic));
        let best = best.unwrap_or_default();
        let drawn = Arc::make_mut(&mut self.drawn);
        [drawn.latency, drawn.throughput, drawn.efficiency] = charts;
        drawn.map = map;
        drawn.by_model = by_model;
        drawn.best = best;
        drawn.apart = legend.iter().filter(|entry| entry.is_apart).count();
        drawn.models = models;
        drawn.legend = legend;
    }

    /// Latency, throughput and efficiency of some series, with the pins and the published curves.
    fn charts_of(&self, open: &OpenSessions, entries: &[&LegendEntry]) -> [ChartSpec; 3] {
        let overlays = self.overlays(open, entries);
        let under = if self.drawn.axes.x == BATCH {
            claims::published_underlays(entries, open)
        } else {
            Vec::new()
        };
        let options = &chart::options_for(&self.options, &overlays, &under);
        let mut charts = [
            curves::latency(&overlays, options),
            curves::throughput(&overlays, options),
            curves::efficiency(&overlays, options),
        ];
        let load = self.load(open);
        if load.is_open() {
            charts[0].title = format!("Response time, {load}");
        }
        self.add_roof_lines(open, entries, &mut charts[1]);
        self.ring_pins(open, &mut charts);
        chart::latency(&mut charts[0], &under);
        chart::throughput(&mut charts[1], &under);
        charts
    }

    /// The same for each model that is drawn, where that is wanted and there are several.
    fn charts_by_model(
        &self,
        open: &OpenSessions,
        entries: &[&LegendEntry],
        models: &[ModelGroup],
    ) -> Vec<ModelCharts> {
        let shown = models.iter().filter(|model| model.is_shown).count();
        if !self.groups_by_model || shown < 2 {
            return Vec::new();
        }
        let models = models.iter().enumerate();
        let charts = |(place, model): (usize, &ModelGroup)| {
            let own = entries.iter().copied().filter(|entry| entry.model == place);
            let own: Vec<&LegendEntry> = own.collect();
            let [latency, throughput, efficiency] = self.charts_of(open, &own);
            ModelCharts {
                name: model.name.clone(),
                latency,
                throughput,
                efficiency,
            }
        };
        models
            .filter(|(_, model)| model.is_shown)
            .map(charts)
            .collect()
    }

    /// Makes anew the charts of memory and energy, which know no latency limit.
    pub(crate) fn redraw_resources(&mut self, open: &OpenSessions) {
        let legend = &self.drawn.legend;
        let shown: Vec<&LegendEntry> = legend.iter().filter(|entry| entry.shown).collect();
        let overlays = self.overlays(open, &shown);
        let mut charts = [
            memory::peak(&overlays),
            energy::per_item(&overlays, self.options.energy),
        ];
        self.ring_pins(open, &mut charts);
        let headroom = overlays.iter().filter_map(headroom).collect();
        let no_energy = no_energy(open, legend);
        let drawn = Arc::make_mut(&mut self.drawn);
        [drawn.memory, drawn.energy] = charts;
        drawn.headroom = headroom;
        drawn.no_energy = no_energy;
    }

    /// Makes anew speed and accuracy, and what the engine made of the network.
    pub(crate) fn redraw_cards(&mut self, open: &OpenSessions) {
        let before = &self.drawn;
        let setups = one_for_each_setup(&before.legend);
        let mut trade_off = trade_off::draw(open, &setups, self.quality, self.at);
        let graph = graph::draw(open, self.examined, &before.graph);
        for pin in self.pins() {
            let tag = pin.case.point.tag();
            ring(&mut trade_off.chart, of_setup(&setups, pin), tag);
        }
        let drawn = Arc::make_mut(&mut self.drawn);
        drawn.trade_off = trade_off;
        drawn.graph = graph;
    }

    /// The sessions that have a series that is drawn.
    pub fn drawn_sessions(&self) -> BTreeSet<SessionId> {
        let shown = self.drawn.legend.iter();
        let shown = shown.filter(|entry| !self.hidden.contains(&entry.id));
        shown.map(|entry| sessions::of_series(entry.id).0).collect()
    }

    /// The load of what is drawn: that of the first open session with a series that is not hidden. Times
    /// under different loads are different things and never share a chart.
    fn load(&self, open: &OpenSessions) -> Load {
        let is_shown = |session: &&OpenSession| {
            let mut curves = self.drawn_curves(session);
            curves.any(|(id, _)| !self.hidden.contains(&id))
        };
        let first = open.iter().find(is_shown);
        first.map_or(Load::Closed, |first| first.session.plan.load)
    }

    fn legend(&self, open: &OpenSessions) -> Vec<LegendEntry> {
        let load = self.load(open);
        let entries = open
            .iter()
            .flat_map(|session| {
                let is_apart = session.session.plan.load != load;
                self.drawn_curves(session).map(move |(id, curve)| {
                    let name = open.series_name(session.id, curve.setup);
                    let sizes = self.drawn.axes.distinguishing_sizes(curve);
                    LegendEntry {
                        id,
                        name: if sizes.is_empty() {
                            name
                        } else {
                            format!("{name}, {sizes}")
                        },
                        colour: open.colour(session.id, curve.setup),
                        model: 0,
                        shown: !is_apart && !self.hidden.contains(&id),
                        is_apart,
                        explained: if is_apart {
                            APART.to_owned()
                        } else {
                            curve.explain()
                        },
                    }
                })
            })
            .collect();
        with_own_colours(entries)
    }

    fn overlays<'a>(
        &'a self,
        open: &'a OpenSessions,
        entries: &[&LegendEntry],
    ) -> Vec<Overlay<'a>> {
        let overlay = |entry: &&LegendEntry| {
            Some(Overlay {
                id: entry.id,
                name: entry.name.clone(),
                colour: entry.colour,
                curve: self.curve(open, entry.id)?,
            })
        };
        entries.iter().filter_map(overlay).collect()
    }

    /// The lines that the throughput of the shown setups cannot pass, from the roofs that their sessions keep.
    fn add_roof_lines(&self, open: &OpenSessions, entries: &[&LegendEntry], chart: &mut ChartSpec) {
        if self.drawn.axes.x != BATCH {
            return;
        }
        let mut roofs: Vec<ThroughputRoof> = Vec::new();
        for entry in entries {
            let (session, setup) = sessions::of_series(entry.id);
            let Some(session) = open.get(session).map(|open| &open.session) else {
                continue;
            };
            let own = throughput::throughput_roofs(session, [setup], &session.roofs);
            let new = own.into_iter().filter(|roof| !roofs.contains(roof));
            roofs.extend(new.collect::<Vec<_>>());
        }
        throughput_roofs::lay(chart, &roofs);
    }

    /// Rings around the pinned cases.
    fn ring_pins(&self, open: &OpenSessions, charts: &mut [ChartSpec]) {
        for (id, tag) in self.pins().filter_map(|pin| self.place_of(open, pin)) {
            for chart in &mut *charts {
                ring(chart, id, tag);
            }
        }
    }

    /// Whether a chart has something to show, by its id.
    pub(crate) fn has_chart(&self, id: &str) -> bool {
        let drawn = &self.drawn;
        let pinned = self.pinned.as_ref();
        match id {
            "memory" => !drawn.memory.is_empty(),
            "energy" => !drawn.energy.is_empty(),
            "trade-off" => !drawn.trade_off.chart.is_empty(),
            "histogram" => pinned.is_some_and(|pinned| !pinned.histogram.is_empty()),
            "strip" => pinned.is_some_and(|pinned| !pinned.strip.is_empty()),
            _ => true,
        }
    }

    /// The chart that is shown alone and has something to show.
    pub fn shown_alone(&self) -> Option<&'static str> {
        self.enlarged.filter(|id| self.has_chart(id))
    }

    /// The pinned cases.
    pub(crate) fn pins(&self) -> impl Iterator<Item = Pin> + use<> {
        self.pin.into_iter().chain(self.second)
    }

    /// Forgets a session that is no longer open.
    pub fn forget(&mut self, session: SessionId) {
        self.forget_lines(session);
        self.hidden
            .retain(|series| sessions::of_series(*series).0 != session);
        self.examined = self
            .examined
            .filter(|series| sessions::of_series(*series).0 != session);
        self.second = self.second.filter(|pin| pin.session != session);
        if self.pin.is_some_and(|pin| pin.session == session) {
            self.pin = self.second.take();
            self.pinned = None;
        }
        if self.second.is_none() {
            self.two = None;
        }
    }
}

/// Each series with a colour of its own, where setups have several.
fn with_own_colours(mut entries: Vec<LegendEntry>) -> Vec<LegendEntry> {
    if one_for_each_setup(&entries).len() < entries.len() {
        for (colour, entry) in entries.iter_mut().enumerate() {
            entry.colour = colour;
        }
    }
    entries
}

/// One series of each setup.
fn one_for_each_setup(legend: &[LegendEntry]) -> Vec<LegendEntry> {
    let mut setups: Vec<LegendEntry> = Vec::new();
    for entry in legend {
        let own = sessions::of_series(entry.id);
        if setups.iter().all(|one| sessions::of_series(one.id) != own) {
            setups.push(entry.clone());
        }
    }
    setups
}

/// The series of a pinned case's setup among some.
fn of_setup(entries: &[LegendEntry], pin: Pin) -> SeriesId {
    let own = (pin.session, pin.case.setup);
    let mut entries = entries.iter().map(|entry| entry.id);
    let found = entries.find(|id| sessions::of_series(*id) == own);
    found.unwrap_or_else(|| sessions::series(pin.session, pin.case.setup))
}

/// What a series says of batches that were not measured.
fn headroom(overlay: &Overlay<'_>) -> Option<Headroom> {
    let headroom = overlay.curve.headroom?;
    let mut limit = headroom.limit();
    if let Some(first) = limit.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    Some(Headroom {
        colour: overlay.colour,
        limit,
        sentence: format!("{}: {}", overlay.name, headroom.sentence()),
    })
}

/// Why none of the shown series has energies: the reason of the first case.
fn no_energy(open: &OpenSessions, legend: &[LegendEntry]) -> Option<String> {
    let shown = legend.iter().filter(|entry| entry.shown);
    let mut reason = None;
    for entry in shown {
        let (session, setup) = sessions::of_series(entry.id);
        let open = open.get(session).into_iter();
        let rows = open.flat_map(|open| open.findings.rows.iter());
        for row in rows.filter(|row| row.setup == setup && row.samples > 0) {
            match &row.energy {
                Ok(_) => return None,
                Err(why) => reason = reason.or_else(|| Some(why.clone())),
            }
        }
    }
    reason
}

/// A ring around the point of a pinned case, where the chart has it.
pub(crate) fn ring(chart: &mut ChartSpec, id: SeriesId, tag: u64) {
    let point = chart
        .series
        .iter()
        .filter(|series| series.id == id)
        .flat_map(|series| &series.points)
        .find(|point| point.tag == tag)
        .map(|point| (point.x, point.y));
    if let Some(at) = point {
        chart.marks.push(Mark::Pin { at, series: id });
    }
}
