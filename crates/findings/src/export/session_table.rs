//! A session as a table: a row for each case, or for each sample.

use super::csv::{Cell, Table};
use crate::analysis::case_rows::{self, CaseRow};
use powerband_core::domain::session::Session;

/// A row for each case.
pub fn cases(session: &Session) -> Table {
    let mut table = Table::new(&[
        "setup",
        "label",
        "batch",
        "outcome",
        "rounds",
        "samples",
        "min_ms",
        "median_ms",
        "mean_ms",
        "p90_ms",
        "p95_ms",
        "p99_ms",
        "max_ms",
        "std_ms",
        "ci95_low_ms",
        "ci95_high_ms",
        "throughput_per_s",
        "peak_memory_bytes",
        "energy_j_per_item",
        "flags",
        "reason",
    ]);
    table.rows = case_rows::case_rows(session).iter().map(row).collect();
    table
}

fn row(row: &CaseRow) -> Vec<Cell> {
    let ms = |ns: Option<f64>| Cell::number(ns.map(|ns| ns / 1e6));
    let times = row.latency_ns.as_ref();
    let flags: Vec<&str> = row.flags.iter().map(|flag| flag.name).collect();
    let reason = row.outcome.sentence();
    vec![
        Cell::text(row.setup_spec.as_str()),
        Cell::text(row.setup_label.as_str()),
        Cell::Whole(row.batch as u64),
        Cell::text(row.outcome.name()),
        Cell::Whole(row.rounds as u64),
        Cell::Whole(row.samples),
        ms(row.min_ns()),
        ms(times.map(|times| times.median)),
        ms(row.mean_ns()),
        ms(times.and_then(|times| times.p90)),
        ms(times.and_then(|times| times.p95)),
        ms(times.and_then(|times| times.p99)),
        ms(row.max_ns()),
        ms(times.and_then(|times| times.std)),
        ms(row.ci95_ns.map(|interval| interval.low)),
        ms(row.ci95_ns.map(|interval| interval.high)),
        Cell::number(row.throughput_per_s),
        Cell::number(row.memory.map(|need| need.bytes)),
        Cell::number(
            row.energy
                .as_ref()
                .ok()
                .map(|energy| energy.gross_j_per_item()),
        ),
        Cell::text(flags.join("; ")),
        reason.map_or(Cell::Empty, Cell::Text),
    ]
}

/// A row for each sample, in the order in which they came.
pub fn samples(session: &Session) -> Table {
    let mut table = Table::new(&["setup", "batch", "round", "sample", "ns"]);
    for case in &session.cases {
        let setup = session.setup_spec(case.setup);
        for round in &case.rounds {
            let samples = (0..).zip(&round.samples_ns);
            table.rows.extend(samples.map(|(number, ns)| {
                vec![
                    Cell::text(setup.as_str()),
                    Cell::Whole(case.batch as u64),
                    Cell::Whole(u64::from(round.round)),
                    Cell::Whole(number),
                    Cell::Whole(*ns),
                ]
            }));
        }
    }
    table
}
