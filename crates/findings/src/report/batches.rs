//! The table of cases, and what the curves say.

use super::document::{Block, Cell, Table, Text, Tone};
use super::material::Source;
use super::numbers::{self, Unit};
use crate::analysis::batch_curve::Efficiency;
use crate::analysis::case_rows::CaseRow;
use crate::analysis::flags::Weight;
use crate::analysis::remarks;
use powerband_core::base::humanize;
use powerband_core::stats::percentiles::ELIGIBLE;

/// So many cases are shown.
const MOST_CASES: usize = 120;
/// So many curves are told of.
const MOST_CURVES: usize = 10;
/// Why a number of another program's case is not there.
const NOT_STATED: &str = "the imported file does not state it";
/// So many sentences about cases that ended badly.
const MOST_TROUBLES: usize = 20;

/// Every case.
pub fn table(source: &Source<'_>) -> Vec<Block> {
    if source.rows.is_empty() {
        return Vec::new();
    }
    let unit = unit(&source.rows);
    let time = unit.name;
    let heads = [
        ("Batch", ""),
        ("Median", time),
        ("± 95 %", ""),
        ("p90", time),
        ("p99", time),
        ("Throughput", "items/s"),
        ("Of best", ""),
        ("Samples", ""),
    ];
    let mut table = Table::new(&["Setup"], &heads).and_words("Remarks");
    table = table.filled(
        source.rows.iter().map(|row| line(row, unit)),
        MOST_CASES,
        "case",
        &source.elsewhere(),
    );
    let mut blocks = vec![Block::Table(table.without_empty_columns())];
    blocks.push(Block::Paragraph(
        Text::default().emphasis(format!("Of best: {}", Efficiency::OfBest.sentence())),
    ));
    blocks.extend(troubles(source));
    blocks.extend(
        remarks::outliers(&source.rows).map(|told| Block::Paragraph(format!("{told}.").into())),
    );
    blocks
}

/// The unit that suits the times of these cases.
pub fn unit(rows: &[CaseRow]) -> Unit {
    Unit::of(
        rows.iter()
            .filter_map(|row| Some(row.latency_ns.as_ref()?.median)),
    )
}

/// Why a case has no times.
pub fn why_not(row: &CaseRow) -> String {
    row.outcome.sentence().map_or_else(
        || "not measured yet".to_owned(),
        |told| humanize::shorten(&told, 160),
    )
}

fn line(row: &CaseRow, unit: Unit) -> Vec<Cell> {
    let why = why_not(row);
    let latency = row.latency_ns.as_ref();
    let no_rate: &str = if row.is_stated_only() {
        NOT_STATED
    } else {
        &why
    };
    let percentile = |percent: f64, value: Option<f64>| match (latency, value) {
        (None, _) => Cell::unknown(why.as_str()),
        (Some(_), Some(ns)) => Cell::of(unit.text(ns)),
        (Some(_), None) if row.is_stated_only() => Cell::unknown(NOT_STATED),
        (Some(_), None) => Cell::unknown(few(percent)),
    };
    vec![
        Cell::of(row.setup_label.as_str()),
        Cell::of(row.batch.to_string()),
        Cell::known(latency.map(|times| unit.text(times.median)), &why),
        match latency {
            None => Cell::unknown(why.as_str()),
            Some(_) => Cell::known(
                row.uncertainty_words(),
                "one round says nothing of how rounds differ",
            ),
        },
        percentile(90.0, latency.and_then(|times| times.p90)),
        percentile(99.0, latency.and_then(|times| times.p99)),
        Cell::known(numbers::rate(row), no_rate),
        Cell::known(row.of_best.map(numbers::share), no_rate),
        Cell::of(humanize::count(row.samples)),
        marks(row),
    ]
}

fn few(percent: f64) -> String {
    let needed = ELIGIBLE.iter().find(|(of, _)| (of - percent).abs() < 1e-9);
    needed.map_or_else(String::new, |(_, needed)| {
        format!("p{percent:.0} needs {} samples", humanize::count(*needed))
    })
}

/// The outcome where it is no good one, and the names of the flags.
fn marks(row: &CaseRow) -> Cell {
    let outcome = row.outcome.sentence().map(|_| row.outcome.name());
    let names = outcome
        .into_iter()
        .chain(row.flags.iter().map(|flag| flag.name));
    let names: Vec<&str> = names.collect();
    let is_red = row.flags.iter().any(|flag| flag.weight == Weight::Red);
    let cell = Cell::of(names.join(", "));
    if is_red || row.outcome.is_trouble() {
        cell.toned(Tone::Bad)
    } else {
        cell
    }
}

fn troubles(source: &Source<'_>) -> Option<Block> {
    let mut told = remarks::troubles(&source.rows);
    let more = told.len().saturating_sub(MOST_TROUBLES);
    told.truncate(MOST_TROUBLES);
    if more > 0 {
        told.push(format!("and {more} more; {}", source.elsewhere()));
    }
    let items: Vec<Text> = told.into_iter().map(Text::from).collect();
    (!items.is_empty()).then_some(Block::List(items))
}

/// What each curve says, in a sentence.
pub fn shapes(source: &Source<'_>) -> Vec<Block> {
    let told = source.curves.iter().filter(|curve| curve.points.len() > 1);
    let items = told.take(MOST_CURVES).map(|curve| {
        let headroom = curve.headroom.map_or_else(String::new, |headroom| {
            format!("; memory: {}", headroom.sentence())
        });
        Text::default()
            .code(&curve.label)
            .plain(format!(": {}{headroom}.", curve.explain()))
    });
    let items: Vec<Text> = items.collect();
    if items.is_empty() {
        return Vec::new();
    }
    vec![Block::List(items)]
}

/// A setup's batch sizes as a case study has them: latency, throughput, efficiency.
pub fn of_setup(source: &Source<'_>, setup: usize) -> Vec<Block> {
    let rows: Vec<&CaseRow> = source
        .rows
        .iter()
        .filter(|row| row.setup == setup)
        .collect();
    let unit = Unit::of(
        rows.iter()
            .filter_map(|row| Some(row.latency_ns.as_ref()?.median)),
    );
    let heads = [
        ("Batch size", ""),
        ("Latency", unit.name),
        ("Throughput", "items/s"),
        ("Efficiency (of best)", ""),
        ("Efficiency (scaling)", ""),
    ];
    let curve = source.curves.iter().find(|curve| curve.setup == setup);
    let lines = rows.into_iter().map(|row| {
        let why = why_not(row);
        let point = curve.and_then(|curve| curve.points.iter().find(|p| p.batch == row.batch));
        let efficiency = |kind: Efficiency| {
            let found = point.and_then(|point| point.efficiency(kind));
            Cell::known(found.map(numbers::share), &why)
        };
        let median = row.latency_ns.as_ref().map(|times| times.median);
        vec![
            Cell::of(row.batch.to_string()),
            Cell::known(median.map(|ns| unit.text(ns)), &why),
            Cell::known(numbers::rate(row), &why),
            efficiency(Efficiency::OfBest),
            efficiency(Efficiency::Scaling),
        ]
    });
    let table =
        Table::new(&[], &heads).filled(lines, MOST_CASES, "batch size", &source.elsewhere());
    let what = [Efficiency::OfBest, Efficiency::Scaling]
        .map(|kind| Text::from(format!("Efficiency ({kind}): {}", kind.sentence())));
    vec![Block::Table(table), Block::List(what.to_vec())]
}
