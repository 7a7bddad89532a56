//! The table of *Curves* as spreadsheets take it: tabs, plain numbers, and units in the heads.

use super::curves::{COLUMNS, TableRow};
use crate::analysis::batch_curve::Statistic;

/// What each column has: the unit in its head, what makes that of the number that the column
/// sorts by, and decimals.
const UNITS: [(&str, f64, usize); 10] = [
    ("", 1.0, 0),
    ("", 1.0, 0),
    (" ms", 1e-6, 6),
    (" as % of it", 100.0, 3),
    (" ms", 1e-6, 6),
    (" ms", 1e-6, 6),
    (" /s", 1.0, 3),
    (" %", 100.0, 2),
    ("", 1.0, 0),
    ("", 1.0, 0),
];

/// All of its rows, below the heads.
pub fn table(rows: &[TableRow], statistic: Statistic) -> String {
    let heads = COLUMNS.iter().zip(UNITS);
    let heads: Vec<String> = heads
        .map(|(head, (unit, ..))| match *head {
            "Latency" => format!("{head}{unit}, {}", statistic.to_string().to_lowercase()),
            _ => format!("{head}{unit}"),
        })
        .collect();
    let lines = rows.iter().map(|row| cells(row).join("\t"));
    let lines: Vec<String> = std::iter::once(heads.join("\t")).chain(lines).collect();
    lines.join("\n") + "\n"
}

fn cells(row: &TableRow) -> Vec<String> {
    let columns = row.cells.iter().zip(row.keys).zip(UNITS);
    columns
        .map(|((words, number), (_, factor, decimals))| match number {
            Some(number) => format!("{:.decimals$}", number * factor),
            None => words.clone(),
        })
        .collect()
}
