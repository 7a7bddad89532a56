//! The curves screen: what is drawn, what is hidden, what is pinned, and the table below.

pub(crate) mod action;
pub mod best;
pub mod claims;
pub(crate) mod commands;
mod drawing;
pub mod graph;
pub(crate) mod palette;
pub mod shapes;
mod table;
pub mod trade_off;
mod update;

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::sync::Arc;

use crate::sessions::{self, OpenSession, OpenSessions, Pin, SessionId};
pub use drawing::{Drawn, Headroom};
use powerband_core::base::humanize::{self, UNKNOWN};
use powerband_core::domain::case::CaseKey;
use powerband_core::domain::outcome::Outcome;
use powerband_core::domain::plan::Load;
use powerband_core::domain::plan::p99_samples;
use powerband_findings::analysis::batch_curve::{Efficiency, Statistic};
use powerband_findings::analysis::case_rows::CaseRow;
use powerband_findings::analysis::flags::Flag;
use powerband_findings::analysis::trade_off::{At, Quality};
use powerband_findings::chart::curves::{self, CurveOptions, Overlay};
use powerband_findings::chart::lanes::Lanes;
use powerband_findings::chart::spec::{ChartSpec, Mark, SeriesId};
use powerband_findings::chart::{energy, memory};
pub use table::{COLUMN_HELP, COLUMNS, TableRow};

const NOT_REPORTED: &str = "What was reported of it does not have this number";

/// Why a series is not drawn that nobody hid.
pub const APART: &str = "Measured under another load: service time and response time never share a chart. Hide or close the others to see it.";

/// The samples of the pinned case.
#[derive(Clone, Debug)]
pub struct Pinned {
    /// Which case.
    pub pin: Pin,
    /// How often each time came.
    pub histogram: ChartSpec,
    /// Each sample when it came.
    pub strip: ChartSpec,
    /// What there is to say in place of samples, where another program told figures alone.
    pub told: Option<String>,
    /// What is far from the others, in a sentence.
    pub outliers: String,
    /// What its runs consist of and what training came to, a line each; none where nobody told.
    pub parts: Vec<String>,
    /// What the devices did meanwhile, over the same time as the strip.
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
    /// What is drawn.
    pub options: CurveOptions,
    /// Series that are not drawn.
    pub hidden: BTreeSet<SeriesId>,
    /// The series under the hand.
    pub highlighted: Option<SeriesId>,
    /// The case whose samples are shown.
    pub pin: Option<Pin>,
    /// Its charts, once they are made.
    pub pinned: Option<Arc<Pinned>>,
    /// The quality that is drawn beside the speed; nothing for the first that is known.
    pub quality: Option<Quality>,
    /// At which batch size the speed counts there.
    pub at: At,
    /// The setup whose graph is shown; nothing for the first that has one.
    pub examined: Option<SeriesId>,
    /// Words that rows must have.
    pub filter: String,
    /// The column that the table is sorted by, and whether it falls.
    pub sort: Option<(usize, bool)>,
    /// What is drawn.
    pub drawn: Arc<Drawn>,
}

impl CurvesState {
    /// Makes anew everything that is drawn.
    pub(crate) fn redraw(&mut self, open: &OpenSessions) {
        self.redraw_charts(open);
        self.redraw_resources(open);
        self.redraw_cards(open);
        self.redraw_table(open);
    }

    /// Makes anew the charts alone: while the limit is dragged the table stays as it is.
    pub(crate) fn redraw_charts(&mut self, open: &OpenSessions) {
        let mut legend = self.legend(open);
        legend.extend(claims::legend(
            open,
            &self.hidden,
            self.load(open).is_open(),
        ));
        let overlays: Vec<Overlay<'_>> = legend
            .iter()
            .filter(|entry| entry.shown)
            .filter_map(|entry| overlay(open, entry))
            .collect();
        let options = &self.options;
        let mut charts = [
            curves::latency(&overlays, options),
            curves::throughput(&overlays, options),
            curves::efficiency(&overlays, options),
        ];
        let load = self.load(open);
        if load.is_open() {
            charts[0].title = format!("Response time, {load}");
        }
        if let Some(pin) = self.pin {
            for chart in &mut charts {
                ring(chart, pin);
            }
        }
        let limit = options.limit_ns;
        let best = limit.map(|limit| best::best_batches(&overlays, limit, options.statistic));
        let best = best.unwrap_or_default();
        let drawn = Arc::make_mut(&mut self.drawn);
        [drawn.latency, drawn.throughput, drawn.efficiency] = charts;
        drawn.best = best;
        drawn.apart = legend.iter().filter(|entry| entry.is_apart).count();
        drawn.legend = legend;
        claims::lay_under(drawn, open);
    }

    /// Makes anew the charts of memory and energy, which know no latency limit.
    pub(crate) fn redraw_resources(&mut self, open: &OpenSessions) {
        let legend = &self.drawn.legend;
        let overlays: Vec<Overlay<'_>> = legend
            .iter()
            .filter(|entry| entry.shown)
            .filter_map(|entry| overlay(open, entry))
            .collect();
        let mut charts = [
            memory::peak(&overlays),
            energy::per_item(&overlays, self.options.energy),
        ];
        if let Some(pin) = self.pin {
            for chart in &mut charts {
                ring(chart, pin);
            }
        }
        let headroom = overlays.iter().filter_map(headroom).collect();
        let shapes = shapes::curve_shapes(&overlays);
        let no_energy = no_energy(open, legend);
        let drawn = Arc::make_mut(&mut self.drawn);
        [drawn.memory, drawn.energy] = charts;
        drawn.headroom = headroom;
        drawn.shapes = shapes;
        drawn.no_energy = no_energy;
    }

    /// Makes anew speed and accuracy, and what the engine made of the network.
    pub(crate) fn redraw_cards(&mut self, open: &OpenSessions) {
        let before = &self.drawn;
        let mut trade_off = trade_off::draw(open, &before.legend, self.quality, self.at);
        let graph = graph::draw(open, self.examined, &before.graph);
        if let Some(pin) = self.pin {
            ring(&mut trade_off.chart, pin);
        }
        let drawn = Arc::make_mut(&mut self.drawn);
        drawn.trade_off = trade_off;
        drawn.graph = graph;
    }

    /// Makes anew the table alone, from the legend as it stands.
    pub(crate) fn redraw_table(&mut self, open: &OpenSessions) {
        let shown: Vec<&LegendEntry> = self
            .drawn
            .legend
            .iter()
            .filter(|entry| entry.shown)
            .collect();
        let table = self.table(open, &shown);
        Arc::make_mut(&mut self.drawn).table = table;
    }

    /// The load of what is drawn: that of the first open session with a series that is not hidden. Times
    /// under different loads are different things and never share a chart.
    fn load(&self, open: &OpenSessions) -> Load {
        let is_shown = |session: &&OpenSession| {
            let curves = session.findings.curves.iter();
            let mut ids = curves.map(|curve| sessions::series(session.id, curve.setup));
            ids.any(|id| !self.hidden.contains(&id))
        };
        let first = open.iter().find(is_shown);
        first.map_or(Load::Closed, |first| first.session.plan.load)
    }

    fn legend(&self, open: &OpenSessions) -> Vec<LegendEntry> {
        let load = self.load(open);
        open.iter()
            .flat_map(|session| {
                let is_apart = session.session.plan.load != load;
                session.findings.curves.iter().map(move |curve| {
                    let id = sessions::series(session.id, curve.setup);
                    LegendEntry {
                        id,
                        name: open.series_name(session.id, curve.setup),
                        colour: open.colour(session.id, curve.setup),
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
            .collect()
    }

    fn table(&self, open: &OpenSessions, shown: &[&LegendEntry]) -> Vec<TableRow> {
        let words: Vec<String> = self
            .filter
            .split_whitespace()
            .map(str::to_lowercase)
            .collect();
        let mut rows: Vec<TableRow> = shown
            .iter()
            .filter_map(|entry| {
                let (session, setup) = sessions::of_series(entry.id);
                Some((*entry, open.get(session)?, setup))
            })
            .flat_map(|(entry, session, setup)| {
                let rows = session
                    .findings
                    .rows
                    .iter()
                    .filter(move |row| row.setup == setup);
                rows.map(move |row| self.row(entry, session, row))
            })
            .filter(|row| {
                let text = row.cells.join(" ").to_lowercase();
                words.iter().all(|word| text.contains(word))
            })
            .collect();
        if let Some((column, falls)) = self.sort {
            rows.sort_by(|a, b| order(a, b, column, falls));
        }
        rows
    }

    /// The row of a case, whether the table's filter leaves it or not.
    pub fn row_of(&self, open: &OpenSessions, pin: Pin) -> Option<TableRow> {
        let id = sessions::series(pin.session, pin.case.setup);
        let entry = self.drawn.legend.iter().find(|entry| entry.id == id)?;
        let session = open.get(pin.session)?;
        let mut rows = session.findings.rows.iter();
        let row = rows.find(|row| row.setup == pin.case.setup && row.batch == pin.case.batch)?;
        Some(self.row(entry, session, row))
    }

    fn row(&self, entry: &LegendEntry, session: &OpenSession, row: &CaseRow) -> TableRow {
        let curve = session
            .findings
            .curves
            .iter()
            .find(|curve| curve.setup == row.setup);
        let point =
            curve.and_then(|curve| curve.points.iter().find(|point| point.batch == row.batch));
        let latency = point.and_then(|point| point.latency_ns(self.options.statistic));
        let min = row.min_ns();
        let p99 = row.latency_ns.as_ref().and_then(|summary| summary.p99);
        let efficiency = point.and_then(|point| point.efficiency(self.options.efficiency));
        // The interval is that of the median, and beside another number it would pass for that of it.
        let is_median = self.options.statistic == Statistic::Median;
        let ci95 = row.ci95_rel().filter(|_| is_median);
        let median = row.median_words().filter(|_| is_median);
        let time =
            |value: Option<f64>| value.map_or_else(|| UNKNOWN.to_owned(), humanize::duration_ns);
        let names: Vec<&str> = std::iter::once(row.outcome.name())
            .chain(row.flags.iter().map(|flag| flag.name))
            .collect();
        TableRow {
            pin: Pin {
                session: session.id,
                case: CaseKey {
                    setup: row.setup,
                    batch: row.batch,
                },
            },
            colour: entry.colour,
            cells: [
                entry.name.clone(),
                humanize::count(row.batch as u64),
                median.unwrap_or_else(|| time(latency)),
                row.uncertainty_words()
                    .filter(|_| is_median)
                    .unwrap_or_else(|| UNKNOWN.to_owned()),
                time(min),
                time(p99),
                row.rate_words().unwrap_or_else(|| UNKNOWN.to_owned()),
                efficiency.map_or_else(
                    || UNKNOWN.to_owned(),
                    |share| format!("{:.0} %", share * 100.0),
                ),
                humanize::count(row.samples),
                names.join(", "),
            ],
            unknown: self.unknown(row),
            keys: [
                None,
                Some(row.batch as f64),
                latency,
                ci95,
                min,
                p99,
                row.throughput_per_s,
                efficiency,
                Some(row.samples as f64),
                None,
            ],
            remarks: remarks(row),
            is_trouble: row.outcome.is_trouble(),
            weight: row.flags.iter().map(|flag| flag.weight).max(),
        }
    }

    /// Why columns can say nothing of a case.
    fn unknown(&self, row: &CaseRow) -> [&'static str; 10] {
        let mut unknown = [""; 10];
        if row.latency_ns.is_none() && row.throughput_per_s.is_none() {
            unknown[2..8].fill("It was not measured");
            return unknown;
        }
        let no_p99 = if row.samples == 0 {
            NOT_REPORTED
        } else {
            concat!(
                "It takes ",
                p99_samples!(),
                " samples, which the publish preset takes"
            )
        };
        unknown[2] = match self.options.statistic {
            Statistic::P99 => no_p99,
            Statistic::Mean | Statistic::Median => NOT_REPORTED,
        };
        unknown[3] = match self.options.statistic {
            Statistic::Median => "There are too few samples for an interval",
            Statistic::Mean | Statistic::P99 => "Only the median has an interval",
        };
        unknown[4] = NOT_REPORTED;
        unknown[5] = no_p99;
        unknown[6] = NOT_REPORTED;
        unknown[7] = match self.options.efficiency {
            Efficiency::OfBest => "It has no throughput",
            Efficiency::Scaling => "Scaling compares batch sizes, and no smaller one was measured",
            Efficiency::Busy => "No device told how busy it was meanwhile",
            Efficiency::OfPeak => {
                "The peak of the device, or the work of the network, is not known"
            }
        };
        unknown
    }

    /// The case before (`by` below 0) or after the pinned one in the table; the first where none is pinned.
    pub fn step(&self, by: i8) -> Option<Pin> {
        let table = &self.drawn.table;
        let place = self
            .pin
            .and_then(|pin| table.iter().position(|row| row.pin == pin));
        let next = match place {
            None => 0,
            Some(place) => place
                .saturating_add_signed(isize::from(by))
                .min(table.len().saturating_sub(1)),
        };
        table.get(next).map(|row| row.pin)
    }

    /// The table as text with tabs.
    pub fn table_text(&self) -> String {
        table::tab_separated(&self.drawn.table, self.options.statistic)
    }

    /// Forgets a session that is no longer open.
    pub fn forget(&mut self, session: SessionId) {
        self.hidden
            .retain(|series| sessions::of_series(*series).0 != session);
        self.examined = self
            .examined
            .filter(|series| sessions::of_series(*series).0 != session);
        if self.pin.is_some_and(|pin| pin.session == session) {
            self.pin = None;
            self.pinned = None;
        }
    }
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

fn overlay<'a>(open: &'a OpenSessions, entry: &LegendEntry) -> Option<Overlay<'a>> {
    let (session, setup) = sessions::of_series(entry.id);
    let curves = &open.get(session)?.findings.curves;
    Some(Overlay {
        id: entry.id,
        name: entry.name.clone(),
        colour: entry.colour,
        curve: curves.iter().find(|curve| curve.setup == setup)?,
    })
}

fn remarks(row: &CaseRow) -> Vec<String> {
    let outcome = match &row.outcome {
        Outcome::Pending => None,
        outcome => outcome.sentence(),
    };
    let flags = row.flags.iter().map(Flag::words);
    outcome.into_iter().chain(flags).collect()
}

/// A ring around the pinned case, where the chart has it.
fn ring(chart: &mut ChartSpec, pin: Pin) {
    let id = sessions::series(pin.session, pin.case.setup);
    let point = chart
        .series
        .iter()
        .filter(|series| series.id == id)
        .flat_map(|series| &series.points)
        .find(|point| point.tag == pin.case.batch as u64)
        .map(|point| (point.x, point.y));
    if let Some(at) = point {
        chart.marks.push(Mark::Pin { at, series: id });
    }
}

/// Numbers by size, words by letter, and what is unknown last either way.
fn order(a: &TableRow, b: &TableRow, column: usize, falls: bool) -> Ordering {
    let turn = |ordering: Ordering| if falls { ordering.reverse() } else { ordering };
    match (a.keys[column], b.keys[column]) {
        (Some(a), Some(b)) => turn(a.total_cmp(&b)),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => turn(a.cells[column].cmp(&b.cells[column])),
    }
}
