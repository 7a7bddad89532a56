//! Flags as text on a terminal.

use super::args::Detail;
use powerband_findings::analysis::case_rows::CaseRow;
use powerband_findings::analysis::remarks::{self, Raised};

/// A line for each kind of flag, the most serious first; in full with each case under it.
pub(super) fn flags<'a>(rows: impl IntoIterator<Item = &'a CaseRow>, detail: Detail) -> String {
    let raised = remarks::flags(rows).into_iter();
    let lines = raised.map(|flag| {
        if detail.verbose {
            in_full(&flag)
        } else {
            format!("! {}\n", flag.in_short())
        }
    });
    lines.collect::<Vec<_>>().concat()
}

/// A flag with its advice, and under it each case that earned it with its evidence.
fn in_full(flag: &Raised<'_>) -> String {
    let cases = flag
        .cases
        .iter()
        .map(|(row, evidence)| format!("    {} {}: {evidence}\n", row.setup_label, row.point));
    format!(
        "! {}. What to do: {}.\n{}",
        flag.name,
        flag.advice,
        cases.collect::<Vec<_>>().concat()
    )
}
