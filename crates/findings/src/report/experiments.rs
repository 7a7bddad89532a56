//! Experiments on a case: what limits it, what that rests on, what was tried and what was not.

use super::document::Block;
use crate::analysis::limits::Limits;
use crate::analysis::limits::answer::{CaseAnswer, ExplainedCase};
use crate::analysis::limits::evidence_line::EvidenceLine;
use crate::analysis::limits::hypotheses::CaseLimit;
use crate::analysis::limits::settled;
use crate::tables::{self, view::TableView};
use powerband_core::base::humanize;
use powerband_core::domain::session::Session;

/// So many limits are named that an observation speaks for or against; of more than that the other side says it.
const FEW: usize = 3;
/// Findings of the model that are shown.
const FINDINGS: usize = 4;

/// The case or its profile, the answer, its experiments, and what is known of its nodes.
pub fn of_case(session: &Session, found: &ExplainedCase) -> Vec<Vec<Block>> {
    let head = match (&found.tried, &found.limits) {
        (Some(tried), _) => {
            let median = tried.median_ns.map_or_else(
                || "not measured".to_owned(),
                |ns| format!("{} a run", humanize::duration_ns(ns)),
            );
            let model = &session.model_of(tried.case.setup).name;
            format!("{model}, {}, {}: {median}", tried.label, tried.case.point)
        }
        (None, Some(limits)) => limits.title.clone(),
        (None, None) => session.name.clone(),
    };
    let mut sections = vec![vec![Block::paragraph(head)]];
    sections.extend(answer_and_costs(found));
    sections.extend(found.limits.as_ref().map(by_node));
    sections
}

/// The answer, what it rests on, the table, and what was not tried.
pub(super) fn answer_and_costs(found: &ExplainedCase) -> Vec<Vec<Block>> {
    let mut answer = vec![Block::paragraph(found.sentence())];
    answer.extend(
        found
            .answer
            .as_ref()
            .map(|answer| Block::paragraph(certainty(answer))),
    );
    answer.extend(Block::list(found.answer.iter().flat_map(part_texts)));
    let evidence = found.answer.iter().flat_map(evidence_texts);
    let evidence = Block::titled_list("What it rests on", evidence);
    let Some(tried) = &found.tried else {
        return vec![answer, evidence];
    };
    let view = TableView::new(tables::experiments::of_tried(tried));
    let view = view.columns(&tables::experiments::ON_TERMINAL);
    let failures = tried.rows.iter();
    let failures =
        failures.filter_map(|row| Some(format!("{}: {}", row.change, row.trouble.as_ref()?)));
    let costs = [view.to_block()].into_iter().chain(Block::list(failures));
    let untried = tried.untried.iter();
    let untried = untried.map(|one| format!("{}: {}", one.change, one.reason));
    let untried = Block::titled_list("Not tried", untried);
    vec![answer, evidence, costs.collect(), untried]
}

/// How sure an answer is, in words.
pub fn certainty(answer: &CaseAnswer) -> String {
    let likely = answer.weights.iter().filter(|one| one.weight >= 0.005);
    let likely = likely.map(|one| {
        let share = humanize::significant(100.0 * one.weight, 2);
        format!("{} {share} %", one.limit.title())
    });
    let likely: Vec<String> = likely.collect();
    format!("How sure that is: {}.", likely.join(", "))
}

/// What limits each part of the run, with how sure that is.
pub fn part_texts(answer: &CaseAnswer) -> Vec<String> {
    let parts = answer.parts.iter();
    parts
        .map(|part| {
            let sure = settled::certainty_text(part.certainty);
            let sure = Some(sure).filter(|_| !part.limits.is_empty());
            let sure = sure.map_or_else(String::new, |sure| format!(" ({sure})"));
            format!("{}{sure}", part.sentence)
        })
        .collect()
}

/// What an answer rests on, a text for each observation.
pub fn evidence_texts(answer: &CaseAnswer) -> Vec<String> {
    answer.evidence.iter().map(evidence_text).collect()
}

/// An observation, with what it speaks for.
pub fn evidence_text(line: &EvidenceLine) -> String {
    let names = |limits: &[CaseLimit]| {
        let names: Vec<&str> = limits.iter().map(|limit| limit.title()).collect();
        names.join(", ")
    };
    let mut said: Vec<String> = Vec::new();
    if (1..=FEW).contains(&line.speaks_for.len()) {
        said.push(format!("for {}", names(&line.speaks_for)));
    }
    if (1..=FEW).contains(&line.speaks_against.len()) || said.is_empty() {
        let against = names(&line.speaks_against);
        said.extend((!against.is_empty()).then(|| format!("against {against}")));
    }
    if said.is_empty() {
        return line.sentence.clone();
    }
    format!("{} Speaks {}.", line.sentence, said.join(", "))
}

/// What is known of the nodes.
fn by_node(limits: &Limits) -> Vec<Block> {
    let findings = limits.findings.iter();
    let findings = findings.take(FINDINGS).map(|finding| finding.full_text());
    Block::titled_list(
        "By the model",
        findings.chain(limits.abstained.iter().cloned()),
    )
}
