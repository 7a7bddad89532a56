//! What limits a case, a row for each finding, worst first.

use super::cell::Cell;
use super::{Column, Table};
use crate::analysis::limits::finding::LimitFinding;

type FindingColumn = Column<LimitFinding>;

/// The findings in their order.
pub fn of_findings(findings: &[LimitFinding]) -> Table {
    Table::new(COLUMNS, findings.to_vec())
}

pub const COLUMNS: &[FindingColumn] = &[
    FindingColumn::text("finding", "Finding", |finding| {
        Some(Cell::text(&finding.sentence).noted(&finding.formula))
    }),
    FindingColumn::text("bound", "Bound", |finding| {
        let bound = finding.bound?;
        Some(Cell::text(bound.title()).named(bound).noted(bound.help()))
    })
    .why(|_| "no single cause".to_owned()),
    FindingColumn::number("at_most_here", "At most here", "×", |finding| {
        finding.at_most_here.map(Cell::ratio)
    })
    .help("How many times faster this part can become at most")
    .why(|_| "it is not about a part with a floor".to_owned()),
    FindingColumn::number("at_most_overall", "Over all", "×", |finding| {
        finding.at_most_overall.map(Cell::ratio)
    })
    .help("How many times faster the whole run then becomes")
    .why(|_| "the wall time of the run cannot be taken apart".to_owned()),
    FindingColumn::text("basis", "Known", |finding| {
        Some(Cell::text(finding.basis.title()).named(finding.basis))
    }),
    FindingColumn::text("line", "Measured against", |finding| {
        Some(Cell::text(&finding.line)).filter(|_| !finding.line.is_empty())
    }),
    FindingColumn::text("formula", "Formula", |finding| {
        Some(Cell::text(&finding.formula))
    })
    .hidden(),
];
