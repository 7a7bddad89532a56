//! The instances of a kernel, the longest first.

use super::cell::Cell;
use super::{Column, Table};
use crate::analysis::instances::KernelInstance;
use crate::chart::timeline;

/// Starts are shown to a microsecond, in nanoseconds.
const MICROSECOND: f64 = 1_000.0;

type InstanceColumn = Column<KernelInstance>;

/// The instances as they were found.
pub fn of_instances(instances: &[KernelInstance]) -> Table {
    let table = Table::new(COLUMNS, instances.to_vec());
    // What the file states of none has no column.
    let optional = ["grid", "block", "operator", "shapes"].into_iter();
    let unknown = optional.filter(|key| {
        let place = table.place(key);
        place.is_some_and(|place| {
            (0..instances.len()).all(|row| table.cell(row, place).text.is_none())
        })
    });
    let unknown: Vec<&str> = unknown.collect();
    table.hiding(&unknown)
}

fn text(text: &str) -> Option<Cell> {
    (!text.is_empty()).then(|| Cell::text(text))
}

pub const COLUMNS: &[InstanceColumn] = &[
    InstanceColumn::number("start_ms", "Start", "ms", |one| {
        let start = one.start_ns as f64;
        Some(Cell::shown(
            timeline::exact(start, MICROSECOND),
            start / 1e6,
        ))
    })
    .help("Counted from the first slice of the timeline"),
    InstanceColumn::number("duration_ms", "Duration", "ms", |one| {
        Some(Cell::time(one.duration_ns as f64))
    }),
    InstanceColumn::text("grid", "Grid", |one| text(&one.grid)),
    InstanceColumn::text("block", "Block", |one| text(&one.block))
        .help("Threads of a block, on AMD of a workgroup"),
    InstanceColumn::text("operator", "Operator", |one| text(&one.operator)),
    InstanceColumn::text("shapes", "Shapes", |one| text(&one.shapes)),
    InstanceColumn::text("stream", "Stream", |one| text(&one.stream))
        .help("The track of the timeline that it ran on"),
];
