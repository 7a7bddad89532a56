//! How close what each setup computes is to the reference.

use super::cell::Cell;
use super::{Column, Table};
use powerband_core::domain::accuracy::{Accuracy, HitCount, OutputDistance};
use powerband_core::domain::session::Session;

type AccuracyColumn = Column<AccuracyLine>;

/// A row: a setup whose outputs were compared.
#[derive(Clone, Debug)]
pub struct AccuracyLine {
    setup: String,
    found: Accuracy,
}

impl AccuracyLine {
    fn distance(&self) -> Option<OutputDistance> {
        self.found.distance
    }
}

/// The setups of a session whose outputs were compared.
pub fn of_session(session: &Session) -> Table {
    let lines = session
        .accuracies
        .iter()
        .map(|(&setup, found)| AccuracyLine {
            setup: session.setup_label(setup),
            found: found.clone(),
        });
    Table::new(COLUMNS, lines.collect())
}

/// The columns of accuracies.
pub const COLUMNS: &[AccuracyColumn] = &[
    AccuracyColumn::text("setup", "Setup", |line| Some(Cell::text(&line.setup))),
    AccuracyColumn::number("worst_cosine", "Worst cosine", "", |line| {
        Some(Cell::cosine(line.distance()?.worst_cosine))
    })
    .why(why_no_distance),
    AccuracyColumn::number("mean_cosine", "Mean cosine", "", |line| {
        Some(Cell::cosine(line.distance()?.mean_cosine))
    })
    .why(why_no_distance),
    AccuracyColumn::number("largest_error", "Largest error", "", |line| {
        Some(Cell::value(line.distance()?.max_error))
    })
    .why(why_no_distance),
    AccuracyColumn::number("same_choice", "Same choice", "%", |line| {
        hits(line.found.same_choice)
    })
    .why(why_no_hits),
    AccuracyColumn::number("top1", "Top-1", "%", |line| hits(line.found.top1)).why(why_no_hits),
    AccuracyColumn::number("top5", "Top-5", "%", |line| hits(line.found.top5)).why(why_no_hits),
];

fn hits(hits: Option<HitCount>) -> Option<Cell> {
    Cell::hits(hits?)
}

fn why_no_distance(line: &AccuracyLine) -> String {
    line.found.trouble.clone().unwrap_or_default()
}

fn why_no_hits(line: &AccuracyLine) -> String {
    line.found.why_no_hits().unwrap_or_default().to_owned()
}
