//! The table of *Curves*: its columns and rows, and the same as spreadsheets take it, with tabs, plain numbers,
//! and units in the heads.

use crate::sessions::Pin;
use powerband_core::domain::plan::p99_samples;
use powerband_findings::analysis::batch_curve::Statistic;
use powerband_findings::analysis::flags::Weight;

/// Columns of the table, in order.
pub const COLUMNS: [&str; 10] = [
    "Setup",
    "Batch",
    "Latency",
    "± 95 %",
    "Min",
    "p99",
    "Throughput",
    "Efficiency",
    "Samples",
    "Outcome",
];

/// What each column means, in a sentence.
pub const COLUMN_HELP: [&str; 10] = [
    "One way to run the model: engine, device and options",
    "Items that go through the network in one run",
    "The latency that is drawn: half of all runs were faster than the median",
    "Half the 95 % interval of the median as a share of it: measured again, the median would most likely lie within. Mean and p99 have none",
    "The fastest run",
    concat!(
        "99 of 100 runs were faster; shown from ",
        p99_samples!(),
        " samples on, because fewer cannot carry it"
    ),
    "Items done over time spent",
    "How well a batch is used, by the definition chosen above",
    "Runs that were timed, over all rounds",
    "How the case ended, and what is suspicious about it",
];

/// One row of the table.
#[derive(Clone, Debug, PartialEq)]
pub struct TableRow {
    /// Which case.
    pub pin: Pin,
    /// Its palette index.
    pub colour: usize,
    /// What each column says.
    pub cells: [String; 10],
    /// Why a column says nothing, where it does not; empty elsewhere.
    pub unknown: [&'static str; 10],
    /// What each column sorts by, where it is a number.
    pub keys: [Option<f64>; 10],
    /// Why it ended as it did, and what is suspicious, in sentences.
    pub remarks: Vec<String>,
    /// Whether it ended badly.
    pub is_trouble: bool,
    /// How much its flags matter; nothing where it has none.
    pub weight: Option<Weight>,
}

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
pub(crate) fn tab_separated(rows: &[TableRow], statistic: Statistic) -> String {
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
