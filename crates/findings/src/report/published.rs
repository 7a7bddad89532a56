//! Published numbers, as their document has them, and contradictions in published and measured numbers.

use super::document::{Block, Cell, Table, Text};
use super::material::Source;
use crate::analysis::claims::{self, Sheet};
use crate::analysis::lint::{self, Finding};

/// Where the numbers are from, and every table of them; nothing where nothing was published.
pub fn tables(source: &Source<'_>) -> Vec<Block> {
    let Some(published) = &source.session.published else {
        return Vec::new();
    };
    let facts = claims::head(published).into_iter();
    let facts = facts.map(|(what, words)| (what.to_owned(), words.into()));
    let mut blocks = vec![
        Block::Paragraph(
            "Published, not measured here. A cell is blank where the document's is.".into(),
        ),
        Block::Facts(facts.collect()),
    ];
    for sheet in claims::sheets(published) {
        blocks.push(Block::Heading(3, sheet.title.clone()));
        blocks.push(Block::Table(table(&sheet)));
    }
    blocks
}

pub(super) fn table(sheet: &Sheet) -> Table {
    let words = sheet.words.min(sheet.columns.len());
    let (words, numbers) = sheet.columns.split_at(words);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let numbers: Vec<(&str, &str)> = numbers.iter().map(|title| (title.as_str(), "")).collect();
    let rows = sheet.rows.iter();
    Table {
        rows: rows
            .map(|row| row.iter().map(|cell| Cell::of(cell.as_str())).collect())
            .collect(),
        ..Table::new(&words, &numbers)
    }
}

/// Contradictions with their sums; nothing where there are none.
pub fn findings(source: &Source<'_>) -> Vec<Block> {
    let found = lint::lint_findings(&source.session);
    if found.is_empty() {
        return Vec::new();
    }
    vec![Block::Numbered(found.iter().map(finding).collect())]
}

fn finding(finding: &Finding) -> Text {
    let title = lint::check(finding.check).map_or("", |check| check.title);
    Text::default()
        .strong(format!("{title}, {}", finding.weight.name()))
        .plain(format!(
            ": {}. Stated: {}. Computed: {}. ",
            finding.about, finding.claimed, finding.follows
        ))
        .code(finding.sum.clone())
}
