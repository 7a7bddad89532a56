//! A comparison as text on a terminal: conditions first, then the numbers, then what to do.

use super::args::Detail;
use super::fleet;
use powerband_core::base::humanize;
use powerband_findings::analysis::case_pair::OVER_ROUNDS;
use powerband_findings::analysis::case_rows::CaseRow;
use powerband_findings::analysis::comparison::{CasePair, Comparison};
use powerband_findings::analysis::conditions::Difference;
use powerband_findings::analysis::verdict::Call;
use powerband_findings::export::terminal;
use powerband_findings::report::in_short;
use powerband_findings::tables::{self, view::TableView};

/// The whole comparison.
pub(super) fn full_text(comparison: &Comparison, detail: Detail) -> String {
    let parts = [
        conditions(comparison),
        table(&comparison.pairs),
        summary(comparison),
        fleet::effects_text(&comparison.effects),
        reasons(&comparison.pairs),
        flags(&comparison.pairs, detail),
    ];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join("\n")
}

/// Differences and warnings stand above the numbers.
fn conditions(comparison: &Comparison) -> String {
    let remarks = comparison
        .remarks
        .iter()
        .map(|remark| format!("! {remark}\n"));
    let differences = comparison
        .differences
        .iter()
        .filter(|difference| difference.differs())
        .map(difference);
    remarks.chain(differences).collect()
}

fn difference(difference: &Difference) -> String {
    format!(
        "  {}: {} before, {} after\n",
        difference.what, difference.before, difference.after
    )
}

/// The cases side by side.
pub(super) fn table(pairs: &[CasePair]) -> String {
    if pairs.is_empty() {
        return String::new();
    }
    let table = TableView::new(tables::pairs::of_pairs(pairs)).to_text();
    table + "· " + OVER_ROUNDS + "\n"
}

fn summary(comparison: &Comparison) -> String {
    let calls = [Call::Faster, Call::Slower, Call::Same, Call::Inconclusive];
    let counts: Vec<String> = calls
        .into_iter()
        .filter_map(|call| match comparison.count(call) {
            0 => None,
            count => Some(format!("{count} {call}")),
        })
        .collect();
    let counts = counts.join(", ");
    match comparison.overall_text() {
        Some(overall) => format!("{counts}; {overall}\n"),
        None => format!("{counts}\n"),
    }
}

/// Flags of either side, each case once.
fn flags(pairs: &[CasePair], detail: Detail) -> String {
    let mut rows: Vec<&CaseRow> = Vec::new();
    for row in pairs.iter().flat_map(|pair| [&pair.before, &pair.after]) {
        if !rows.contains(&row) {
            rows.push(row);
        }
    }
    terminal::write(&in_short::flags(rows, detail.verbose))
}

/// Each reason once, with the case that has it, or with how many have it.
fn reasons(pairs: &[CasePair]) -> String {
    let reason_of = |pair: &CasePair| pair.verdict.reason.clone();
    let mut texts = String::new();
    for (place, pair) in pairs.iter().enumerate() {
        let Some(reason) = reason_of(pair) else {
            continue;
        };
        if pairs[..place]
            .iter()
            .any(|one| reason_of(one).as_ref() == Some(&reason))
        {
            continue;
        }
        let such = pairs
            .iter()
            .filter(|one| reason_of(one).as_ref() == Some(&reason));
        let whose = match such.count() {
            1 => format!("{} {}", pair.after.setup_label, pair.after_point),
            several => humanize::pluralised(several as u64, "case"),
        };
        texts.push_str(&format!("· {whose}: {reason}.\n"));
    }
    texts
}
