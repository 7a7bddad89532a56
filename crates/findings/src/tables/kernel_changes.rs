//! Two profiles, a row for each kernel, operator or category: what it took before and after.

use super::cell::{Cell, Tone};
use super::{Column, Table};
use crate::analysis::kernel_comparison::{
    KernelChange, KernelComparison, KernelDiffRow, KernelEntry,
};

type ChangeColumn = Column<ChangeLine>;

/// Columns of a report's table.
pub const IN_REPORT: [&str; 5] = ["name", "change", "before_ms", "after_ms", "of_change"];
/// Columns of a terminal's table.
pub const ON_TERMINAL: [&str; 7] = [
    "name",
    "change",
    "matched_by",
    "before_ms",
    "after_ms",
    "difference_ms",
    "of_change",
];

/// A row, with its share of the whole difference.
#[derive(Clone, Debug)]
pub struct ChangeLine {
    row: KernelDiffRow,
    of_change: Option<f64>,
}

/// Some rows of a comparison, by their places, in that order.
pub fn of_comparison(found: &KernelComparison, places: &[usize]) -> Table {
    let rows = places.iter().filter_map(|place| found.rows.get(*place));
    let lines = rows.map(|row| ChangeLine {
        of_change: found.contribution(row),
        row: row.clone(),
    });
    Table::new(COLUMNS, lines.collect())
}

/// The columns of changes.
pub const COLUMNS: &[ChangeColumn] = &[
    ChangeColumn::text("name", "Kernels", |line| Some(Cell::text(&line.row.title))),
    ChangeColumn::text("change", "Change", |line| {
        let change = line.row.change();
        let tone = match change {
            KernelChange::Changed => Tone::Plain,
            KernelChange::Added => Tone::Bad,
            KernelChange::Removed => Tone::Good,
        };
        Some(Cell::text(change.title()).named(change).toned(tone))
    })
    .help("On both sides, or on one only"),
    ChangeColumn::text("matched_by", "Matched by", |line| Some(Cell::text(line.row.matched.title())))
        .help("What both sides have in common: the whole name, the name without sizes and types, the operator, or the category"),
    ChangeColumn::number("before_ms", "Before", "ms", |line| side(&line.row.before, line.row.before_ns()))
        .why(|_| "it did not run before".to_owned()),
    ChangeColumn::number("after_ms", "After", "ms", |line| side(&line.row.after, line.row.after_ns()))
        .why(|_| "it did not run after".to_owned()),
    ChangeColumn::number("difference_ms", "Difference", "ms", |line| {
        Some(Cell::time_change(line.row.difference_ns()))
    })
    .help("After minus before; all of them add up to the whole difference"),
    ChangeColumn::number("of_change", "Of change", "%", |line| line.of_change.map(Cell::share))
        .help("The share of the whole difference; below zero where a row changes in the opposite direction")
        .why(|_| "the two are as good as equal".to_owned()),
    ChangeColumn::text("category", "Category", |line| Some(Cell::text(line.row.category.title()))),
    ChangeColumn::text("names_before", "Names before", |line| Some(Cell::text(names(&line.row.before)))).hidden(),
    ChangeColumn::text("names_after", "Names after", |line| Some(Cell::text(names(&line.row.after)))).hidden(),
];

fn side(members: &[KernelEntry], ns: f64) -> Option<Cell> {
    (!members.is_empty()).then(|| Cell::time(ns))
}

fn names(members: &[KernelEntry]) -> String {
    let names: Vec<&str> = members.iter().map(|member| member.name.as_str()).collect();
    names.join("; ")
}
