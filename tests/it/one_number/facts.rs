//! What is said of one thing in several places, and where that is not the same.

use std::collections::BTreeMap;

use super::documents::{WrittenTable, shown_number};

/// Columns that say what a row is about; the others say something of it.
const NAMES: [&str; 11] = [
    "Setup", "Before", "After", "Batch", "Step", "Category", "Replicas", "Flag", "Node", "Metric",
    "sequence",
];
/// Columns whose words differ on purpose: `show` prints how a case ended beside its flags, reports its flags alone; a
/// report shortens sentences.
const WORDS: [&str; 2] = ["Outcome", "Remarks"];

/// What one place says.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Said {
    /// As people read it.
    Text(String),
    /// A plain number in the unit of [`shown_number`]; nothing where it is not known.
    Number(Option<f64>),
}

/// Everything that is said of a session: by the row it is about and the name above it, where it is said and how.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    by_name: BTreeMap<(String, String), Vec<(String, Said)>>,
}

impl Facts {
    pub(crate) fn add(&mut self, row: &str, name: &str, place: &str, said: Said) {
        let key = (row.to_owned(), name.to_owned());
        let all = self.by_name.entry(key).or_default();
        all.push((place.to_owned(), said));
    }

    /// Every table of a document.
    pub(crate) fn add_sheets(&mut self, place: &str, sheets: &[WrittenTable]) {
        for sheet in sheets {
            for row in &sheet.rows {
                let cells = sheet.heads.iter().zip(row);
                let names: Vec<String> = cells
                    .clone()
                    .filter(|(head, _)| NAMES.contains(&head.as_str()))
                    .map(|(head, cell)| format!("{head} {cell}"))
                    .collect();
                let names = names.join(", ");
                let values = cells.filter(|(head, _)| {
                    let is_name = NAMES.contains(&head.as_str());
                    !head.is_empty() && !is_name && !WORDS.contains(&head.as_str())
                });
                for (head, cell) in values.filter(|_| !names.is_empty()) {
                    self.add(&names, head, place, Said::Text(cell.clone()));
                }
            }
        }
    }

    /// The tables of a session of published numbers: what stands beside a number there is as its document has it, so
    /// that a number is known by its place in a table with these heads.
    pub(crate) fn add_published(&mut self, place: &str, sheets: &[WrittenTable]) {
        let mut known: BTreeMap<String, usize> = BTreeMap::new();
        for sheet in sheets {
            let heads = sheet.heads.join(", ");
            let number = known.entry(heads.clone()).or_default();
            *number += 1;
            for (row, cells) in sheet.rows.iter().enumerate() {
                for (head, cell) in sheet.heads.iter().zip(cells) {
                    let row = format!("row {row} of table {number} with {heads}");
                    self.add(&row, head, place, Said::Text(cell.clone()));
                }
            }
        }
    }

    /// How many names are said in several places.
    pub(crate) fn shared(&self) -> usize {
        let places = |said: &Vec<(String, Said)>| {
            let mut places: Vec<&str> = said.iter().map(|(place, _)| place.as_str()).collect();
            places.sort_unstable();
            places.dedup();
            places.len()
        };
        self.by_name
            .values()
            .filter(|said| places(said) > 1)
            .count()
    }

    /// What two places say of one thing and is not the same.
    pub(crate) fn contradictions(&self) -> Vec<String> {
        let mut found = Vec::new();
        for ((row, name), said) in &self.by_name {
            let Some((first_place, first)) = said.first() else {
                continue;
            };
            for (place, other) in said.iter().skip(1) {
                if !is_same(first, other) {
                    found.push(format!(
                        "{name} of {row}: {first:?} in {first_place}, {other:?} in {place}"
                    ));
                }
            }
        }
        found
    }
}

fn is_same(one: &Said, other: &Said) -> bool {
    match (one, other) {
        (Said::Text(one), Said::Text(other)) => one == other,
        (Said::Number(one), Said::Number(other)) => one == other,
        (Said::Text(text), Said::Number(number)) | (Said::Number(number), Said::Text(text)) => {
            match (number, shown_number(text)) {
                (Some(number), Some((shown, error))) => (number - shown).abs() <= error * 1.01,
                // What is not known has an interval or a reason in words.
                (None, None) => true,
                (Some(_), None) => text == "not known",
                (None, Some(_)) => false,
            }
        }
    }
}

#[test]
fn a_contradiction_is_found() {
    let mut facts = Facts::default();
    let sheet = |median: &str| WrittenTable {
        heads: ["Setup", "Batch", "Median"].map(str::to_owned).to_vec(),
        rows: vec![["a", "1", median].map(str::to_owned).to_vec()],
    };
    facts.add_sheets("show", &[sheet("1.02 ms")]);
    facts.add(
        "Setup a, Batch 1",
        "Median",
        "show --json",
        Said::Number(Some(1_019_600.0)),
    );
    assert!(
        facts.contradictions().is_empty(),
        "{:?}",
        facts.contradictions()
    );
    facts.add(
        "Setup a, Batch 1",
        "Median",
        "x.csv",
        Said::Number(Some(1_029_600.0)),
    );
    facts.add_sheets("full.md", &[sheet("1.03 ms")]);
    assert_eq!(facts.contradictions().len(), 2);
}
