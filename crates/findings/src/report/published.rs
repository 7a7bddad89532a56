//! Published numbers, as their document has them, and contradictions in published and measured numbers.

use super::document::{Block, ReportCell, ReportTable, ReportText};
use super::material::ReportedSession;
use crate::analysis::claims::{self, PublishedTable};
use crate::analysis::lint::{self, LintFinding};

/// Where the numbers are from, and every table of them; nothing where nothing was published.
pub fn tables(source: &ReportedSession<'_>) -> Vec<Block> {
    let Some(published) = &source.session.published else {
        return Vec::new();
    };
    let facts = claims::source_facts(published).into_iter();
    let facts = facts.map(|(what, words)| (what.to_owned(), words.into()));
    let mut blocks = vec![
        Block::paragraph("Published, not measured here. A cell is blank where the document's is."),
        Block::Facts(facts.collect()),
    ];
    for sheet in claims::published_tables(published) {
        blocks.push(Block::Heading(3, sheet.title.clone()));
        blocks.push(Block::Table(table(&sheet)));
    }
    blocks
}

pub(super) fn table(sheet: &PublishedTable) -> ReportTable {
    let words = sheet.text_columns.min(sheet.columns.len());
    let (words, numbers) = sheet.columns.split_at(words);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let numbers: Vec<(&str, &str)> = numbers.iter().map(|title| (title.as_str(), "")).collect();
    let rows = sheet.rows.iter();
    ReportTable {
        rows: rows
            .map(|row| {
                row.iter()
                    .map(|cell| ReportCell::new(cell.as_str()))
                    .collect()
            })
            .collect(),
        ..ReportTable::new(&words, &numbers)
    }
}

/// Contradictions with their sums; nothing where there are none.
pub fn findings(source: &ReportedSession<'_>) -> Vec<Block> {
    let found = lint::lint_findings(&source.session);
    if found.is_empty() {
        return Vec::new();
    }
    vec![Block::Numbered(found.iter().map(finding).collect())]
}

fn finding(finding: &LintFinding) -> ReportText {
    let title = lint::check_by_id(finding.check).map_or("", |check| check.title);
    ReportText::default()
        .strong(format!("{title}, {}", finding.weight.name()))
        .text(format!(
            ": {}. Stated: {}. Computed: {}. ",
            finding.about, finding.claimed, finding.follows
        ))
        .code(finding.sum.clone())
}
