//! What limits a case, a row for each finding, worst first.

use super::cell::Cell;
use super::{Column, Table};
use crate::analysis::limits::finding::Finding;

type Of = Column<Finding>;

/// The findings in their order.
pub fn of_findings(findings: &[Finding]) -> Table {
    Table::new(COLUMNS, findings.to_vec())
}

/// The columns.
pub const COLUMNS: &[Of] = &[
    Of::words("finding", "Finding", |finding| {
        Some(Cell::words(&finding.sentence).noted(&finding.formula))
    }),
    Of::words("bound", "Bound", |finding| {
        let bound = finding.bound?;
        Some(Cell::words(bound.title()).named(bound).noted(bound.help()))
    })
    .why(|_| "no single cause".to_owned()),
    Of::number("at_most_here", "At most here", "×", |finding| {
        finding.at_most_here.map(Cell::ratio)
    })
    .help("How many times faster this part can become at most")
    .why(|_| "it is not about a part with a floor".to_owned()),
    Of::number("at_most_overall", "Over all", "×", |finding| {
        finding.at_most_overall.map(Cell::ratio)
    })
    .help("How many times faster the whole run then becomes")
    .why(|_| "the wall time of the run cannot be taken apart".to_owned()),
    Of::words("basis", "Known", |finding| {
        Some(Cell::words(finding.basis.title()).named(finding.basis))
    }),
    Of::words("line", "Measured against", |finding| {
        Some(Cell::words(&finding.line)).filter(|_| !finding.line.is_empty())
    }),
    Of::words("formula", "Formula", |finding| {
        Some(Cell::words(&finding.formula))
    })
    .hidden(),
];
