//! What the devices did meanwhile, what that cost in energy, and how close the answers are.

use super::document::{Block, Cell, Table, Text};
use super::material::Source;
use super::numbers;
use crate::analysis::case_rows::CaseRow;
use crate::analysis::device_readings::{self, Watched};
use crate::analysis::{accuracy, energy};
use powerband_core::base::humanize;
use powerband_core::domain::telemetry::Quantity;

/// So many cases are shown.
const MOST_CASES: usize = 60;
/// So many setups are shown.
const MOST_SETUPS: usize = 40;

/// Busy share, power, clock, heat, memory and energy of each case; then where the numbers come from.
pub fn blocks(source: &Source<'_>) -> Vec<Block> {
    let rows: Vec<&CaseRow> = source
        .measured()
        .filter(|row| row.memory.is_some() || !row.watched.is_empty())
        .collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let heads = [
        ("Batch", ""),
        ("Busy", ""),
        ("Power", ""),
        ("Clock", ""),
        ("Heat", ""),
        ("Memory", ""),
        ("Energy an item", ""),
        ("Net of idle", ""),
        ("Items per joule", ""),
    ];
    let table = Table::new(&["Setup"], &heads)
        .filled(
            rows.iter().map(|row| line(source, row)),
            MOST_CASES,
            "case",
            &source.elsewhere(),
        )
        .without_empty_columns();
    let mut blocks = vec![Block::Table(table)];
    let mut told: Vec<Text> = Vec::new();
    if let Some(found) = rows.iter().find_map(|row| row.energy.as_ref().ok()) {
        told.push(format!("Energy: {}.", found.sentence()).into());
    }
    for missing in &source.session.telemetry.missing {
        told.push(
            format!(
                "{} was not read: {}.",
                missing.source,
                missing.why.trim_end_matches('.')
            )
            .into(),
        );
    }
    if !told.is_empty() {
        blocks.push(Block::List(told));
    }
    blocks
}

fn line(source: &Source<'_>, row: &CaseRow) -> Vec<Cell> {
    let own = device_readings::devices_of(&source.session, row.setup);
    let mean = |quantity: Quantity| {
        let mut devices = row
            .watched
            .iter()
            .filter(|device| own.contains(&device.device));
        let extent = |device: &Watched| device.extent(quantity);
        let found = devices.find_map(extent);
        Cell::known(
            found.map(|extent| device_readings::text(quantity, extent.mean)),
            "no device that it ran on tells it",
        )
    };
    let why = row.energy.as_ref().err().cloned().unwrap_or_default();
    let found = row.energy.as_ref().ok();
    let joules = |value: Option<f64>| Cell::known(value.map(energy::joules), why.as_str());
    vec![
        Cell::of(row.setup_label.as_str()),
        Cell::of(row.batch.to_string()),
        mean(Quantity::Busy),
        match found {
            Some(found) => Cell::of(device_readings::text(Quantity::Power, found.mean_w())),
            None => mean(Quantity::Power),
        },
        mean(Quantity::Clock),
        mean(Quantity::Temperature),
        Cell::known(
            row.memory.map(|need| humanize::bytes(need.bytes as u64)),
            "nobody told it",
        ),
        joules(found.map(energy::Energy::gross_j_per_item)),
        joules(found.and_then(energy::Energy::net_j_per_item)),
        Cell::known(
            found.map(|found| humanize::significant(found.items_per_j(), 3)),
            why.as_str(),
        ),
    ]
}

/// How close what each setup computes is to the reference.
pub fn accuracies(source: &Source<'_>) -> Vec<Block> {
    let session = &source.session;
    let Some(first) = session.accuracies.values().next() else {
        return Vec::new();
    };
    let heads = [
        ("Worst cosine", ""),
        ("Mean cosine", ""),
        ("Largest error", ""),
        ("Same choice", ""),
        ("Top-1", ""),
        ("Top-5", ""),
    ];
    let lines: Vec<Vec<Cell>> = session
        .accuracies
        .iter()
        .map(|(&setup, found)| {
            let why = found.trouble.as_deref().unwrap_or_default();
            let distance = found.distance.as_ref();
            let why_no_hits = found.why_no_hits().unwrap_or_default();
            let hits = |hits| Cell::known(Option::and_then(hits, accuracy::percent), why_no_hits);
            vec![
                Cell::of(session.setup_label(setup)),
                Cell::known(distance.map(|d| accuracy::cosine(d.worst_cosine)), why),
                Cell::known(distance.map(|d| accuracy::cosine(d.mean_cosine)), why),
                Cell::known(distance.map(|d| humanize::value(d.max_error)), why),
                hits(found.same_choice),
                hits(found.top1),
                hits(found.top5),
            ]
        })
        .collect();
    let table = Table::new(&["Setup"], &heads)
        .filled(lines.into_iter(), MOST_SETUPS, "setup", &source.elsewhere())
        .without_empty_columns();
    let told = format!("On {}, against {}.", first.inputs, first.reference);
    vec![Block::Paragraph(told.into()), Block::Table(table)]
}

/// The device that computed, and its share of the time, in words.
pub fn busy(row: &CaseRow) -> Option<String> {
    row.busy.map(numbers::share)
}
