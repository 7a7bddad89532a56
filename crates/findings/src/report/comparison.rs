//! Two sessions: what differs, and whether it got faster.

use super::document::{Block, Document};
use super::material::{ReportInputs, ReportedSession};
use super::{batches, circumstances, conclusions, figures, fleet, overview, pairs, profiles};
use crate::analysis::comparison::{self, ComparedMetric};

/// Makes the report.
pub fn write(material: &ReportInputs<'_>) -> Document {
    let before = &material.first;
    let Some(after) = &material.second else {
        return super::full::write(material);
    };
    let mut document = Document {
        title: title(&before.session.name, &after.session.name),
        subtitle: format!(
            "{} → {}",
            overview::subtitle(before),
            overview::subtitle(after)
        ),
        ..Document::default()
    };
    let found = comparison::compare_sides(
        &before.side(0, None),
        &after.side(0, None),
        &material.earlier,
    );
    let figures = figures::ReportFigures::new(material);
    document.section("Summary", pairs::summary(before, after, &found));
    document.section("Key findings", conclusions::findings_of_two(&found));
    document.section("Notes", both(before, after, conclusions::notes));
    document.section("What is different", pairs::differences(&found));
    let all: Vec<_> = found.pairs.iter().collect();
    let elsewhere = format!(
        "powerband compare {} {} has them all",
        before.command_path(),
        after.command_path()
    );
    let mut blocks = pairs::table(&all, &elsewhere);
    if !blocks.is_empty() {
        blocks.extend(figures.blocks(&["heat-map-comparison", "comparison"]));
    }
    document.section("Case by case", blocks);
    document.section("Machines compared", fleet::blocks(material, &figures));
    let is_in_table = |metric: &&ComparedMetric| {
        // These stand in the table above, with their intervals.
        ["Latency", "Throughput"]
            .iter()
            .any(|name| metric.name == *name || metric.name.ends_with(&format!(": {name}")))
    };
    let metrics: Vec<&ComparedMetric> = found.metrics.iter().filter(|m| !is_in_table(m)).collect();
    document.section(
        "Other metrics",
        pairs::before_and_after(&metrics).into_iter().collect(),
    );
    document.section("Curves", figures.blocks(&["latency", "throughput"]));
    let mut changes = profiles::changes(material);
    if !changes.is_empty() {
        changes.extend(figures.blocks(&["changes"]));
    }
    document.section("Where the difference is", changes);
    document.section("Batch sizes", both(before, after, batches::table));
    let flags = both(before, after, |source| {
        conclusions::flags(source.measured())
    });
    document.section("Flags and what they mean", flags);
    document.section(
        "Warnings of the runs",
        both(before, after, conclusions::warnings),
    );
    document.section(
        "Environment",
        both(before, after, circumstances::environment),
    );
    document.section("Method", both(before, after, circumstances::method));
    document.section("How to repeat it", both(before, after, conclusions::repeat));
    document
}

/// Both names, or one that both have.
fn title(before: &str, after: &str) -> String {
    if before == after {
        format!("{before}, before and after")
    } else {
        format!("{before} → {after}")
    }
}

/// The same section of both sessions, each under its name; once where both say the same.
fn both(
    before: &ReportedSession<'_>,
    after: &ReportedSession<'_>,
    blocks: fn(&ReportedSession<'_>) -> Vec<Block>,
) -> Vec<Block> {
    let (first, second) = (blocks(before), blocks(after));
    if first == second {
        return first;
    }
    let named = |word: &str, source: &ReportedSession<'_>, blocks: Vec<Block>| {
        let heading = Block::Heading(3, format!("{word}: {}", source.session.name));
        let heading = (!blocks.is_empty()).then_some(heading);
        heading.into_iter().chain(blocks)
    };
    named("Before", before, first)
        .chain(named("After", after, second))
        .collect()
}
