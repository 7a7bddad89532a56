//! Device telemetry, energy and accuracy of each case.

use super::document::Block;
use super::material::ReportedSession;
use super::numbers;
use crate::analysis::case_rows::CaseRow;
use crate::tables::{self, view::TableView};

/// So many cases are shown.
const MOST_CASES: usize = 60;
/// So many setups are shown.
const MOST_SETUPS: usize = 40;

/// Utilisation, power, clock, temperature, memory and energy of each case; then their sources.
pub fn blocks(source: &ReportedSession<'_>) -> Vec<Block> {
    let rows: Vec<CaseRow> = source
        .measured()
        .filter(|row| row.memory.is_some() || !row.device_readings.is_empty())
        .cloned()
        .collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let table = tables::cases::of_session(&source.session, &rows, &[]);
    let view = TableView::new(table).columns(&tables::cases::DEVICES);
    let table = view
        .to_document(MOST_CASES, "case", &source.full_table_hint())
        .without_empty_columns();
    let mut blocks = vec![Block::Table(table)];
    let mut told: Vec<String> = Vec::new();
    if let Some(found) = rows.iter().find_map(|row| row.energy.as_ref().ok()) {
        told.push(format!("Energy: {}.", found.sentence()));
    }
    for missing in &source.session.telemetry.missing {
        let why = missing.why.trim_end_matches('.');
        told.push(format!("{} was not read: {why}.", missing.source));
    }
    blocks.extend(Block::list(told));
    blocks
}

/// How close what each setup computes is to the reference.
pub fn accuracies(source: &ReportedSession<'_>) -> Vec<Block> {
    let session = &source.session;
    let Some(first) = session.accuracies.values().next() else {
        return Vec::new();
    };
    let table = TableView::new(tables::accuracies::of_session(session))
        .to_document(MOST_SETUPS, "setup", &source.full_table_hint())
        .without_empty_columns();
    let told = format!("On {}, against {}.", first.inputs, first.reference);
    vec![Block::paragraph(told), Block::Table(table)]
}

/// The device that computed, and its share of the time, in words.
pub fn busy(row: &CaseRow) -> Option<String> {
    row.busy.map(numbers::share)
}
