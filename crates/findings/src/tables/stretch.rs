//! What ran in a measured stretch of a timeline, a row for each name.

use super::cell::Cell;
use super::{Column, Table};
use crate::analysis::timeline::selection::{NameStatistics, SelectionStatistics};
use crate::chart::timeline;
use powerband_core::domain::trace::Names;

type NameColumn = Column<NameLine>;

/// A row.
#[derive(Clone, Debug)]
pub struct NameLine {
    name: String,
    of: NameStatistics,
    stretch_ns: f64,
}

/// A table of what was added up in a stretch of this length.
pub fn of_stretch(found: &SelectionStatistics, names: &Names, stretch_ns: f64) -> Table {
    let lines = found.names.iter().map(|of| NameLine {
        name: names.get(of.name).to_owned(),
        of: *of,
        stretch_ns,
    });
    Table::new(COLUMNS, lines.collect())
}

pub const COLUMNS: &[NameColumn] = &[
    NameColumn::text("name", "Name", |line| {
        let short = timeline::short(&line.name, line.of.kind);
        let short = if short.is_empty() {
            "Without a name"
        } else {
            short
        };
        Some(Cell::text(short).for_programs(&line.name).noted(&line.name))
    }),
    NameColumn::text("kind", "Kind", |line| {
        Some(Cell::text(line.of.kind.title()))
    })
    .hidden(),
    NameColumn::number("count", "Count", "", |line| {
        Some(Cell::count(line.of.slices))
    }),
    NameColumn::number("total_ms", "Total", "ms", |line| {
        Some(Cell::time(line.of.sum_ns))
    })
    .help("Slices that reach over an edge of the stretch count with the part within"),
    NameColumn::number("share", "Share", "%", |line| {
        (line.stretch_ns > 0.0).then(|| Cell::share(line.of.sum_ns / line.stretch_ns))
    })
    .help("Total of the length of the stretch; above 100 % where several ran at the same time")
    .why(|_| "the stretch has no length".to_owned()),
    NameColumn::number("self_ms", "Self", "ms", |line| {
        Some(Cell::time(line.of.self_ns))
    })
    .help("Without the slices that lie within them on the same track"),
    NameColumn::number("mean_ms", "Mean", "ms", |line| {
        Some(Cell::time(line.of.sum_ns / line.of.slices.max(1) as f64))
    }),
    NameColumn::number("min_ms", "Shortest", "ms", |line| {
        Some(Cell::time(line.of.min_ns))
    }),
    NameColumn::number("max_ms", "Longest", "ms", |line| {
        Some(Cell::time(line.of.max_ns))
    }),
];
