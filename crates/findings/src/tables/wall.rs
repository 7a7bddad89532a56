//! The wall time of a run in parts that add up.

use super::cell::Cell;
use super::{Column, Table};
use crate::analysis::limits::wall::{WallPart, WallTime};

type WallColumn = Column<WallPart>;

/// The parts in the order of the bar.
pub fn of_wall(wall: &WallTime) -> Table {
    Table::new(COLUMNS, wall.parts.clone())
}

pub const COLUMNS: &[WallColumn] = &[
    WallColumn::text("part", "Part", |part| {
        Some(Cell::text(part.kind.title()).named(part.kind))
    }),
    WallColumn::number("time_ms", "Time", "ms", |part| Some(Cell::time(part.ns)))
        .help("Of one run where the number of runs is known, else of the whole profile"),
    WallColumn::number("share", "Share", "%", |part| Some(Cell::share(part.share)))
        .help("Of the wall time"),
];
