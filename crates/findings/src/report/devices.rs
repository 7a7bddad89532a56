//! Device telemetry, energy and accuracy of each case.

use super::document::Block;
use super::material::ReportedSession;
use super::numbers;
use crate::analysis::case_rows::CaseRow;
use crate::analysis::{batch_curve, peak};
use crate::tables::{self, view::TableView};
use powerband_core::base::humanize;
use powerband_core::domain::session::Session;

/// So many cases are shown.
const MOST_CASES: usize = 60;
/// So many setups are shown.
const MOST_SETUPS: usize = 40;

/// Utilisation, power, clock, temperature, memory and energy of each case; then their sources.
pub fn blocks(source: &ReportedSession<'_>) -> Vec<Block> {
    let rows: Vec<CaseRow> = source.measured().filter(has_readings).cloned().collect();
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

/// The same of every case with readings, then how energy was measured or why it was not, and what fits into memory.
pub(super) fn in_short(session: &Session, rows: &[CaseRow]) -> Vec<Block> {
    let with_readings: Vec<CaseRow> = rows.iter().filter(has_readings).cloned().collect();
    if with_readings.is_empty() {
        return Vec::new();
    }
    let table = tables::cases::of_session(session, &with_readings, &[]);
    let view = TableView::new(table).columns(&tables::cases::DEVICES);
    let mut measured = rows.iter().filter(|row| row.samples > 0);
    let energy = measured.next().map(|row| match &row.energy {
        Ok(energy) => format!("Energy of an item: {}", energy.sentence()),
        Err(why) => format!("Energy is not known: {why}"),
    });
    let curves = batch_curve::batch_curves(rows).into_iter();
    let memory = curves.filter_map(|curve| {
        let headroom = curve.headroom?.sentence();
        Some(format!("Memory of {}: {headroom}", curve.label))
    });
    let remarks = Block::list(energy.into_iter().chain(memory));
    [view.to_block()].into_iter().chain(remarks).collect()
}

fn has_readings(row: &&CaseRow) -> bool {
    row.memory.is_some() || !row.device_readings.is_empty()
}

/// The share of peak that each setup reaches, where that is known.
pub(super) fn shares_of_peak(session: &Session, rows: &[CaseRow]) -> Vec<String> {
    let setups = 0..session.plan.setups.len();
    let sentences = setups.filter_map(|setup| {
        let own = rows.iter().filter(|row| row.setup == setup);
        let best = own
            .filter(|row| !row.outcome.is_trouble())
            .filter_map(|row| Some((row, row.of_peak?)))
            .max_by(|a, b| a.1.total_cmp(&b.1));
        let (row, share) = best?;
        let peak = peak::peak_of_setup(session, setup).ok()?.description;
        let (label, share) = (&row.setup_label, humanize::percent(share));
        Some(format!(
            "{label}: {share} of peak at {}; the peak is {peak}",
            row.point
        ))
    });
    sentences.collect()
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
