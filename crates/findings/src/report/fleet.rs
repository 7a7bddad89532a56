//! The section of a report that compares machines.

use super::document::{Block, ReportText};
use super::figures::ReportFigures;
use super::material::{ReportInputs, ReportedSession};
use crate::analysis::fleet::{self, Effects, Fleet, FleetCase, NamedSession};
use crate::tables::{self, view::TableView};
use powerband_core::base::humanize;

/// Most cases that are shown.
const MOST_CASES: usize = 12;
/// Most machines of a case.
const MOST_MACHINES: usize = 60;
/// Most pairs of setups on pairs of machines.
const MOST_EFFECTS: usize = 6;
/// Most lines of what differs.
const MOST_DIFFERENCES: usize = 40;

/// A table and a finding for each case that ran on several machines, then what setups and machines bring; empty
/// where nothing ran on two.
pub fn blocks(material: &ReportInputs<'_>, figures: &ReportFigures<'_>) -> Vec<Block> {
    let sources: Vec<&ReportedSession<'_>> = material.sources().collect();
    let named: Vec<NamedSession<'_>> = sources
        .iter()
        .map(|source| (source.session.name.as_str(), &*source.session))
        .collect();
    // Two sessions of one machine are no two machines.
    let names = fleet::names_by_hardware(&named);
    let named: Vec<NamedSession<'_>> = names
        .iter()
        .map(String::as_str)
        .zip(named.iter().map(|(_, session)| *session))
        .collect();
    let found = fleet::compare_machines(&named);
    if found.cases.is_empty() {
        return Vec::new();
    }
    let elsewhere = format!(
        "powerband fleet {} has them all, with each file as a machine",
        files(&sources)
    );
    let mut blocks = figures.blocks(&["fleet"]);
    let several = found.has_several_models();
    for case in found.cases.iter().take(MOST_CASES) {
        blocks.extend(case_section(case, several, MOST_MACHINES, &elsewhere));
    }
    blocks.extend(left_out(found.cases.len(), MOST_CASES, "case", &elsewhere));
    blocks.extend(differences(&found));
    let effects = fleet::effects(&named);
    for effects in effects.iter().take(MOST_EFFECTS) {
        blocks.extend(effects_section(effects));
    }
    let what = "pair of setups on two machines";
    blocks.extend(left_out(effects.len(), MOST_EFFECTS, what, &elsewhere));
    blocks.extend(Block::list(&found.remarks));
    blocks
}

fn files(sources: &[&ReportedSession<'_>]) -> String {
    let files: Vec<String> = sources.iter().map(|source| source.command_path()).collect();
    files.join(" ")
}

/// A case on at most so many machines, with its finding.
pub(super) fn case_section(
    case: &FleetCase,
    several: bool,
    most: usize,
    elsewhere: &str,
) -> Vec<Block> {
    let table = TableView::new(tables::fleet::of_case(case))
        .to_document(most, "machine", elsewhere)
        .without_empty_columns();
    vec![
        Block::Heading(3, case.name(several)),
        Block::paragraph(case.sentence.as_str()),
        Block::Table(table),
    ]
}

/// What setups bring on each of two machines.
pub(super) fn effects_section(effects: &Effects) -> Vec<Block> {
    vec![
        Block::Heading(3, effects.title()),
        Block::paragraph(effects.sentence()),
        TableView::new(tables::fleet_effects::effects_table(effects)).to_block(),
    ]
}

/// What one machine has that no other has.
fn differences(found: &Fleet) -> Vec<Block> {
    let lines = Fleet::differences(found.cases.iter().take(MOST_CASES)).into_iter();
    let items = lines.take(MOST_DIFFERENCES).map(|(machine, words)| {
        let text = ReportText::default().strong(machine);
        text.text(format!(": {words}"))
    });
    Block::titled_list("What differs", items)
}

fn left_out(all: usize, most: usize, what: &str, elsewhere: &str) -> Option<Block> {
    let more = all.checked_sub(most).filter(|more| *more > 0)?;
    let more = humanize::pluralised(more as u64, what);
    Some(Block::paragraph(format!(
        "{more} left out here; {elsewhere}."
    )))
}
