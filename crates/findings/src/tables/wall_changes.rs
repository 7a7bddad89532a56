//! Where the difference of the wall time of two profiles went.

use super::cell::Cell;
use super::{Column, Table};
use crate::analysis::kernel_comparison::{KernelComparison, WallChange};

type WallChangeColumn = Column<WallChange>;

/// The parts in the order of the bar.
pub fn of_wall_changes(found: &KernelComparison) -> Table {
    Table::new(COLUMNS, found.wall.clone())
}

pub const COLUMNS: &[WallChangeColumn] = &[
    WallChangeColumn::text("part", "Wall time", |change| {
        Some(Cell::text(change.kind.title()).named(change.kind))
    }),
    WallChangeColumn::number("before_ms", "Before", "ms", |change| {
        Some(Cell::time(change.before_ns))
    }),
    WallChangeColumn::number("after_ms", "After", "ms", |change| {
        Some(Cell::time(change.after_ns))
    }),
    WallChangeColumn::number("difference_ms", "Difference", "ms", |change| {
        Some(Cell::time_change(change.difference_ns()))
    })
    .help("The differences of all parts add up to that of the wall time"),
];
