//! The speed of light of a network on this machine: the least time of an item for each step, and what it can bring.

use super::cell::{Cell, Tone};
use super::{Column, Table};
use crate::analysis::limits::speed_of_light::LightRow;

type LightColumn = Column<LightRow>;

/// The rows in their order.
pub fn of_rows(rows: &[LightRow]) -> Table {
    Table::new(COLUMNS, rows.to_vec())
}

pub const COLUMNS: &[LightColumn] = &[
    LightColumn::text("step", "Step", |row| Some(Cell::text(&row.title))),
    LightColumn::text("taken", "Taken", |row| {
        Some(Cell::text(if row.is_taken { "yes" } else { "no" }))
    })
    .help("Whether it was measured: in the fastest setup, or in one that is slower"),
    LightColumn::number("batch", "Batch", "", |row| {
        Some(Cell::count(row.case.point.batch() as u64))
    })
    .hidden(),
    LightColumn::number("measured_ms", "Time of an item", "ms", |row| {
        row.measured_ns.map(Cell::time)
    })
    .help("The median, divided by the batch")
    .why(|_| "it was not measured as a step".to_owned()),
    LightColumn::number("floor_ms", "Least", "ms", |row| {
        Some(Cell::time(row.floor_ns?).noted(format!("{}\n{}", row.line, row.formula)))
    })
    .help("The least time of an item: the network's operations at the line, or its weights once at the bandwidth, whichever takes longer; bytes between nodes are not in it")
    .why(why),
    LightColumn::number("share_of_floor", "Of the time", "%", |row| {
        let cell = Cell::share(row.share_of_floor?);
        Some(match &row.reason {
            Some(reason) => cell.toned(Tone::Bad).noted(reason),
            None => cell,
        })
    })
    .help("The least time as a share of the measured one; above 100 % the model is wrong")
    .why(why),
    LightColumn::number("can_bring_ms", "Can bring", "ms", |row| {
        Some(Cell::time(row.can_bring_ns?).noted(&row.formula))
    })
    .help("Of a measured step: its time above the least. Of a further step: what it saves of the fastest setup's time of an item, at the present distance from the floor")
    .why(why),
    LightColumn::text("noise", "Within the noise", |row| {
        Some(Cell::text(if row.is_within_noise? { "yes" } else { "no" }))
    })
    .help("Whether what it can bring is less than the interval of the measurement, or less than 1 %")
    .why(why),
    LightColumn::text("line", "Line", |row| Some(Cell::text(&row.line)).filter(|_| !row.line.is_empty()))
        .help("What the least time is measured against")
        .why(why)
        .hidden(),
];

fn why(row: &LightRow) -> String {
    row.reason.clone().unwrap_or_default()
}
