//! What commands print, in sections: a comparison of two setups or of machines, and below the numbers of other
//! commands limits, flags and published numbers in a few lines.

use super::document::{Block, NoteLevel};
use super::{fleet, pairs, published};
use crate::analysis::case_rows::CaseRow;
use crate::analysis::claims::{self, PUBLISHED_MARK};
use crate::analysis::comparison::{CasePair, Comparison};
use crate::analysis::fleet::{Effects, Fleet};
use crate::analysis::journey::Journey;
use crate::analysis::limits::Limits;
use crate::analysis::limits::answer::{CaseAnswer, ExplainedCase};
use crate::analysis::limits::session_limits::SessionLimits;
use crate::analysis::limits::speed_of_light::LightRow;
use crate::analysis::lint::LintFinding;
use crate::analysis::{accuracy, remarks};
use crate::export::claims::count;
use crate::tables::{self, view::TableView};
use powerband_core::base::humanize;
use powerband_core::domain::claim::Published;
use powerband_core::domain::session::Session;

/// Findings that are shown below a table.
const FINDINGS: usize = 3;
/// Where more of the time than this is not judged, that is said before anything that was found in the rest.
const MOSTLY: f64 = 0.5;

/// A comparison: what differs, the numbers, the verdicts, and why some are open; in full with each case of each flag.
pub fn comparison(found: &Comparison, is_in_full: bool) -> Vec<Vec<Block>> {
    let remarks = found.remarks.iter();
    let remarks = remarks.map(|remark| Block::Note(NoteLevel::Remark, remark.as_str().into()));
    let differences = found.differences.iter().filter(|one| one.differs());
    let differences =
        differences.map(|one| format!("{}: {} before, {} after", one.what, one.before, one.after));
    let pairs: Vec<&CasePair> = found.pairs.iter().collect();
    let verdicts = [Some(pairs::counts(found)), found.overall_text()];
    let verdicts: Vec<String> = verdicts.into_iter().flatten().collect();
    // A case may be in several pairs.
    let mut rows: Vec<&CaseRow> = Vec::new();
    for row in pairs.iter().flat_map(|pair| [&pair.before, &pair.after]) {
        if !rows.contains(&row) {
            rows.push(row);
        }
    }
    let mut sections = vec![
        remarks.chain(Block::list(differences)).collect(),
        case_pairs(&pairs),
        vec![Block::paragraph(verdicts.join("; "))],
        Block::titled_list("Where the time went", found.time_texts()),
    ];
    sections.extend(found.effects.iter().map(fleet::effects_section));
    sections.push(Vec::from_iter(Block::list(pairs::reasons(&pairs))));
    sections.push(flags(rows, is_in_full));
    sections
}

/// The cases side by side.
pub(super) fn case_pairs(pairs: &[&CasePair]) -> Vec<Block> {
    if pairs.is_empty() {
        return Vec::new();
    }
    let view = TableView::new(tables::pairs::of_pairs(pairs.iter().copied()));
    vec![view.to_block(), pairs::over_rounds()]
}

/// One setup on several machines, case by case; then what setups and machines bring.
pub fn machines_compared(found: &Fleet, effects: &[Effects]) -> Vec<Vec<Block>> {
    let several = found.has_several_models();
    let cases = found.cases.iter();
    let cases = cases.map(|case| fleet::case_section(case, several, usize::MAX, ""));
    let effects = effects.iter().map(fleet::effects_section);
    let remarks = Vec::from_iter(Block::list(&found.remarks));
    cases.chain(effects).chain([remarks]).collect()
}

/// The worst findings of a profile with the wall time, and why others are missing; nothing where no work of its
/// kernels is known.
pub(super) fn profile_limits(limits: &Limits) -> Vec<Block> {
    if limits.nodes.iter().all(|node| node.work.is_none()) {
        return Vec::new();
    }
    let mut blocks = vec![Block::Heading(2, "Limits".to_owned())];
    if let Ok(wall) = &limits.wall {
        let parts = wall.parts.iter();
        let parts = parts
            .map(|part| format!("{} {}", part.kind.title(), humanize::percent(part.share)))
            .collect::<Vec<_>>();
        let sum = format!(
            "{} = {}",
            humanize::duration_ns(wall.wall_ns),
            parts.join(" + ")
        );
        blocks.push(Block::Facts(vec![("Wall time".to_owned(), sum.into())]));
    }
    let findings = limits.findings.iter().take(FINDINGS);
    let findings = findings.map(|finding| finding.full_text());
    let said = findings.chain(limits.abstained.iter().cloned());
    blocks.extend(Block::list(said));
    blocks
}

/// What limits the cases of a session, then its worst findings, against the roofs that were known when it was measured;
/// nothing where there are none.
pub(super) fn session_limits(session: &Session, rows: &[CaseRow]) -> Vec<Block> {
    let found = SessionLimits::new(session, rows, &session.roofs);
    let worst = found.worst(session, FINDINGS);
    let answers = profile_answers(session);
    if worst.is_empty() && answers.is_empty() {
        return Vec::new();
    }
    let unjudged = found.profiles.iter().filter_map(|limits| {
        let (reason, share) = limits.unjudged().filter(|(_, share)| *share > MOSTLY)?;
        let share = humanize::percent(share);
        Some(format!(
            "{}: {share} of the time is not judged: {reason}",
            limits.title
        ))
    });
    let said = worst
        .into_iter()
        .map(|(name, finding)| format!("{name}: {}", finding.full_text()));
    Block::titled_list(
        "What limits it most",
        answers.into_iter().chain(unjudged).chain(said),
    )
}

/// What limits each case that was profiled, where that is settled. Where experiments tell it, it stands with them.
fn profile_answers(session: &Session) -> Vec<String> {
    if session.plan.experiments.is_some() {
        return Vec::new();
    }
    let profiles = 0..session.profiles.len();
    let answers = profiles.filter_map(|profile| {
        let found = ExplainedCase::new(session, Some(profile), &session.roofs);
        let answer = found.answer.filter(CaseAnswer::is_settled)?;
        let title = found.limits?.title;
        let sure = answer.certainty_text();
        Some(format!("{title}: {} ({sure})", answer.sentence))
    });
    answers.take(FINDINGS).collect()
}

/// The optimisation steps of a session with what to know about them, then the least that its network can take here.
pub fn journey(journey: &Journey, light: &[LightRow]) -> Vec<Vec<Block>> {
    let view = TableView::new(tables::steps::of_journey(journey));
    let steps = journey.steps.iter();
    let failures = steps.filter_map(|step| {
        let trouble = step.why_not_measured.as_ref()?;
        Some(format!("{} was not measured: {trouble}", step.title))
    });
    let steps = journey.steps.iter();
    let unknown = accuracy::not_told(steps.filter_map(|step| step.accuracy.as_ref()));
    let remarks = journey.remarks.iter().cloned().chain(unknown);
    let remarks = Block::list(failures.chain(remarks));
    vec![
        vec![view.columns(&tables::steps::ON_TERMINAL).to_block()],
        [pairs::over_rounds()].into_iter().chain(remarks).collect(),
        speed_of_light(light),
    ]
}

/// The least times of a network, with the reasons for what is not said; nothing where no least time is known.
fn speed_of_light(rows: &[LightRow]) -> Vec<Block> {
    if rows.iter().all(|row| row.floor_ns.is_none()) {
        return Vec::new();
    }
    let reasons = rows
        .iter()
        .filter_map(|row| Some(format!("{}: {}", row.title, row.reason.as_ref()?)));
    let title = "Speed of light: the least time of an item here";
    let mut blocks = vec![
        Block::Heading(2, title.to_owned()),
        TableView::new(tables::speed_of_light::of_rows(rows)).to_block(),
    ];
    blocks.extend(Block::list(reasons));
    blocks
}

/// A note for each kind of flag, the most serious first; in full with each case and its evidence under it.
pub(super) fn flags<'a>(
    rows: impl IntoIterator<Item = &'a CaseRow>,
    is_in_full: bool,
) -> Vec<Block> {
    let mut blocks = Vec::new();
    for flag in remarks::flagged_cases(rows) {
        if !is_in_full {
            blocks.push(Block::Note(NoteLevel::Warning, flag.summary_text().into()));
            continue;
        }
        let head = format!("{}. What to do: {}.", flag.name, flag.advice);
        blocks.push(Block::Note(NoteLevel::Warning, head.into()));
        let cases = flag.cases.iter();
        let cases = cases
            .map(|(row, evidence)| format!("{} {}: {evidence}", row.setup_label, row.point))
            .collect::<Vec<_>>();
        blocks.push(Block::Code("", cases.join("\n")));
    }
    blocks
}

/// Where published numbers are from, then a section for each table of them.
pub(super) fn published(published: &Published) -> Vec<Vec<Block>> {
    let facts = claims::source_facts(published).into_iter();
    let facts = facts.map(|(what, words)| (what.to_owned(), words.into()));
    let sheets = claims::published_tables(published);
    let sheets = sheets.iter().map(|sheet| {
        vec![
            Block::Heading(3, format!("{}, {PUBLISHED_MARK}", sheet.title)),
            Block::Table(published::table(sheet)),
        ]
    });
    std::iter::once(vec![Block::Facts(facts.collect())])
        .chain(sheets)
        .collect()
}

/// How many numbers contradict each other, in a note; nothing for none.
pub(super) fn contradictions(findings: &[LintFinding]) -> Vec<Block> {
    if findings.is_empty() {
        return Vec::new();
    }
    let text = format!(
        "These numbers do not all agree: {}. powerband check lists them.",
        count(findings)
    );
    vec![Block::Note(NoteLevel::Warning, text.into())]
}
