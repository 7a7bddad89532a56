//! Requests to a language model: the table of their times, and how many tokens were real.

use super::document::{Block, ReportText};
use super::material::ReportedSession;
use crate::analysis::case_rows::CaseRow;
use crate::tables::{self, view::TableView};

/// So many cases are shown.
const MOST_CASES: usize = 60;
/// So many cases have a sentence.
const MOST_SENTENCES: usize = 12;

/// A row for each case whose runs are requests; nothing where none are.
pub fn blocks(source: &ReportedSession<'_>) -> Vec<Block> {
    if source.rows.iter().all(|row| row.requests.is_none()) {
        return Vec::new();
    }
    let table = TableView::new(tables::requests::of_session(&source.rows))
        .to_document(MOST_CASES, "case", &source.full_table_hint())
        .without_empty_columns();
    let counted = token_counts(&source.rows).take(MOST_SENTENCES);
    [Block::Table(table)]
        .into_iter()
        .chain(Block::list(counted))
        .collect()
}

/// How many tokens of each case were real, where they were counted.
pub(super) fn token_counts(rows: &[CaseRow]) -> impl Iterator<Item = ReportText> {
    rows.iter().filter_map(|row| {
        let requests = row.requests.as_ref().filter(|found| found.count > 0)?;
        let text = ReportText::default().code(&row.setup_label);
        Some(text.text(format!(", {}: {}", row.point, requests.tokens_sentence())))
    })
}
