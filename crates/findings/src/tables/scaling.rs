//! What replicas gain over one worker.

use super::cell::Cell;
use super::pairs::interval;
use super::{Column, Table};
use crate::analysis::scaling::{Gain, Scaling};
use powerband_core::domain::session::Session;

type ScalingColumn = Column<ScalingLine>;

/// A row: a setup with replicas at a batch size.
#[derive(Clone, Debug)]
pub struct ScalingLine {
    setup: String,
    replicas: usize,
    gain: Gain,
}

/// The gains of every setup with replicas.
pub fn of_session(session: &Session, found: &[Scaling]) -> Table {
    let lines = found.iter().flat_map(|scaling| {
        scaling.gains.iter().map(|gain| ScalingLine {
            setup: session.setup_label(scaling.setup),
            replicas: scaling.replicas,
            gain: gain.clone(),
        })
    });
    Table::new(COLUMNS, lines.collect())
}

/// The columns of scaling.
pub const COLUMNS: &[ScalingColumn] = &[
    ScalingColumn::text("setup", "Setup", |line| Some(Cell::text(&line.setup))),
    ScalingColumn::number("replicas", "Replicas", "", |line| {
        Some(Cell::count(line.replicas as u64))
    }),
    ScalingColumn::number("batch", "Batch", "", |line| {
        Some(Cell::count(line.gain.point.batch() as u64))
    }),
    ScalingColumn::number("vs_one", "vs. one", "×", |line| {
        Some(Cell::ratio(line.gain.pair.ratio?.speed_up))
    })
    .why(why_no_ratio),
    ScalingColumn::number("interval", "95 % interval", "×", |line| {
        interval(&line.gain.pair.ratio?)
    })
    .why(why_no_ratio),
    ScalingColumn::text("verdict", "Verdict", |line| {
        Some(Cell::verdict(&line.gain.pair.verdict))
    }),
    ScalingColumn::number("efficiency", "Scaling", "%", |line| {
        line.gain.efficiency.map(Cell::share)
    })
    .help("Throughput of all replicas over that of one, divided by their number"),
];

fn why_no_ratio(line: &ScalingLine) -> String {
    line.gain.pair.verdict.reason.clone().unwrap_or_default()
}
