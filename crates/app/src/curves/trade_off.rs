//! The card of speed and accuracy: which setups are in it, and what it says of each.

use std::collections::BTreeSet;

use super::LegendEntry;
use super::row_refs::SeriesRef;
use crate::sessions::{self, OpenSession, OpenSessions, Pin};
use powerband_core::domain::case::CaseKey;
use powerband_core::domain::point::Point;
use powerband_findings::analysis::trade_off::{
    self, JudgedSetup, ParetoRank, Quality, SetupStanding, SpeedPoint,
};
use powerband_findings::chart::spec::{ChartSpec, SeriesId};
use powerband_findings::chart::trade_off::{self as chart, TradeOffPoint};
use powerband_findings::tables::Table;
use powerband_findings::tables::trade_off::{TradeOffLine, of_setups};

/// The card as it is drawn.
#[derive(Clone, Debug, Default)]
pub struct TradeOff {
    /// Whether any open session has accuracies.
    pub is_known: bool,
    /// What was compared with what, and on what.
    pub compared: String,
    /// The quality that is drawn.
    pub quality: Quality,
    /// Those that could be.
    pub known: Vec<Quality>,
    /// At which batch size the speed counts.
    pub at: SpeedPoint,
    /// Batch sizes that could be asked for.
    pub points: Vec<Point>,
    /// The chart.
    pub chart: ChartSpec,
    /// The table, the fastest first.
    pub rows: Vec<TradeOffRow>,
}

/// One setup in the table.
#[derive(Clone, Debug)]
pub struct TradeOffRow {
    /// The series, and the case where one was measured.
    pub series: SeriesRef,
    /// What the row says.
    pub line: TradeOffLine,
}

/// A setup whose outputs were to be compared.
struct Setup<'a> {
    entry: &'a LegendEntry,
    open: &'a OpenSession,
    index: usize,
    judged: JudgedSetup<'a>,
}

/// Draws the card from the series that are shown. A quality and a batch size that cannot be asked for
/// give way to those that can.
pub fn draw(
    open: &OpenSessions,
    legend: &[LegendEntry],
    quality: Option<Quality>,
    at: SpeedPoint,
) -> TradeOff {
    let setups: Vec<Setup<'_>> = legend
        .iter()
        .filter(|entry| entry.shown)
        .filter_map(|entry| setup(open, entry))
        .collect();
    let judged: Vec<JudgedSetup<'_>> = setups.iter().map(|setup| setup.judged).collect();
    let known = trade_off::known_qualities(&judged);
    let points = trade_off::measured_points(&judged);
    let first = known.first().copied().unwrap_or_default();
    let quality = quality
        .filter(|wanted| known.contains(wanted))
        .unwrap_or(first);
    let at = match at {
        SpeedPoint::Point(point) if !points.contains(&point) => SpeedPoint::Best,
        at => at,
    };
    let standings = trade_off::judged_standings(&judged, quality, at);
    let spots: Vec<TradeOffPoint> = setups
        .iter()
        .zip(&standings)
        .filter_map(|(setup, standing)| spot(setup.entry, standing))
        .collect();
    let mut order: Vec<usize> = (0..setups.len()).collect();
    order.sort_by(|&a, &b| {
        let speed = |place: usize| standings[place].speed.map_or(-1.0, |speed| speed.per_s);
        speed(b).total_cmp(&speed(a))
    });
    TradeOff {
        is_known: open.iter().any(|open| !open.session.accuracies.is_empty()),
        compared: compared(&setups),
        quality,
        known,
        at,
        points,
        chart: chart::scatter(&spots, quality),
        rows: order
            .into_iter()
            .map(|place| row(&setups, &standings[place], place))
            .collect(),
    }
}

impl TradeOff {
    /// The row of a series.
    pub fn row(&self, id: SeriesId) -> Option<&TradeOffRow> {
        self.rows.iter().find(|row| row.series.id == id)
    }

    /// The quality after the one that is drawn.
    pub fn next(&self) -> Option<Quality> {
        let place = self.known.iter().position(|known| *known == self.quality)?;
        self.known.iter().cycle().nth(place + 1).copied()
    }
}

/// The rows as a table.
pub(super) fn table(card: &TradeOff) -> Table {
    of_setups(card.rows.iter().map(|row| row.line.clone()).collect())
}

fn setup<'a>(open: &'a OpenSessions, entry: &'a LegendEntry) -> Option<Setup<'a>> {
    let (session, index) = sessions::of_series(entry.id);
    let open = open.get(session)?;
    let curves = open.findings.curves.iter();
    Some(Setup {
        entry,
        open,
        index,
        judged: JudgedSetup {
            accuracy: open.session.accuracies.get(&index)?,
            curve: curves.into_iter().find(|curve| curve.setup == index),
            session: open.id.0 as usize,
        },
    })
}

fn spot(entry: &LegendEntry, standing: &SetupStanding) -> Option<TradeOffPoint> {
    let (speed, level) = (standing.speed?, standing.level?);
    Some(TradeOffPoint {
        id: entry.id,
        name: entry.name.clone(),
        colour: entry.colour,
        at: speed.point,
        per_s: speed.per_s,
        level,
        is_front: standing.rank == ParetoRank::Front,
    })
}

/// What was compared with what; where that is not the same for all, that it is not.
fn compared(setups: &[Setup<'_>]) -> String {
    let kinds: BTreeSet<(&str, &str, &str)> = setups
        .iter()
        .map(|setup| {
            let accuracy = setup.judged.accuracy;
            let model = setup.open.session.model.sha256.as_str();
            (model, accuracy.reference.as_str(), accuracy.inputs.as_str())
        })
        .collect();
    let models: BTreeSet<&str> = kinds.iter().map(|(model, ..)| *model).collect();
    match (kinds.len(), kinds.first()) {
        (1, Some((_, reference, inputs))) => format!("Compared with {reference}, on {inputs}"),
        (0, _) | (_, None) => String::new(),
        _ if models.len() > 1 => {
            "Different networks, each compared with its own reference; hover over a setup to see which"
                .to_owned()
        }
        _ => "Compared on different inputs or with different references; hover over a setup to see which"
            .to_owned(),
    }
}

fn row(setups: &[Setup<'_>], standing: &SetupStanding, place: usize) -> TradeOffRow {
    let setup = &setups[place];
    let (session, case) = (setup.open.id, setup.index);
    let dominating: &[usize] = match &standing.rank {
        ParetoRank::Dominated(by) | ParetoRank::NotSettled { by, .. } => by,
        ParetoRank::Front | ParetoRank::Unknown(_) => &[],
    };
    let names = dominating.iter().filter_map(|by| setups.get(*by));
    let dominated_by = names.map(|other| other.entry.name.clone()).collect();
    TradeOffRow {
        series: SeriesRef {
            id: setup.entry.id,
            colour: setup.entry.colour,
            pin: standing.speed.map(|speed| Pin {
                session,
                case: CaseKey {
                    setup: case,
                    point: speed.point,
                },
            }),
        },
        line: TradeOffLine {
            name: setup.entry.name.clone(),
            accuracy: setup.judged.accuracy.clone(),
            speed: standing.speed,
            rank: standing.rank.clone(),
            dominated_by,
        },
    }
}
