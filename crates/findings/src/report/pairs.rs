//! Cases side by side: how much faster, how sure, and the verdict.

use super::document::{Block, NoteLevel, ReportCell, ReportTable, ReportText};
use super::material::ReportedSession;
use super::numbers;
use crate::analysis::best_case;
use crate::analysis::case_pair::OVER_ROUNDS;
use crate::analysis::comparison::{self, CasePair, ComparedMetric, Comparison};
use crate::analysis::conditions::Difference;
use crate::analysis::verdict::Call;
use crate::tables::{self, view::TableView};
use powerband_core::base::humanize;

/// So many pairs are shown.
const MOST_PAIRS: usize = 120;
/// So many setups are compared with the first one.
const MOST_SETUPS: usize = 24;
/// Most reasons.
const MOST_REASONS: usize = 12;

/// The first setup of a session against each later one.
pub fn comparisons_with_first(source: &ReportedSession<'_>) -> Vec<Comparison> {
    let others = 1..source.session.plan.setups.len().min(MOST_SETUPS + 1);
    others
        .map(|other| comparison::compare_setups(&source.side(0, None), &source.side(other, None)))
        .collect()
}

/// The table of pairs, then why answers are open.
pub fn table(pairs: &[&CasePair], elsewhere: &str) -> Vec<Block> {
    if pairs.is_empty() {
        return Vec::new();
    }
    let view = TableView::new(tables::pairs::of_pairs(pairs.iter().copied()));
    let table = view.to_document(MOST_PAIRS, "pair", elsewhere);
    let mut blocks = vec![Block::Table(table), over_rounds()];
    let mut reasons = reasons(pairs);
    let more = reasons.len().saturating_sub(MOST_REASONS);
    reasons.truncate(MOST_REASONS);
    if more > 0 {
        let more = humanize::pluralised(more as u64, "more");
        reasons.push(format!("and {more} like these.").into());
    }
    blocks.extend(Block::list(reasons));
    blocks
}

/// Why verdicts are open: each reason once, with the case that has it, or with how many have it.
pub(super) fn reasons(pairs: &[&CasePair]) -> Vec<ReportText> {
    let mut found: Vec<(&str, &CasePair, u64)> = Vec::new();
    for pair in pairs {
        let Some(reason) = pair.verdict.reason.as_deref() else {
            continue;
        };
        match found.iter_mut().find(|(known, ..)| *known == reason) {
            Some((_, _, count)) => *count += 1,
            None => found.push((reason, pair, 1)),
        }
    }
    let sentences = found.into_iter().map(|(reason, first, count)| {
        let whose = match count {
            1 => ReportText::default()
                .code(&first.after.setup_label)
                .text(format!(" {}", first.after_point)),
            several => humanize::pluralised(several, "case").into(),
        };
        whose.text(format!(": {reason}."))
    });
    sentences.collect()
}

/// The geometric mean of each later setup's speed-ups over the first, as a comparison of the two shows it.
pub fn means(found: &[Comparison]) -> Option<Block> {
    let lines = found.iter().filter_map(|one| {
        let label = &one.pairs.first()?.after.setup_label;
        let text = ReportText::default().code(label);
        Some(text.text(format!(": {}.", one.overall_text()?)))
    });
    Block::list(lines)
}

/// How a speed-up comes about, below a table that has one beside two medians.
pub(crate) fn over_rounds() -> Block {
    Block::Paragraph(ReportText::default().emphasis(OVER_ROUNDS))
}

/// The number of each verdict, and the mean of all.
pub fn counts(comparison: &Comparison) -> String {
    let calls = [Call::Faster, Call::Slower, Call::Same, Call::Inconclusive];
    let counts = calls
        .into_iter()
        .filter_map(|call| match comparison.count(call) {
            0 => None,
            count => Some(format!("{count} {call}")),
        });
    counts.collect::<Vec<_>>().join(", ")
}

/// The summary of two sessions, in a paragraph.
pub fn summary(
    before: &ReportedSession<'_>,
    after: &ReportedSession<'_>,
    found: &Comparison,
) -> Vec<Block> {
    let warnings = before
        .session_warnings()
        .into_iter()
        .map(|warning| format!("{}: {warning}", before.session.name));
    let warnings = warnings.chain(
        after
            .session_warnings()
            .into_iter()
            .map(|warning| format!("{}: {warning}", after.session.name)),
    );
    let mut blocks: Vec<Block> = warnings
        .map(|warning| Block::Note(NoteLevel::Warning, warning.into()))
        .collect();
    let text = ReportText::default()
        .strong(&after.session.name)
        .text(" is compared with ")
        .strong(&before.session.name)
        .text(" before. ");
    if let Some(nothing) = &found.nothing {
        blocks.push(Block::Paragraph(text.text(nothing)));
        return blocks;
    }
    let pairs = humanize::pluralised(found.pairs.len() as u64, "case");
    let mut text = text.text(format!("Of {pairs} that both have: {}. ", counts(found)));
    if let Some(overall) = found.overall_text() {
        text = text
            .strong(humanize::capitalised(&overall))
            .text("; it hides single cases, so read it with the table. ");
    }
    let settled = |pair: &&CasePair| matches!(pair.verdict.call, Call::Faster | Call::Slower);
    let changed: Vec<&CasePair> = found.pairs.iter().filter(settled).collect();
    let is_one_run = before.session.is_of_one_run_with(&after.session);
    let most = best_case::largest_change(&changed, is_one_run);
    // Where which is the largest is not settled, the table has them all.
    let most = most.and_then(|most| most.settled().map(|place| changed[*place]));
    if let Some((pair, gain)) = most.and_then(|pair| Some((pair, numbers::gain(pair)?))) {
        text = text
            .text("The largest significant change is that of ")
            .code(&pair.after.setup_label)
            .text(format!(": {gain}."));
    }
    blocks.push(Block::Paragraph(text));
    blocks
}

/// The conditions that differ.
pub fn differences(found: &Comparison) -> Vec<Block> {
    let remarks = found
        .remarks
        .iter()
        .take(MOST_REASONS)
        .map(|remark| Block::Note(NoteLevel::Remark, remark.as_str().into()));
    let mut blocks: Vec<Block> = remarks.collect();
    let differing: Vec<_> = found
        .differences
        .iter()
        .filter(|one| one.differs())
        .collect();
    if differing.is_empty() {
        let is_known = |one: &&Difference| one.before != humanize::UNKNOWN;
        let known: Vec<&str> = found
            .differences
            .iter()
            .filter(is_known)
            .map(|one| one.what)
            .collect();
        let sentence = if known.is_empty() {
            "No condition is known on both sides.".to_owned()
        } else {
            format!("The same on both sides: {}.", known.join(", "))
        };
        blocks.push(Block::paragraph(sentence));
        return blocks;
    }
    let lines = differing.into_iter().map(|one| {
        let side = |text: &str| match text {
            humanize::UNKNOWN => ReportCell::unknown("not known"),
            text => ReportCell::new(text),
        };
        vec![
            ReportCell::new(one.what),
            side(&one.before),
            side(&one.after),
        ]
    });
    let mut table = ReportTable::new(&["Condition", "Before", "After"], &[]);
    table = table.filled(
        lines,
        MOST_PAIRS,
        "condition",
        "powerband compare shows them",
    );
    blocks.push(Block::Table(table));
    blocks
}

/// The numbers side by side, as far as at least one side knows them.
pub(crate) fn before_and_after(found: &[&ComparedMetric]) -> Option<Block> {
    let is_known = |metric: &&&ComparedMetric| metric.before.is_some() || metric.after.is_some();
    let (known, unknown): (Vec<&ComparedMetric>, Vec<&ComparedMetric>) =
        found.iter().partition(|metric| is_known(metric));
    if known.is_empty() {
        return None;
    }
    let known: Vec<ComparedMetric> = known.into_iter().cloned().collect();
    let columns = ["metric", "before", "after", "improvement"];
    let view = TableView::new(tables::metrics::of_metrics(&known)).columns(&columns);
    let mut table = view.to_document(MOST_PAIRS, "metric", "powerband compare shows them");
    let mut names: Vec<&str> = unknown.iter().map(|metric| metric.name.as_str()).collect();
    names.dedup();
    if let Some(first) = unknown.first() {
        names.truncate(MOST_REASONS);
        let why = first.note.as_deref().unwrap_or("not measured");
        let names = names.join(", ");
        table
            .remarks
            .push(format!("Known on neither side: {names} ({why})."));
    }
    Some(Block::Table(table))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::earlier_sessions::EarlierSessions;
    use crate::analysis::testing::session;
    use powerband_core::domain::profile::{Profile, Tool};
    use powerband_core::domain::session::Session;

    /// A profile of another tool, of one card.
    fn imported(card: &str) -> Session {
        let mut session = session(&[], &[]);
        session.imported = Some(Tool {
            name: "rocprofv3".to_owned(),
            ..Tool::default()
        });
        session.profiles.push(Profile {
            facts: vec![("GPU 0".to_owned(), card.to_owned())],
            ..Profile::default()
        });
        session
    }

    fn said(before: &Session, after: &Session) -> String {
        let (before, after) = (
            ReportedSession::new(before, None, None),
            ReportedSession::new(after, None, None),
        );
        let found = comparison::compare_sides(
            &before.side(0, None),
            &after.side(0, None),
            &EarlierSessions::default(),
        );
        assert!(found.nothing.is_some());
        format!("{:?}", differences(&found))
    }

    #[test]
    fn cards_differ_where_no_setup_is_on_both_sides() {
        let (one, other) = (imported("AMD Instinct MI300X"), imported("NVIDIA H100"));
        let text = said(&one, &other);
        assert!(text.contains("MI300X") && text.contains("H100"), "{text}");
        let same = said(&one, &imported("AMD Instinct MI300X"));
        assert!(same.contains("The same on both sides: Graphics"), "{same}");
        let mut bare = imported("");
        bare.profiles.clear();
        bare.plan.points.clear();
        let nothing = said(&bare, &bare);
        assert!(!nothing.contains("Graphics"), "{nothing}");
    }
}
