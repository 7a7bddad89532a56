//! The table of cases, and what the curves say.

use super::document::{Block, ReportText};
use super::material::ReportedSession;
use crate::analysis::batch_curve::Efficiency;
use crate::analysis::case_rows::CaseRow;
use crate::analysis::remarks;
use crate::tables::{self, view::TableView};

/// So many cases are shown.
const MOST_CASES: usize = 120;
/// Most curves described.
const MOST_CURVES: usize = 10;
/// Most sentences about cases that failed.
const MOST_TROUBLES: usize = 20;

/// Every case.
pub fn table(source: &ReportedSession<'_>) -> Vec<Block> {
    if source.rows.is_empty() {
        return Vec::new();
    }
    let table = tables::cases::of_session(&source.session, &source.rows, &source.curves);
    let view = TableView::new(table).columns(&tables::cases::IN_REPORT);
    let table = view.to_document(MOST_CASES, "case", &source.full_table_hint());
    let mut blocks = vec![Block::Table(table.without_empty_columns())];
    if source.rows.iter().any(|row| row.of_best.is_some()) {
        let (title, sentence) = (Efficiency::OfBest.title(), Efficiency::OfBest.sentence());
        let text = ReportText::default().emphasis(format!("{title}: {sentence}"));
        blocks.push(Block::Paragraph(text));
    }
    blocks.extend(failures(source));
    blocks.extend(
        remarks::outlier_sentence(&source.rows).map(|text| Block::paragraph(format!("{text}."))),
    );
    blocks
}

fn failures(source: &ReportedSession<'_>) -> Option<Block> {
    let mut told = remarks::failure_sentences(&source.rows);
    let more = told.len().saturating_sub(MOST_TROUBLES);
    told.truncate(MOST_TROUBLES);
    if more > 0 {
        told.push(format!("and {more} more; {}", source.full_table_hint()));
    }
    Block::list(told)
}

/// What each curve says, in a sentence.
pub fn shapes(source: &ReportedSession<'_>) -> Vec<Block> {
    let told = source.curves.iter().filter(|curve| curve.points.len() > 1);
    let items = told.take(MOST_CURVES).map(|curve| {
        let headroom = curve.headroom.map_or_else(String::new, |headroom| {
            format!("; memory: {}", headroom.sentence())
        });
        ReportText::default()
            .code(&curve.label)
            .text(format!(": {}{headroom}.", curve.explain()))
    });
    Vec::from_iter(Block::list(items))
}

/// A setup's batch sizes as a case study has them: latency, throughput, efficiency.
pub fn of_setup(source: &ReportedSession<'_>, setup: usize) -> Vec<Block> {
    let rows = source.rows.iter().filter(|row| row.setup == setup);
    let rows: Vec<CaseRow> = rows.cloned().collect();
    let table = tables::cases::of_session(&source.session, &rows, &source.curves);
    let view = TableView::new(table).columns(&tables::cases::BATCHES);
    let table = view.to_document(MOST_CASES, "batch size", &source.full_table_hint());
    let what = [Efficiency::OfBest, Efficiency::Scaling]
        .map(|kind| ReportText::from(format!("{}: {}", kind.title(), kind.sentence())));
    vec![Block::Table(table), Block::List(what.to_vec())]
}
