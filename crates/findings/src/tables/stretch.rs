//! What ran in a measured stretch of a timeline, a row for each name.

use super::cell::Cell;
use super::{Column, Table};
use crate::analysis::timeline::selection::{OfName, Statistics};
use crate::chart::timeline;
use powerband_core::domain::trace::Names;

type Of = Column<NameLine>;

/// A row.
#[derive(Clone, Debug)]
pub struct NameLine {
    name: String,
    of: OfName,
    stretch_ns: f64,
}

/// A table of what was added up in a stretch of this length.
pub fn of_stretch(found: &Statistics, names: &Names, stretch_ns: f64) -> Table {
    let lines = found.names.iter().map(|of| NameLine {
        name: names.get(of.name).to_owned(),
        of: *of,
        stretch_ns,
    });
    Table::new(COLUMNS, lines.collect())
}

/// The columns.
pub const COLUMNS: &[Of] = &[
    Of::words("name", "Name", |line| {
        let short = timeline::short(&line.name, line.of.kind);
        let short = if short.is_empty() {
            "Without a name"
        } else {
            short
        };
        Some(
            Cell::words(short)
                .for_programs(&line.name)
                .noted(&line.name),
        )
    }),
    Of::words("kind", "Kind", |line| {
        Some(Cell::words(line.of.kind.title()))
    })
    .hidden(),
    Of::number("count", "Count", "", |line| {
        Some(Cell::count(line.of.slices))
    }),
    Of::number("total_ms", "Total", "ms", |line| {
        Some(Cell::time(line.of.sum_ns))
    })
    .help("Slices that reach over an edge of the stretch count with the part within"),
    Of::number("share", "Share", "%", |line| {
        (line.stretch_ns > 0.0).then(|| Cell::share(line.of.sum_ns / line.stretch_ns))
    })
    .help("Total of the length of the stretch; above 100 % where several ran at the same time")
    .why(|_| "the stretch has no length".to_owned()),
    Of::number("self_ms", "Self", "ms", |line| {
        Some(Cell::time(line.of.self_ns))
    })
    .help("Without the slices that lie within them on the same track"),
    Of::number("mean_ms", "Mean", "ms", |line| {
        Some(Cell::time(line.of.sum_ns / line.of.slices.max(1) as f64))
    }),
    Of::number("min_ms", "Shortest", "ms", |line| {
        Some(Cell::time(line.of.min_ns))
    }),
    Of::number("max_ms", "Longest", "ms", |line| {
        Some(Cell::time(line.of.max_ns))
    }),
];
