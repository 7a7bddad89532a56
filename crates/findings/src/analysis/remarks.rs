//! Remarks on all cases together: failures, flags and what they mean, and outliers. The terminal and
//! reports use the same words.

use std::collections::BTreeMap;

use super::case_rows::CaseRow;
use super::flags::{Flag, FlagSeverity};
use powerband_core::base::humanize;
use powerband_core::domain::point::{self, Point};

/// A flag with every case that earned it.
#[derive(Clone, Debug, PartialEq)]
pub struct FlaggedCases<'a> {
    pub name: &'static str,
    /// How much it matters where it matters most.
    pub weight: FlagSeverity,
    pub advice: &'a str,
    /// The cases and the evidence of each.
    pub cases: Vec<(&'a CaseRow, &'a str)>,
    /// The case where it is worst, with its flag.
    worst: (&'a CaseRow, &'a Flag),
}

/// The flags by how much they say against a number, the most first. Others come after them.
const BY_SERIOUSNESS: [&str; 15] = [
    "device-lost",
    "not-accepted",
    "throttled",
    "contended",
    "fallback",
    "no-bf16",
    "no-fp16",
    "overloaded",
    "unsettled",
    "drift",
    "noisy",
    "uneven",
    "not-interleaved",
    "too-few-samples",
    "slow-first-run",
];

fn seriousness(name: &str) -> usize {
    let place = BY_SERIOUSNESS.iter().position(|flag| *flag == name);
    place.unwrap_or(BY_SERIOUSNESS.len())
}

/// How far a flag's rule is exceeded; least where that is no number.
fn size(flag: &Flag) -> f64 {
    let extent = flag.excess.as_ref();
    extent.map_or(f64::NEG_INFINITY, |extent| extent.size)
}

impl FlaggedCases<'_> {
    /// In one line: how many cases, the worst of them, and what to do.
    pub fn summary_text(&self) -> String {
        let (row, flag) = self.worst;
        let case = format!("{} {}", row.setup_label, row.point);
        let cases = humanize::pluralised(self.cases.len() as u64, "case");
        let advice = self.advice;
        match &flag.excess {
            Some(extent) if self.cases.len() > 1 => format!(
                "{}: {cases}, worst {} ({case}); {advice}",
                self.name, extent.text
            ),
            Some(extent) => format!("{}: {case}, {}; {advice}", self.name, extent.text),
            None if self.cases.len() > 1 => {
                format!("{}: {cases}, first {case}; {advice}", self.name)
            }
            None => format!("{}: {case}; {advice}", self.name),
        }
    }

    /// What it means for the numbers of its cases.
    pub fn meaning(&self) -> &'static str {
        meaning(self.name)
    }
}

/// Each flag once, the most serious first, with the cases that earned it.
pub fn flagged_cases<'a>(rows: impl IntoIterator<Item = &'a CaseRow>) -> Vec<FlaggedCases<'a>> {
    let mut by_name: BTreeMap<&str, FlaggedCases<'a>> = BTreeMap::new();
    for row in rows {
        for flag in &row.flags {
            let raised = by_name.entry(flag.name).or_insert_with(|| FlaggedCases {
                name: flag.name,
                weight: flag.weight,
                advice: &flag.advice,
                cases: Vec::new(),
                worst: (row, flag),
            });
            raised.weight = raised.weight.max(flag.weight);
            if size(flag) > size(raised.worst.1) {
                raised.worst = (row, flag);
            }
            raised.cases.push((row, &flag.evidence));
        }
    }
    let mut raised: Vec<FlaggedCases<'a>> = by_name.into_values().collect();
    raised.sort_by_key(|flag| seriousness(flag.name));
    raised
}

/// What a flag means for the numbers of its case.
pub fn meaning(name: &str) -> &'static str {
    match name {
        "unsettled" => {
            "The times still changed when measuring began, so the median mixes two states of the machine."
        }
        "noisy" => {
            "Single runs differ much; the median holds, its interval is wide, and small differences are not significant."
        }
        "drift" => {
            "The machine changed while it was measured; the median is between two states, and rounds of other cases saw the same change only if they were interleaved."
        }
        "contended" => {
            "Other programs used the processors, so the times are longer than on a quiet machine."
        }
        "overloaded" => "The times are those of a growing queue, not of a load that can be served.",
        "uneven" => {
            "Runs took very different times: the counted throughput and batch over median differ."
        }
        "slow-first-run" => {
            "The first run takes longer than all later ones; it is in no other number."
        }
        "too-few-samples" => "Percentiles are not known, and the interval rests on few samples.",
        "not-interleaved" => {
            "Any disturbance at that time is in the number, and comparisons cannot remove it."
        }
        "fallback" => {
            "Part of the network ran on the fallback processor, so the case does not show the speed of the device."
        }
        "no-bf16" | "no-fp16" => {
            "The processor computes in 32 bits and converts, so the case does not show what 16 bits bring where it need not."
        }
        "throttled" => "The device lowered its clock, so the times are longer than at full clock.",
        "not-accepted" => "The program that measured these cases rejects their numbers.",
        "device-lost" => "The device stopped responding; its readings are incomplete.",
        _ => "Use the numbers of these cases with care.",
    }
}

/// The reason of each case that did not finish; batch sizes of one setup with one reason share a sentence.
pub fn failure_sentences(rows: &[CaseRow]) -> Vec<String> {
    let mut told: Vec<(&str, String, Vec<Point>)> = Vec::new();
    for row in rows {
        let Some(sentence) = row.outcome.sentence() else {
            continue;
        };
        match told.last_mut() {
            Some((setup, same, points)) if *setup == row.setup_label && *same == sentence => {
                points.push(row.point);
            }
            _ => told.push((&row.setup_label, sentence, vec![row.point])),
        }
    }
    let sentences = told
        .into_iter()
        .map(|(setup, sentence, points)| format!("{setup} {}: {sentence}", point::list(points)));
    sentences.collect()
}

/// Outliers, which are in every number; nothing where there are none.
pub fn outlier_sentence(rows: &[CaseRow]) -> Option<String> {
    let count = |pick: fn(&CaseRow) -> u64| rows.iter().map(pick).sum::<u64>();
    let (mild, severe) = (
        count(|row| row.outliers.mild),
        count(|row| row.outliers.severe),
    );
    if mild + severe == 0 {
        return None;
    }
    let most = rows.iter().max_by_key(|row| row.outliers.severe);
    let most = most
        .filter(|row| row.outliers.severe > 0)
        .map_or_else(String::new, |row| {
            format!(
                ", most of the severe ones at {} {}",
                row.setup_label, row.point
            )
        });
    Some(format!(
        "Outliers, kept in every number: {} mild and {} severe of {} samples{most}",
        humanize::count(mild),
        humanize::count(severe),
        humanize::count(count(|row| row.samples)),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::case_rows;
    use crate::analysis::testing::{end_case, measure, out_of_memory, session};

    #[test]
    fn the_most_serious_flag_comes_first_and_names_its_worst_case() {
        let mut session = session(&["fake"], &[1, 2]);
        let spread = |width: u64| -> Vec<u64> { (0..90).map(|i| 1_000 + i % 10 * width).collect() };
        let (narrow, wide) = (spread(10), spread(40));
        measure(&mut session, 0, 1, &[&narrow, &narrow]);
        measure(&mut session, 0, 2, &[&wide, &wide]);
        let rows = case_rows::case_rows(&session);
        let names: Vec<&str> = flagged_cases(&rows).iter().map(|flag| flag.name).collect();
        let places: Vec<usize> = names.iter().map(|name| seriousness(name)).collect();
        assert!(places.is_sorted() && !places.is_empty(), "{names:?}");
        let noisy = flagged_cases(&rows)
            .into_iter()
            .find(|flag| flag.name == "noisy");
        let line = noisy.unwrap().summary_text();
        assert!(line.starts_with("noisy: 2 cases, worst "), "{line}");
        assert!(line.contains("(fake:cpu batch 2)"), "{line}");
    }

    #[test]
    fn each_flag_and_each_failure_comes_once() {
        let mut session = session(&["fake"], &[1, 2, 4, 8]);
        measure(&mut session, 0, 1, &[&[1000, 1010, 1020]]);
        measure(&mut session, 0, 2, &[&[2000, 2010, 2020]]);
        end_case(&mut session, 0, 4, out_of_memory());
        end_case(&mut session, 0, 8, out_of_memory());
        let rows = case_rows::case_rows(&session);
        let raised = flagged_cases(&rows);
        let few = raised.iter().find(|flag| flag.name == "too-few-samples");
        assert_eq!(few.unwrap().cases.len(), 2);
        assert!(few.unwrap().meaning().contains("Percentiles"));
        assert_eq!(
            few.unwrap().summary_text(),
            "too-few-samples: 2 cases, worst 3 samples (fake:cpu batch 1); measure longer: a more careful preset, or more rounds"
        );
        let told = failure_sentences(&rows);
        assert_eq!(told.len(), 1);
        assert!(told[0].starts_with("fake:cpu batch 4, 8: out of memory"));
    }
}
