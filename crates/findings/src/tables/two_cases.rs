//! The times of two pinned cases side by side, with the difference.

use super::cell::Cell;
use super::{Column, Table};
use crate::analysis::case_rows::CaseRow;
use powerband_core::stats::summary::Summary;

type TwoCasesColumn = Column<TimeOfTwo>;

/// Why a time is missing.
const MISSING: &str = "One of the two cases has no such time";

/// A row: one time of both cases.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeOfTwo {
    title: &'static str,
    help: &'static str,
    /// Nanoseconds of the first and of the second case.
    first: Option<f64>,
    second: Option<f64>,
}

impl TimeOfTwo {
    fn both(&self) -> Option<(f64, f64)> {
        self.first.zip(self.second)
    }
}

/// How a time is found in the row of a case.
type Time = fn(&CaseRow) -> Option<f64>;

/// Every time, in the order of the table.
const TIMES: [(&str, &str, Time); 7] = [
    ("Min", "The fastest run", CaseRow::min_ns),
    ("Median", "Half of all runs were faster", |row| {
        Some(summary(row)?.median)
    }),
    (
        "Mean",
        "Total time divided by the number of runs",
        CaseRow::mean_ns,
    ),
    ("p90", "90 of 100 runs were faster", |row| summary(row)?.p90),
    ("p99", "99 of 100 runs were faster", |row| summary(row)?.p99),
    ("Max", "The slowest run", CaseRow::max_ns),
    (
        "IQR",
        "Interquartile range: how wide the middle half of all runs is",
        |row| summary(row).map(|times| times.q3 - times.q1),
    ),
];

fn summary(row: &CaseRow) -> Option<&Summary> {
    row.latency_ns.as_ref()
}

/// The table of two cases.
pub fn of_cases(first: &CaseRow, second: &CaseRow) -> Table {
    let time = |(title, help, time): (&'static str, &'static str, Time)| TimeOfTwo {
        title,
        help,
        first: time(first),
        second: time(second),
    };
    Table::new(COLUMNS, TIMES.map(time).to_vec())
}

/// The columns of two cases.
pub const COLUMNS: &[TwoCasesColumn] = &[
    TwoCasesColumn::text("statistic", "Time of a batch", |time| {
        Some(Cell::text(time.title).noted(time.help))
    }),
    TwoCasesColumn::number("first_ms", "First", "ms", |time| time.first.map(Cell::time))
        .help("The case that was pinned first")
        .why(|_| MISSING.to_owned()),
    TwoCasesColumn::number("second_ms", "Second", "ms", |time| {
        time.second.map(Cell::time)
    })
    .help("The case that was pinned beside it")
    .why(|_| MISSING.to_owned()),
    TwoCasesColumn::number("difference_ms", "Difference", "ms", |time| {
        let (first, second) = time.both()?;
        Some(Cell::time_change(second - first))
    })
    .help("The second minus the first")
    .why(|_| MISSING.to_owned()),
    TwoCasesColumn::number("ratio", "Ratio", "", |time| {
        let (first, second) = time.both()?;
        (first > 0.0).then(|| Cell::ratio(second / first))
    })
    .help("The second divided by the first")
    .why(|_| MISSING.to_owned()),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::case_rows::case_rows;
    use crate::analysis::testing::{measure, session};
    use crate::tables::view::TableView;

    #[test]
    fn two_cases_stand_side_by_side_with_their_difference() {
        let mut session = session(&["ort:cpu"], &[1, 2]);
        let ms = 1_000_000;
        measure(&mut session, 0, 1, &[&[4 * ms, 5 * ms, 6 * ms]]);
        measure(&mut session, 0, 2, &[&[8 * ms, 10 * ms, 12 * ms]]);
        let rows = case_rows(&session);
        let view = TableView::new(of_cases(&rows[0], &rows[1]));
        let cell = |row: usize, key: &str| view.value(row, key).shown_text().to_owned();
        assert_eq!(cell(1, "statistic"), "Median");
        assert_eq!(cell(1, "first_ms"), "5.00 ms");
        assert_eq!(cell(1, "second_ms"), "10.0 ms");
        assert_eq!(cell(1, "difference_ms"), "+5.00 ms");
        assert_eq!(view.value(1, "ratio").number, Some(2.0));
        assert_eq!(view.value(4, "ratio").text, None, "p99 needs more samples");
        assert_eq!(view.value(4, "ratio").note, MISSING);
    }
}
