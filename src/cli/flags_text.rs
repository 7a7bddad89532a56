//! Flags as text on a terminal.

use powerband_findings::analysis::case_rows::CaseRow;
use powerband_findings::analysis::remarks;

/// Each flag once, with its advice, and under it the cases that earned it with their evidence.
pub(super) fn flags<'a>(rows: impl IntoIterator<Item = &'a CaseRow>) -> String {
    let raised = remarks::flags(rows).into_iter().map(|flag| {
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
    });
    raised.collect::<Vec<_>>().concat()
}
