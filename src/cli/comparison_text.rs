//! A comparison as text on a terminal: conditions first, then the numbers, then what to do.

use super::flags_text;
use powerband_core::base::humanize::{self, UNKNOWN};
use powerband_findings::analysis::case_pair::OVER_ROUNDS;
use powerband_findings::analysis::case_rows::CaseRow;
use powerband_findings::analysis::comparison::{Comparison, Pair};
use powerband_findings::analysis::conditions::Difference;
use powerband_findings::analysis::verdict::Call;

/// The whole comparison.
pub(super) fn whole(comparison: &Comparison) -> String {
    let parts = [
        conditions(comparison),
        table(&comparison.pairs),
        summary(comparison),
        reasons(&comparison.pairs),
        flags(&comparison.pairs),
    ];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join("\n")
}

/// What differs and what to keep in mind stand above the numbers.
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
pub(super) fn table(pairs: &[Pair]) -> String {
    if pairs.is_empty() {
        return String::new();
    }
    let header = [
        "Before",
        "After",
        "Batch",
        "Median before",
        "Median after",
        "Speed-up",
        "95 %",
        "Rounds",
        "Verdict",
    ];
    let lines: Vec<Vec<String>> = pairs.iter().map(line).collect();
    humanize::table(&header, &lines, 2) + "· " + OVER_ROUNDS + "\n"
}

fn line(pair: &Pair) -> Vec<String> {
    let or_unknown = |text: Option<String>| text.unwrap_or_else(|| UNKNOWN.to_owned());
    let median = |row: &CaseRow| or_unknown(row.median_words());
    let batch = if pair.is_per_item() {
        format!("{} / {}", pair.before_batch, pair.after_batch)
    } else {
        pair.before_batch.to_string()
    };
    vec![
        pair.before.setup_label.clone(),
        pair.after.setup_label.clone(),
        batch,
        median(&pair.before),
        median(&pair.after),
        or_unknown(pair.ratio.map(|ratio| ratio.words())),
        or_unknown(pair.ratio.and_then(|ratio| ratio.interval_words())),
        or_unknown(pair.ratio.map(|ratio| ratio.rounds.to_string())),
        pair.verdict.call.name().to_owned(),
    ]
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
    match comparison.overall {
        Some(overall) if comparison.pairs.len() > 1 => format!(
            "{}; {} overall (geometric mean)\n",
            counts.join(", "),
            overall.words()
        ),
        _ => format!("{}\n", counts.join(", ")),
    }
}

/// What is suspicious about either side, each case once.
fn flags(pairs: &[Pair]) -> String {
    let mut rows: Vec<&CaseRow> = Vec::new();
    for row in pairs.iter().flat_map(|pair| [&pair.before, &pair.after]) {
        if !rows.contains(&row) {
            rows.push(row);
        }
    }
    flags_text::flags(rows)
}

fn reasons(pairs: &[Pair]) -> String {
    pairs
        .iter()
        .filter_map(|pair| {
            let reason = pair.verdict.reason.as_ref()?;
            Some(format!(
                "· {} batch {}: {reason}.\n",
                pair.after.setup_label, pair.after_batch
            ))
        })
        .collect()
}
