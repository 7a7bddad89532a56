//! Published numbers and contradictions in numbers, as text on a terminal.

use powerband_core::base::humanize;
use powerband_core::domain::claim::Published;
use powerband_findings::analysis::claims::{self, MARK, Sheet};
use powerband_findings::analysis::lint::Finding;
use powerband_findings::export::claims as words;

/// Where the numbers are from, and the tables of them.
pub(super) fn published(published: &Published) -> String {
    let mut text = String::new();
    for (what, words) in claims::head(published) {
        text.push_str(&format!("{what:<9}{words}\n"));
    }
    for sheet in claims::sheets(published) {
        text.push_str(&format!("\n{}, {MARK}\n{}", sheet.title, table(&sheet)));
    }
    text
}

fn table(sheet: &Sheet) -> String {
    let header: Vec<&str> = sheet.columns.iter().map(String::as_str).collect();
    humanize::table(&header, &sheet.rows, sheet.words)
}

/// How many findings there are, in a line; nothing for none.
pub(super) fn in_short(findings: &[Finding]) -> String {
    if findings.is_empty() {
        return String::new();
    }
    format!(
        "! These numbers do not all agree: {}. powerband check lists them.\n",
        words::count(findings)
    )
}
